//! Storage quotas of vaults, and their cached usage.

use crate::domain::ids::VaultId;
use quick_cache::sync::Cache;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Maximum number of vaults in the cache.
const KNOWN_VAULTS: usize = 10_000;

/// The storage usage of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stored {
    /// Number of memories.
    pub memories: i64,
    /// Bytes of the texts of all versions.
    pub bytes: i64,
}

/// The storage quotas of a vault; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quotas {
    /// `limits.vault_memories`.
    pub memories: Option<u64>,
    /// `limits.vault_bytes`.
    pub bytes: Option<u64>,
}

/// A quota that a write would exceed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vault has {held} {what} of at most {limit} ({setting}); this would make it {wanted}")]
pub struct OverQuota {
    /// `memories` or `bytes of texts`.
    pub what: &'static str,
    /// The name of the limit in the configuration.
    pub setting: &'static str,
    /// The limit.
    pub limit: u64,
    /// The current usage.
    pub held: u64,
    /// The usage after the write.
    pub wanted: u64,
}

/// The quotas, and the cached usage of vaults.
#[derive(Debug)]
pub(in crate::storage) struct Room {
    pub(super) quotas: Quotas,
    pub(super) known: Cache<VaultId, KnownUsage>,
}

/// The usage of a vault, and when it was read.
pub(super) type KnownUsage = Arc<Mutex<(Stored, Instant)>>;

impl Stored {
    pub(super) fn add(&mut self, more: Self) {
        self.memories = self.memories.saturating_add(more.memories);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

impl Room {
    pub(in crate::storage) fn new(quotas: Quotas) -> Self {
        Self {
            quotas,
            known: Cache::new(KNOWN_VAULTS),
        }
    }
}

impl Quotas {
    pub(super) fn check(&self, held: Stored, more: Stored) -> Result<(), OverQuota> {
        let tests = [
            (
                "memories",
                "limits.vault_memories",
                self.memories,
                held.memories,
                more.memories,
            ),
            (
                "bytes of texts",
                "limits.vault_bytes",
                self.bytes,
                held.bytes,
                more.bytes,
            ),
        ];
        for (what, setting, limit, held, more) in tests {
            let Some(limit) = limit.filter(|_| more > 0) else {
                continue;
            };
            let (held, more) = (held.max(0).unsigned_abs(), more.unsigned_abs());
            let wanted = held.saturating_add(more);
            if wanted > limit {
                return Err(OverQuota {
                    what,
                    setting,
                    limit,
                    held,
                    wanted,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_reached_but_not_exceeded_and_what_frees_room_is_never_refused() {
        let quotas = Quotas {
            memories: Some(2),
            bytes: Some(100),
        };
        let held = |memories, bytes| Stored { memories, bytes };
        assert!(quotas.check(held(1, 90), held(1, 10)).is_ok());
        let over = quotas.check(held(2, 0), held(1, 1)).unwrap_err();
        assert_eq!((over.setting, over.wanted), ("limits.vault_memories", 3));
        assert!(quotas.check(held(5, 90), held(0, 10)).is_ok(), "no memory more");
        assert!(quotas.check(held(1, 91), held(0, 10)).is_err());
        assert!(
            Quotas::default()
                .check(held(9, 9), held(i64::MAX, i64::MAX))
                .is_ok()
        );
    }
}
