//! The six sections the service maintains, and how a heading's title is matched to one of them.

use crate::domain::ids::RecordKind;
use strum::{EnumString, IntoStaticStr};

/// A section the service writes. Every other section is free: no operation changes a byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr)]
#[strum(ascii_case_insensitive)]
pub enum ManagedSection {
    /// What is done, being done and left to do; rewritten as a whole.
    #[strum(serialize = "progress")]
    CurrentProgress,
    /// KL records.
    #[strum(serialize = "learnings")]
    KeyLearnings,
    /// VC records.
    #[strum(serialize = "verbatim")]
    VerbatimContext,
    /// Goal and blocker; rewritten as a whole.
    #[strum(serialize = "status")]
    ActiveContext,
    /// T records, the newest first.
    #[strum(serialize = "tasks")]
    RecentTasks,
    /// D records, the newest first.
    #[strum(serialize = "decisions")]
    Decisions,
}

impl ManagedSection {
    /// All of them, in the order in which missing ones are appended to a document.
    pub const ALL: [Self; 6] = [
        Self::CurrentProgress,
        Self::KeyLearnings,
        Self::VerbatimContext,
        Self::ActiveContext,
        Self::RecentTasks,
        Self::Decisions,
    ];

    /// The title of the heading the service writes.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::CurrentProgress => "Current Progress",
            Self::KeyLearnings => "Key Learnings",
            Self::VerbatimContext => "Verbatim Context",
            Self::ActiveContext => "Active Context",
            Self::RecentTasks => "Recent Tasks",
            Self::Decisions => "Decisions",
        }
    }

    /// The section a title names: without regard to case, surrounding blanks, a closing run of `#` and a
    /// closing `:`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        Self::ALL
            .into_iter()
            .find(|section| section.title().eq_ignore_ascii_case(bare))
    }

    /// The short name used in queries (`?section=progress`).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The section of a short name, without regard to case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The kind of record it holds; the two sections that are rewritten as a whole hold none.
    #[must_use]
    pub fn record_kind(self) -> Option<RecordKind> {
        match self {
            Self::KeyLearnings => Some(RecordKind::Learning),
            Self::VerbatimContext => Some(RecordKind::Verbatim),
            Self::RecentTasks => Some(RecordKind::Task),
            Self::Decisions => Some(RecordKind::Decision),
            Self::CurrentProgress | Self::ActiveContext => None,
        }
    }

    /// The section that holds the records of a kind.
    #[must_use]
    pub fn of_records(kind: RecordKind) -> Self {
        match kind {
            RecordKind::Learning => Self::KeyLearnings,
            RecordKind::Verbatim => Self::VerbatimContext,
            RecordKind::Task => Self::RecentTasks,
            RecordKind::Decision => Self::Decisions,
        }
    }
}

/// A heading's text without surrounding blanks and a closing run of `#`. The run needs a blank before it, so
/// that `# C#` keeps its name.
pub(super) fn without_closing_run(heading: &str) -> &str {
    let title = heading.trim();
    let open = title.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        title
    }
}

/// What two titles are compared by, case aside.
pub(super) fn bare_title(title: &str) -> &str {
    let title = without_closing_run(title);
    title.strip_suffix(':').unwrap_or(title).trim_end()
}
