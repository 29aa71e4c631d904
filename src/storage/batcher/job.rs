//! A piece of work that may go with others of its kind.

use crate::domain::ids::VaultId;

/// Something that is done for many at hardly more than the price of one.
pub(in crate::storage) trait Job: Sized + Send + 'static {
    /// What it comes to.
    type Answer: Send + 'static;

    /// Batches in flight at most.
    const MAX_IN_FLIGHT: usize;

    /// Jobs of a batch at most.
    const MAX_JOBS: usize;

    /// How large it is.
    fn bytes(&self) -> usize;

    /// Whose turn it takes, where jobs of many vaults wait.
    fn vault(&self) -> Option<&VaultId> {
        None
    }
}
