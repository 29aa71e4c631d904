//! On whose behalf something is done.

use std::sync::Arc;

tokio::task_local! {
    static CURRENT: Party;
}

/// The vault that a request is about and the key that it was made with. The service itself is neither.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Party {
    /// The vault, or what stands for it: the address of a caller without one.
    pub(super) vault: Option<Arc<str>>,
    /// The key.
    pub(super) key: Option<Arc<str>>,
}

impl Party {
    /// A vault, and a key that reaches it.
    #[must_use]
    pub fn new(vault: Option<&str>, key: Option<&str>) -> Self {
        Self {
            vault: vault.map(Arc::from),
            key: key.map(Arc::from),
        }
    }

    /// On whose behalf this task works; the service's own where nobody said.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Whether it is the service itself, whose work is few and bounded by other means.
    #[must_use]
    pub fn is_service(&self) -> bool {
        self.vault.is_none() && self.key.is_none()
    }

    /// Runs something on its behalf. A task that is spawned in it has to be told again.
    // An async function would have room for `work` twice: as what it was given, and as what it waits for.
    pub fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, work)
    }
}
