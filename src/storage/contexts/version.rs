//! A version of a document, and how clients name one.

use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use chrono::{DateTime, Utc};
use std::fmt;
use std::str::FromStr;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// What made a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Source {
    /// `PutContext`.
    Put,
    /// `UpdateContext`.
    Update,
    /// `ApplyOperations`.
    Operations,
    /// `RecordTask`.
    Task,
    /// `RecordDecision`.
    Decision,
    /// `SetStatus`.
    Status,
    /// `RestoreContext`.
    Restore,
    /// An import.
    Import,
    /// A command of the memory tool: alone it makes texts that may be empty or blank.
    Tool,
}

impl Source {
    /// The stored and shown name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A version without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextMetadata {
    /// The vault.
    pub vault_id: VaultId,
    /// The memory.
    pub memory_id: MemoryId,
    /// The version's id, also its entity tag.
    pub context_id: ContextId,
    /// Its number: 1, 2, 3 …, each given once. Retention may take out old ones.
    pub version: i64,
    /// Who made it.
    pub actor_id: ActorId,
    /// When; never earlier than the version before.
    pub creation_time: DateTime<Utc>,
    /// What made it.
    pub source: Source,
    /// The size of its text in bytes.
    pub bytes: i32,
    /// The run of the pipeline that made it.
    pub update_id: Option<UpdateId>,
    /// The change in words.
    pub log: String,
    /// Set when the text was taken out; then the version is not to be shown, compared or restored.
    pub redaction: Option<Redaction>,
}

/// Why a version has no text any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// When the text was taken out.
    pub at: DateTime<Utc>,
    /// Who took it out.
    pub by: ActorId,
    /// Why.
    pub reason: String,
    /// The SHA-256 of the text, in hexadecimal.
    pub sha256: String,
}

/// A version with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// All but the text.
    pub metadata: ContextMetadata,
    /// The document, byte for byte; empty if it was redacted, which [`ContextMetadata::redaction`] tells.
    pub text: String,
}

impl Context {
    /// As it is kept in the process: most logs are long, and whoever reads the newest text does not read them.
    pub(in crate::storage) fn without_log(mut self) -> Self {
        self.metadata.log = String::new();
        self
    }
}

/// How a client names a version: by number or by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextRef {
    /// The version number.
    Version(i64),
    /// The context id.
    Id(ContextId),
}

impl FromStr for ContextRef {
    type Err = crate::domain::ids::InvalidId;

    /// Digits alone are a version number, anything else an id.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<i64>() {
            Ok(version) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(Self::Version(version)),
            _ => Ok(Self::Id(text.parse()?)),
        }
    }
}

impl fmt::Display for ContextRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}
