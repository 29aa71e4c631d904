//! `edit` with scripts as editors, and `init`.

use super::program::User;
use crate::harness::{Service, holds};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A user whose editor is a script: `$1` is the file.
async fn with_editor(script: &str) -> (Service, User) {
    let (service, user) = User::served().await;
    user.file("editor.sh", script);
    let user = user.with("EDITOR", "sh editor.sh");
    (service, user)
}

/// The texts that are saved in files.
fn kept(user: &User) -> Vec<String> {
    let folder = user.path().join("home/.working-memory/edits");
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0);
            fs::read_to_string(entry.path()).unwrap()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_edited_and_put() {
    let (_service, user) = with_editor("printf 'line\\n' >> \"$1\"").await;
    let first = user.done("edit").await;
    assert!(first.out.starts_with("version 1 ("), "{first:?}");
    let second = user.done("edit").await;
    assert!(second.out.starts_with("version 2 ("), "{second:?}");
    assert_eq!(user.done("get").await.out, "line\nline\n");
    assert_eq!(kept(&user), [""; 0]);
    user.file("editor.sh", "true");
    assert_eq!(user.done("edit").await.out, "unchanged\n");
    assert_eq!(kept(&user), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concurrent_change_is_shown_and_the_edited_text_is_saved_in_a_file() {
    let program = super::program::PROGRAM;
    let (_service, user) = with_editor(&format!(
        "printf 'theirs\\n' | {program} put >/dev/null; printf 'mine\\n' > \"$1\""
    ))
    .await;
    user.done_with("put", "base\n").await;
    let refused = user.ends(5, "edit").await;
    for what in [
        "\n-base\n",
        "\n+theirs\n",
        "nothing was saved",
        "--if-match ",
        "your text is kept in ",
    ] {
        assert!(refused.err.contains(what), "{what}: {refused:?}");
    }
    assert_eq!(user.done("get").await.out, "theirs\n");
    assert_eq!(kept(&user), ["mine\n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_rejected_is_saved_in_a_file() {
    let (_service, user) = with_editor("printf 'mine\\n' > \"$1\"; exit 3").await;
    user.done_with("put", "base\n").await;
    let failed = user.ends(1, "edit").await;
    assert!(failed.err.contains("your text is kept in "), "{failed:?}");
    assert_eq!(kept(&user), ["mine\n"]);
    user.file("editor.sh", ": > \"$1\"");
    let blank = user.ends(5, "edit").await;
    assert!(blank.err.contains("your text is kept in "), "{blank:?}");
    assert_eq!(user.done("get").await.out, "base\n");
    let without_service = User::of("http://127.0.0.1:9");
    let none = without_service.ends(2, "edit").await;
    assert!(none.err.contains("set EDITOR"), "{none:?}");
    without_service.with("EDITOR", "true").ends(3, "edit").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn init_writes_the_memory_of_a_folder() {
    let user = User::nobody();
    let git = user.command("git", &["init", "--quiet"]).output().await.unwrap();
    assert!(git.status.success());
    let done = user
        .done("init --vault acme --memory agent --url http://127.0.0.1:9")
        .await;
    holds(&done.out, &["memory agent of vault acme", "no git hook"]);
    let text = fs::read_to_string(user.path().join(".working-memory.toml")).unwrap();
    assert!(
        text.ends_with("url = \"http://127.0.0.1:9/\"\nvault = \"acme\"\nmemory = \"agent\"\n"),
        "{text}"
    );
    // The other commands read the file.
    let result = user.ends(3, "get").await;
    assert!(result.err.contains("http://127.0.0.1:9"), "{result:?}");
    let again = user.ends(2, "init").await;
    assert!(again.err.contains("--force"), "{again:?}");
    let hook = user.path().join(".git/hooks/post-commit");
    assert!(!hook.exists());
    let done = user.done("init --force --git-hook").await;
    assert!(done.out.contains("installed the git hook"), "{done:?}");
    assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o111, 0o111);
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    let done = user.done("init --force --git-hook").await;
    assert!(done.out.contains("is another hook and is unchanged"), "{done:?}");
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\n");
    user.ends(2, "init --force --vault ../x").await;
}
