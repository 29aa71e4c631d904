//! Two-way synchronisation of a folder with a root of the memory tool: decides the step for each path.
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

use crate::cli::folder::swap::MAX_NAME_BYTES;
use crate::domain::memory_files::FilePath;
use serde::{Deserialize, Serialize};

/// The root of the paths on the service.
const ROOT: &str = "/memories/";

/// Number of deletions that is always allowed.
const FEW_DELETIONS: usize = 3;

/// The last state of a file that was equal on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    /// The version on the service: its context id.
    pub(super) version: String,
    /// The SHA-256 of its text.
    pub(super) sha256: String,
}

/// The state of a path in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Local {
    /// A text with this SHA-256.
    Text(String),
    /// Something else, which is not touched.
    Unusable,
}

/// The step for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
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
pub(super) fn plan(base: Option<&Base>, local: Option<&Local>, remote: Option<&str>) -> Step {
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

/// Whether so many of the known files are to be deleted that it looks like a mistake, such as a folder that
/// is not mounted or a wrong service address.
pub(super) fn deletes_too_much<'s>(steps: impl Iterator<Item = &'s Step>, known: usize) -> bool {
    let deletions = steps
        .filter(|step| matches!(step, Step::Unlink { .. } | Step::Remove { .. }))
        .count();
    deletions > FEW_DELETIONS && deletions * 2 > known
}

/// The path on the service of a file with this path below the folder.
///
/// # Errors
///
/// The service would reject the path or spell it differently, or the name is reserved.
pub(super) fn path_on_service(relative: &str) -> Result<FilePath, String> {
    let whole = format!("{ROOT}{relative}");
    let path = FilePath::parse(&whole).map_err(|refusal| refusal.to_string())?;
    if path.as_str() != whole {
        return Err("its name is not spelt in NFC; rename it".to_owned());
    }
    check_names(relative).map(|()| path)
}

/// The path below the folder of a file on the service. The service is not trusted: a path cannot leave the
/// folder or be hidden.
///
/// # Errors
///
/// Why the path is not allowed.
pub(super) fn path_in_folder(path: &str) -> Result<String, String> {
    let parsed = FilePath::parse(path).map_err(|refusal| refusal.to_string())?;
    let relative = path
        .strip_prefix(ROOT)
        .filter(|relative| !relative.is_empty() && parsed.as_str() == path)
        .ok_or("it is not a path below /memories")?;
    check_names(relative).map(|()| relative.to_owned())
}

fn check_names(relative: &str) -> Result<(), String> {
    for name in relative.split('/') {
        if name.starts_with('.') {
            return Err("hidden files and folders are left alone".to_owned());
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(format!("a name in its path is over {MAX_NAME_BYTES} bytes"));
        }
    }
    Ok(())
}

/// Whether a file is synchronised: Markdown only, or any file with `all`.
pub(super) fn is_wanted(relative: &str, all: bool) -> bool {
    let extension = relative.rsplit_once('.').map(|(_, extension)| extension);
    all || extension.is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::folder::swap::conflict_paths;

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
    fn paths_stay_in_the_folder_and_are_the_same_on_both_sides() {
        for relative in ["a.md", "notes/tea ü 漢.md", "x/y/z.txt"] {
            let path = path_on_service(relative).unwrap();
            assert_eq!(path_in_folder(path.as_str()).unwrap(), relative);
        }
        let long = format!("{}.md", "ä".repeat(78));
        for copy in conflict_paths(&long, "0123456789abcdef").take(9) {
            assert!(path_on_service(&copy).is_ok(), "{copy}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "/memories",
            "/memories/",
            "/memories/../x.md",
            "/memories/a//b.md",
            "/memories/a/",
            "/memories/.ssh/id.md",
            "/memories/a\\b.md",
            "/memories/a\nb.md",
            "/memories/%2e%2e/x.md",
            "/memoriesx/a.md",
            "/memories/u\u{308}.md",
        ] {
            assert!(path_in_folder(bad).is_err(), "{bad:?}");
        }
        for bad in [
            "u\u{308}.md",
            ".a.md",
            "a/.b/c.md",
            "a\\b.md",
            "",
            &"x".repeat(161),
        ] {
            assert!(path_on_service(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn markdown_is_wanted_and_with_all_everything() {
        assert!(is_wanted("n/a.md", false) && is_wanted("A.MD", false) && is_wanted("a.xml", true));
        assert!(!is_wanted("a.xml", false) && !is_wanted("md", false) && !is_wanted("a.md/x", false));
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
