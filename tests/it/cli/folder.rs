//! `window export` and `window import` between a running service and folders of all kinds.

use super::program::{Done, User, files};
use crate::harness::{Service, has, holds, lacks};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::Duration;

/// A text without the ids of records, which another memory assigns again.
fn without_records(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words = text.split(' ').map(|word| match word.strip_prefix("T-") {
        Some(number) if number.parse::<u32>().is_ok() => "T",
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

async fn export(user: &User, memory: &str, folder: &str) -> Done {
    user.done(&format!("window export {folder} --memory {memory}"))
        .await
}

async fn import(user: &User, memory: &str, folder: &str) -> Value {
    let import = format!("window import {folder} --memory {memory} --json --lenient");
    user.done(&import).await.json()
}

async fn post(service: &Service, below: &str, body: Value) {
    service.memory("agent").post(below, body).await.is(201);
}

/// A service with a memory `agent` that has data of every kind, with malicious names, and its user.
async fn full() -> (Service, User) {
    let (service, user) = User::served().await;
    let epics = [
        "../../x",
        "/etc/passwd",
        "Start",
        "start",
        "漢字",
        "字漢",
        &"long ".repeat(25),
    ];
    for number in 0..14_usize {
        let epic = epics.get(number % 8).map(|epic| (*epic).to_owned());
        let odd = ["A\nb", "because x: y", "task-1: [failed] a : b. C"];
        post(&service, "tasks",
            json!({"intent": format!("{} {number}", odd[number % 3]), "summary": "Done: all. And <!-- more -->",
                   "epic": epic, "task_id": (number % 2 == 0).then(|| format!("t-{number}")),
                   "outcome": {"tests": number, "text": "-->"}}),
        )
        .await;
    }
    for number in 0..3 {
        let decision = json!({"decision": format!("Use {number}: it"), "reason": "a b"});
        post(&service, "decisions", decision).await;
    }
    let memory = service.memory("agent");
    let status = json!({"goal": "Goal: ship", "blocker": "- none of it"});
    assert!(memory.put_json("status", status).await.status < 300);
    for rule in ["## Never\n- push\n\n", "<!-- rule -->\nodd", "brief"] {
        post(&service, "items", json!({"category": "rules", "content": rule})).await;
    }
    (service, user)
}

#[tokio::test]
async fn a_folder_imported_into_another_memory_is_exported_unchanged() {
    let (service, user) = full().await;
    export(&user, "agent", "a").await;
    service.clock.advance(Duration::from_secs(10_800));
    let first = import(&user, "other", "a").await;
    assert_eq!(
        first["taken"],
        json!({"status": 1, "tasks": 5, "decisions": 3, "history": 9, "rules": 3})
    );
    has(&first, json!({"unplaced": [], "unread": []}));
    export(&user, "other", "b").await;
    let (a, b) = (files(&user.path().join("a")), files(&user.path().join("b")));
    for name in ["start", "start-cced28c6"] {
        assert!(
            a.contains_key(&format!("archive/epics/{name}.md")),
            "{:?}",
            a.keys()
        );
    }
    for (name, bytes) in &a {
        let other = b.get(name).map(|bytes| without_records(bytes));
        assert_eq!(other, Some(without_records(bytes)), "{name}");
    }
    assert_eq!(a.len(), b.len());

    for memory in ["agent", "other"] {
        let again = import(&user, memory, "a").await;
        has(
            &again,
            json!({"unchanged": true, "/taken/rules": 0, "/present/history": 9}),
        );
    }
}

#[tokio::test]
async fn nothing_is_written_outside_the_folder_and_current_files_are_not_rewritten() {
    let (service, user) = full().await;
    export(&user, "agent", "deep/a").await;
    let outside = fs::read_dir(user.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(outside.collect::<Vec<_>>(), ["deep"]);
    let history = user.path().join("deep/a/archive/history.md");
    let before = fs::metadata(&history).unwrap().ino();
    let again = export(&user, "agent", "deep/a").await;
    assert!(again.out.starts_with("deep/a: unchanged, version "), "{again:?}");
    service.clock.advance(Duration::from_secs(60));
    post(&service, "decisions", json!({"decision": "x", "reason": "y"})).await;
    let again = export(&user, "agent", "deep/a").await;
    let is_of_two = again.out.starts_with("deep/a: 2 written, version ");
    assert!(is_of_two, "status and decisions: {again:?}");
    assert_eq!(fs::metadata(&history).unwrap().ino(), before);
}

#[tokio::test]
async fn files_of_users_stay_and_files_of_old_epics_are_removed_only_if_exported() {
    let (service, user) = full().await;
    user.file("a/CONTEXT.md", "# Mine\nkeep this\n");
    user.file("a/archive/epics/mine.md", "mine\n");
    let output = export(&user, "agent", "a").await;
    assert!(output.err.contains("CONTEXT.md.kept"), "{output:?}");
    assert_eq!(
        fs::read_to_string(user.path().join("a/CONTEXT.md.kept")).unwrap(),
        "# Mine\nkeep this\n"
    );
    let epics = user.path().join("a/archive/epics");
    fs::write(epics.join("start.md"), "changed by me\n").unwrap();

    // Another memory in the same folder has none of these epics.
    assert!(service.memory("bare").put("x").await.status == 201);
    let output = export(&user, "bare", "a").await;
    holds(&output.err, &["archive/epics/start.md is no longer needed"]);
    let left: Vec<_> = files(&epics).into_keys().collect();
    assert_eq!(left, ["mine.md", "start.md"]);

    // The list of exported files may have been changed by anybody.
    user.file("b/secret.md", "s");
    let hash = "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89";
    let list = json!({"files": {"archive/../secret.md": hash, "secret.md": hash, "archive/epics/../../secret.md": hash}});
    user.file("b/.working-memory-folder.json", &list.to_string());
    export(&user, "bare", "b").await;
    assert!(user.path().join("b/secret.md").exists());
}

#[tokio::test]
async fn links_are_not_followed() {
    let (_service, user) = full().await;
    user.file("outside/CONTEXT.md", "# Secret\nkey\n");
    let link = |target: &str, folder: &str, name: &str| {
        fs::create_dir_all(user.path().join(folder)).unwrap();
        symlink(user.path().join(target), user.path().join(folder).join(name)).unwrap();
    };
    for name in ["active", "CONTEXT.md", "archive"] {
        let folder = format!("to-{name}");
        link("outside", &folder, name);
        let output = user.ends(1, &format!("window export {folder}")).await;
        holds(&output.err, &["symbolic link"]);
    }
    assert_eq!(files(&user.path().join("outside")).len(), 1);

    link("outside/CONTEXT.md", "in", "CONTEXT.md");
    user.file("in/archive/history.md", "- 2026-11-20 Began\n");
    let report = import(&user, "other", "in").await;
    assert_eq!(report["unread"][0]["file"], "CONTEXT.md");
    has(&report["taken"], json!({"rules": 0, "history": 1}));
}

#[tokio::test]
async fn a_folder_of_people_is_imported_as_far_as_possible_with_exit_code_1_unless_lenient() {
    let (service, user) = User::served().await;
    user.file(
        "in/active/current_status.md",
        "\u{feff}# Status\r\nCurrent Goal: ship it\r\n## Active Blocker\nthe net\nLast Updated: 2026-11-20\n\n\
         ## Recent Tasks\n- task-1: Bootstrapped\n- Wired it: all tests\n\n## Notes\n- ask Ann\n",
    );
    let (long, late) = ("word ".repeat(150), "x".repeat(3_000));
    let decisions = format!("- 2026-11-20 Keep it small because we are few\nno date\n- 2026-11-19 {late}\n");
    user.file("in/active/decisions.log.md", &decisions);
    let history = format!("- 2026-10-01 {long}\n- 2026-10-03 good\n");
    user.file("in/archive/history.md", &history);
    user.file("in/archive/epics/nul.md", "- 2026-10-04 nul \0\n");
    fs::write(
        user.path().join("in/archive/epics/bad.md"),
        b"- 2026-10-02 bad \xff\n",
    )
    .unwrap();
    user.file("in/notes.txt", "left alone");

    let taken = "imported: 1 status, 2 tasks, 1 decision, 2 history;";
    user.file("one/active/decisions.log.md", "no date\n");
    user.session(
        "5 window import in --strict ⇒ (--strict): 3 lines cannot be parsed, 2 files cannot be read
        5 window import one --strict ⇒ (--strict): 1 line cannot be parsed | !cannot be read",
    )
    .await;
    assert_eq!(service.count("memories").await, 0);

    let decisions = r"decisions.log.md:2: no date\n | decisions.log.md:3: - 2026-11-19 xxx";
    let epics = "bad.md: is not UTF-8 text | nul.md: is not UTF-8 text";
    let left = format!("current_status.md:12: - ask Ann | {decisions} | {epics} | --lenient");
    user.session(&format!(
        r#"
        1 window import in → {taken} ⇒ {left}
        1 window import in --json → {{"unchanged": true, "unplaced#": 3, "unread#": 2}}
        window import in --lenient → imported: nothing"#
    ))
    .await;
    let window = service.memory("agent").get_json("window").await.is(200).json();
    has(
        &window,
        json!({"/status/goal": "ship it", "/status/blocker": "the net", "/status/updated": "2026-11-20T00:00:00Z",
               "/tasks/*/intent": ["Bootstrapped", "Wired it"], "/tasks/0/task_id": "task-1",
               "/decisions/0/reason": "we are few"}),
    );
    let document = service.memory("agent").text().await;
    holds(&document, &["] task-1: Bootstrapped\n"]);
    lacks(&document, &["import-"]);
    export(&user, "agent", "out").await;
    let status = fs::read_to_string(user.path().join("out/active/current_status.md")).unwrap();
    holds(&status, &["Z] T-", " task-1: Bootstrapped\n"]);
}

#[tokio::test]
async fn a_markdown_file_that_is_none_of_a_windows_is_named() {
    let (_service, user) = User::served().await;
    for file in [
        "CONTEXT.md",
        "README.md",
        ".hidden.md",
        "active/foo.md",
        "notes.txt",
    ] {
        user.file(&format!("in/{file}"), "Be kind\n");
    }
    let others = "active/foo.md is no file of a window | README.md is no file | !hidden | !notes";
    user.session(&format!(
        "window import in --strict → imported: 1 rule; ⇒ {others}"
    ))
    .await;
}

#[tokio::test]
async fn odd_parts_of_an_entry_stop_no_other() {
    let (_service, user) = User::served().await;
    user.file(
        "in/active/current_status.md",
        "Last Updated: 0000-01-01\n## Recent Tasks\n- task-1: One\n  - Epic:\n- task-2: Two\n",
    );
    user.file("in/archive/epics/ .md", "- 2026-10-01 task-0: Zero\n");
    user.session("1 window import in → imported: 2 tasks, 1 history; ⇒ :1: Last Updated: 0000-01-01")
        .await;
}

#[tokio::test]
async fn weeks_are_read_where_earlier_versions_exported_them() {
    let (_service, user) = User::served().await;
    let week = "# 2025-W40\n\n- [2025-10-01] wk-1: Weekly only: yes\n- No id: here\n";
    user.file("in/archive/weekly/2025-W40.md", week);
    user.session("window import in --strict → imported: 2 history;")
        .await;
}

#[tokio::test]
async fn an_empty_folder_and_a_missing_one_are_different_errors() {
    let (service, user) = User::served().await;
    user.ends(2, "window import nowhere").await;
    fs::create_dir(user.path().join("empty")).unwrap();
    user.session("1 window import empty ⇒ contains none of CONTEXT.md")
        .await;
    user.file("blank/CONTEXT.md", "");
    let report = import(&user, "agent", "blank").await;
    has(&report, json!({"unchanged": true, "version": null}));
    assert_eq!(service.count("memories").await, 0);
    user.session("4 window export out ⇒ memory agent of vault acme")
        .await;
    assert!(!user.path().join("out").exists());
}

#[tokio::test]
async fn a_long_history_is_imported_in_several_requests() {
    let (_service, user) = User::served().await;
    let summary = "y".repeat(900);
    let lines: String = (0..2_500)
        .map(|number| {
            format!(
                "- [2026-01-01T00:{:02}:{:02}Z] Step {number}: {summary}\n",
                number / 60,
                number % 60
            )
        })
        .collect();
    user.file("in/archive/history.md", &format!("# History\n\n{lines}"));
    user.file(
        "in/active/current_status.md",
        "Goal: ship\nUpdated: 2026-01-02T00:00:00Z\n",
    );
    let report = import(&user, "agent", "in").await;
    has(&report["taken"], json!({"history": 2_500, "status": 1}));
    assert_eq!(report["version"], 3, "{report}");
    assert_eq!(import(&user, "agent", "in").await["version"], 3);
    export(&user, "agent", "out").await;
    let history = fs::read_to_string(user.path().join("out/archive/history.md")).unwrap();
    let shown: String = lines
        .lines()
        .zip(1..)
        .map(|(line, number)| format!("{}\n", line.replacen("] ", &format!("] T-{number} "), 1)))
        .collect();
    assert_eq!(history, format!("# History\n\n{shown}"));
    let status = fs::read_to_string(user.path().join("out/active/current_status.md")).unwrap();
    assert!(status.contains("Updated: 2026-01-02T00:00:00Z"), "{status}");
}

#[tokio::test]
async fn the_newest_of_an_undated_window_stay_in_it() {
    let (service, user) = User::served().await;
    let decisions: String = (1..=12)
        .map(|number| format!("- Choice number {number}\n"))
        .collect();
    user.file(
        "in/active/decisions.log.md",
        &format!("# Decisions\n\n{decisions}"),
    );
    let tasks: String = (1..=7)
        .map(|number| {
            format!("### task-{number}: Step {number}\n- Intent: Step {number}\n- Summary: Done {number}\n\n")
        })
        .collect();
    user.file(
        "in/active/current_status.md",
        &format!("# Status\n\n## Recent Tasks\n\n{tasks}"),
    );
    let newest = "the last entry is taken as the newest";
    let tasks = format!("active/current_status.md: {newest}, by the order of the ids");
    let decisions = format!("active/decisions.log.md: {newest}, since neither dates nor ids tell it");
    user.session(&format!("window import in --strict ⇒ {tasks} | {decisions}"))
        .await;
    let window = service.memory("agent").get_json("window").await.is(200).json();
    has(
        &window,
        json!({"/tasks/*/task_id": ["task-7", "task-6", "task-5", "task-4", "task-3"], "/tasks/0/summary": "Done 7",
               "/decisions#": 10, "/decisions/0/decision": "Choice number 12"}),
    );
    let report = import(&user, "agent", "in").await;
    let newest = json!({"file": "active/decisions.log.md", "end": "last", "by": "file"});
    has(&report, json!({"/newest/1": newest, "unchanged": true}));
}

#[tokio::test]
async fn a_memory_that_has_only_rules_is_exported() {
    let (service, user) = User::served().await;
    post(
        &service,
        "items",
        json!({"category": "rules", "content": "Be kind\r\nto all"}),
    )
    .await;
    export(&user, "agent", "a").await;
    let rules = fs::read_to_string(user.path().join("a/CONTEXT.md")).unwrap();
    assert!(rules.contains("Be kind"), "{rules}");
    for (memory, taken) in [("other", 1), ("agent", 0)] {
        let report = import(&user, memory, "a").await;
        assert_eq!(report["taken"]["rules"], taken, "{report}");
    }
}
