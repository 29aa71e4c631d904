use super::{refresh, section, supersede};
use crate::harness::{Service, has, holds, lacks};
use crate::transfer::program::exported;
use serde_json::json;
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
    let table = r#"
        GET handoff/status → 404 not-found
        GET handoff → 404 not-found
        POST handoff/refresh → 404 not-found
        PUT context < FIRST → 201
        GET handoff/status → 200 {"status": "missing", "reasons": []}
        GET handoff → 404 not-found {"freshness": "missing", "detail~": "POST"}
        GET handoffs → 200 {"items": []}
        POST handoff/refresh → 201 {"refreshed": true, "window": "PT2H", "base_version": 1}"#;
    let made = memory
        .requests(&table.replace("FIRST", &FIRST.replace('\n', "\\n")))
        .await
        .json();
    has(
        &made,
        json!({
            "freshness": {"status": "fresh", "reasons": [], "stale_lines": []},
            "/manifest/model": null,
            "/manifest/cited": ["Active Context@1", "Current Progress@1", "D-1@1", "KL-1@1"],
        }),
    );
    let markdown = made["markdown"].as_str().unwrap();
    let titles: Vec<&str> = markdown
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    assert_eq!(titles, SECTIONS);
    let sections = [
        "Start Here: - Blocker: \"no quota\" [Active Context@1]\n- Goal: \"ship the parser\" [Active Context@1]\n\
         - In progress: \"Wire the parser\" [Current Progress@1]\n\
         - Remaining: \"Benchmarks, and which ones?\" [Current Progress@1]",
        "Open Questions: - Blocker: \"no quota\" [Active Context@1]\n\
         - \"Benchmarks, and which ones?\" [Current Progress@1]",
    ];
    for (title, lines) in sections.map(|row| row.split_once(": ").unwrap()) {
        assert_eq!(section(markdown, title).join("\n"), lines);
    }
    assert_eq!(section(markdown, "Current Context").len(), 2);

    // It is created again only with `force`. A change of a section without records changes nothing; one more record does, and
    // reading does not make the handoff fresh. A cited record that is archived is the first reason, listed by line.
    let table = r##"
        POST handoff/refresh → 200 {"refreshed": false, "handoff_id": "MADE"}
        POST handoff/refresh?force=true → 201 {"handoff_id!": "MADE"}
        PUT context < FIRST\n# Facts\n- one\n → 201
        GET handoff/status → 200 {"status": "fresh", "reasons": []}
        +600
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because it is slow: parse in one pass\n → 200
        GET handoff/status → 200 {"status": "stale", "/reasons/*/kind": ["records_changed"]}
        GET handoff → 200
        GET handoff/status → 200 {"status": "stale", "/reasons/*/kind": ["records_changed"]}
        GET handoff → 200
        POST handoff/refresh → 201 {"/freshness/status": "fresh"}
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because CI has one now\n → 200
        GET handoff/status → 200 {"/reasons/*/kind": ["cited_record_archived", "records_changed"], "/reasons/0/record_id": "KL-1"}"##;
    let table = table.replace("FIRST", &FIRST.replace('\n', "\\n"));
    let made_id = made["handoff_id"].as_str().unwrap();
    let status = memory.requests(&table.replace("MADE", made_id)).await.json();
    let handoff = memory.get_json("handoff").await.is(200).json();
    let lines: Vec<&str> = handoff["markdown"].as_str().unwrap().lines().collect();
    let stale = status["stale_lines"].as_array().unwrap();
    assert!(!stale.is_empty());
    for line in stale {
        let text = lines[usize::try_from(line["line"].as_u64().unwrap()).unwrap() - 1];
        let expected = json!({"citation": "KL-1@1", "reason": "cited_record_archived", "text": text, "text~": "[KL-1@1]"});
        has(line, expected);
    }
    let fresh = refresh(&memory, "", None).await.is(201).json();
    let markdown = fresh["markdown"].as_str().unwrap();
    lacks(section(markdown, "Current Context").join("\n"), &["KL-1@"]);
    let replaced = section(markdown, "Recently Replaced / Archived");
    assert_eq!(replaced.len(), 1);
    assert!(
        replaced[0].contains("CI has one now") && replaced[0].ends_with("[KL-1@3]"),
        "{replaced:?}"
    );

    // A decision replaces another, and a third one replaces it.
    for (old, decision) in [
        (1, "D-2 because it grew: two crates"),
        (2, "D-3 because it shrank: one crate"),
    ] {
        let first = "D-1 because one language is enough: all SQL lives in storage";
        memory.write(FIRST.replace(first, decision)).await;
        supersede(&service, old, &format!("D-{}", old + 1)).await;
    }
    let chained = refresh(&memory, "", None).await.is(201).json();
    let replaced = section(
        chained["markdown"].as_str().unwrap(),
        "Recently Replaced / Archived",
    );
    for old in ["D-1 was replaced by D-3", "D-2 was replaced by D-3"] {
        let names = |line: &&str| line.contains(old) && line.contains("[D-3@6]");
        assert!(replaced.iter().any(names), "{replaced:?}");
    }

    // The document changed without any change of a record; then, only time has passed.
    let document = memory.text().await.replace("Wire the parser", "Measure it");
    memory.write(document).await;
    let table = r#"
        GET handoff/status → 200 {"status": "stale", "/reasons/*/kind": ["section_changed"]}
        POST handoff/refresh → 201
        +7200
        GET handoff/status → 200 {"status": "fresh"}
        +1
        GET handoff/status → 200 {"status": "stale", "/reasons/*/kind": ["window_passed"]}
        POST handoff/refresh → 201"#;
    let late = memory.requests(table).await.json();
    let recent = section(late["markdown"].as_str().unwrap(), "Recent Changes");
    assert_eq!(recent, [""; 0]);

    // All of them are stored, and deleted with the memory.
    let table = r#"
        GET handoff/status → 200 {"status": "fresh", "reasons": []}
        GET handoffs?limit=3 → 200 {"items#": 3, "/items/0/handoff_id": "LATE"} ⇒ cursor=/next_cursor
        GET handoffs?cursor=$cursor → 200 {"/items/*/handoff_id~": "MADE", "next_cursor": null}
        GET handoffs/MADE → 200"#;
    let table = table.replace("LATE", late["handoff_id"].as_str().unwrap());
    let first = memory.requests(&table.replace("MADE", made_id)).await;
    assert_eq!(first.text(), made["markdown"]);
    memory.delete().await.is(204);
    assert_eq!(service.counts(["handoffs", "record_changes"]).await, [0, 0]);
}

#[tokio::test]
async fn a_handoff_quotes_as_written_tells_its_freshness_on_read_and_quotes_no_redacted_text() {
    let table = r###"
        § arrows are shown as written, and the summary counts the records
        PUT context < # Key Learnings\n- KL-1 because a => b: map <T> & go -> on\n- KL-2 because b: > quoted\n → 201
        POST handoff/refresh → 201 {"markdown~": "\"map &lt;T> &amp; go -> on\", because \"a => b\""}
        +10000
        POST handoff/refresh → 201 {"/freshness/status": "fresh", "markdown~": "## Summary\n- Learnings: 2 active [KL-2@1] [KL-1@1]\n\n## "}
        § the preface is computed on read and covered by the etag
        PUT context < FIRST → 201
        POST handoff/refresh → 201 ⇒ made=/markdown
        GET handoff → 200 | content-type: text/markdown; charset=utf-8 | ^> Freshness: fresh. ⇒ tag=etag
        GET handoff → 200 ~$made
        GET handoff | If-None-Match: $tag → 304
        +60
        GET handoff | If-None-Match: $tag → 304
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is over\n → 200
        GET handoff | If-None-Match: $tag → 200 ^> Freshness: stale.
        GET handoff → 200 ~cited_record_archived: KL-1
        GET handoff → 200 ~$made
        § goal, blocker and steps that no line cites make it stale when they come; a task alone is no change of them
        POST tasks < {"task_id": "t-1", "intent": "Step 1", "summary": "Done."} → 201
        POST handoff/refresh → 201 {"markdown~": "_The memory names no next step._"}
        POST tasks < {"task_id": "t-2", "intent": "Step 2", "summary": "Done."} → 201
        GET handoff/status → 200 {"/reasons/*/kind": ["records_changed"], "stale_lines": []}
        POST handoff/refresh → 201 {"/manifest/cited": ["T-1@1", "T-2@2"]}
        PUT status < {"goal": "ship the parser", "blocker": "no quota"} → 201
        GET handoff/status → 200 {"status": "stale", "/reasons/*/kind": ["section_changed"], "stale_lines": []}
        POST handoff/refresh → 201 {"markdown~": "- Blocker: \"no quota\" [Active Context@3]"}
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - Measure it\n → 200 {"status": "applied"}
        GET handoff/status → 200 {"/reasons/*/detail": ["Current Progress changed since version 3"], "stale_lines": []}
        POST handoff/refresh → 201 {"markdown~": "- In progress: \"Measure it\" [Current Progress@4]"}
        § a note beside goal and blocker is none of them
        PUT /v1/vaults/acme/memories/noted/context < # Active Context\n- Goal: ship the parser\n- Blocker: no quota\nNote: ask Ada\n → 201
        POST /v1/vaults/acme/memories/noted/handoff/refresh → 201
        PUT /v1/vaults/acme/memories/noted/context < # Active Context\n- Goal: ship the parser\n- Blocker: no quota\nNote: ask Bob\n → 201
        GET /v1/vaults/acme/memories/noted/handoff/status → 200 {"status": "fresh"}
        § a redaction deletes the handoffs that may quote the text
        PUT context < # Key Learnings\n- KL-1 because none: harmless words\n → 201
        POST handoff/refresh → 201 ⇒ before=/handoff_id
        PUT context < # Key Learnings\n- KL-2 because none: sk_live_[secret]_4711\n → 201
        PUT context < # Key Learnings\n → 201
        POST handoff/refresh → 201 {"markdown~": "secret"} ⇒ after=/handoff_id
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET handoffs/$after → 404 not-found handoff_id
        GET handoffs/$before → 200
        GET handoff/status → 200 {"status": "stale"}
        HOLDING secret:
        § against a redacted text nothing is called new
        PUT context < # Active Context\nGoal: ship it\nBlocker: none\n\n# Facts\n- one\n → 201
        +10000
        PUT context < # Active Context\nGoal: ship it\nBlocker: none\n\n# Facts\n- two\n → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        POST handoff/refresh → 201 {"markdown!": "Goal is now"}"###;
    let first = FIRST.replace('\n', "\\n");
    let service = Service::start().await;
    service.requests(&table.replace("FIRST", &first)).await;
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
    let said = [
        "_Nothing changed in this window._",
        "in the 2 hours up to this handoff",
        "This is no task list: the next prompt of the user decides.",
    ];
    holds(markdown, &said);

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
    // The sources are not marked as archived.
    lacks(markdown, &["Nothing changed", "(archived)"]);
    assert_eq!(made["freshness"]["status"], "fresh");
}

#[tokio::test]
async fn a_handoff_and_an_export_are_made_behind_a_pooler() {
    let behind = |config: &mut Config| config.database.prepared_statements = Some(false);
    let (service, memory) = Service::configured(behind).await.with_memory("m");
    memory.write(FIRST).await;
    refresh(&memory, "", None).await.is(201);
    assert!(!exported(service.storage(), "acme").await.is_empty());
}
