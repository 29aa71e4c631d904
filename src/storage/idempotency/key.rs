//! The key of a request that runs once.

use crate::domain::ids::{MemoryId, VaultId};

/// A key with all that tells it from the same characters of somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The vault the request goes to.
    pub vault: VaultId,
    /// The memory the request goes to, if it goes to one: its kept answer goes with the memory.
    pub memory: Option<MemoryId>,
    /// Who asks.
    pub caller: String,
    /// The client's key: 1 to 255 visible ASCII characters.
    pub key: String,
}
