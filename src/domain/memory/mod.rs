//! What operations do to a memory: validation, application, and the records that a version changed
//! (DESIGN §1 and §2).
//!
//! An update works as follows: [`validate()`] decides which parsed items this memory accepts; [`apply()`]
//! applies the accepted ones to produce a new document, all or nothing; [`project()`] derives record changes
//! from two documents, and [`collapse()`] whether much was lost.
//! [`apply()`] uses [`Edit`] to change the document; so do tasks, decisions and status.
//!
//! Ids are never reused: [`Counters`] hold the largest number ever used.

mod apply;
mod edit;
mod project;
#[cfg(test)]
mod tests;
mod validate;

pub use apply::{AppliedOperation, OperationName, apply};
pub(in crate::domain) use edit::append_section;
pub use edit::{ChangedDocument, Counters, Edit, EditError};
pub use project::{Collapse, CollapseKind, RecordChange, collapse, project};
pub use validate::{View, validate};

/// The limits on what may be written into a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of records of a kind that one update adds (`pipeline.max_additions`).
    pub max_additions: usize,
    /// Maximum size of an insight or a snippet in bytes (`limits.item_bytes`).
    pub item_bytes: usize,
    /// Maximum size of a document in bytes (`limits.context_bytes`).
    pub context_bytes: usize,
    /// Whether pins hold: a model or the rules write, who archive no pinned record, and neither pin one nor give it an
    /// end.
    pub pins_hold: bool,
}
