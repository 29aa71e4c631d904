//! The shared vocabulary of an update: sections a model writes, operations, and faults (DESIGN §2).
//!
//! [`crate::domain::dsl`] makes these from text, [`crate::domain::memory`] validates and applies them.

use super::ids::{RecordId, RecordKind};
use std::ops::Range;
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// One of the three sections that `/update` maintains, and the role of the model that maintains it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// `Current Progress`, rewritten as a whole.
    Progress,
    /// `Key Learnings`, changed record by record.
    Learnings,
    /// `Verbatim Context`, changed record by record.
    Verbatim,
}

impl Role {
    /// All roles, in the order in which their operations are applied.
    pub const ALL: [Self; 3] = [Self::Progress, Self::Learnings, Self::Verbatim];

    /// The name used in configuration, requests and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The header that opens this section in the DSL, without its colon.
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Self::Progress => "CURRENT_PROGRESS",
            Self::Learnings => "KEY_LEARNINGS",
            Self::Verbatim => "VERBATIM_CONTEXT",
        }
    }

    /// The kind of record the section holds; `Current Progress` holds none.
    #[must_use]
    pub fn record_kind(self) -> Option<RecordKind> {
        match self {
            Self::Progress => None,
            Self::Learnings => Some(RecordKind::Learning),
            Self::Verbatim => Some(RecordKind::Verbatim),
        }
    }
}

/// The three lists of `Current Progress`. Bullets are single lines without the leading dash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// What is done.
    pub completed: Vec<String>,
    /// What is being done; a valid progress has at least one.
    pub in_progress: Vec<String>,
    /// What is left to do.
    pub remaining: Vec<String>,
}

impl Progress {
    /// All bullets, list by list.
    pub(in crate::domain) fn bullets(&self) -> impl Iterator<Item = &str> {
        [&self.completed, &self.in_progress, &self.remaining]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}

/// One change of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Replaces the body of `Current Progress`.
    RewriteProgress(Progress),
    /// Adds a KL record.
    AddLearning {
        /// Why it is worth keeping.
        reason: String,
        /// The insight, one line.
        content: String,
        /// The record whose place it takes: it is archived with it, and names it.
        replaces: Option<RecordId>,
    },
    /// Adds a VC record.
    AddVerbatim {
        /// Why it is worth keeping.
        reason: String,
        /// What the snippet is, one line.
        label: String,
        /// The snippet, byte for byte, without the end of its last line.
        snippet: String,
        /// The record whose place it takes: it is archived with it, and names it.
        replaces: Option<RecordId>,
    },
    /// Takes a record out of the document; it stays in the archive.
    Archive {
        /// Which record.
        id: RecordId,
        /// Why.
        reason: String,
    },
}

impl Operation {
    /// The section it changes. An archived record of a kind no role maintains has none.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::RewriteProgress(_) => Some(Role::Progress),
            Self::AddLearning { .. } => Some(Role::Learnings),
            Self::AddVerbatim { .. } => Some(Role::Verbatim),
            Self::Archive { id, .. } => Role::ALL
                .into_iter()
                .find(|role| role.record_kind() == Some(id.kind)),
        }
    }

    /// The record whose place an addition takes.
    #[must_use]
    pub fn replaces(&self) -> Option<RecordId> {
        match self {
            Self::AddLearning { replaces, .. } | Self::AddVerbatim { replaces, .. } => *replaces,
            Self::RewriteProgress(_) | Self::Archive { .. } => None,
        }
    }

    /// Takes the place of a record, if it is an addition.
    pub fn replace(&mut self, id: RecordId) {
        if let Self::AddLearning { replaces, .. } | Self::AddVerbatim { replaces, .. } = self {
            *replaces = Some(id);
        }
    }

    /// Takes no record's place any more.
    pub fn replace_nothing(&mut self) {
        if let Self::AddLearning { replaces, .. } | Self::AddVerbatim { replaces, .. } = self {
            *replaces = None;
        }
    }
}

/// An operation and where its item stands in the text it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What to do.
    pub operation: Operation,
    /// Byte range of the whole item in the input.
    pub range: Range<usize>,
}

/// What can be wrong with an item or a text. The order is the order of the design's table: an item with
/// several faults is reported with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum FaultKind {
    /// No `because`, or no reason behind it.
    MissingReason,
    /// Nothing behind the reason.
    EmptyContent,
    /// A verbatim item without `=>`, or with nothing before it.
    MissingLabel,
    /// Not `KL-` or `VC-` and a number of at least 1 without leading zeros.
    MalformedId,
    /// An id of another section.
    WrongSectionId,
    /// An id that never existed in this memory.
    UnknownId,
    /// Progress bullets, but none in `In Progress`.
    MissingInProgress,
    /// A line in the form of a header that is none.
    UnknownHeader,
    /// The template given back instead of content.
    Placeholder,
    /// The model stopped at its token limit.
    Truncated,
    /// No known header in the text.
    NoSection,
    /// The record was archived before.
    AlreadyArchived,
    /// An example of the instructions given back.
    Example,
    /// A snippet with a line that the input does not hold.
    NotVerbatim,
    /// An insight or bullet that shares too few words with the input.
    Ungrounded,
    /// An archiving that nothing of the input or the answer calls for.
    UncalledArchive,
    /// More archivings than a section's answer may have.
    TooManyArchives,
    /// A credential.
    Secret,
    /// Equal to an active record or to an earlier item.
    Duplicate,
    /// Beyond the number of additions a section takes at once.
    TooManyAdditions,
    /// An insight or snippet over the item limit.
    TooLarge,
    /// An insight over several lines, folded into one.
    MultiLineInsight,
    /// A code fence that never closes.
    UnclosedFence,
}

impl FaultKind {
    /// The stable name used in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Warnings are told; everything else rejects its item.
    #[must_use]
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::Truncated | Self::NoSection | Self::MultiLineInsight | Self::UnclosedFence
        )
    }

    /// Whether the model is asked again because of it, and `on_invalid=fail` fails on it.
    #[must_use]
    pub fn is_asked_again(self) -> bool {
        self <= Self::NoSection || (Self::Example..=Self::TooManyArchives).contains(&self)
    }
}

/// Something wrong with a text, told with its place so that whoever wrote it can mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// The section it stands in, where there is one.
    pub section: Option<Role>,
    /// The record an `ARCHIVE` item names, where it was readable.
    pub id: Option<RecordId>,
    /// Byte range in the input.
    pub range: Range<usize>,
    /// A sentence that says what is wrong and what would be right.
    pub detail: String,
}
