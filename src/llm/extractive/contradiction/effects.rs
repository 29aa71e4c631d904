//! The effects that a statement can have on records.

/// The effects that a statement can have on records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effects {
    /// It states the present: from the user, or from the assistant as news.
    pub(super) asserts: bool,
    /// It states that something does not hold any more, or changed.
    pub(super) changes: bool,
    /// The assistant states a value from a tool output or from the user.
    pub(super) is_seen: bool,
    /// It adds something without replacing anything.
    pub(super) adds: bool,
    /// It refutes an assumption.
    pub(super) refutes: bool,
    /// It gives the cause of something.
    pub(super) explains: bool,
    /// It reports that something is finished.
    pub(super) ends: bool,
}
