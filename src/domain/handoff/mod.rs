//! Handoffs: a Markdown view of recent changes for whoever continues (DESIGN §7).
//!
//! The way of a handoff: [`Material::of`] takes what the database read at one moment and resolves each record that
//! changed in the [`Window`] to its current record or its replacement; [`compile`] makes lines of that by rules;
//! [`read_answer`] takes lines of a model instead, where they stand on what it was shown; [`render`] writes the eight
//! sections, and tells which line cites what; [`freshness`] judges later whether that is still so.
//!
//! Citations (see [`Citation`]) name a version in which the cited thing stands: of an active record the version of its
//! last change in the window, of an archived one the last version with it, of a section the version that was read.
//! Text of records, of the document, of models and of callers is quoted: one line, its signs made harmless.

mod answer;
mod citation;
mod compile;
mod draft;
mod freshness;
mod material;
mod part;
mod preface;
mod quote;
mod render;
mod shown;
mod steps;
mod window;

pub use answer::{Answer, DropReason, Dropped, read_answer};
pub use citation::{Citation, NoCitation, Subject, citations_in};
pub use compile::compile;
pub use draft::{Caps, Draft, Line};
pub use freshness::{Facts, Freshness, Reason, StaleLine, Status, freshness};
pub use material::{Entry, Material, Snapshot};
pub use part::Part;
pub use preface::preface;
pub use quote::{one_line, quote};
pub use render::{Cited, CitedLine, Rendered, Workspace, render, tells_of};
pub use shown::shown;
pub use steps::Steps;
pub use window::{InvalidWindow, MAX_SECONDS, Window};
