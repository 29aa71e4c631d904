//! The sections of a handoff.

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
