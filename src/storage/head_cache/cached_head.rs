//! A head in the form that readers get.

use super::known_records::KnownRecords;
use crate::domain::document::Origins;
use crate::storage::Context;
use std::sync::Arc;

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
}
