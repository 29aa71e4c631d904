//! Commands about versions, vaults and deletions, against a real service.

use super::program::{PROGRAM, User};
use crate::access::first_admin;
use crate::harness::{Service, has, holds};
use serde_json::json;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

async fn service_and_user() -> (Service, User) {
    let service = Service::start().await;
    let user = User::of(&format!("http://{}", service.socket_address()));
    (service, user)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_go_is_proposed_and_approved() {
    let (_service, user) = service_and_user().await;
    user.run(&["consolidate"]).await.is(4);
    let twice = "# Key Learnings\n- KL-1 tests are slow\n- KL-2 Tests are slow.\n";
    user.run_with(&["put"], twice).await.is(0);

    let shown = user.run(&["consolidate"]).await.is(0);
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
    assert!(!user.run(&["get"]).await.is(0).out.contains("KL-2"));
    let nothing = user.run(&["consolidate", "--apply"]).await.is(0);
    assert!(nothing.out.starts_with("unchanged"), "{nothing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_blame_vaults_and_usage_are_listed_in_each_format() {
    let (_service, user) = service_and_user().await;
    let none = user.run(&["vaults"]).await.is(0);
    assert_eq!(
        (none.out.as_str(), none.err.as_str()),
        ("", "no vault has a memory yet\n")
    );
    user.run_with(&["put", "--actor", "ann"], "one\n").await.is(0);
    user.run_with(&["put", "--actor", "bob"], "one\ntwo | 2\n")
        .await
        .is(0);

    let versions = user.run(&["versions"]).await.is(0);
    let lines: Vec<&str> = versions.out.lines().collect();
    assert!(lines[0].starts_with("VERSION  CONTEXT_ID"), "{versions:?}");
    assert!(
        lines[1].trim_start().starts_with("2  ") && lines[1].contains("  bob    put "),
        "{versions:?}"
    );
    assert!(lines[2].contains("  ann "), "{versions:?}");
    let one = user.run(&["versions", "-n", "1"]).await.is(0);
    assert!(one.err.contains("--cursor"), "{one:?}");

    let blame = user.run(&["blame"]).await.is(0);
    let lines: Vec<&str> = blame.out.lines().collect();
    assert!(
        lines[0].starts_with("1 ann ") && lines[0].ends_with(" | one"),
        "{blame:?}"
    );
    assert!(
        lines[1].starts_with("2 bob ") && lines[1].ends_with(" | two | 2"),
        "{blame:?}"
    );
    assert_eq!(user.run(&["blame", "1"]).await.is(0).out.lines().count(), 1);
    user.run(&["blame", "9"]).await.is(4);

    let vaults = user.run(&["vaults"]).await.is(0);
    assert!(vaults.out.contains("\nacme          1  2"), "{vaults:?}");
    let json = user.run(&["vaults", "-o", "json"]).await.is(0).json();
    assert_eq!(json, user.run(&["vaults", "--json"]).await.is(0).json());
    assert_eq!(json["items"][0]["vault_id"], "acme");
    user.run(&["vaults", "-o", "yaml"]).await.is(2);
    user.run(&["vaults", "-o", "xml"]).await.is(2);
    user.run(&["vaults", "--json", "-o", "table"]).await.is(2);
    let refused = user.run(&["blame", "9", "-o", "json"]).await.is(4);
    assert!(
        serde_json::from_str::<serde_json::Value>(&refused.err).is_ok(),
        "{refused:?}"
    );

    let usage = user.run(&["usage"]).await.is(0);
    assert!(
        usage.out.contains("memories      1, no limit\n") && usage.err.contains("no model was called"),
        "{usage:?}"
    );
    user.run(&["usage", "--from", "soon"]).await.is(5);
    let coloured = user.run(&["vaults", "--color", "always"]).await.is(0);
    assert!(coloured.out.contains("\x1b[33macme\x1b[0m"), "{coloured:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_takes_the_options_of_its_route_and_refuses_those_that_it_would_ignore() {
    let (_service, user) = service_and_user().await;
    user.run_with(&["put"], "# Notes\ndeploys\n").await.is(0);
    user.run_with(&["put", "--memory", "other"], "deploys\n")
        .await
        .is(0);
    let operations = "KEY_LEARNINGS:\n  ADD:\n    - because it was said: deploys freeze on Fridays\n";
    user.run_with(&["operations"], operations).await.is(0);
    let all = user.run(&["search", "deploys", "--consistent"]).await.is(0);
    assert!(all.out.contains("other version 1\n"), "{all:?}");
    let one = user
        .run(&[
            "search",
            "deploys",
            "--memory",
            "agent",
            "--kind",
            "kl",
            "--mode",
            "text",
            "--consistent",
        ])
        .await
        .is(0);
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
    let (service, user) = service_and_user().await;
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

    let missing = user
        .run(&["api", "GET", "/v1/vaults/acme/memories/none", "--json"])
        .await
        .is(4);
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
    let (service, user) = service_and_user().await;
    user.run_with(&["put"], "a secret\n").await.is(0);
    user.run_with(&["put"], "nothing\n").await.is(0);
    let unasked = user.run(&["redact", "1", "--reason", "leaked"]).await.is(2);
    assert!(unasked.err.contains("--yes"), "{unasked:?}");
    assert_eq!(user.run(&["get", "--version", "1"]).await.is(0).out, "a secret\n");
    let newest = user.run(&["redact", "2", "--reason", "x", "--yes"]).await.is(5);
    assert!(newest.err.contains("is the newest"), "{newest:?}");
    user.run(&["redact", "1", "--reason", " ", "--yes"]).await.is(5);
    let done = user
        .run(&["redact", "1", "--reason", "leaked", "--yes"])
        .await
        .is(0);
    assert!(done.out.starts_with("redacted version 1"), "{done:?}");
    user.run(&["get", "--version", "1"]).await.is(5);
    assert!(user.run(&["versions"]).await.is(0).out.contains("put, redacted"));

    let unasked = user.run(&["delete"]).await.is(2);
    holds(
        &unasked.err,
        &["nothing was done: Delete memory agent of vault acme"],
    );
    user.run(&["delete", "--yes", "--if-match", "other"]).await.is(5);
    assert_eq!(service.count("memories").await, 1);
    assert_eq!(user.run(&["delete", "--yes"]).await.is(0).out, "deleted agent\n");
    assert_eq!(service.count("memories").await, 0);
    let missing = user.run(&["delete", "--yes"]).await.is(4);
    assert!(missing.err.contains("memory agent of vault acme"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_printed_and_followed() {
    let (_service, user) = service_and_user().await;
    user.run_with(&["put"], "one").await.is(0);
    let page = user.run(&["events"]).await.is(0);
    assert!(page.out.contains(" version agent version 1 by "), "{page:?}");
    assert_eq!(user.run(&["events", "--kinds", "redacted"]).await.is(0).out, "");
    user.run(&["events", "--kinds", "no-such-kind"]).await.is(5);

    let mut follow = user
        .command(PROGRAM, &["events", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    // Writes until an event arrives: the stream may open late.
    let received = async {
        for number in 0.. {
            user.run_with(&["put", "--memory", "other"], &format!("{number}"))
                .await
                .is(0);
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
    let without_service = user
        .run(&["events", "--follow", "--url", "http://127.0.0.1:9"])
        .await
        .is(3);
    holds(&without_service.err, &["no service answers"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_shows_what_set_status_wrote() {
    let (_service, user) = service_and_user().await;
    user.run(&["set-status", "--goal", "ship it", "--blocker", "no tests"])
        .await
        .is(0);
    // Without a handoff, only the status is shown.
    let status = user.run(&["status", "--timeout", "30"]).await.is(4);
    assert!(
        status
            .out
            .starts_with("goal      ship it\nblocker   no tests\nupdated   2"),
        "{status:?}"
    );
    user.run(&["refresh"]).await.is(0);
    user.run(&["set-status", "--blocker", "none"]).await.is(0);
    let status = user.run(&["status", "--timeout", "30", "--json"]).await.json();
    has(&status, json!({"goal": "ship it", "blocker": null}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_reports_what_works_and_what_does_not() {
    let (service, user) = service_and_user().await;
    let well = user.run(&["doctor"]).await.is(0);
    for line in [
        "reachable    ready",
        "memory       agent of vault acme",
        "does not exist yet",
        "requires no key",
        "updater here all roles: extractive",
    ] {
        assert!(well.out.contains(line), "{line}: {well:?}");
    }
    let without_service = user.run(&["doctor", "--url", "http://127.0.0.1:9"]).await.is(1);
    holds(&without_service.out, &["bad     reachable    no service answers"]);
    first_admin(&service).await;
    let wrong = user.run(&["doctor", "--json"]).await.is(1);
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
    let open = user.run(&["doctor", "--key-file", "key"]).await.is(1);
    holds(
        &open.out,
        &["warning key          others on this machine may read key"],
    );
    let user = User::nobody().with("WORKING_MEMORY__LLM__PROVIDER", "gemini");
    let wrong = user.run(&["doctor", "--url", "http://127.0.0.1:9"]).await.is(1);
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
    let help = user.run(&["sync", "--help"]).await.is(0);
    holds(&help.out, &["Example:\n  working-memory sync notes"]);
}

#[tokio::test]
async fn every_error_has_one_prefix() {
    let user = User::of("http://127.0.0.1:9");
    for (arguments, code) in [
        (&["get", "--nothing"][..], 2),
        (&["nothing"], 2),
        (&["put", "missing.md"], 2),
        (&["get"], 3),
        (&["serve", "--port", "many"], 2),
    ] {
        let failed = user.run(arguments).await.is(code);
        assert!(failed.err.starts_with("working-memory: "), "{}", failed.err);
    }
}
