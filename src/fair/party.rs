//! The vault and key on whose behalf work is done.

use std::sync::Arc;

tokio::task_local! {
    static CURRENT: Party;
}

/// What permits are counted for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    /// A vault, or its substitute: the address of a caller without one.
    Vault(Arc<str>),
    /// A key.
    Key(Arc<str>),
    /// A memory of a vault, of what is done one at a time in each.
    Memory(Arc<str>, Arc<str>),
}

/// The vault and the key of a request, and where one at a time is to be in a memory, that. The service itself has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Party(Arc<[Holder]>);

impl Party {
    /// A vault, and a key that reaches it.
    #[must_use]
    pub fn new(vault: Option<&str>, key: Option<&str>) -> Self {
        let vault = vault.map(|vault| Holder::Vault(vault.into()));
        let key = key.map(|key| Holder::Key(key.into()));
        Self(vault.into_iter().chain(key).collect())
    }

    /// A memory of a vault.
    #[must_use]
    pub fn of_memory(vault: &str, memory: &str) -> Self {
        let vault: Arc<str> = vault.into();
        let memory = Holder::Memory(vault.clone(), memory.into());
        Self([Holder::Vault(vault), memory].into())
    }

    /// All that its permits are counted for.
    pub(super) fn holders(&self) -> &[Holder] {
        &self.0
    }

    /// Its vault as a holder.
    pub(super) fn vault(&self) -> Option<&Holder> {
        self.0.first().filter(|holder| matches!(holder, Holder::Vault(_)))
    }

    /// The party of this task; the service itself if none was set.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Whether it is the service itself, whose own work is little and limited otherwise.
    #[must_use]
    pub fn is_service(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs something on its behalf. A task spawned inside needs its own scope.
    // An async function would have room for `work` twice: as what it was given, and as what it waits for.
    pub fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, work)
    }
}
