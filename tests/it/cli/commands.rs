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
    user.session(
        r"
        4 consolidate
        put < # Key Learnings\n- KL-1 tests are slow\n- KL-2 Tests are slow.\n
        consolidate →   0 archive KL-2 | - KL-2 Tests are slow.",
    )
    .await;
    // A second proposal replaces the first.
    let proposed = user.run(&["consolidate", "--json", "--instructions", "look at tests"]);
    let proposed = proposed.await.is(0).json();
    assert_eq!(proposed["operations"][0]["superseded_by"], "KL-1");
    user.run(&["approve", proposed["update_id"].as_str().unwrap()])
        .await
        .is(0);
    user.session("get → !KL-2\nconsolidate --apply → ^unchanged")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_blame_vaults_and_usage_are_listed_in_each_format() {
    let (_service, user) = User::served().await;
    user.session(
        r"
        vaults → = ⇒ =the list is empty\n
        put --actor ann < one\n
        put --actor bob < one\ntwo | 2\n
        versions -n 1 ⇒ --cursor
        4 blame 9
        vaults → \nacme          1  2
        2 vaults -o yaml
        2 vaults -o xml
        2 vaults --json -o table
        usage → memories            1\nmemories_limit      null\n | \ncalls               0\n ⇒ the list is empty
        5 usage --from soon
        vaults --color always → \e[33macme\e[0m",
    )
    .await;

    let (versions, blame) = (user.done("versions").await.out, user.done("blame").await.out);
    let lines: Vec<&str> = versions
        .lines()
        .chain(blame.lines())
        .map(str::trim_start)
        .collect();
    for (line, begin, part) in [
        (lines[0], "VERSION  CONTEXT_ID", ""),
        (lines[1], "2  ", "  bob    put "),
        (lines[2], "1  ", "  ann "),
        (lines[3], "1 ann ", " | one"),
        (lines[4], "2 bob ", " | two | 2"),
    ] {
        assert!(
            line.starts_with(begin) && line.contains(part),
            "{begin}: {lines:?}"
        );
    }
    assert_eq!(user.done("blame 1").await.out.lines().count(), 1);

    let json = user.done("vaults -o json").await.json();
    assert_eq!(json, user.done("vaults --json").await.json());
    assert_eq!(json["items"][0]["vault_id"], "acme");
    assert!(user.ends(4, "blame 9 -o json").await.error().is_object());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_takes_the_options_of_its_route_and_refuses_those_that_it_would_ignore() {
    let (_service, user) = User::served().await;
    user.session(
        r"
        put < # Notes\ndeploys\n
        put --memory other < deploys\n
        operations < KEY_LEARNINGS:\n  ADD:\n    - because it was said: deploys freeze on Fridays\n
        search deploys --consistent → other version 1\n
        search deploys --memory agent --kind kl --mode text --consistent → ^agent version 2 KL-1 active\n
        search deploys --memory agent --status archived --consistent → = ⇒ =the list is empty\n
        2 vaults --memory agent ⇒ --memory
        2 vaults --vault acme ⇒ --vault
        2 memories --memory agent ⇒ --memory
        2 usage --memory agent ⇒ --memory
        2 updates --memory agent ⇒ --memory
        2 records --kind X ⇒ --kind
        2 events --follow -n 5 ⇒ --follow
        2 records --status gone ⇒ --status
        2 search x --sort",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_route_can_be_called_with_the_settings_of_the_other_commands() {
    let (service, user) = User::served().await;
    user.file("notes.md", "# Notes\n");
    user.file("why.txt", "one language");
    user.file(
        "op.json",
        r#"{"operations": [{"op": "archive", "id": "D-1", "reason": "r"}]}"#,
    );
    let memory = "/v1/vaults/{vault}/memories/{memory}";
    let api = async |line: &str| {
        user.done(&format!("api {}", line.replace("M/", &format!("{memory}/"))))
            .await
    };
    assert_eq!(api("put M/context --input notes.md").await.json()["version"], 1);
    let get = api("GET M/context -H 'Accept: text/markdown'").await;
    assert_eq!(get.out, "# Notes\n");
    let list = api("GET M/contexts --field limit=1").await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let made = api("POST M/decisions -f 'decision=SQL in storage' -f reason=@why.txt").await;
    assert_eq!(made.json()["record_id"], "D-1");
    let record = service.memory("agent").read("records/D-1").await;
    holds(record.to_string(), &["one language"]);
    let task = "POST /v1/vaults/acme/memories/agent/tasks --field summary=done --field 'intent=do it'";
    api(&format!(
        "{task} --field 'outcome={{\"ok\": true}}' --field task_id=7a"
    ))
    .await;
    let tried = api("POST M/operations --input op.json --field dry_run=true").await;
    has(&tried.json(), json!({"status": "dry_run"}));

    // No digit of a number is lost on the way: the service refuses it.
    user.session(&format!(
        "
        5 api {task} --field task_id=7b --field 'outcome=[12345678901234567890123]' ⇒ more digits
        5 task 'do it' --summary done --outcome - < {{\"count\": 12345678901234567890123}} ⇒ more digits"
    ))
    .await;

    let missing = user.ends(4, "api GET /v1/vaults/acme/memories/none --json").await;
    assert_eq!(missing.error()["problem"]["status"], 404);
    user.run(&["api", "DELETE", memory]).await.is(0);
    assert_eq!(service.count("memories").await, 0);
    user.session(
        r#"
        api POST /v1/keys --field name=root --field role=admin → {"key^": "wm_"}
        2 api GET v1/vaults
        2 api GET /v1/../metrics
        2 api GET /v1/%2e%2E/metrics
        2 api MAKE /v1/vaults
        2 api POST /v1/vaults --field novalue
        2 api PUT /v1/vaults --input no-such-file"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn irreversible_commands_ask_for_confirmation() {
    let (service, user) = User::served().await;
    user.session(
        r"
        put < a secret\n
        put < nothing\n
        2 redact 1 --reason leaked ⇒ --yes
        get --version 1 → =a secret\n
        5 redact 2 --reason x --yes ⇒ is the newest
        5 redact 1 --reason ' ' --yes
        redact 1 --reason leaked --yes → ^redacted version 1 | SHA-256
        5 get --version 1
        versions → put, redacted
        2 delete ⇒ nothing was done: Delete memory agent of vault acme
        5 delete --yes --if-match other",
    )
    .await;
    assert_eq!(service.count("memories").await, 1);
    user.session("delete --yes → =deleted agent\\n").await;
    assert_eq!(service.count("memories").await, 0);
    user.session("4 delete --yes ⇒ memory agent of vault acme").await;
}

/// Writes until what a stream brings is there, since it may open late.
async fn writing_until<T>(user: &User, awaited: impl Future<Output = T>) -> T {
    let writing = async {
        for number in 0.. {
            user.done_with("put --memory other", &number.to_string()).await;
        }
    };
    let written = async {
        tokio::select! {
            done = awaited => done,
            () = writing => unreachable!(),
        }
    };
    tokio::time::timeout(Duration::from_secs(60), written)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_printed_and_followed() {
    let (_service, user) = User::served().await;
    user.session(
        "
        put < one
        events →  version agent version 1 by 
        events --kinds redacted → =
        5 events --kinds no-such-kind",
    )
    .await;

    let mut follow = user
        .command(PROGRAM, &["events", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let line = writing_until(&user, lines.next_line()).await.unwrap().unwrap();
    assert!(line.contains(" version other version "), "{line}");
    // A reader that closes the pipe, as `head` does, ends it with the next event.
    drop(lines);
    let ended = writing_until(&user, follow.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
    user.session("3 events --follow --url http://127.0.0.1:9 ⇒ no service answers")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_shows_what_set_status_wrote() {
    let (_service, user) = User::served().await;
    // Without a handoff, only the status is shown.
    user.session(
        r"
        set-status --goal 'ship it' --blocker 'no tests'
        4 status --timeout 30 → ^goal      ship it\nblocker   no tests\nupdated   2
        refresh
        set-status --blocker none",
    )
    .await;
    let status = user.run(&["status", "--timeout", "30", "--json"]).await.json();
    has(&status, json!({"goal": "ship it", "blocker": null}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_reports_what_works_and_what_does_not() {
    let (service, user) = User::served().await;
    let lines = "reachable    ready | memory       agent of vault acme | does not exist yet | requires no key | \
                 updater here all roles: extractive";
    user.session(&format!("doctor → {lines}")).await;
    user.session("1 doctor --url http://127.0.0.1:9 → bad     reachable    no service answers")
        .await;
    first_admin(&service).await;
    let findings = user.ends(1, "doctor --json").await.json()["findings"].clone();
    let mut findings = findings.as_array().unwrap().iter();
    let bad = findings.find(|finding| finding["status"] == "bad").unwrap();
    assert_eq!(bad["about"], "access");
    user.file("key", "wm_0a1b2c_ffff\n");
    user.session("1 doctor --key-file key → warning key          others on this machine may read key")
        .await;
    let user = User::nobody().with("WORKING_MEMORY__LLM__PROVIDER", "gemini");
    user.session("1 doctor --url http://127.0.0.1:9 → serve here | gemini")
        .await;
}

#[tokio::test]
async fn help_lists_the_commands_in_groups_with_examples() {
    let history = r"\nIts history:\n  versions         List the versions of a memory\n";
    let help = ["--help", "help", "-h"].map(|help| format!("{help} → {history}\n"));
    let user = User::nobody().with("WORKING_MEMORY_API_KEY", "wm_secret");
    user.session(&help.concat()).await;
    user.session(
        r"
        --help → 3  no service answers at the URL
        put --help → WORKING_MEMORY_API_KEY | !wm_secret
        sync --help → Example:\n  working-memory sync notes",
    )
    .await;
}
