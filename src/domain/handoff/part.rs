//! The sections of a handoff.

use strum::IntoStaticStr;

/// The sections of a handoff, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    #[strum(serialize = "recently_replaced_archived")]
    Replaced,
    /// What the document asks.
    OpenQuestions,
    /// The caller's folder.
    #[strum(serialize = "workspace_snapshot")]
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
        self.into()
    }
}
