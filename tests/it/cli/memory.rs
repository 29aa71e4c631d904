//! The common commands against a real service.

use super::program::User;
use crate::harness::has;
use serde_json::json;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_put_and_returned_byte_for_byte() {
    let (_service, user) = User::served().await;
    let user = user.with("WORKING_MEMORY_ACTOR", "me@desk");
    let text = "# Notes\r\n\ttabs \x1b[31mand all\u{202e}\n\nno end";
    user.file("notes.md", text);
    user.session("put notes.md → ^saved version 1 (").await;
    assert_eq!(user.done("get").await.out, text);
    let again = user.done_with("put -", text).await;
    assert!(again.out.starts_with("unchanged version 1 ("), "{again:?}");

    let head = user.done("get --json").await.json();
    has(&head, json!({"context": text, "actor_id": "me@desk"}));
    let id = head["context_id"].as_str().unwrap();
    user.session(&format!(r"put --if-match {id} < # Notes\nsecond\n"))
        .await;
    let stale = user.run_with(&["put", "--if-match", id], "third").await.is(5);
    assert!(stale.err.starts_with("working-memory: "), "{stale:?}");
    assert_eq!(stale.err.lines().count(), 1, "{stale:?}");
    assert_eq!(user.done("get --version 1").await.out, text);
    user.session(
        r"
        get --section Notes → second
        diff → \n+second\n
        diff 1 --base 2 → \n-second\n
        restore 1 → ^saved version 3 (
        log -n 2 → ^version 3  | \nversion 2  ⇒ --cursor",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_and_operations_report_applied_and_rejected_items() {
    let (_service, user) = User::served().await;
    user.file(
        "talk.jsonl",
        "{\"role\":\"user\",\"content\":\"It turned out that the pool was too small because of idle sessions.\"}\n",
    );
    let items =
        r"KEY_LEARNINGS:\n  ADD:\n    - because it was measured: small pools are fast\n    - no reason\n";
    let json = r#"{"operations": [{"op": "add", "section": "learnings", "reason": "it was said", "content": "as JSON"}]}"#;
    user.session(&format!(
        r#"
        update 'Fixed the pool. Next: measure it.' --messages talk.jsonl --dry-run → ^dry run: version 
        update 'Fixed the pool. Next: measure it.' --messages talk.jsonl → ^applied: version 1, before 0\n
        operations < {items} → rejected missing_reason in learnings:  |     - no reason
        9 operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-99: it is gone\n → rejected  ⇒ none of the items
        operations - < {json} → as JSON
        5 operations --on-invalid fail < {items} ⇒ \n  missing_reason: 
        records --kind kl →  because it was measured\n  small pools are fast\n
        sections → \nKey Learnings  | learnings\n
        records --status archived --json → {{"items": []}}"#
    ))
    .await;

    user.file("empty.jsonl", "{\"role\":\"user\"}\n");
    user.file("bad.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\r\n\n[]\n");
    user.session(
        "
        5 update x --messages empty.jsonl ⇒ messages[0]
        2 update x --messages bad.jsonl ⇒ bad.jsonl:  | at line 3",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memories_are_listed_and_searched() {
    let (_service, user) = User::served().await;
    user.session(
        r#"
        put < The parser & its <tests>
        put --memory other < nothing
        search parser --consistent → =agent version 1\n  The parser & its <tests>\n
        memories → ^MEMORY  VERSION  BYTES  CHANGED\nagent         1     24  2 | \nother         1      7  2
        4 get --memory nowhere ⇒ the memory does not exist (memory nowhere of vault acme)
        memories --prefix ot --json → {"items#": 1}"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_for_people_controls_no_terminal_through_a_pipe_either() {
    let (_service, user) = User::served().await;
    let text = "# Notes\n\x1b]0;title\x07\u{202e}\n";
    user.done_with("put", text).await;
    user.done_with("put", "# Notes\n").await;
    let operations = "KEY_LEARNINGS:\n  ADD:\n    - because of \x1b[2J: a \u{9b}31m fact\n";
    user.done_with("operations", operations).await;
    for command in ["log", "diff 2", "blame 1", "records", "search fact --consistent"] {
        let shown = user.done(command).await;
        let is_obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!shown.out.contains(is_obeyed), "{command}: {shown:?}");
    }
    user.session("diff 2 → -\\u001b]0;title").await;
    let raw = user.done("diff 2 --raw").await;
    assert!(raw.out.contains("-\x1b]0;title\x07\u{202e}\n"), "{raw:?}");
    // The commands that print one text as it is are for files and other programs.
    assert_eq!(user.done("get --version 1").await.out, text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_output_pipe_is_no_failure() {
    let (_service, user) = User::served().await;
    user.done_with("put", &"line\n".repeat(18_000)).await;
    let start = |command| {
        let mut command = user.command(super::program::PROGRAM, &[command]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut get = start("get");
    let mut out = BufReader::with_capacity(16, get.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).await.unwrap();
    drop(out);
    let ended = get.wait_with_output().await.unwrap();
    assert_eq!((line.as_str(), ended.status.code()), ("line\n", Some(0)));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
    // Longer than a pipe takes at once.
    let mut openapi = start("openapi");
    drop(openapi.stdout.take());
    let ended = openapi.wait_with_output().await.unwrap();
    assert_eq!((ended.status.code(), &ended.stderr[..]), (Some(0), &b""[..]));
}

#[tokio::test]
async fn items_are_added_and_removed_one_by_one_and_by_category() {
    let (service, user) = User::served().await;
    let add = "items add --category 'User notes' --file - --json --metadata";
    let with_metadata = format!("{add} '{{\"a\": [1]}}'");
    let first = user.done_with(&with_metadata, "Likes tea.\n").await.json();
    has(&first, json!({"category": "User notes", "/metadata/a/0": 1}));
    let id = first["item_id"].as_str().unwrap();
    let text = "# Notes\n".to_owned() + &"many words stand here\n".repeat(200);
    user.file("notes.md", &text);
    user.session(&format!(
        r"
        {add} {{}} < Likes tea.\n
        2 {add} [ < Likes tea.\n
        items remove {id} → =removed {id}\n
        items remove --category 'User notes' → =removed items: 1\n
        items put --category rules --file - < be\nbrief
        items put --category rules --file - < be\nbrief → =unchanged\n
        items list --category rules →  rules\n  be\n  brief\n$
        items list --category rules --vault-wide → =
        items remove --category rules
        2 items remove ..
        2 items remove
        2 items remove x --category y
        prompt → =
        put notes.md
        prompt --max-tokens 50 --exclude datetime ⇒ ^left out for --max-tokens: 
        delete --yes"
    ))
    .await;
    assert_eq!(service.count("prompt_items").await, 0);
}
