//! Bodies of a megabyte that consist of faults: reported in short, and limited together.

use super::{get, of, put};
use crate::harness::{Answer, Service, has};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

/// As many `item`s after `head` as a body may have.
fn full(head: &str, item: &str) -> String {
    head.to_owned() + &item.repeat(((1 << 20) - head.len()) / item.len())
}

const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n";

#[tokio::test]
async fn of_many_faults_the_first_are_listed_and_the_others_counted() {
    let (service, memory) = Service::start().await.agent();
    let body = full(ADD, "- a\n");
    let bullets = body.lines().count() - 2;

    let answer = memory.applying("?dry_run=true", &body);
    let answer = Answer::to(answer).await.is(200).json();

    let listed =
        json!({"rejected#": 200, "/rejected/0/kind": "missing_reason", "more_rejected": bullets - 200});
    has(&answer, listed.clone());
    assert!(answer.get("more_warnings").is_none());
    has(&memory.run_of(&answer).await["outcome"], listed);

    let failed = Answer::to(memory.applying("?on_invalid=fail", &body)).await;
    let failed = failed.problem(422, "invalid", None);
    assert_eq!(failed["more_rejected"], bullets - 200);
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_fault_after_the_listed_ones_still_fails_the_request() {
    let (_, memory) = Service::start().await.agent();
    memory.learns("a: b").await;
    // 300 duplicates do not fail the request; the last item does.
    let text = ADD.to_owned() + &"    - because a: b\n".repeat(300) + "    - no reason\n";
    let failed = Answer::to(memory.applying("?on_invalid=fail", &text)).await;
    assert_eq!(failed.problem(422, "invalid", None)["more_rejected"], 101);
}

#[tokio::test]
async fn the_list_of_accepted_operations_is_limited_too() {
    let (_, memory) = Service::start().await.agent();
    let many: String = (0..10_001).map(|n| format!("- because a: b{n}\n")).collect();
    // Ten thousand of them exceed the document's limit, with the same error as before.
    let answer = Answer::to(memory.applying("", &format!("{ADD}{many}"))).await;
    answer.invalid("context");

    let bullets = "- a\n".repeat(10_001);
    let progress = format!("CURRENT_PROGRESS:\n  In Progress:\n{bullets}");
    let answer = memory.applied(&progress).await;
    has(
        &answer,
        json!({"status": "applied", "/rejected/0/kind": "too_large"}),
    );

    let archive = json!({"op": "archive", "id": "KL-1", "reason": "x"});
    let list = json!({"operations": vec![archive; 10_001]});
    let problem = memory.ask("", list).await.invalid("operations");
    assert_eq!(problem["limit"], 10_000);
}

#[tokio::test]
async fn one_reason_for_many_records_is_short() {
    let (_, memory) = Service::start().await.agent();
    let reason = "x".repeat(1_001);
    let answer = memory.archives(&format!("KL-1, KL-2 because {reason}")).await;
    has(&answer, json!({"rejected#": 1, "/rejected/0/kind": "too_large"}));
    let answer = memory.archives(&format!("KL-1 because {reason}")).await;
    assert_eq!(answer["rejected"][0]["kind"], "unknown_id");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_large_bodies_some_are_rejected_and_others_are_served() {
    let service = Service::start().await;
    let body = full(ADD, "    - short bullet\n");
    let attacks = (0..40).map(|n| {
        let below = format!("m{n}/operations?dry_run=true");
        let request = of(&service, Method::POST, "evil", &below);
        Answer::to(request.header("Content-Type", "text/plain").body(body.clone()))
    });
    let others = async {
        for n in 0..20 {
            let text = format!("# Doc\n\nhello {n}\n");
            put(&service, "other", "m", text).await.is(201);
            get(&service, "other", "m").await.is(200);
        }
    };
    let (answers, ()) = futures::join!(join_all(attacks), others);
    let mut refused = 0;
    for answer in answers {
        if answer.status == 200 {
            continue;
        }
        refused += 1;
        assert_eq!(answer.header("retry-after"), "1");
        let problem = answer.problem(503, "unavailable", None);
        assert_eq!(problem["limit_name"], Value::from("http.max_bytes_in_flight"));
    }
    assert!(refused > 0, "forty megabytes were accepted at once");
    let memories = service.count("memories").await;
    assert_eq!(memories, 1, "nothing of a dry run is stored");
}
