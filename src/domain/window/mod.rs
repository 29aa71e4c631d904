//! The window: the document contains the status and a few recent tasks and decisions; everything older is one
//! line in the archive (DESIGN §5).
//!
//! [`Change`] makes one change of a document: it adds the new line, archives the records that no longer fit, and sets
//! `Updated:`. [`import_window`] does so for a window that was kept elsewhere. [`Window::markdown`] renders the window for
//! people and agents.
//!
//! A task keeps its full intent and summary; its line in the document is [`task_line`].

mod archive;
mod change;
mod import;
mod status;
mod task;
mod view;

pub use archive::{ArchivedTask, Epic, Grouping, first_sentence};
pub use change::{Change, SessionRecord, Sizes};
pub use import::{
    ImportCounts, ImportResult, ImportedDecision, ImportedTask, KnownEntries, WindowImport, WindowRows,
    import_window,
};
pub use status::{Status, unwritable_at};
pub use task::{FAILED, Task, TaskDetails, fits, split_line, task_line};
pub use view::{Window, WindowDecision, WindowTask};

/// Maximum size of a task's intent, in bytes.
pub const INTENT_BYTES: usize = 500;
/// Maximum size of a task's summary, in bytes.
pub const SUMMARY_BYTES: usize = 4_000;
/// Maximum size of a decision and of its reason, in bytes.
pub const DECISION_BYTES: usize = 2_000;
/// Maximum size of the goal and of the blocker, in bytes.
pub const STATUS_BYTES: usize = 1_000;
/// Maximum size of the name of an epic, in bytes.
pub const EPIC_BYTES: usize = 128;
/// Maximum size of the outcome of a task, in bytes of compact JSON.
pub const OUTCOME_BYTES: usize = 8_192;
