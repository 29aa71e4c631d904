//! What operations do to a memory: validation, application, and the records that a version changed
//! (DESIGN §1 and §2).
//!
//! The way of an update: [`validate()`] takes what the DSL parser read and says which items this memory accepts;
//! [`apply()`] makes the accepted ones into a new document, all or nothing; [`project()`] tells from two documents
//! what happened to the records, [`compare()`] everything that lies between them, and [`collapse()`] whether much was
//! lost. [`Edit`] is the change of a document that [`apply()`] is made of; tasks,
//! decisions and status use it too.
//!
//! Ids are never used again: [`Counters`] know the largest number ever given.

mod apply;
mod collapse;
mod compare;
mod counters;
mod edit;
mod project;
#[cfg(test)]
mod tests;
mod validate;

pub use apply::{Applied, AppliedOperation, ApplyError, OperationName, apply};
pub use collapse::{Collapse, collapse};
pub use compare::{Comparison, compare};
pub use counters::{Counters, IdsExhausted};
pub use edit::Edit;
pub use project::{RecordChange, project, project_and_count};
pub use validate::{Validated, View, validate};

/// The limits that a memory sets to what is written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many records of a kind one update adds (`pipeline.max_additions`).
    pub max_additions: usize,
    /// How long an insight or a snippet may be, in bytes (`limits.item_bytes`).
    pub item_bytes: usize,
    /// How long a document may be, in bytes (`limits.context_bytes`).
    pub context_bytes: usize,
}

impl Default for Limits {
    /// The defaults of the configuration: 3 additions, 16,384 and 102,400 bytes.
    fn default() -> Self {
        Self {
            max_additions: 3,
            item_bytes: 16_384,
            context_bytes: 102_400,
        }
    }
}
