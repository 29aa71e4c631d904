//! `[limits]`: maximum sizes of requests and documents, and quotas. `[guard]`: puts that drop much of a document.

use super::values::{one_of, section};
use crate::domain::ids::VaultId;
use crate::domain::memory::Limits;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::str::FromStr;
use strum::{EnumString, VariantNames};

/// The largest document or item that any configuration allows, in bytes.
pub const MOST_BYTES: usize = 10 * 1024 * 1024;

section! {
    /// Sizes in bytes.
    pub struct LimitsConfig in "limits" {
        /// A document. At most 10 MiB, so that the cost of its copies and its diff stays limited.
        pub context_bytes: usize = 102_400, in 1..=MOST_BYTES;
        /// One insight or snippet.
        pub item_bytes: usize = 16_384, in 1..=MOST_BYTES;
        /// The body of a request other than a document.
        pub body_bytes: usize = 1_048_576, in 1..=usize::MAX;
        /// Tokens that a vault's models may read and write per day (UTC); after that `/update` is answered 429 until
        /// the next day. Unset: no limit.
        pub vault_tokens_per_day: Option<u64> = None;
        /// The same for single vaults, by their ids; 0 allows none.
        #[serde(deserialize_with = "super::prices::table")]
        pub vault_tokens: BTreeMap<String, u64> = BTreeMap::new();
        /// Memories per vault; a new one beyond the limit is answered 507. Unset: no limit.
        pub vault_memories: Option<u64> = None;
        /// Total bytes of the texts of a vault's versions; a change that would exceed it is answered 507. Unset: no
        /// limit.
        pub vault_bytes: Option<u64> = None;
        /// Active keys within the vaults of an administrator who is limited to some.
        pub vault_keys: u64 = 1_000;
    }
}

impl LimitsConfig {
    /// The limits of one application of operations.
    #[must_use]
    pub fn of_operations(&self, max_additions: usize) -> Limits {
        Limits {
            max_additions,
            item_bytes: self.item_bytes,
            context_bytes: self.context_bytes,
            pins_hold: false,
        }
    }

    /// Tokens that a vault's models may read and write per day, if that is limited, and the setting that says so.
    #[must_use]
    pub fn tokens_per_day(&self, vault: &VaultId) -> Option<(u64, &'static str)> {
        match self.vault_tokens.get(vault.as_str()) {
            Some(own) => Some((*own, "limits.vault_tokens")),
            None => Some((self.vault_tokens_per_day?, "limits.vault_tokens_per_day")),
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        let mut vaults = self.vault_tokens.keys();
        match vaults.find(|vault| VaultId::from_str(vault).is_err()) {
            None => Ok(()),
            Some(vault) => Err(format!(
                "limits.vault_tokens has a key that is not the id of a vault: {vault}"
            )),
        }
    }
}

/// What happens to a put that drops more than half of the bytes, or any active record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Guard {
    /// Nothing.
    Off,
    /// The version is saved, and the response reports what it dropped.
    #[default]
    Warn,
    /// The version is saved only with `?confirm=collapse`.
    Reject,
}

/// What happens to a put that drops much of a document.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardConfig {
    /// A put that drops more than half of the bytes, or any active record.
    #[serde(deserialize_with = "one_of::<_, Guard, _>")]
    pub collapse: Guard,
}
