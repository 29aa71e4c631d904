//! The trait of jobs that can be batched.

use crate::domain::ids::VaultId;

/// A job that costs hardly more for many than for one.
pub(in crate::storage) trait Job: Sized + Send + 'static {
    /// The result.
    type Answer: Send + 'static;

    /// Maximum number of batches in flight.
    const MAX_IN_FLIGHT: usize;

    /// Maximum number of jobs in a batch.
    const MAX_JOBS: usize;

    /// Its size in bytes.
    fn bytes(&self) -> usize;

    /// The vault under which it is scheduled if jobs of many vaults wait.
    fn vault(&self) -> Option<&VaultId> {
        None
    }
}
