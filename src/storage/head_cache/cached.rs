//! A head as it is cached: shared by its readers.

use crate::domain::document::{Origins, Run};
use crate::domain::ids::RecordId;
use crate::storage::search::vectors::RecordOrigin;
use crate::storage::{Context, ContextMetadata};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A newest version in the form that its readers and its writer use. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::storage) struct CachedHead {
    /// The version, without its log.
    pub(in crate::storage) context: Arc<Context>,
    /// The origins of its lines; `None` if not cached.
    pub(in crate::storage) origins: Option<Arc<Origins>>,
    /// The origins of some of its records.
    pub(in crate::storage) records: Arc<KnownRecords>,
}

impl CachedHead {
    /// A head without any record origins.
    pub(in crate::storage) fn new(context: Context, origins: Option<Origins>) -> Self {
        Self {
            context: Arc::new(context),
            origins: origins.map(Arc::new),
            records: Arc::default(),
        }
    }

    /// Whether it is already this head, with at least the same additional data.
    pub(super) fn is(&self, head: &Self) -> bool {
        self.metadata() == head.metadata() && (self.origins.is_some() || head.origins.is_none())
    }

    pub(super) fn metadata(&self) -> &ContextMetadata {
        &self.context.metadata
    }

    /// Bytes of its text and of the origins of its lines.
    pub(super) fn bytes(&self) -> usize {
        let runs = self.origins.as_ref().map_or(0, |origins| origins.runs().len());
        self.context.text.len() + runs * size_of::<Run>()
    }
}

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
