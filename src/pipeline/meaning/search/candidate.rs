//! What was found, before anything of it is told.

use crate::domain::search::Passage;
use crate::storage::search::SearchPlace;
use crate::storage::search::vectors::{Near, PassageFilter, SourceRecord, Sources};

/// A memory that was found, before anything of it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its place in the order.
    pub place: SearchPlace,
    pub(super) by_text: Option<i64>,
    pub(super) near: Option<Near>,
}

/// The passages that a filter takes.
pub(in crate::pipeline::meaning) fn wanted<'s>(
    sources: &'s Sources,
    filter: &'s PassageFilter,
) -> impl Iterator<Item = (Passage, Option<&'s SourceRecord>)> {
    sources.passages().filter(|(_, record)| match record {
        Some(record) => filter.takes_record(record),
        None => filter.takes_text(&sources.actor, sources.creation_time),
    })
}
