//! A version of a document, and references to versions.

use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::domain::listed;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The operation that created a version.
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
    /// A command of the memory tool. Only it may create empty or blank texts.
    Tool,
}

listed! {
    /// What can make a version.
    Source as "Source";
}

impl Source {
    /// The name in storage and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A version without its text, in JSON by the names of its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextMetadata {
    /// The vault.
    pub vault_id: VaultId,
    /// The memory.
    pub memory_id: MemoryId,
    /// The version's id, also its entity tag.
    pub context_id: ContextId,
    /// Its number: 1, 2, 3 …, never reused. Retention may prune old versions.
    pub version: i64,
    /// The actor that created it.
    pub actor_id: ActorId,
    /// When it was created; never earlier than the previous version.
    pub creation_time: DateTime<Utc>,
    /// The operation that created it.
    pub source: Source,
    /// The size of its text in bytes.
    pub bytes: i32,
    /// The run of the pipeline that created it.
    pub update_id: Option<UpdateId>,
    /// A description of the change.
    pub log: String,
    /// Set if the text was redacted; then the version cannot be shown, compared or restored.
    #[serde(skip)]
    pub redaction: Option<Redaction>,
}

/// The redaction of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// When it was redacted.
    pub at: DateTime<Utc>,
    /// The actor that redacted it.
    pub by: ActorId,
    /// The reason.
    pub reason: String,
    /// The SHA-256 of the text, in hexadecimal.
    pub sha256: String,
}

/// A version with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Everything except the text.
    pub metadata: ContextMetadata,
    /// The document, byte for byte; empty if it was redacted (see [`ContextMetadata::redaction`]).
    pub text: String,
}

/// A client's reference to a version: number or id.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ContextRef {
    /// The version number.
    Version(i64),
    /// The context id.
    Id(ContextId),
}

impl FromStr for ContextRef {
    type Err = crate::domain::ids::InvalidId;

    /// Digits only are a version number, anything else an id.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<i64>() {
            Ok(version) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(Self::Version(version)),
            _ => Ok(Self::Id(text.parse()?)),
        }
    }
}

impl TryFrom<String> for ContextRef {
    type Error = crate::domain::ids::InvalidId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
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
