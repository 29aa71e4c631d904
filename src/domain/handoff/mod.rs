//! Handoffs: a Markdown view of recent changes for whoever continues (DESIGN §7).
//!
//! The way of a handoff: [`Material::of`] takes what the database read at one moment and resolves each record that
//! changed in the [`Window`] to its current record or its replacement; [`compile`] makes lines of that by rules;
//! [`read_answer`] takes lines of a model instead, where they stand on what it was shown; [`render`] writes the eight
//! sections, and tells which line cites what; [`freshness`] judges later whether that is still so.
//!
//! Citations (see [`Citation`]) name a version in which the cited thing stands: of an active record the version of its
//! last change in the window, of an archived one the last version with it, of a section the version that was read.
//! Text of records, of the document, of models and of callers is quoted: one line, its signs made harmless.

mod answer;
mod citation;
mod compile;
mod freshness;
mod material;
mod preface;
mod quote;
mod render;
mod shown;
mod steps;
mod window;

pub use answer::{Answer, DropReason, Dropped, read_answer};
pub use citation::{Citation, NoCitation, Subject, citations_in};
pub use compile::compile;
pub use freshness::{Facts, Freshness, Reason, StaleLine, Status, freshness};
pub use material::{Entry, Material, Snapshot};
pub use preface::preface;
pub use quote::{one_line, quote};
pub use render::{Cited, CitedLine, Rendered, Workspace, render, tells_of};
pub use shown::shown;
pub use steps::Steps;
pub use window::{InvalidWindow, MAX_SECONDS, Window};

use std::collections::BTreeMap;

/// The sections of a handoff, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// What happened in few lines.
    Summary,
    /// Goal, blocker, work in progress and work left, as the document says.
    StartHere,
    /// Each record that changed, the newest change first.
    RecentChanges,
    /// The active records among them, and active replacements.
    CurrentContext,
    /// Those that ended, and what took their place.
    Replaced,
    /// What the document asks.
    OpenQuestions,
    /// The caller's folder.
    Workspace,
    /// Everything that is cited.
    Sources,
}

impl Part {
    /// All eight.
    pub const ALL: [Self; 8] = [
        Self::Summary,
        Self::StartHere,
        Self::RecentChanges,
        Self::CurrentContext,
        Self::Replaced,
        Self::OpenQuestions,
        Self::Workspace,
        Self::Sources,
    ];

    /// Those whose lines a model may write.
    pub const PROSE: [Self; 5] = [
        Self::Summary,
        Self::StartHere,
        Self::RecentChanges,
        Self::CurrentContext,
        Self::OpenQuestions,
    ];

    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::StartHere => "Start Here",
            Self::RecentChanges => "Recent Changes",
            Self::CurrentContext => "Current Context",
            Self::Replaced => "Recently Replaced / Archived",
            Self::OpenQuestions => "Open Questions",
            Self::Workspace => "Workspace Snapshot",
            Self::Sources => "Sources",
        }
    }

    /// Its name in manifests and in answers of models.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::StartHere => "start_here",
            Self::RecentChanges => "recent_changes",
            Self::CurrentContext => "current_context",
            Self::Replaced => "recently_replaced_archived",
            Self::OpenQuestions => "open_questions",
            Self::Workspace => "workspace_snapshot",
            Self::Sources => "sources",
        }
    }
}

/// How large a handoff may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Lines of one section (`handoff.section_lines`).
    pub section_lines: usize,
    /// Characters quoted in one line (`handoff.line_chars`).
    pub line_chars: usize,
}

/// One line of a section: safe Markdown without a line break, and what it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub text: String,
    /// At least one.
    pub citations: Vec<Citation>,
}

/// The lines of the sections, before they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// By section.
    pub lines: BTreeMap<Part, Vec<Line>>,
    /// How many more there would have been.
    pub left_out: BTreeMap<Part, usize>,
}

impl Draft {
    /// The lines of a section.
    #[must_use]
    pub fn of(&self, part: Part) -> &[Line] {
        self.lines.get(&part).map(Vec::as_slice).unwrap_or_default()
    }
}
