//! Handoffs: a Markdown summary of recent changes for the agent that continues the work (DESIGN §7).
//!
//! [`Material::of`] takes a database snapshot and resolves each record that changed in the [`Window`] to its
//! current record or replacement. [`compile`] derives lines from it by rules; [`read_answer`] instead accepts
//! lines of a model that cite what it was given. [`render`] writes the eight sections and records which line
//! cites what. [`freshness`] later checks whether the citations are still valid.
//!
//! A citation (see [`Citation`]) names a version that contains the cited subject: for an active record the
//! version of its last change in the window, for an archived one the last version with it, for a section the
//! version that was read. All text from records, documents, models and callers is quoted: one line, with
//! Markdown escaped.

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

pub use answer::{DropReason, DroppedLine, HandoffAnswer, read_answer};
pub use citation::{Citation, NoCitation, Subject, citations_in};
pub use compile::compile;
pub use draft::{Caps, Draft, Line};
pub use freshness::{CurrentFacts, Freshness, Reason, StaleLine, Status, freshness};
pub use material::{Entry, Material, Snapshot};
pub use part::Part;
pub use preface::{REFRESH_ROUTE, preface};
pub use quote::quote;
pub use render::{Cited, CitedLine, Rendered, Workspace, describes_workspace, render};
pub use shown::shown;
pub use steps::Steps;
pub use window::{InvalidWindow, MAX_SECONDS, Window};
