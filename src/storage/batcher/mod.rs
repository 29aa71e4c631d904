//! Request batching without linger: what is submitted while a batch of its kind is in flight goes with the next one.
//!
//! A statement waits for an answer, and a commit for the disk: one for many costs little more than one for one. A job that
//! finds no batch in flight goes at once and alone.
//!
//! | job | what is sent for it |
//! |---|---|
//! | `Submitted` | versions of memories, a group commit ([`crate::storage::write`]) |
//! | `Wanted` | newest versions, in one statement that begins after each was asked for ([`head_reads`]) |
//! | `Counts`, `Appended` | what models cost, in one statement, and steps of updates, in one transaction ([`small_writes`]): transactions that notify commit one after another |
//!
//! - Each job is answered after its own work was committed, which is as durable as alone.
//! - What one job does wrong is its own failure. Where a statement for all of them fails, each goes alone.
//! - Each kind keeps the connections of its batches ([`connection`]).
//! - Where many wait, vaults take turns: the next batch has one job of each before the second of any.
//! - A batch is of several vaults, which on a distributed database lie on several machines: there each job goes alone.

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
