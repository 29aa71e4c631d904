//! The counters of a memory's row.

use crate::domain::memory::Counters;

/// The counters in a memory's row: for each kind the greater of `memories.counters` and of the four columns of
/// learnings, snippets, tasks and decisions, which are the only ones that the previous release reads and writes.
pub(in crate::storage) fn stored_counters(counters: Option<&[i64]>, columns: [i64; 4]) -> Counters {
    Counters::of_numbers(counters.unwrap_or_default()).raised_by(&Counters::of_numbers(&columns))
}
