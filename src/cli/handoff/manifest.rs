//! `WORKING_MEMORY.manifest.json`: the service's manifest with one additional member, `local`, which contains the hash
//! of the Markdown beside it and the source of both.

use crate::cli::client::Failure;
use crate::cli::folder::disk::hash;
use crate::domain::ids::{MemoryId, VaultId};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the additional member.
const LOCAL: &str = "local";

/// The service's response to a refresh, as far as it is stored here.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Handoff {
    /// Whether this refresh made it.
    #[serde(default)]
    pub(super) refreshed: bool,
    /// Its id.
    pub(super) handoff_id: String,
    /// The vault.
    pub(super) vault_id: String,
    /// The memory.
    pub(super) memory_id: String,
    /// When it was made.
    pub(super) generated_at: DateTime<Utc>,
    /// Its window, as an ISO 8601 duration.
    pub(super) window: String,
    /// The version it was made of.
    pub(super) base_version: i64,
    /// How fresh it was.
    #[serde(default)]
    pub(super) freshness: Freshness,
    /// Its text.
    pub(super) markdown: String,
    /// What it was made of.
    pub(super) manifest: Map<String, Value>,
}

/// The freshness of a handoff when the service returned it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Freshness {
    /// `fresh` or `stale`.
    pub(super) status: String,
    /// Why it is stale.
    pub(super) reasons: Vec<Reason>,
}

/// Why a handoff is stale.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Reason {
    /// Its stable name.
    pub(super) kind: String,
    /// The reason as a sentence.
    pub(super) detail: String,
}

/// What this machine adds to the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Local {
    /// The handoff.
    pub(super) handoff_id: String,
    /// The vault.
    pub(super) vault_id: String,
    /// The memory.
    pub(super) memory_id: String,
    /// When it was made.
    pub(super) generated_at: DateTime<Utc>,
    /// Its window.
    pub(super) window: String,
    /// The version it was made of.
    pub(super) base_version: i64,
    /// Its freshness when it was copied.
    pub(super) freshness: Freshness,
    /// When it was copied.
    pub(super) refreshed_at: DateTime<Utc>,
    /// The service it came from.
    pub(super) url: String,
    /// The SHA-256 of the Markdown, in hexadecimal.
    pub(super) sha256: String,
    /// Its size.
    pub(super) bytes: usize,
}

impl Local {
    /// For a handoff that was just received.
    pub(super) fn of(handoff: &Handoff, url: &str, now: DateTime<Utc>) -> Self {
        Self {
            handoff_id: handoff.handoff_id.clone(),
            vault_id: handoff.vault_id.clone(),
            memory_id: handoff.memory_id.clone(),
            generated_at: handoff.generated_at,
            window: handoff.window.clone(),
            base_version: handoff.base_version,
            freshness: handoff.freshness.clone(),
            refreshed_at: now,
            url: url.to_owned(),
            sha256: hash(handoff.markdown.as_bytes()),
            bytes: handoff.markdown.len(),
        }
    }

    /// Parses the member of a manifest file. `Err` is a short description of what is wrong with the file.
    pub(super) fn read(manifest: &[u8]) -> Result<Self, String> {
        let mut manifest: Map<String, Value> =
            serde_json::from_slice(manifest).map_err(|_| "its manifest is not a JSON object".to_owned())?;
        let local = manifest
            .remove(LOCAL)
            .ok_or("its manifest has no member `local`")?;
        serde_json::from_value(local).map_err(|error| format!("its manifest cannot be read: {error}"))
    }

    /// Whether it is about this memory.
    pub(super) fn is_of(&self, vault: &VaultId, memory: &MemoryId) -> bool {
        self.vault_id == vault.as_str() && self.memory_id == memory.as_str()
    }

    /// Whether the hash matches this Markdown.
    pub(super) fn fits(&self, markdown: &[u8]) -> bool {
        self.bytes == markdown.len() && self.sha256 == hash(markdown)
    }
}

/// The bytes of a manifest file.
///
/// # Errors
/// None for the manifest of a service.
pub(super) fn bytes(handoff: &Handoff, local: &Local) -> Result<Vec<u8>, Failure> {
    let unwritable =
        |error: serde_json::Error| Failure::failed(format!("the manifest cannot be written: {error}"));
    let mut manifest = handoff.manifest.clone();
    let local = serde_json::to_value(local).map_err(unwritable)?;
    manifest.insert(LOCAL.to_owned(), local);
    let mut bytes = serde_json::to_vec_pretty(&manifest).map_err(unwritable)?;
    bytes.push(b'\n');
    Ok(bytes)
}
