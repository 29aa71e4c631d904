//! `GET M/records/{record_id}`

use crate::harness::Service;
use serde_json::json;

#[tokio::test]
async fn a_record_shows_its_creation_and_its_archiving() {
    let (_, memory) = Service::start().await.agent();
    memory
        .write("# Verbatim Context\n- VC-3 because it is next: Makefile =>\n  test:\n  \tcargo test\n")
        .await;

    let born = memory.read("records/VC-3").await;
    memory
        .applied("VERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-3 because done\n")
        .await;
    let ended = memory.read("records/VC-3").await;

    assert_eq!(
        born,
        json!({
            "record_id": "VC-3", "kind": "VC", "status": "active", "label": "Makefile",
            "reason": "it is next", "content": "test:\n\tcargo test", "pinned": false, "until": null,
            "created_version": 1, "created_at": "2026-11-21T02:00:00Z", "created_by": "anonymous",
            "ended_version": null, "ended_at": null, "ended_by": null,
            "archive_reason": null, "superseded_by": null, "evidence": [],
        })
    );
    assert_eq!(ended["status"], "archived");
    assert_eq!(ended["ended_version"], 2);
    assert_eq!(ended["ended_by"], "anonymous");
    assert_eq!(ended["archive_reason"], "done");
    memory
        .refuses("records/VC-4", 404, "not-found", Some("record_id"))
        .await;
    for bad in ["VC-0", "vc-3", "VC-03", "X-1", "VC-9223372036854775808", "VC"] {
        memory.get(&format!("records/{bad}")).await.invalid("record_id");
    }
}

#[tokio::test]
async fn a_put_that_reuses_an_archived_id_returns_a_warning_and_the_history_has_both_texts() {
    let (_, memory) = Service::start().await.agent();
    memory
        .write("# Key Learnings\n- KL-1 because a: first meaning\n- KL-2 because b: stays\n")
        .await;
    memory.archives("KL-1 because obsolete").await;

    let put = memory.write("# Key Learnings\n- KL-1 because c: second meaning\n- KL-2 because b: stays\n- KL-9 because d: new\n").await;

    let warnings = put["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{put}");
    assert_eq!(warnings[0]["kind"], "archived_id_reused");
    assert_eq!(warnings[0]["records"], json!(["KL-1"]));
    let record = memory.read("records/KL-1?history=true").await;
    assert_eq!(record["content"], "second meaning");
    let history: Vec<_> = record["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            json!([
                change["change"],
                change["version"],
                change["reason"],
                change["content"]
            ])
        })
        .collect();
    assert_eq!(
        history,
        [
            json!(["restored", 3, "c", "second meaning"]),
            json!(["archived", 2, null, null]),
            json!(["added", 1, "a", "first meaning"]),
        ]
    );
    let plain = memory.read("records/KL-1").await;
    assert_eq!(plain.get("history"), None);
    memory.get("records/KL-1?history=maybe").await.invalid("history");
}

#[tokio::test]
async fn a_time_that_the_database_does_not_read_is_content() {
    let (_, memory) = Service::start().await.agent();
    for time in [
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-12-31T23:59:60.5Z",
    ] {
        memory
            .write(format!("# Key Learnings\n- KL-1 [{time}] because a: one\n"))
            .await;

        let record = memory.read("records/KL-1").await;
        assert_eq!(record["content"], format!("[{time}] because a: one"));
    }
}
