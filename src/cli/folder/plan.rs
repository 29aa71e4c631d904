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
//!
//! A folder may also only *follow*: nothing is sent, so that a file that is missing is written again, and one that somebody
//! changed is kept as a copy and replaced.

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

/// The step for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Step {
    /// Both sides are unchanged.
    Nothing,
    /// Send the folder's text, if the service still has version `expected`, or no file if that is `None`.
    Push {
        /// The version to replace.
        expected: Option<String>,
    },
    /// Fetch the service's text, if the folder still has a text with this hash, or no file if that is `None`.
    Pull {
        /// The SHA-256 of the text to replace.
        expected: Option<String>,
    },
    /// Fetch the service's text: if it equals the folder's text nothing is done, otherwise both are kept.
    Compare {
        /// The SHA-256 of the folder's text.
        local: String,
    },
    /// Delete the file on the service, if it still has this version.
    Unlink {
        /// The version.
        version: String,
    },
    /// Delete the file in the folder, if it still has a text with this hash.
    Remove {
        /// The SHA-256.
        expected: String,
    },
    /// The file was deleted on both sides: forget its base.
    Forget,
}

/// Plans the step for a path, from the base, the folder and the service's version.
pub(in crate::cli) fn plan(base: Option<&Base>, local: Option<&Local>, remote: Option<&str>) -> Step {
    let local = match local {
        Some(Local::Unusable) => return Step::Nothing,
        Some(Local::Text(hash)) => Some(hash.as_str()),
        None => None,
    };
    let Some(base) = base else {
        return match (local, remote) {
            (None, None) => Step::Nothing,
            (None, Some(_)) => Step::Pull { expected: None },
            (Some(_), None) => Step::Push { expected: None },
            (Some(local), Some(_)) => compare(local),
        };
    };
    match (local, remote) {
        (None, None) => Step::Forget,
        (None, Some(remote)) if remote == base.version => Step::Unlink {
            version: remote.to_owned(),
        },
        (None, Some(_)) => Step::Pull { expected: None },
        (Some(local), None) if local == base.sha256 => Step::Remove {
            expected: local.to_owned(),
        },
        (Some(_), None) => Step::Push { expected: None },
        (Some(local), Some(remote)) => match (local == base.sha256, remote == base.version) {
            (true, true) => Step::Nothing,
            (false, true) => Step::Push {
                expected: Some(remote.to_owned()),
            },
            (true, false) => Step::Pull {
                expected: Some(local.to_owned()),
            },
            (false, false) => compare(local),
        },
    }
}

fn compare(local: &str) -> Step {
    Step::Compare {
        local: local.to_owned(),
    }
}

/// As [`plan`], for a folder that only follows.
pub(in crate::cli) fn plan_following(
    base: Option<&Base>,
    local: Option<&Local>,
    remote: Option<&str>,
) -> Step {
    match (plan(base, local, remote), local) {
        (Step::Unlink { .. }, _) => Step::Pull { expected: None },
        (Step::Push { expected: Some(_) }, Some(Local::Text(local))) => compare(local),
        (step, _) => step,
    }
}

/// Whether so many of the known files are to be deleted that it looks like a mistake, such as a folder that
/// is not mounted or a wrong service address.
pub(in crate::cli) fn deletes_too_much<'s>(steps: impl Iterator<Item = &'s Step>, known: usize) -> bool {
    let deletions = steps
        .filter(|step| matches!(step, Step::Unlink { .. } | Step::Remove { .. }))
        .count();
    deletions > FEW_DELETIONS && deletions * 2 > known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(hash: &str) -> Local {
        Local::Text(hash.to_owned())
    }

    #[test]
    fn each_row_of_the_table() {
        let base = Base {
            version: "v1".to_owned(),
            sha256: "h1".to_owned(),
        };
        let (same, other) = (text("h1"), text("h2"));
        let push = |expected: Option<&str>| Step::Push {
            expected: expected.map(str::to_owned),
        };
        let pull = |expected: Option<&str>| Step::Pull {
            expected: expected.map(str::to_owned),
        };
        let known = Some(&base);
        for (base, local, remote, step) in [
            (None, None, None, Step::Nothing),
            (None, None, Some("v1"), pull(None)),
            (None, Some(&same), None, push(None)),
            (None, Some(&same), Some("v1"), compare("h1")),
            (known, None, None, Step::Forget),
            (
                known,
                None,
                Some("v1"),
                Step::Unlink {
                    version: "v1".to_owned(),
                },
            ),
            (known, None, Some("v2"), pull(None)),
            (
                known,
                Some(&same),
                None,
                Step::Remove {
                    expected: "h1".to_owned(),
                },
            ),
            (known, Some(&other), None, push(None)),
            (known, Some(&same), Some("v1"), Step::Nothing),
            (known, Some(&other), Some("v1"), push(Some("v1"))),
            (known, Some(&same), Some("v2"), pull(Some("h1"))),
            (known, Some(&other), Some("v2"), compare("h2")),
            (known, Some(&Local::Unusable), Some("v2"), Step::Nothing),
            (known, Some(&Local::Unusable), None, Step::Nothing),
        ] {
            assert_eq!(
                plan(base, local, remote),
                step,
                "{} {local:?} {remote:?}",
                base.is_some()
            );
        }
    }

    #[test]
    fn a_folder_that_follows_sends_nothing() {
        let base = Base {
            version: "v1".to_owned(),
            sha256: "h1".to_owned(),
        };
        let (same, other) = (text("h1"), text("h2"));
        let pull = Step::Pull { expected: None };
        for (local, remote, step) in [
            // It is written again.
            (None, Some("v1"), pull),
            // Somebody else's text is kept as a copy.
            (Some(&other), Some("v1"), compare("h2")),
            (Some(&other), Some("v2"), compare("h2")),
            (Some(&same), Some("v1"), Step::Nothing),
        ] {
            assert_eq!(
                plan_following(Some(&base), local, remote),
                step,
                "{local:?} {remote:?}"
            );
        }
        // What it was not told of is nothing that the other side takes: it refuses it.
        let refused = Step::Push { expected: None };
        assert_eq!(plan_following(Some(&base), Some(&other), None), refused);
    }

    #[test]
    fn many_deletions_at_once_look_like_a_mistake() {
        let remove = || Step::Remove {
            expected: String::new(),
        };
        let some = |count| std::iter::repeat_n(remove(), count).collect::<Vec<_>>();
        assert!(!deletes_too_much(some(3).iter(), 3));
        assert!(deletes_too_much(some(4).iter(), 7));
        assert!(!deletes_too_much(some(4).iter(), 8));
    }
}
