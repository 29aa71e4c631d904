//! The version being redacted.

use crate::domain::ids::{MemoryId, VaultId};

/// Rows read at once: versions and runs may have 100 KiB each or more.
pub(super) const ROWS_AT_ONCE: i64 = 32;

/// The version being redacted.
pub(super) struct Place<'a> {
    pub(super) vault: &'a VaultId,
    pub(super) memory: &'a MemoryId,
    pub(super) version: i64,
}
