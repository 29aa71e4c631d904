//! Caches the origins of records with a head, as far as searches needed them: searches tend to return the same records.
//! The origin of a record changes only with a new head or a redaction, and both replace this cache.

use crate::domain::ids::RecordId;
use crate::storage::search::vectors::RecordOrigin;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of records for each head.
const MOST: usize = 4;

/// Maximum bytes that an entry may quote; longer ones are not cached.
const MOST_QUOTED: usize = 256;

/// The cached records of one head.
#[derive(Debug, Default)]
pub(in crate::storage) struct KnownRecords(Mutex<Vec<(RecordId, RecordOrigin)>>);

impl KnownRecords {
    /// The origin of a record, if cached.
    pub(in crate::storage) fn get(&self, id: RecordId) -> Option<RecordOrigin> {
        let known = self.known();
        let (_, origin) = known.iter().find(|(known, _)| *known == id)?;
        Some(origin.clone())
    }

    /// Caches an origin, if the limits allow.
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
