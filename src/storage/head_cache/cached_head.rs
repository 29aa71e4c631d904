//! A head as its readers have it.

use super::known_records::KnownRecords;
use crate::domain::document::Origins;
use crate::storage::Context;
use std::sync::Arc;

/// A newest version, as its readers and its writer have it. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::storage) struct CachedHead {
    /// The version, without its log.
    pub(in crate::storage) context: Arc<Context>,
    /// Where its lines come from; `None` if that is not kept with it.
    pub(in crate::storage) origins: Option<Arc<Origins>>,
    /// Where some of its records come from.
    pub(in crate::storage) records: Arc<KnownRecords>,
}

impl CachedHead {
    /// Of its records nothing is known yet.
    pub(in crate::storage) fn new(context: Context, origins: Option<Origins>) -> Self {
        Self {
            context: Arc::new(context),
            origins: origins.map(Arc::new),
            records: Arc::default(),
        }
    }
}
