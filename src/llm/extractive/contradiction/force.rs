//! What a statement can do to a record.

/// What a statement can do to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Force {
    /// It tells what is so now: by the user, or by the assistant as something new.
    pub(super) asserts: bool,
    /// It tells what is no longer so, or that something changed.
    pub(super) changes: bool,
    /// The assistant tells a value that a tool showed, or the user told.
    pub(super) is_seen: bool,
    /// It tells something in addition.
    pub(super) adds: bool,
    /// It refutes what was supposed.
    pub(super) refutes: bool,
    /// It gives the cause of something.
    pub(super) explains: bool,
    /// It reports that something is done.
    pub(super) ends: bool,
}
