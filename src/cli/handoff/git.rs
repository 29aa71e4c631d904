//! The git state of the folder in which a handoff is refreshed.

use crate::domain::handoff::Workspace;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// The timeout of git; after that the handoff is refreshed without it.
const TIME: Duration = Duration::from_secs(2);

/// Parses `git status --porcelain=v2 --branch --no-renames -z`: branch, head and changed files.
fn read(output: &[u8]) -> Workspace {
    let mut workspace = Workspace::default();
    for entry in String::from_utf8_lossy(output).split('\0') {
        let (kind, rest) = entry.split_once(' ').unwrap_or_default();
        // How many fields stand before the path.
        let before = match kind {
            "#" => {
                if let Some(head) = rest.strip_prefix("branch.oid ") {
                    workspace.head = name(head, Workspace::MAX_HEAD_BYTES).filter(|head| head != "(initial)");
                } else if let Some(branch) = rest.strip_prefix("branch.head ") {
                    workspace.branch =
                        name(branch, Workspace::MAX_BRANCH_BYTES).filter(|branch| branch != "(detached)");
                }
                continue;
            }
            "1" => 7,
            "u" => 9,
            "?" => 0,
            _ => continue,
        };
        let path = rest.splitn(before + 1, ' ').nth(before);
        let path = path.and_then(|path| name(path, Workspace::MAX_PATH_BYTES));
        if workspace.dirty_files.len() < Workspace::MAX_FILES {
            workspace.dirty_files.extend(path);
        }
    }
    workspace
}

/// A name that the service takes; a longer one is omitted.
fn name(text: &str, most: usize) -> Option<String> {
    (!text.is_empty() && text.len() <= most).then(|| text.to_owned())
}

/// The git state of the current folder; `None` if there is no git, no repository, or no answer in time.
pub(super) async fn workspace() -> Option<Workspace> {
    let git = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args([
            "status",
            "--porcelain=v2",
            "--branch",
            "--no-renames",
            "-z",
            "--ignore-submodules=dirty",
        ])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(TIME, git).await.ok()?.ok()?;
    output.status.success().then(|| read(&output.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn branch_head_and_changed_files_are_read() {
        let output = b"# branch.oid abc123\0# branch.head main\0# branch.upstream origin/main\0\
            1 .M N... 100644 100644 100644 aa bb src/a file.rs\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both.rs\0? un tracked\0! ignored\0";
        let workspace = read(output);
        assert_eq!(workspace.branch.as_deref(), Some("main"));
        assert_eq!(workspace.head.as_deref(), Some("abc123"));
        assert_eq!(workspace.dirty_files, ["src/a file.rs", "both.rs", "un tracked"]);
    }

    #[test]
    fn what_is_not_there_is_none_and_files_are_bounded_in_number_and_length() {
        let workspace = read(b"# branch.oid (initial)\0# branch.head (detached)\0");
        assert_eq!(workspace, Workspace::default());
        let mut output = format!("? {}\0", "x".repeat(1_025)).into_bytes();
        output.extend("? f\0".repeat(600).bytes());
        assert_eq!(read(&output).dirty_files.len(), Workspace::MAX_FILES);
    }

    proptest! {
        #[test]
        fn whatever_git_says_is_read(output in prop::collection::vec(prop::sample::select(&b"\0 #12u?ab"[..]), 0..80)) {
            let _ = read(&output);
        }
    }
}
