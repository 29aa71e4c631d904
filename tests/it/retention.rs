//! Retention: which versions are pruned, and the responses for them afterwards.

use crate::harness::Service;
use crate::pipeline::dictated::{Dictated, LEARNING, dictate};
use chrono::TimeDelta;
use serde_json::json;
use std::time::Duration;
use working_memory::clock::Clock;
use working_memory::config::retention::RetentionConfig;

#[tokio::test]
async fn the_newest_versions_and_those_that_introduced_active_records_stay() {
    let (service, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < one → 201
        PUT context < # Key Learnings\n- KL-1 because a: b\n- KL-2 because a: c\n → 201
        PUT context < # Key Learnings\n- KL-1 because a: b\n- KL-3 because a: d\n → 201
        PUT context < 4\n# Key Learnings\n- KL-1 because a: b\n → 201
        PUT context < 5\n# Key Learnings\n- KL-1 because a: b\n → 201
        PUT context < 6\n# Key Learnings\n- KL-1 because a: b\n → 201
        PUT /v1/vaults/acme/memories/small/context < x → 201"##;
    memory.requests(table).await;

    assert_eq!(service.prune(2, true).await, 3);

    let table = r#"
        GET contexts → 200 {"/items/*/version": [6, 5, 2]}
        GET /v1/vaults/acme/memories/small/contexts → 200 {"/items/*/version": [1]}
        GET contexts/1 → 404 not-found ref
        GET contexts/2 → 200
        POST contexts/3/restore → 404 not-found ref
        GET records/KL-3 → 200 {"created_version": 3, "content": "d"}"#;
    memory.requests(table).await;
    assert_eq!(service.prune(2, true).await, 0);
    assert_eq!(service.prune(2, false).await, 1);
    let table = r#"
        PUT context < next → 201 {"version": 7}
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because e: f\n → 200 {"/operations/0/id": "KL-4"}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_version_stays_as_long_as_its_time_can_be_requested() {
    let (service, memory) = Service::start().await.agent();
    let table = "
        PUT context < one → 201
        +60
        PUT context < two → 201
        +60
        PUT context < three → 201
        +60";
    memory.requests(table).await;
    let retention = RetentionConfig {
        max_age: Some(TimeDelta::seconds(90)),
        ..RetentionConfig::default()
    };
    let prune = async || {
        let pruned = service.storage().prune_versions(&retention, service.clock.now());
        pruned.await.unwrap()
    };
    // It is 02:03; at 02:01:30 the second version was the newest.
    assert_eq!(prune().await, 1);
    let table = r#"
        GET contexts → 200 {"/items/*/version": [3, 2]}
        GET context?as_of=2026-11-21T02:01:30Z → 200 =two
        GET context?as_of=2026-11-21T02:00:30Z → 404 not-found as_of
        +86400"#;
    memory.requests(table).await;
    assert_eq!(prune().await, 1);
    assert_eq!(memory.text().await, "three");
}

#[tokio::test]
async fn a_version_retained_for_its_records_is_not_returned_for_a_later_time() {
    let (service, memory) = Service::start().await.agent();
    for number in 1..=5 {
        let text = format!("# Key Learnings\n- KL-1 because a: b\n\n# Notes\n{number}\n");
        memory.write(text).await;
        service.clock.advance(Duration::from_secs(60));
    }

    assert_eq!(service.prune(2, true).await, 2);

    let table = r#"
        GET contexts → 200 {"/items/*/version": [5, 4, 1]}
        GET context?as_of=2026-11-21T02:02:30Z → 404 not-found as_of {"detail~": "or it is not known any more which"}
        GET context?as_of=2026-11-21T02:03:30Z → 200
        GET context?as_of=2026-11-21T02:04:30Z → 200"#;
    memory.requests(table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_instances_prune_each_version_once() {
    let service = Service::start().await;
    service
        .execute(
            "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
         VALUES ('v', 'm', 1203, 'c-1203', '2026-11-21T02:00:00Z', '2026-11-21T02:00:00Z');
         INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, log)
         SELECT 'v', 'm', 'c-' || n, 'a', 'x', '2026-11-21T02:00:00Z', n, 'put', 1, '' FROM generate_series(1, 1203) AS n",
        )
        .await;

    let rounds = futures::future::join_all((0..4).map(|_| service.prune(2, true))).await;
    let again = service.prune(2, true).await;

    assert_eq!(rounds.iter().sum::<u64>() + again, 1201);
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn old_runs_are_deleted_and_their_versions_stay() {
    let (service, memory) = Dictated::new().service().await.agent();
    let mut body = dictate(json!({ "learnings": LEARNING }));
    let old = memory.updated(body.clone()).await;
    body["mode"] = json!("propose");
    let waiting = service.memory("other").updated(body).await;
    service.clock.advance(Duration::from_secs(3600));
    let new = memory.learns("e: f").await;
    let before = service.clock.now() - TimeDelta::minutes(30);

    for pruned in [1, 0] {
        assert_eq!(service.storage().prune_runs(before).await.unwrap(), pruned);
    }

    let old = format!("updates/{}", old["update_id"].as_str().unwrap());
    memory.get(&old).await.missing();
    memory.run_of(&new).await;
    let waiting = service.memory("other").run_of(&waiting).await;
    assert_eq!(waiting["status"], "proposed");
    let table = r#"
        GET contexts/1 → 200 ~pin the tool chain
        GET contexts → 200 {"/items/*/version": [2, 1]}
        GET log → 200"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_proposal_that_waited_for_long_is_kept_from_its_end_on() {
    let service = Service::start().await;
    let table = r##"
        § approved
        PROPOSED
        POST updates/$id/approve → 200
        § rejected
        PROPOSED
        POST updates/$id/reject < {"reason": "no"} → 200
        § redacted
        PROPOSED
        PUT context < another text → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        § replaced
        PUT context < # Key Learnings\n- KL-1 because a: b\n- KL-2 because a: b\n → 201
        POST consolidate < {} → 200 {"status": "proposed"}
        +172800
        POST consolidate < {} → 200 {"status": "proposed"}
        § expired
        PROPOSED
        GET updates/$id → 200 {"status": "proposed"}"##;
    let proposed = r##"
        PUT context < # Key Learnings\n- KL-1 because x: old\n → 201
        POST operations?mode=propose < KEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n → 200 ⇒ id=/update_id
        +172800"##;
    let expired = service.requests(&table.replace("PROPOSED", proposed)).await;
    let (storage, day) = (service.storage(), TimeDelta::days(1));
    let yesterday = || service.clock.now() - day;
    assert_eq!(storage.expire_proposals(yesterday(), 100).await.unwrap(), 1);

    assert_eq!(storage.prune_runs(yesterday()).await.unwrap(), 0);
    service.clock.advance(Duration::from_secs(172_800));
    assert_eq!(storage.prune_runs(yesterday()).await.unwrap(), 5);

    let table = r#"
        POST updates/ID/approve → 410 gone {"detail~": ["with its memory, or after its end (retention.runs_max_age)", "this request changed nothing"]}
        GET context → 200"#;
    let memory = service.memory(&expired.part("/memory_id"));
    memory
        .requests(&table.replace("ID", &expired.part("/update_id")))
        .await;
}
