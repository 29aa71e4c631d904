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
mod compile;
mod freshness;
mod line;
mod material;
mod render;
mod window;

pub use answer::{DropReason, DroppedLine, HandoffAnswer, read_answer};
pub use compile::compile;
pub use freshness::{CurrentFacts, Freshness, REFRESH_ROUTE, Reason, StaleLine, Status, freshness, preface};
pub use line::{Citation, Line, NoCitation, Part, Subject, citations_in, quote};
pub use material::{Entry, Material, Snapshot, Steps, shown};
pub use render::{Cited, CitedLine, Rendered, Workspace, describes_workspace, render};
pub use window::{InvalidWindow, MAX_SECONDS, Window};
