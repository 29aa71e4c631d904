//! The lines of a file that are not rows of a table, and the enumeration of all lines.

use super::contexts::ContextLine;
use super::handoffs::HandoffLine;
use super::items::ItemLine;
use super::memory::MemoryLine;
use super::paths::PathLine;
use super::records::RecordLine;
use super::runs::RunLine;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::IntoStaticStr;

/// A line of a file.
#[derive(Debug, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum Line {
    Header(Header),
    VaultItem(Box<ItemLine>),
    Memory(MemoryLine),
    Context(Box<ContextLine>),
    Record(Box<RecordLine>),
    Run(Box<RunLine>),
    Handoff(Box<HandoffLine>),
    Item(Box<ItemLine>),
    Path(Box<PathLine>),
    End(End),
    Footer(Footer),
}

impl Line {
    /// The JSON member that identifies the kind.
    pub(super) fn name(&self) -> &'static str {
        self.into()
    }
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) vault_id: String,
}

/// The last line of a memory: what must have preceded it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) memory_id: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) sha256: String,
}

/// Number of lines of each kind in a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) contexts: u64,
    pub(super) records: u64,
    pub(super) runs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) handoffs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) items: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) paths: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            contexts,
            records,
            runs,
            handoffs,
            items,
            paths,
        } = self;
        write!(
            f,
            "{contexts} contexts, {records} records, {runs} runs, {handoffs} handoffs, {items} items and {paths} paths"
        )
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Footer {
    pub(super) memories: u64,
}
