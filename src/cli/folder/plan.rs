//! Decides the step for each path of a folder that is kept equal to another side.
//!
//! Three states of a path are known: the last state that was equal on both sides (the base, stored beside the
//! files), the current file in the folder, and the current version on the service. They determine one step;
//! this module does not execute it. A step that was interrupted, before or after its effect, leads to the
//! same result when it is planned again: if both sides have changed they are compared, and equal content
//! becomes the base. So a text that the other side has not seen is never overwritten, whenever the program
//! stops.
//!
//! | base | folder | service | step |
//! |---|---|---|---|
//! | – | – | there | [`Step::Pull`] |
//! | – | there | – | [`Step::Push`] as new |
//! | – | there | there | [`Step::Compare`] |
//! | there | – | – | [`Step::Forget`] |
//! | there | – | as it was | [`Step::Unlink`] |
//! | there | – | changed | [`Step::Pull`]: a change outlives a deletion |
//! | there | as it was | – | [`Step::Remove`] |
//! | there | changed | – | [`Step::Push`] as new, likewise |
//! | there | as it was | as it was | [`Step::Nothing`] |
//! | there | changed | as it was | [`Step::Push`] |
//! | there | as it was | changed | [`Step::Pull`] |
//! | there | changed | changed | [`Step::Compare`] |
//!
//! Files in the folder that cannot be read as text are skipped: nothing is done at their paths.

use serde::{Deserialize, Serialize};

/// Number of deletions that is always allowed.
const FEW_DELETIONS: usize = 3;

/// The last state of a file that was equal on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Base {
    /// The version on the service: its context id.
    pub(in crate::cli) version: String,
    /// The SHA-256 of its text.
    pub(in crate::cli) sha256: String,
}

/// The state of a path in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Local {
    /// A text with this SHA-256.
    Text(String),
    /// Something else, which is not touched.
    Unusable,
}

/// The step for a path. Each is done only if both sides are still as they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Step {
    /// Both sides are unchanged.
    Nothing,
    /// Send the folder's text.
    Push,
    /// Fetch the service's text.
    Pull,
    /// Fetch the service's text: if it equals the folder's text nothing is done, otherwise both are kept.
    Compare,
    /// Delete the file on the service.
    Unlink,
    /// Delete the file in the folder.
    Remove,
    /// The file was deleted on both sides: forget its base.
    Forget,
}

/// Plans the step for a path, from the base, the folder and the service's version.
pub(in crate::cli) fn plan(base: Option<&Base>, local: Option<&Local>, remote: Option<&str>) -> Step {
    let local = match local {
        Some(Local::Unusable) => return Step::Nothing,
        Some(Local::Text(hash)) => Some(hash),
        None => None,
    };
    match (base, local, remote) {
        (None, None, None) => Step::Nothing,
        (None, None, Some(_)) => Step::Pull,
        (None, Some(_), None) => Step::Push,
        (None, Some(_), Some(_)) => Step::Compare,
        (Some(_), None, None) => Step::Forget,
        (Some(base), None, Some(remote)) if remote == base.version => Step::Unlink,
        (Some(_), None, Some(_)) => Step::Pull,
        (Some(base), Some(local), None) if *local == base.sha256 => Step::Remove,
        (Some(_), Some(_), None) => Step::Push,
        (Some(base), Some(local), Some(remote)) => match (*local == base.sha256, remote == base.version) {
            (true, true) => Step::Nothing,
            (false, true) => Step::Push,
            (true, false) => Step::Pull,
            (false, false) => Step::Compare,
        },
    }
}

/// Whether so many of the known files are to be deleted that it looks like a mistake, such as a folder that
/// is not mounted or a wrong service address.
pub(in crate::cli) fn deletes_too_much(deletions: usize, known: usize) -> bool {
    deletions > FEW_DELETIONS && deletions * 2 > known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_deletions_at_once_look_like_a_mistake() {
        assert!(!deletes_too_much(3, 3));
        assert!(deletes_too_much(4, 7));
        assert!(!deletes_too_much(4, 8));
    }
}
