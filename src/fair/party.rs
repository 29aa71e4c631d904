//! The vault and key on whose behalf work is done.

use std::sync::Arc;

tokio::task_local! {
    static CURRENT: Party;
}

/// The vault and the key of a request. The service itself has neither.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Party {
    /// The vault, or its substitute: the address of a caller without one.
    pub(super) vault: Option<Arc<str>>,
    /// The key.
    pub(super) key: Option<Arc<str>>,
    /// The memory, of what is done one at a time in each.
    pub(super) memory: Option<Arc<str>>,
}

impl Party {
    /// A vault, and a key that reaches it.
    #[must_use]
    pub fn new(vault: Option<&str>, key: Option<&str>) -> Self {
        Self {
            vault: vault.map(Arc::from),
            key: key.map(Arc::from),
            memory: None,
        }
    }

    /// A memory of a vault.
    #[must_use]
    pub fn of_memory(vault: &str, memory: &str) -> Self {
        Self {
            memory: Some(Arc::from(memory)),
            ..Self::new(Some(vault), None)
        }
    }

    /// The party of this task; the service itself if none was set.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Whether it is the service itself, whose own work is little and limited otherwise.
    #[must_use]
    pub fn is_service(&self) -> bool {
        self.vault.is_none() && self.key.is_none()
    }

    /// Runs something on its behalf. A task spawned inside needs its own scope.
    // An async function would have room for `work` twice: as what it was given, and as what it waits for.
    pub fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, work)
    }
}
