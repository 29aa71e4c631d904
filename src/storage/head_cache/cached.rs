//! A head as it is cached: shared by its readers.

use crate::domain::document::{Origins, Run};
use crate::storage::{Context, ContextMetadata};
use std::sync::Arc;

/// A newest version in the form that its readers and its writer use. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::storage) struct CachedHead {
    /// The version, without its log.
    pub(in crate::storage) context: Arc<Context>,
    /// The origins of its lines; `None` if not cached.
    pub(in crate::storage) origins: Option<Arc<Origins>>,
}

impl CachedHead {
    /// A head to cache.
    pub(in crate::storage) fn new(context: Context, origins: Option<Origins>) -> Self {
        Self {
            context: Arc::new(context),
            origins: origins.map(Arc::new),
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
