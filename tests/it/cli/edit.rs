//! `edit` with scripts as editors, and `init`.

use super::program::User;
use crate::harness::Service;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use working_memory::config::limits::Guard;

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
    let entries = fs::read_dir(folder).into_iter().flatten().map(Result::unwrap);
    entries
        .map(|entry| {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0);
            fs::read_to_string(entry.path()).unwrap()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_edited_and_put() {
    // Ctrl-C while the editor runs goes to the program, too; the file is named after its process.
    let script = "program=${1##*-}; kill -INT ${program%.md}; printf 'line\\n' >> \"$1\"";
    let (_service, user) = with_editor(script).await;
    user.session(
        r"
        edit → ^saved version 1 (
        edit → ^saved version 2 (
        get → =line\nline\n",
    )
    .await;
    assert_eq!(kept(&user), [""; 0]);
    user.file("editor.sh", "true");
    assert_eq!(user.done("edit").await.out, "unchanged\n");
    assert_eq!(user.done("edit --json").await.json()["unchanged"], true);
    assert_eq!(kept(&user), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concurrent_change_is_named_and_the_edited_text_is_saved_in_a_file() {
    let program = super::program::PROGRAM;
    let script = format!("printf 'theirs\\n' | {program} put >/dev/null; printf 'mine\\n' > \"$1\"");
    let (_service, user) = with_editor(&script).await;
    user.done_with("put", "base\n").await;
    let said = "nothing was saved | working-memory diff  | --vault acme --memory agent --if-match  | your text is kept in ";
    user.session(&format!("5 edit ⇒ {said}\nget → =theirs\\n")).await;
    assert_eq!(kept(&user), ["mine\n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_rejected_is_saved_in_a_file() {
    let (_service, user) = with_editor("printf 'mine\\n' > \"$1\"; exit 3").await;
    user.done_with("put", "base\n").await;
    user.session("1 edit ⇒ your text is kept in").await;
    assert_eq!(kept(&user), ["mine\n"]);
    user.file("editor.sh", ": > \"$1\"");
    user.session("5 edit ⇒ your text is kept in\nget → =base\\n")
        .await;
    let without_service = User::of("http://127.0.0.1:9");
    without_service.session("2 edit ⇒ set EDITOR").await;
    without_service.with("EDITOR", "true").ends(3, "edit").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_drops_most_of_the_document_is_put_with_the_option_that_the_message_names() {
    let service = Service::configured(|config| config.guard.collapse = Guard::Reject).await;
    let user = User::of_service(&service);
    user.file("editor.sh", "printf 'mine\\n' > \"$1\"");
    let user = user.with("EDITOR", "sh editor.sh");
    user.done_with("put", &"line\n".repeat(20)).await;
    user.session(
        r"
        5 put < mine\n ⇒ or pass --confirm-collapse\n
        5 edit ⇒ or pass --confirm-collapse\n | your text is kept in
        5 api PUT /v1/vaults/{vault}/memories/{memory}/context --input editor.sh ⇒ ?confirm=collapse
        edit --confirm-collapse → ^saved version 2 (",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn init_writes_the_memory_of_a_folder() {
    let user = User::nobody();
    let git = user.command("git", &["init", "--quiet"]).output().await.unwrap();
    assert!(git.status.success());
    let init = "init --vault acme --memory agent --url http://127.0.0.1:9";
    user.session(&format!("{init} → memory agent of vault acme | no git hook"))
        .await;
    let text = fs::read_to_string(user.path().join(".working-memory.toml")).unwrap();
    let settings = "url = \"http://127.0.0.1:9/\"\nvault = \"acme\"\nmemory = \"agent\"\n";
    assert!(text.ends_with(settings), "{text}");
    // The other commands read the file.
    user.session("3 get ⇒ http://127.0.0.1:9\n2 init ⇒ --force").await;
    let hook = user.path().join(".git/hooks/post-commit");
    assert!(!hook.exists());
    // The file stays as it is; other options would change it.
    user.session("2 init --git-hook --memory other ⇒ --force\ninit --git-hook → ^installed the git hook")
        .await;
    let kept = fs::read_to_string(user.path().join(".working-memory.toml")).unwrap();
    assert_eq!(kept, text);
    let init = "init --force --git-hook";
    user.session(&format!("{init} → wrote | already installed")).await;
    assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o111, 0o111);
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    user.session(&format!("{init} → is another hook and is unchanged"))
        .await;
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\n");
    user.ends(2, "init --force --vault ../x").await;
    // The hook runs at the top, and would find another file.
    let below = format!(
        "mkdir s && cd s && {} init --git-hook --memory sub",
        super::program::PROGRAM
    );
    let done = user.command("sh", &["-c", &below]).output().await.unwrap();
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(!user.path().join("s/.working-memory.toml").exists());
}

#[tokio::test]
async fn a_file_that_a_killed_program_left_behind_stops_no_later_one() {
    let user = User::nobody();
    // In a container every program may have the same process number.
    let script = format!(
        "touch .working-memory.$$.part && exec {} init --vault acme --memory agent",
        super::program::PROGRAM
    );
    let done = user.command("sh", &["-c", &script]).output().await.unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(user.path().join(".working-memory.toml").exists());
}

#[tokio::test]
async fn init_writes_no_address_that_the_other_commands_would_refuse() {
    let user = User::nobody();
    for url in "ftp://127.0.0.1 x:\" http://u:p@127.0.0.1 http://127.0.0.1/?q".split(' ') {
        let init = ["init", "--vault", "acme", "--memory", "agent", "--url", url];
        user.run(&init).await.is(2);
        assert!(!user.path().join(".working-memory.toml").exists(), "{url}");
    }
}
