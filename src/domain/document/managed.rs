//! The six sections that the service maintains, and the matching of heading titles to them.
//!
//! Authors title three of them in their own words: `# Progress`, `# Learnings`, `# Verbatim`. Such a section is the
//! managed one while the document has no section with the service's own title, so that it never gets a second,
//! contradicting section beside it.

use crate::domain::ids::RecordKind;
use strum::{EnumString, IntoStaticStr};

/// A section that the service writes. Every other section is free: no operation changes a byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr)]
#[strum(ascii_case_insensitive)]
pub enum ManagedSection {
    /// Work that is completed, in progress and remaining; always rewritten as a whole.
    #[strum(serialize = "progress")]
    CurrentProgress,
    /// KL records.
    #[strum(serialize = "learnings")]
    KeyLearnings,
    /// VC records.
    #[strum(serialize = "verbatim")]
    VerbatimContext,
    /// Goal and blocker; always rewritten as a whole.
    #[strum(serialize = "status")]
    ActiveContext,
    /// T records, newest first.
    #[strum(serialize = "tasks")]
    RecentTasks,
    /// D records, newest first.
    #[strum(serialize = "decisions")]
    Decisions,
}

impl ManagedSection {
    /// All sections, in the order in which missing ones are appended to a document.
    pub const ALL: [Self; 6] = [
        Self::CurrentProgress,
        Self::KeyLearnings,
        Self::VerbatimContext,
        Self::ActiveContext,
        Self::RecentTasks,
        Self::Decisions,
    ];

    /// The heading title that the service writes.
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

    /// Returns the section with this title. Ignores case, surrounding blanks, a closing run of `#` and a
    /// closing `:`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        Self::ALL
            .into_iter()
            .find(|section| section.title().eq_ignore_ascii_case(bare))
    }

    /// Returns the section that authors give this title in their own words; compared as [`Self::from_title`] does.
    pub(super) fn from_authors_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        let titles = [
            ("Progress", Self::CurrentProgress),
            ("Learnings", Self::KeyLearnings),
            ("Verbatim", Self::VerbatimContext),
        ];
        titles
            .into_iter()
            .find(|(title, _)| title.eq_ignore_ascii_case(bare))
            .map(|(_, section)| section)
    }

    /// The short name used in queries (`?section=progress`).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the section with this short name, ignoring case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The kind of record in the section; `None` for the two sections that are rewritten as a whole.
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

    /// Returns the section that contains records of a kind.
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

/// Strips surrounding blanks and a closing run of `#`. The run needs a blank before it, so `# C#` keeps its
/// name.
pub(super) fn without_closing_run(heading: &str) -> &str {
    let title = heading.trim();
    let open = title.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        title
    }
}

/// Normalises a title for comparison; the caller ignores case.
pub(super) fn bare_title(title: &str) -> &str {
    let title = without_closing_run(title);
    title.strip_suffix(':').unwrap_or(title).trim_end()
}
