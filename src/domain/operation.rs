//! Shared types of an update: sections that models write, operations, and faults (DESIGN §2).
//!
//! [`crate::domain::dsl`] parses them from text; [`crate::domain::memory`] validates and applies them.

use super::consolidation::Ground;
use super::document::{Expiry, Marks};
use super::evidence::Evidence;
use super::ids::{RecordId, RecordKind};
use super::text::masked;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// One of the three sections that `/update` maintains, and the role of the model that maintains it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr, VariantNames,
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

listed! {
    /// A section that is updated, and the model that updates it.
    Role as "Role";
}

impl Role {
    /// All roles, in the order in which their operations are applied.
    pub const ALL: [Self; 3] = [Self::Progress, Self::Learnings, Self::Verbatim];

    /// The name in configuration, requests and responses.
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

    /// The kind of record in the section; `Current Progress` contains none.
    #[must_use]
    pub fn record_kind(self) -> Option<RecordKind> {
        match self {
            Self::Progress => None,
            Self::Learnings => Some(RecordKind::Learning),
            Self::Verbatim => Some(RecordKind::Verbatim),
        }
    }

    /// The role that maintains records of a kind; `None` if no role does.
    #[must_use]
    pub fn of_records(kind: RecordKind) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|role| role.record_kind() == Some(kind))
    }
}

/// The three lists of `Current Progress`. Bullets are single lines without the leading dash.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Completed work.
    pub completed: Vec<String>,
    /// Work in progress; a valid progress has at least one bullet.
    pub in_progress: Vec<String>,
    /// Remaining work.
    pub remaining: Vec<String>,
}

impl Progress {
    /// The titles of the lists, in their order.
    pub(in crate::domain) const TITLES: [&'static str; 3] = ["Completed", "In Progress", "Remaining"];

    /// The lists with their titles.
    #[must_use]
    pub fn lists(&self) -> [(&'static str, &[String]); 3] {
        let [completed, in_progress, remaining] = Self::TITLES;
        [
            (completed, &self.completed),
            (in_progress, &self.in_progress),
            (remaining, &self.remaining),
        ]
    }

    /// All bullets, list by list.
    pub fn bullets(&self) -> impl Iterator<Item = &str> {
        self.lists()
            .into_iter()
            .flat_map(|(_, bullets)| bullets.iter().map(String::as_str))
    }

    /// The same lists with their bullets changed; those that become empty are left out.
    #[must_use]
    pub(in crate::domain) fn with_bullets(&self, change: impl Fn(&str) -> String) -> Self {
        let [completed, in_progress, remaining] = self.lists().map(|(_, bullets)| {
            let bullets = bullets.iter().map(|bullet| change(bullet));
            bullets.filter(|bullet| !bullet.is_empty()).collect()
        });
        Self {
            completed,
            in_progress,
            remaining,
        }
    }
}

/// One change of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// Replaces the body of `Current Progress`.
    RewriteProgress(Progress),
    /// Adds a record.
    Add(AddedRecord),
    /// Pins a record or lets it go, or gives it another end; what is absent stays as it is.
    Mark {
        /// Id of the record.
        id: RecordId,
        /// The reason.
        reason: String,
        /// Whether it is pinned from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        /// Until when it holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Expiry>,
    },
    /// Archives a record: removes it from the document.
    Archive {
        /// Id of the record.
        id: RecordId,
        /// The reason.
        reason: String,
        /// Why nothing is lost with it, if that is to be checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ground: Option<Ground>,
    },
}

/// A record to be added: a learning, or a snippet; or the text of a task or decision.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AddedRecord {
    /// The reason for keeping it.
    pub reason: String,
    /// What a snippet is, one line; `None` for a learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The insight, one line, or the snippet, byte for byte, without the end of its last line; of other kinds their text.
    pub content: String,
    /// The record it replaces, which is archived with a reference to the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<RecordId>,
    /// The learnings that are merged into a learning: they are archived with a reference to it, if it says all that they
    /// say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<RecordId>,
    /// Whether it is pinned, and until when it holds.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
}

impl AddedRecord {
    /// The kind of record: a snippet has a label.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        match self.label {
            Some(_) => RecordKind::Verbatim,
            None => RecordKind::Learning,
        }
    }
}

impl Operation {
    /// Adds a learning.
    pub fn learning(reason: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Add(AddedRecord {
            reason: reason.into(),
            content: content.into(),
            ..AddedRecord::default()
        })
    }

    /// Adds a snippet.
    pub fn snippet(reason: impl Into<String>, label: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Add(AddedRecord {
            reason: reason.into(),
            label: Some(label.into()),
            content: content.into(),
            ..AddedRecord::default()
        })
    }

    /// The record that it adds.
    #[must_use]
    pub fn addition(&self) -> Option<&AddedRecord> {
        match self {
            Self::Add(added) => Some(added),
            Self::RewriteProgress(_) | Self::Archive { .. } | Self::Mark { .. } => None,
        }
    }

    /// The section it changes. `None` for an archiving of a kind that no role maintains.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::RewriteProgress(_) => Some(Role::Progress),
            Self::Add(added) => Role::of_records(added.kind()),
            Self::Archive { id, .. } | Self::Mark { id, .. } => Role::of_records(id.kind),
        }
    }

    /// The record that an addition replaces.
    #[must_use]
    pub fn replaces(&self) -> Option<RecordId> {
        self.addition()?.replaces
    }

    /// The records that are merged into an addition.
    #[must_use]
    pub fn merges(&self) -> &[RecordId] {
        self.addition().map_or(&[], |added| &added.merges)
    }

    /// The kind of record that an addition adds.
    #[must_use]
    pub fn adds(&self) -> Option<RecordKind> {
        self.addition().map(AddedRecord::kind)
    }

    /// The record that it archives.
    #[must_use]
    pub fn archives(&self) -> Option<RecordId> {
        match self {
            Self::Archive { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// The records that it asks to archive: by name, or because it merges them.
    pub fn leaving(&self) -> impl Iterator<Item = RecordId> {
        self.archives().into_iter().chain(self.merges().iter().copied())
    }

    /// Whether it archives a record, by name or because it takes its place.
    #[must_use]
    pub fn removes(&self) -> bool {
        self.leaving().chain(self.replaces()).next().is_some()
    }

    /// Whether it is checked that nothing is lost with it: an archiving on a ground, or a merge.
    #[must_use]
    pub fn is_grounded(&self) -> bool {
        matches!(self, Self::Archive { ground: Some(_), .. }) || !self.merges().is_empty()
    }

    /// The record that it archives or marks.
    #[must_use]
    pub fn names(&self) -> Option<RecordId> {
        match self {
            Self::Archive { id, .. } | Self::Mark { id, .. } => Some(*id),
            Self::RewriteProgress(_) | Self::Add(_) => None,
        }
    }

    /// Sets the record that an addition replaces; does nothing for other operations.
    pub fn set_replaced(&mut self, id: Option<RecordId>) {
        if let Self::Add(added) = self {
            added.replaces = id;
        }
    }
}

/// An operation, where its item is in the input, how it was written there, and what supports it. A proposal stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The operation.
    #[serde(flatten)]
    pub operation: Operation,
    /// Byte range of the whole item in the input.
    #[serde(skip)]
    pub range: Range<usize>,
    /// The item as it was written; the parsers leave it empty.
    #[serde(flatten)]
    pub written: WrittenItem,
    /// The evidence from the input; only for items of a model's answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

impl Item {
    /// An item of which only the operation and the place are known.
    #[must_use]
    pub fn new(operation: Operation, range: Range<usize>) -> Self {
        Self {
            operation,
            range,
            written: WrittenItem::default(),
            evidence: Vec::new(),
        }
    }
}

/// An item as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WrittenItem {
    /// Its text.
    pub text: String,
    /// Its position in the list of operations; `None` for operations sent as text.
    #[serde(skip)]
    pub index: Option<usize>,
}

impl WrittenItem {
    /// The item without credentials.
    #[must_use]
    pub fn masked(mut self) -> Self {
        if let Cow::Owned(text) = masked(&self.text) {
            self.text = text;
        }
        self
    }
}

impl From<&str> for WrittenItem {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            index: None,
        }
    }
}

/// The kinds of faults in an item or a text. The order is that of the table in the design: an item with
/// several faults is reported with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FaultKind {
    /// No `because`, or no reason after it.
    MissingReason,
    /// Nothing after the reason.
    EmptyContent,
    /// A verbatim item without `=>`, or with nothing before it.
    MissingLabel,
    /// Not `KL-` or `VC-` and a number of at least 1 without leading zeros.
    MalformedId,
    /// A mark that is not one of `pinned`, `unpinned`, `until` and a date, a time or `never`; or none at all.
    MalformedMark,
    /// An id of another section.
    WrongSectionId,
    /// An id that never existed in this memory.
    UnknownId,
    /// Progress bullets, but none in `In Progress`.
    MissingInProgress,
    /// A line in the form of a header that is not a known one.
    UnknownHeader,
    /// A template placeholder returned instead of content.
    Placeholder,
    /// The model stopped at its token limit.
    Truncated,
    /// No known header in the text.
    NoSection,
    /// The record was already archived.
    AlreadyArchived,
    /// A record that is pinned, or marks, where a model decides: only people and agents pin records and let them go.
    Protected,
    /// An archiving or a merge on a ground that does not hold: what stays does not say all that goes.
    Uncovered,
    /// An example of the instructions returned as content.
    Example,
    /// A snippet with a line that the input does not contain.
    NotVerbatim,
    /// An insight or bullet that shares too few words with the input.
    Ungrounded,
    /// An archiving that neither the input nor the answer calls for.
    UncalledArchive,
    /// More archivings than allowed for a section's answer.
    TooManyArchives,
    /// A credential.
    Secret,
    /// Equal to an active record or to an earlier item.
    Duplicate,
    /// More additions than allowed for a section.
    TooManyAdditions,
    /// An insight or snippet that exceeds the item limit.
    TooLarge,
    /// An insight of several lines, joined into one.
    MultiLineInsight,
    /// A code fence that never closes.
    UnclosedFence,
}

impl FaultKind {
    /// The stable name used in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is only a warning; other faults reject their item.
    #[must_use]
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::Truncated | Self::NoSection | Self::MultiLineInsight | Self::UnclosedFence
        )
    }

    /// Whether it causes a repair request to the model, and an error with `on_invalid=fail`.
    #[must_use]
    pub fn causes_repair(self) -> bool {
        self <= Self::NoSection || (Self::Uncovered..=Self::TooManyArchives).contains(&self)
    }
}

/// A fault in a text, with its position, so that the author can correct it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The section it is in, if any.
    pub section: Option<Role>,
    /// The id in an `ARCHIVE` item, if it was readable.
    pub id: Option<RecordId>,
    /// Byte range in the input.
    pub range: Range<usize>,
    /// A sentence that says what is wrong and how to correct it.
    pub detail: String,
    /// The item that contains it, as it was written; the parsers leave it empty.
    pub written: WrittenItem,
    /// A notice only: it rejects nothing, although faults of its kind do.
    pub is_notice: bool,
}

impl Fault {
    /// A fault whose place is not known yet.
    #[must_use]
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            section: None,
            id: None,
            range: 0..0,
            detail: detail.into(),
            written: WrittenItem::default(),
            is_notice: false,
        }
    }

    /// The same about an item.
    #[must_use]
    pub fn of_item(self, item: &Item) -> Self {
        Self {
            written: item.written.clone(),
            ..self
                .of(item.operation.names())
                .at(item.operation.role(), item.range.clone())
        }
    }

    /// Whether it rejects nothing.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        self.is_notice || self.kind.is_warning()
    }

    /// Whether the author of the text is asked to repair it.
    #[must_use]
    pub fn needs_repair(&self) -> bool {
        !self.is_notice && self.kind.causes_repair()
    }

    /// The addition that its text was to be, if it concerns no record that exists: it is not stored, so what it was to replace
    /// stays.
    #[must_use]
    pub fn lost_addition(&self) -> Option<Operation> {
        use FaultKind::{
            EmptyContent, MissingLabel, MissingReason, Placeholder, TooLarge, Truncated, UnknownHeader,
        };
        let is_of_text = matches!(
            self.kind,
            MissingReason | EmptyContent | MissingLabel | UnknownHeader | Placeholder | Truncated | TooLarge
        );
        let kind = self.section?.record_kind()?;
        (is_of_text && self.id.is_none()).then(|| {
            Operation::Add(AddedRecord {
                label: (kind == RecordKind::Verbatim).then(String::new),
                content: self.written.text.clone(),
                ..AddedRecord::default()
            })
        })
    }

    /// The same about a record, if it is known.
    #[must_use]
    pub fn of(self, id: impl Into<Option<RecordId>>) -> Self {
        Self {
            id: id.into(),
            ..self
        }
    }

    /// The same at a place.
    #[must_use]
    pub fn at(self, section: Option<Role>, range: Range<usize>) -> Self {
        Self {
            section,
            range,
            ..self
        }
    }
}
