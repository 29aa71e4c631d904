//! Request batching without linger: jobs submitted while a batch of their kind is in flight go with the next batch.
//!
//! A statement costs a round trip, and a commit a disk flush: one for many jobs costs little more than one for a single
//! job. A job that finds no batch in flight is sent at once and alone.
//!
//! | job | what is sent for it |
//! |---|---|
//! | `Submitted` | versions of memories, a group commit ([`crate::storage::write`]) |
//! | `HeadRead` | reads of newest versions, in one statement that begins after all of them were submitted ([`head_reads`]) |
//! | `Counts`, `Appended` | model usage, in one statement, and steps of updates, in one transaction ([`small_writes`]): transactions that notify commit one after another |
//!
//! - Each job is answered after its own work was committed. It is as durable as if it had been sent alone.
//! - An error of one job fails only that job. If the statement for all of them fails, each is sent alone.
//! - Each kind of job reserves connections for its batches ([`connection`]).
//! - If many jobs wait, vaults are served in rotation: a batch takes one job of each vault before a second of any.
//! - A batch contains jobs of several vaults. In a distributed database these are on several nodes, so there each job
//!   is sent alone.

mod batchers;
mod connection;
mod head_reads;
mod job;
mod queue;
mod slots;
mod small_writes;
mod submit;
mod unanswered;

pub(super) use batchers::Batchers;
pub(super) use job::Job;
pub(super) use slots::Slots;
pub(super) use small_writes::SmallWrite;
pub(super) use submit::RunBatch;
pub(super) use unanswered::{cancelled, unanswered};
