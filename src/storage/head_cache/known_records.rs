//! Where records of a head come from, kept with it as far as searches have asked: they show the same records again
//! and again. What a record is told to come from changes with a new head, or with a redaction, which forgets this one.

use crate::domain::ids::RecordId;
use crate::storage::search::vectors::RecordOrigin;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Records of one head of which this is kept.
const MOST: usize = 4;

/// The bytes that one of them may quote; with others it is read anew.
const MOST_QUOTED: usize = 256;

/// The records of one head that are known.
#[derive(Debug, Default)]
pub(in crate::storage) struct KnownRecords(Mutex<Vec<(RecordId, RecordOrigin)>>);

impl KnownRecords {
    /// Where a record comes from.
    pub(in crate::storage) fn get(&self, id: RecordId) -> Option<RecordOrigin> {
        let known = self.known();
        let (_, origin) = known.iter().find(|(known, _)| *known == id)?;
        Some(origin.clone())
    }

    /// Keeps it, if there is room.
    pub(in crate::storage) fn keep(&self, id: RecordId, origin: &RecordOrigin) {
        let mut known = self.known();
        let quoted: usize = origin.evidence.iter().map(|evidence| evidence.quote.len()).sum();
        if known.len() < MOST && quoted <= MOST_QUOTED && known.iter().all(|(known, _)| *known != id) {
            known.push((id, origin.clone()));
        }
    }

    fn known(&self) -> MutexGuard<'_, Vec<(RecordId, RecordOrigin)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
