//! How far a piece of work is.

/// How far a piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Done,
    Doing,
    /// Said to be left, or planned.
    Open,
    /// Asked for by the user.
    Asked,
}
