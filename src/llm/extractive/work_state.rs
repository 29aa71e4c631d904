//! The state of a piece of work.

/// The state of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Done,
    Doing,
    /// Reported as remaining, or planned.
    Open,
    /// Requested by the user.
    Asked,
}
