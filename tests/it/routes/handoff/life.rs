use super::{refresh, section, state, supersede};
use crate::harness::{Service, each, has, holds};
use crate::transfer::program::exported;
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::config::Config;

const FIRST: &str = "# Current Progress\n## In Progress\n- Wire the parser\n## Remaining\n- Benchmarks, and which ones?\n\n\
    # Key Learnings\n- KL-1 because CI has no database: commit the prepared query data\n\n\
    # Active Context\nGoal: ship the parser\nBlocker: no quota\n\n\
    # Decisions\n- D-1 because one language is enough: all SQL lives in storage\n";

const SECTIONS: [&str; 8] = [
    "Summary",
    "Start Here",
    "Recent Changes",
    "Current Context",
    "Recently Replaced / Archived",
    "Open Questions",
    "Workspace Snapshot",
    "Sources",
];

#[tokio::test]
async fn every_transition_between_the_states_happens() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.get("handoff/status").await.missing();
    memory.get("handoff").await.missing();
    refresh(&memory, "", None).await.missing();

    memory.write(FIRST).await;
    assert_eq!(state(&memory).await, ("missing".to_owned(), vec![]));
    let problem = memory.get("handoff").await.missing();
    assert_eq!(problem["freshness"], "missing");
    assert!(problem["detail"].as_str().unwrap().contains("POST"));
    assert_eq!(memory.read("handoffs").await["items"], json!([]));

    // Created, and fresh: created again only with `force`.
    let made = refresh(&memory, "", None).await.is(201).json();
    assert_eq!(made["refreshed"], true);
    assert_eq!(
        made["freshness"],
        json!({"status": "fresh", "reasons": [], "stale_lines": []})
    );
    has(&made, json!({"window": "PT2H", "base_version": 1}));
    let markdown = made["markdown"].as_str().unwrap();
    let titles: Vec<&str> = markdown
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    assert_eq!(titles, SECTIONS);
    assert_eq!(
        section(markdown, "Start Here"),
        [
            "- Blocker: \"no quota\" [Active Context@1]",
            "- Goal: \"ship the parser\" [Active Context@1]",
            "- In progress: \"Wire the parser\" [Current Progress@1]",
            "- Remaining: \"Benchmarks, and which ones?\" [Current Progress@1]",
        ]
    );
    assert_eq!(
        section(markdown, "Open Questions"),
        [
            "- Blocker: \"no quota\" [Active Context@1]",
            "- \"Benchmarks, and which ones?\" [Current Progress@1]",
        ]
    );
    assert_eq!(section(markdown, "Current Context").len(), 2);
    assert_eq!(made["manifest"]["model"], Value::Null);
    let cited = ["Active Context@1", "Current Progress@1", "D-1@1", "KL-1@1"];
    assert_eq!(made["manifest"]["cited"], json!(cited));
    let again = refresh(&memory, "", None).await.is(200).json();
    has(
        &again,
        json!({"refreshed": false, "handoff_id": made["handoff_id"]}),
    );
    let forced = refresh(&memory, "?force=true", None).await.is(201).json();
    assert_ne!(forced["handoff_id"], made["handoff_id"]);

    // A change of a section without records changes nothing.
    memory.write(format!("{FIRST}\n# Facts\n- one\n")).await;
    assert_eq!(state(&memory).await, ("fresh".to_owned(), vec![]));

    // One more record; reading does not make the handoff fresh.
    service.clock.advance(Duration::from_secs(600));
    memory.learns("it is slow: parse in one pass").await;
    for _ in 0..2 {
        assert_eq!(
            state(&memory).await,
            ("stale".to_owned(), vec!["records_changed".to_owned()])
        );
        memory.get("handoff").await.is(200);
    }
    assert_eq!(
        refresh(&memory, "", None).await.is(201).json()["freshness"]["status"],
        "fresh"
    );

    // A cited record is archived: this is the first reason, listed by line.
    memory.archives("KL-1 because CI has one now").await;
    let status = memory.read("handoff/status").await;
    let kinds = each(&status["reasons"], "kind");
    assert_eq!(kinds, ["cited_record_archived", "records_changed"]);
    assert_eq!(status["reasons"][0]["record_id"], "KL-1");
    let handoff = memory.get_json("handoff").await.is(200).json();
    let lines: Vec<&str> = handoff["markdown"].as_str().unwrap().lines().collect();
    let stale = status["stale_lines"].as_array().unwrap();
    assert!(!stale.is_empty());
    for line in stale {
        let number = usize::try_from(line["line"].as_u64().unwrap()).unwrap();
        assert_eq!(line["text"], lines[number - 1]);
        assert!(lines[number - 1].contains("[KL-1@1]"), "{line}");
        has(
            line,
            json!({"citation": "KL-1@1", "reason": "cited_record_archived"}),
        );
    }
    let fresh = refresh(&memory, "", None).await.is(201).json();
    let markdown = fresh["markdown"].as_str().unwrap();
    assert!(
        !section(markdown, "Current Context")
            .iter()
            .any(|line| line.contains("KL-1@"))
    );
    let replaced = section(markdown, "Recently Replaced / Archived");
    assert_eq!(replaced.len(), 1);
    assert!(
        replaced[0].contains("CI has one now") && replaced[0].ends_with("[KL-1@3]"),
        "{replaced:?}"
    );

    // A decision replaces another, and a third one replaces it.
    for (version, document) in [
        (
            5,
            FIRST.replace(
                "- D-1 because one language is enough: all SQL lives in storage",
                "- D-2 because it grew: two crates",
            ),
        ),
        (
            6,
            FIRST.replace(
                "- D-1 because one language is enough: all SQL lives in storage",
                "- D-3 because it shrank: one crate",
            ),
        ),
    ] {
        memory.write(document).await;
        supersede(&service, version - 4, &format!("D-{}", version - 3)).await;
    }
    let chained = refresh(&memory, "", None).await.is(201).json();
    let replaced = section(
        chained["markdown"].as_str().unwrap(),
        "Recently Replaced / Archived",
    );
    for old in ["D-1 was replaced by D-3", "D-2 was replaced by D-3"] {
        assert!(
            replaced
                .iter()
                .any(|line| line.contains(old) && line.contains("[D-3@6]")),
            "{replaced:?}"
        );
    }

    // The document changed without any change of a record.
    let document = memory.text().await.replace("Wire the parser", "Measure it");
    memory.write(document).await;
    assert_eq!(
        state(&memory).await,
        ("stale".to_owned(), vec!["section_changed".to_owned()])
    );
    refresh(&memory, "", None).await.is(201);

    // Only time has passed.
    service.clock.advance(Duration::from_secs(7_200));
    assert_eq!(state(&memory).await.0, "fresh");
    service.clock.advance(Duration::from_secs(1));
    assert_eq!(
        state(&memory).await,
        ("stale".to_owned(), vec!["window_passed".to_owned()])
    );
    let late = refresh(&memory, "", None).await.is(201).json();
    assert_eq!(
        section(late["markdown"].as_str().unwrap(), "Recent Changes"),
        [""; 0]
    );
    assert_eq!(state(&memory).await, ("fresh".to_owned(), vec![]));

    // All of them are stored, and deleted with the memory.
    let list = memory.read("handoffs?limit=3").await;
    assert_eq!(list["items"].as_array().unwrap().len(), 3);
    assert_eq!(list["items"][0]["handoff_id"], late["handoff_id"]);
    let rest = memory
        .read(&format!(
            "handoffs?cursor={}",
            list["next_cursor"].as_str().unwrap()
        ))
        .await;
    assert_eq!(
        rest["items"].as_array().unwrap().last().unwrap()["handoff_id"],
        made["handoff_id"]
    );
    let first = memory
        .get(&format!("handoffs/{}", made["handoff_id"].as_str().unwrap()))
        .await
        .is(200);
    assert_eq!(first.text(), made["markdown"]);
    memory.delete().await.is(204);
    assert_eq!(
        service.count("handoffs").await + service.count("record_changes").await,
        0
    );
}

#[tokio::test]
async fn arrows_are_shown_as_written_and_the_summary_counts_the_records() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory
        .write("# Key Learnings\n- KL-1 because a => b: map <T> & go -> on\n- KL-2 because b: > quoted\n")
        .await;
    let made = refresh(&memory, "", None).await.is(201).json();
    let markdown = made["markdown"].as_str().unwrap();
    holds(markdown, &["\"map &lt;T> &amp; go -> on\", because \"a => b\""]);
    service.clock.advance(Duration::from_secs(10_000));
    let later = refresh(&memory, "", None).await.is(201).json();
    let markdown = later["markdown"].as_str().unwrap();
    assert_eq!(
        section(markdown, "Summary"),
        ["- Learnings: 2 active [KL-2@1] [KL-1@1]"]
    );
    assert_eq!(later["freshness"]["status"], "fresh");
}

#[tokio::test]
async fn the_preface_is_computed_on_read_and_covered_by_the_etag() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.write(FIRST).await;
    let made = refresh(&memory, "", None).await.is(201).json();
    let read = memory.get("handoff").await.is(200);
    assert_eq!(read.header("content-type"), "text/markdown; charset=utf-8");
    let preface = read
        .text()
        .strip_suffix(made["markdown"].as_str().unwrap())
        .unwrap();
    assert!(preface.starts_with("> Freshness: fresh."), "{preface}");
    let again = || memory.get_with("handoff", "If-None-Match", read.header("etag"));
    again().await.is(304);
    service.clock.advance(Duration::from_secs(60));
    again().await.is(304);
    memory.archives("KL-1 because it is over").await;
    let stale = again().await.is(200);
    assert!(stale.text().starts_with("> Freshness: stale."));
    holds(stale.text(), &["cited_record_archived: KL-1"]);
    assert!(stale.text().ends_with(made["markdown"].as_str().unwrap()));
}

#[tokio::test]
async fn a_redaction_deletes_the_handoffs_that_may_quote_the_text() {
    let (service, memory) = Service::start().await.with_memory("m");
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 because none: harmless words\n → 201
        POST handoff/refresh → 201 ⇒ before=/handoff_id
        PUT context < # Key Learnings\n- KL-2 because none: sk_live_[secret]_4711\n → 201
        PUT context < # Key Learnings\n → 201
        POST handoff/refresh → 201 {"markdown~": "secret"} ⇒ after=/handoff_id
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET handoffs/$after → 404 not-found handoff_id
        GET handoffs/$before → 200
        GET handoff/status → 200 {"status": "stale"}"##;
    memory.requests(table).await;
    assert_eq!(service.tables_that_hold("secret").await, Vec::<String>::new());
}

#[tokio::test]
async fn against_a_redacted_text_nothing_is_called_new() {
    let (_, memory) = Service::start().await.with_memory("m");
    let table = r##"
        PUT context < # Active Context\nGoal: ship it\nBlocker: none\n\n# Facts\n- one\n → 201
        +10000
        PUT context < # Active Context\nGoal: ship it\nBlocker: none\n\n# Facts\n- two\n → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        POST handoff/refresh → 201 {"markdown!": "Goal is now"}"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn recent_changes_name_what_changed_outside_the_records() {
    let (service, memory) = Service::start().await.with_memory("m");
    let document = |goal: &str, blocker: &str, completed: &str, now: &str, facts: &str| {
        format!(
            "# Current Progress\n## Completed\n- Drew the plan\n{completed}## In Progress\n- {now}\n\n\
             # Active Context\nGoal: {goal}\nBlocker: {blocker}\n\n# Facts\n- {facts}\n"
        )
    };
    memory
        .write(document("ship it", "no quota", "", "Wire the parser", "one"))
        .await;
    service.clock.advance(Duration::from_secs(10_000));
    let quiet = refresh(&memory, "", None).await.is(201).json();
    let markdown = quiet["markdown"].as_str().unwrap();
    holds(markdown, &["_Nothing changed in this window._"]);
    holds(markdown, &["in the 2 hours up to this handoff"]);
    holds(
        markdown,
        &["This is no task list: the next prompt of the user decides."],
    );

    let changed = document("ship *both*", "none", "- Wired the parser\n", "Measure it", "two");
    memory.write(changed).await;
    let made = refresh(&memory, "", None).await.is(201).json();
    let markdown = made["markdown"].as_str().unwrap();
    assert_eq!(
        section(markdown, "Recent Changes"),
        [
            "- Goal is now \"ship \\*both\\*\" [Active Context@2]",
            "- Blocker is no longer stated [Active Context@2]",
            "- Completed: \"Wired the parser\" [Current Progress@2]",
            "- Now in progress: \"Measure it\" [Current Progress@2]",
            "- Steps that are no longer listed: 1 [Current Progress@2]",
        ]
    );
    holds(markdown, &["_Sections of free text that changed: \"Facts\"._"]);
    assert!(!markdown.contains("Nothing changed"), "{markdown}");
    assert_eq!(made["freshness"]["status"], "fresh");
    // The sources are not marked as archived.
    assert!(!markdown.contains("(archived)"), "{markdown}");
}

#[tokio::test]
async fn a_handoff_and_an_export_are_made_behind_a_pooler() {
    let behind = |config: &mut Config| config.database.prepared_statements = Some(false);
    let (service, memory) = Service::configured(behind).await.with_memory("m");
    memory.write(FIRST).await;
    refresh(&memory, "", None).await.is(201);
    assert!(!exported(service.storage(), "acme").await.is_empty());
}
