//! The sections of a handoff.

use strum::IntoStaticStr;

/// The sections of a handoff, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Part {
    /// A short overview.
    Summary,
    /// Goal, blocker, work in progress and remaining work, from the document.
    StartHere,
    /// Each record that changed, latest change first.
    RecentChanges,
    /// The active records among them, and active replacements.
    CurrentContext,
    /// The archived records among them, and their replacements.
    #[strum(serialize = "recently_replaced_archived")]
    Replaced,
    /// Open questions in the document.
    OpenQuestions,
    /// The caller's working directory.
    #[strum(serialize = "workspace_snapshot")]
    Workspace,
    /// All cited subjects.
    Sources,
}

impl Part {
    /// All sections.
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

    /// The sections whose lines a model may write.
    pub const PROSE: [Self; 5] = [
        Self::Summary,
        Self::StartHere,
        Self::RecentChanges,
        Self::CurrentContext,
        Self::OpenQuestions,
    ];

    /// The heading.
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

    /// The name in manifests and in model answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
