//! The idempotency key of a request, with its scope.

use crate::domain::ids::{MemoryId, VaultId};

/// An idempotency key with its scope: equal characters of another vault or caller are another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The vault the request goes to.
    pub vault: VaultId,
    /// The memory of the request, if any: the stored answer is deleted with it.
    pub memory: Option<MemoryId>,
    /// The caller.
    pub caller: String,
    /// The client's key: 1 to 255 visible ASCII characters.
    pub key: String,
}
