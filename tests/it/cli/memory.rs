//! The common commands against a real service.

use super::program::User;
use crate::harness::holds;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_put_and_returned_byte_for_byte() {
    let (_service, user) = User::served().await;
    let user = user.with("WORKING_MEMORY_ACTOR", "me@desk");
    let text = "# Notes\r\n\ttabs \x1b[31mand all\u{202e}\n\nno end";
    user.file("notes.md", text);
    let put = user.done("put notes.md").await;
    assert!(put.out.starts_with("version 1 ("), "{put:?}");
    assert_eq!(user.done("get").await.out, text);
    let again = user.done_with("put -", text).await;
    assert!(again.out.starts_with("version 1, unchanged"), "{again:?}");

    let head = user.done("get --json").await.json();
    assert_eq!(
        (&head["context"], &head["actor_id"]),
        (&text.into(), &"me@desk".into())
    );
    let id = head["context_id"].as_str().unwrap();
    user.run_with(&["put", "--if-match", id], "# Notes\nsecond\n")
        .await
        .is(0);
    let stale = user.run_with(&["put", "--if-match", id], "third").await.is(5);
    assert!(stale.err.starts_with("working-memory: "), "{stale:?}");
    assert_eq!(stale.err.lines().count(), 1, "{stale:?}");
    assert_eq!(user.done("get --version 1").await.out, text);
    let section = user.done("get --section Notes").await;
    assert!(section.out.contains("second"), "{section:?}");
    let diff = user.done("diff").await;
    assert!(diff.out.contains("\n+second\n"), "{diff:?}");
    let diff = user.done("diff 1 --base 2").await;
    assert!(diff.out.contains("\n-second\n"), "{diff:?}");
    let restored = user.done("restore 1").await;
    assert!(restored.out.starts_with("version 3 ("), "{restored:?}");
    let log = user.done("log -n 2").await;
    assert!(
        log.out.starts_with("version 3 ") && log.out.contains("\nversion 2 "),
        "{log:?}"
    );
    assert!(log.err.contains("--cursor"), "{log:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_and_operations_report_applied_and_rejected_items() {
    let (_service, user) = User::served().await;
    user.file(
        "talk.jsonl",
        "{\"role\":\"user\",\"content\":\"It turned out that the pool was too small because of idle sessions.\"}\n",
    );
    let task = "Fixed the pool. Next: measure it.";
    let tried = user
        .run(&["update", task, "--messages", "talk.jsonl", "--dry-run"])
        .await
        .is(0);
    assert!(tried.out.starts_with("dry run: version "), "{tried:?}");
    let done = user
        .run(&["update", task, "--messages", "talk.jsonl"])
        .await
        .is(0);
    assert!(done.out.starts_with("applied: version 1, before 0\n"), "{done:?}");

    let operations =
        "KEY_LEARNINGS:\n  ADD:\n    - because it was measured: small pools are fast\n    - no reason\n";
    let done = user.done_with("operations", operations).await;
    holds(&done.out, &["rejected missing_reason in learnings: "]);
    assert!(done.out.contains("    - no reason"), "{done:?}");
    let none = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-99: it is gone\n";
    let none = user.run_with(&["operations"], none).await.is(9);
    assert!(
        none.out.contains("rejected ") && none.err.contains("none of the items"),
        "{none:?}"
    );
    let json = "{\"operations\": [{\"op\": \"add\", \"section\": \"learnings\", \"reason\": \"it was said\", \"content\": \"as JSON\"}]}";
    let done = user.done_with("operations -", json).await;
    assert!(done.out.contains("as JSON"), "{done:?}");
    let refused = user
        .run_with(&["operations", "--on-invalid", "fail"], operations)
        .await
        .is(5);
    assert!(refused.err.contains("\n  missing_reason: "), "{refused:?}");
    let records = user.done("records --kind kl").await;
    holds(
        &records.out,
        &[" because it was measured: small pools are fast\n"],
    );
    let sections = user.done("sections").await;
    holds(&sections.out, &["Key Learnings", "managed: learnings"]);
    let archived = user.done("records --status archived --json").await.json();
    assert_eq!(archived["items"], serde_json::json!([]));

    user.file("bad.jsonl", "{\"role\":\"user\"}\n");
    let wrong = user.ends(5, "update x --messages bad.jsonl").await;
    assert!(wrong.err.contains("messages[0]"), "{wrong:?}");
    user.file("bad.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\r\n\n[]\n");
    let wrong = user.ends(2, "update x --messages bad.jsonl").await;
    holds(&wrong.err, &["bad.jsonl: ", "at line 3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memories_are_listed_and_searched() {
    let (_service, user) = User::served().await;
    user.done_with("put", "The parser & its <tests>").await;
    user.done_with("put --memory other", "nothing").await;
    let found = user.done("search parser --consistent").await;
    assert_eq!(found.out, "agent version 1\n  The parser & its <tests>\n");
    let listed = user.done("memories").await;
    assert!(
        listed
            .out
            .starts_with("MEMORY  VERSION  BYTES  CHANGED\nagent         1     24  2")
            && listed.out.contains("\nother         1      7  2"),
        "{listed:?}"
    );
    let some = user.done("memories --prefix ot --json").await.json();
    assert_eq!(some["items"].as_array().unwrap().len(), 1);
    let none = user.ends(4, "get --memory nowhere").await;
    holds(
        &none.err,
        &["the memory does not exist (memory nowhere of vault acme)"],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_for_people_controls_no_terminal_through_a_pipe_either() {
    let (_service, user) = User::served().await;
    let text = "# Notes\n\x1b]0;title\x07\u{202e}\n";
    user.done_with("put", text).await;
    user.done_with("put", "# Notes\n").await;
    let operations = "KEY_LEARNINGS:\n  ADD:\n    - because of \x1b[2J: a \u{9b}31m fact\n";
    user.done_with("operations", operations).await;
    for arguments in [
        &["log"][..],
        &["diff", "2"],
        &["blame", "1"],
        &["records"],
        &["search", "fact", "--consistent"],
    ] {
        let shown = user.run(arguments).await.is(0);
        let is_obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!shown.out.contains(is_obeyed), "{arguments:?}: {shown:?}");
    }
    let diff = user.done("diff 2").await;
    assert!(diff.out.contains("-\\u001b]0;title"), "{diff:?}");
    let raw = user.done("diff 2 --raw").await;
    assert!(raw.out.contains("-\x1b]0;title\x07\u{202e}\n"), "{raw:?}");
    // The commands that print one text as it is are for files and other programs.
    assert_eq!(user.done("get --version 1").await.out, text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_output_pipe_is_no_failure() {
    let (_service, user) = User::served().await;
    user.done_with("put", &"line\n".repeat(18_000)).await;
    let mut get = user
        .command(super::program::PROGRAM, &["get"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::with_capacity(16, get.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).await.unwrap();
    drop(out);
    let ended = get.wait_with_output().await.unwrap();
    assert_eq!((line.as_str(), ended.status.code()), ("line\n", Some(0)));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

#[tokio::test]
async fn items_are_added_and_removed_one_by_one_and_by_category() {
    let (service, user) = User::served().await;
    let add = |metadata: &'static str| {
        let user = &user;
        async move {
            let arguments = [
                "items",
                "add",
                "--category",
                "User notes",
                "--file",
                "-",
                "--metadata",
                metadata,
                "--json",
            ];
            user.run_with(&arguments, "Likes tea.\n").await
        }
    };
    let first = add("{\"a\": [1]}").await.is(0).json();
    assert_eq!(
        (&first["category"], &first["metadata"]["a"][0]),
        (&"User notes".into(), &1.into())
    );
    add("{}").await.is(0);
    add("[").await.is(2);
    let id = first["item_id"].as_str().unwrap();
    let removed = user.run(&["items", "remove", id]).await.is(0);
    assert_eq!(removed.out, format!("removed {id}\n"));
    let removed = user
        .run(&["items", "remove", "--category", "User notes"])
        .await
        .is(0);
    assert_eq!(removed.out, "removed 1 of User notes\n");
    let put = ["items", "put", "--category", "rules", "--file", "-"];
    user.run_with(&put, "be\nbrief").await.is(0);
    let again = user.run_with(&put, "be\nbrief").await.is(0);
    assert_eq!(again.out, "rules unchanged\n");
    let list = ["items", "list", "--category", "rules"];
    let listed = user.run(&list).await.is(0);
    assert!(listed.out.ends_with(" rules: be brief\n"), "{listed:?}");
    let of_vault = user.run(&[&list[..], &["--vault-wide"]].concat()).await.is(0);
    assert_eq!(of_vault.out, "");
    user.done("items remove --category rules").await;
    user.ends(2, "items remove ..").await;
    user.ends(2, "items remove").await;
    user.ends(2, "items remove x --category y").await;
    assert_eq!(user.done("prompt").await.out, "");
    let text = "# Notes\n".to_owned() + &"many words stand here\n".repeat(200);
    user.done_with("put", &text).await;
    let small = user.done("prompt --max-tokens 50 --exclude datetime").await;
    assert!(small.err.starts_with("left out for --max-tokens: "), "{small:?}");
    user.done("delete --yes").await;
    assert_eq!(service.count("prompt_items").await, 0);
}
