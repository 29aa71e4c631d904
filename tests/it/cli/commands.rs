//! Commands about versions, vaults and deletions, against a real service.

use super::program::{PROGRAM, User};
use crate::access::first_admin;
use crate::harness::{has, holds};
use serde_json::json;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_go_is_proposed_and_approved() {
    let (_service, user) = User::served().await;
    user.ends(4, "consolidate").await;
    let twice = "# Key Learnings\n- KL-1 tests are slow\n- KL-2 Tests are slow.\n";
    user.done_with("put", twice).await;

    let shown = user.done("consolidate").await;
    holds(&shown.out, &["  0 archive KL-2", "- KL-2 Tests are slow."]);
    // A second proposal replaces the first.
    let proposed = user
        .run(&["consolidate", "--json", "--instructions", "look at tests"])
        .await
        .is(0)
        .json();
    assert_eq!(proposed["operations"][0]["superseded_by"], "KL-1");
    let id = proposed["update_id"].as_str().unwrap();
    user.run(&["approve", id]).await.is(0);
    assert!(!user.done("get").await.out.contains("KL-2"));
    let nothing = user.done("consolidate --apply").await;
    assert!(nothing.out.starts_with("unchanged"), "{nothing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_blame_vaults_and_usage_are_listed_in_each_format() {
    let (_service, user) = User::served().await;
    let none = user.done("vaults").await;
    assert_eq!(
        (none.out.as_str(), none.err.as_str()),
        ("", "no vault has a memory yet\n")
    );
    user.done_with("put --actor ann", "one\n").await;
    user.done_with("put --actor bob", "one\ntwo | 2\n").await;

    let versions = user.done("versions").await;
    let lines: Vec<&str> = versions.out.lines().collect();
    assert!(lines[0].starts_with("VERSION  CONTEXT_ID"), "{versions:?}");
    assert!(
        lines[1].trim_start().starts_with("2  ") && lines[1].contains("  bob    put "),
        "{versions:?}"
    );
    assert!(lines[2].contains("  ann "), "{versions:?}");
    let one = user.done("versions -n 1").await;
    assert!(one.err.contains("--cursor"), "{one:?}");

    let blame = user.done("blame").await;
    let lines: Vec<&str> = blame.out.lines().collect();
    assert!(
        lines[0].starts_with("1 ann ") && lines[0].ends_with(" | one"),
        "{blame:?}"
    );
    assert!(
        lines[1].starts_with("2 bob ") && lines[1].ends_with(" | two | 2"),
        "{blame:?}"
    );
    assert_eq!(user.done("blame 1").await.out.lines().count(), 1);
    user.ends(4, "blame 9").await;

    let vaults = user.done("vaults").await;
    assert!(vaults.out.contains("\nacme          1  2"), "{vaults:?}");
    let json = user.done("vaults -o json").await.json();
    assert_eq!(json, user.done("vaults --json").await.json());
    assert_eq!(json["items"][0]["vault_id"], "acme");
    user.ends(2, "vaults -o yaml").await;
    user.ends(2, "vaults -o xml").await;
    user.ends(2, "vaults --json -o table").await;
    let refused = user.ends(4, "blame 9 -o json").await;
    assert!(
        serde_json::from_str::<serde_json::Value>(&refused.err).is_ok(),
        "{refused:?}"
    );

    let usage = user.done("usage").await;
    assert!(
        usage.out.contains("memories      1, no limit\n") && usage.err.contains("no model was called"),
        "{usage:?}"
    );
    user.ends(5, "usage --from soon").await;
    let coloured = user.done("vaults --color always").await;
    assert!(coloured.out.contains("\x1b[33macme\x1b[0m"), "{coloured:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_takes_the_options_of_its_route_and_refuses_those_that_it_would_ignore() {
    let (_service, user) = User::served().await;
    user.done_with("put", "# Notes\ndeploys\n").await;
    user.done_with("put --memory other", "deploys\n").await;
    let operations = "KEY_LEARNINGS:\n  ADD:\n    - because it was said: deploys freeze on Fridays\n";
    user.done_with("operations", operations).await;
    let all = user.done("search deploys --consistent").await;
    assert!(all.out.contains("other version 1\n"), "{all:?}");
    let one = user
        .done("search deploys --memory agent --kind kl --mode text --consistent")
        .await;
    assert!(one.out.starts_with("agent version 2 KL-1\n"), "{one:?}");
    let none = [
        "search",
        "deploys",
        "--memory",
        "agent",
        "--status",
        "archived",
        "--consistent",
    ];
    let none = user.run(&none).await.is(0);
    assert_eq!(
        (none.out.as_str(), none.err.as_str()),
        ("", "nothing was found\n")
    );
    for arguments in [
        ["vaults", "--memory", "agent"],
        ["vaults", "--vault", "acme"],
        ["memories", "--memory", "agent"],
        ["usage", "--memory", "agent"],
        ["updates", "--memory", "agent"],
        ["records", "--kind", "X"],
        ["records", "--status", "gone"],
        ["search", "x", "--sort"],
    ] {
        let refused = user.run(&arguments).await.is(2);
        assert!(
            refused.err.contains(arguments[1]) || arguments[0] == "search",
            "{refused:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_route_can_be_called_with_the_settings_of_the_other_commands() {
    let (service, user) = User::served().await;
    let memory = "/v1/vaults/{vault}/memories/{memory}";
    user.file("notes.md", "# Notes\n");
    let context = format!("{memory}/context");
    let put = user
        .run(&["api", "put", &context, "--input", "notes.md"])
        .await
        .is(0);
    assert_eq!(put.json()["version"], 1);
    let get = user
        .run(&["api", "GET", &context, "-H", "Accept: text/markdown"])
        .await
        .is(0);
    assert_eq!(get.out, "# Notes\n");
    let list = user
        .run(&["api", "GET", &format!("{memory}/contexts"), "--field", "limit=1"])
        .await
        .is(0);
    assert_eq!(list.json()["items"].as_array().unwrap().len(), 1);
    let decisions = format!("{memory}/decisions");
    user.file("why.txt", "one language");
    let fields = ["decision=SQL in storage", "reason=@why.txt"];
    let made = user
        .run(&["api", "POST", &decisions, "-f", fields[0], "-f", fields[1]])
        .await
        .is(0);
    assert_eq!(made.json()["record_id"], "D-1");
    let record = service.memory("agent").read("records/D-1").await;
    assert!(record.to_string().contains("one language"), "{record}");
    let typed = [
        "summary=done",
        "intent=do it",
        "outcome={\"ok\": true}",
        "task_id=7a",
    ];
    let mut arguments = vec!["api", "POST", "/v1/vaults/acme/memories/agent/tasks"];
    arguments.extend(typed.iter().flat_map(|field| ["--field", *field]));
    user.run(&arguments).await.is(0);
    user.file(
        "op.json",
        "{\"operations\": [{\"op\": \"archive\", \"id\": \"D-1\", \"reason\": \"r\"}]}",
    );
    let operations = format!("{memory}/operations");
    let tried = [
        "api",
        "POST",
        &operations,
        "--input",
        "op.json",
        "--field",
        "dry_run=true",
    ];
    let tried = user.run(&tried).await.is(0).json();
    assert_eq!(tried["status"], "dry_run", "{tried}");

    let missing = user.ends(4, "api GET /v1/vaults/acme/memories/none --json").await;
    let error: serde_json::Value = serde_json::from_str(&missing.err).unwrap();
    assert_eq!(error["problem"]["status"], 404, "{error}");
    user.run(&["api", "DELETE", memory]).await.is(0);
    assert_eq!(service.count("memories").await, 0);
    for wrong in [
        &["api", "GET", "v1/vaults"][..],
        &["api", "GET", "/v1/../metrics"],
        &["api", "GET", "/v1/%2e%2E/metrics"],
        &["api", "MAKE", "/v1/vaults"],
        &["api", "POST", "/v1/vaults", "--field", "novalue"],
        &["api", "PUT", "/v1/vaults", "--input", "no-such-file"],
    ] {
        user.run(wrong).await.is(2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn irreversible_commands_ask_for_confirmation() {
    let (service, user) = User::served().await;
    user.done_with("put", "a secret\n").await;
    user.done_with("put", "nothing\n").await;
    let unasked = user.ends(2, "redact 1 --reason leaked").await;
    assert!(unasked.err.contains("--yes"), "{unasked:?}");
    assert_eq!(user.done("get --version 1").await.out, "a secret\n");
    let newest = user.ends(5, "redact 2 --reason x --yes").await;
    assert!(newest.err.contains("is the newest"), "{newest:?}");
    user.run(&["redact", "1", "--reason", " ", "--yes"]).await.is(5);
    let done = user.done("redact 1 --reason leaked --yes").await;
    assert!(done.out.starts_with("redacted version 1"), "{done:?}");
    user.ends(5, "get --version 1").await;
    assert!(user.done("versions").await.out.contains("put, redacted"));

    let unasked = user.ends(2, "delete").await;
    holds(
        &unasked.err,
        &["nothing was done: Delete memory agent of vault acme"],
    );
    user.ends(5, "delete --yes --if-match other").await;
    assert_eq!(service.count("memories").await, 1);
    assert_eq!(user.done("delete --yes").await.out, "deleted agent\n");
    assert_eq!(service.count("memories").await, 0);
    let missing = user.ends(4, "delete --yes").await;
    assert!(missing.err.contains("memory agent of vault acme"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_printed_and_followed() {
    let (_service, user) = User::served().await;
    user.done_with("put", "one").await;
    let page = user.done("events").await;
    assert!(page.out.contains(" version agent version 1 by "), "{page:?}");
    assert_eq!(user.done("events --kinds redacted").await.out, "");
    user.ends(5, "events --kinds no-such-kind").await;

    let mut follow = user
        .command(PROGRAM, &["events", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    // Writes until an event arrives: the stream may open late.
    let received = async {
        for number in 0.. {
            user.done_with("put --memory other", &format!("{number}")).await;
            if let Ok(line) = tokio::time::timeout(Duration::from_millis(500), lines.next_line()).await {
                return line.unwrap().unwrap();
            }
        }
        unreachable!()
    };
    let line = tokio::time::timeout(Duration::from_secs(60), received)
        .await
        .unwrap();
    assert!(line.contains(" version other version "), "{line}");
    follow.kill().await.unwrap();
    let without_service = user.ends(3, "events --follow --url http://127.0.0.1:9").await;
    holds(&without_service.err, &["no service answers"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_shows_what_set_status_wrote() {
    let (_service, user) = User::served().await;
    user.run(&["set-status", "--goal", "ship it", "--blocker", "no tests"])
        .await
        .is(0);
    // Without a handoff, only the status is shown.
    let status = user.ends(4, "status --timeout 30").await;
    assert!(
        status
            .out
            .starts_with("goal      ship it\nblocker   no tests\nupdated   2"),
        "{status:?}"
    );
    user.done("refresh").await;
    user.done("set-status --blocker none").await;
    let status = user.run(&["status", "--timeout", "30", "--json"]).await.json();
    has(&status, json!({"goal": "ship it", "blocker": null}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_reports_what_works_and_what_does_not() {
    let (service, user) = User::served().await;
    let well = user.done("doctor").await;
    for line in [
        "reachable    ready",
        "memory       agent of vault acme",
        "does not exist yet",
        "requires no key",
        "updater here all roles: extractive",
    ] {
        assert!(well.out.contains(line), "{line}: {well:?}");
    }
    let without_service = user.ends(1, "doctor --url http://127.0.0.1:9").await;
    holds(&without_service.out, &["bad     reachable    no service answers"]);
    first_admin(&service).await;
    let wrong = user.ends(1, "doctor --json").await;
    let findings = wrong.json()["findings"].clone();
    let bad = findings
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["status"] == "bad")
        .unwrap()
        .clone();
    assert_eq!(bad["about"], "access");
    user.file("key", "wm_0a1b2c_ffff\n");
    let open = user.ends(1, "doctor --key-file key").await;
    holds(
        &open.out,
        &["warning key          others on this machine may read key"],
    );
    let user = User::nobody().with("WORKING_MEMORY__LLM__PROVIDER", "gemini");
    let wrong = user.ends(1, "doctor --url http://127.0.0.1:9").await;
    holds(&wrong.out, &["serve here", "gemini"]);
}

#[tokio::test]
async fn help_lists_the_commands_in_groups_with_examples() {
    let user = User::nobody();
    for arguments in [["--help"].as_slice(), &["help"], &["-h"]] {
        let help = user.run(arguments).await.is(0);
        let history = "\nIts history:\n  versions         List the versions of a memory\n";
        assert!(help.out.contains(history), "{help:?}");
    }
    let help = user.done("sync --help").await;
    holds(&help.out, &["Example:\n  working-memory sync notes"]);
}
