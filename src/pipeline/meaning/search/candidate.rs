//! A match before its text is read.

use crate::domain::search::Passage;
use crate::storage::search::SearchPlace;
use crate::storage::search::vectors::{Near, PassageFilter, SourceRecord, Sources};

/// A memory that matched, before its text is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its position in the order of results.
    pub place: SearchPlace,
    pub(super) by_text: Option<i64>,
    pub(super) near: Option<Near>,
}

/// The passages that the filter accepts.
pub(in crate::pipeline::meaning) fn wanted<'s>(
    sources: &'s Sources,
    filter: &'s PassageFilter,
) -> impl Iterator<Item = (Passage, Option<&'s SourceRecord>)> {
    sources.passages().filter(|(_, record)| match record {
        Some(record) => filter.takes_record(record),
        None => filter.takes_text(&sources.actor, sources.creation_time),
    })
}
