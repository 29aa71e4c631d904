//! The living window: a few recent tasks and decisions and the status stand in the document, everything older is one
//! line in the archive (DESIGN §5).
//!
//! [`record_task`], [`record_decision`] and [`set_status`] each make one change of a document: the new line, the
//! records that leave the window for it, `Updated:` moved. [`record_session`] makes those of a session's end
//! at once, and [`take_over`] those of what a folder of Markdown files said, which [`folder`] reads and writes. [`Window::markdown`] is what a person or an agent reads.
//!
//! A task keeps its intent and its summary as they were told; its line in the document is [`task_line`].

mod archive;
mod change;
mod derived_id;
mod details;
pub mod folder;
mod one_line;
mod reason;
mod session;
mod status;
mod take_over;
mod task;
mod view;

pub use archive::{ArchivedTask, Epic, Grouping, first_sentence};
pub use change::{Sizes, Told, WindowError, Written, record_decision, record_task, set_status};
pub use details::TaskDetails;
pub use one_line::one_line;
pub use reason::{UnwritableReason, check_reason};
pub use session::{SessionRecord, record_session};
pub use status::Status;
pub use take_over::{Brought, BroughtDecision, BroughtTask, Counts, Historic, Known, Taken, take_over};
pub use task::{Task, split_line, task_line};
pub use view::{Window, WindowDecision, WindowTask};

/// The longest intent of a task, in bytes.
pub const INTENT_BYTES: usize = 500;
/// The longest summary of a task, in bytes.
pub const SUMMARY_BYTES: usize = 4_000;
/// The longest decision and the longest reason of one, in bytes.
pub const DECISION_BYTES: usize = 2_000;
/// The longest goal and the longest blocker, in bytes.
pub const STATUS_BYTES: usize = 1_000;
/// The longest name of an epic, in bytes.
pub const EPIC_BYTES: usize = 128;
/// The longest outcome of a task, in bytes of its JSON text without blanks.
pub const OUTCOME_BYTES: usize = 8_192;
