//! Operations are checked against the caller's input: unsupported examples, snippets and insights, archives without a cause,
//! and credentials are rejected; and the evidence of a change is returned wherever the change is.

use crate::harness::{Service, Step, each, has, holds, scripted};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use working_memory::domain::evidence::Strictness;
use working_memory::domain::operation::Role;
use working_memory::llm::Models;

const TASK: &str = "Move the invoice renderer to its own queue.";
const MESSAGE: &str = "Root cause: RabbitMQ drops unacknowledged jobs after 30 minutes.\nThe Makefile has\n\
    \ttest:\n\t\tcargo  test --all\nThe retention limit of KL-2 is now 90 days.";

/// Models that return these responses every time; a role that is not named changes nothing.
fn models(answers: Value) -> Models {
    scripted(move |role: Role| match &answers[role.name()] {
        Value::String(text) => Step::answer(text),
        _ => Step::answer(&format!("{}: NO CHANGE", role.header())),
    })
}

async fn service(answers: Value) -> Service {
    Service::with_models(models(answers)).await
}

fn body() -> Value {
    json!({"task": TASK, "messages": [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": MESSAGE}]})
}

/// What a memory with this document answers to an update with these responses.
async fn answered(document: &str, answers: Value) -> Value {
    let (_, memory) = service(answers).await.agent();
    if !document.is_empty() {
        memory.write(document).await;
    }
    memory.updated(body()).await
}

fn kinds(answer: &Value) -> Vec<&str> {
    each(&answer["rejected"], "kind")
}

fn contents(answer: &Value) -> Vec<&str> {
    each(&answer["operations"], "content")
}

#[tokio::test]
async fn additions_without_evidence_in_the_input_are_rejected_one_by_one() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because it bit: RabbitMQ drops jobs that are unacknowledged for 30 minutes\n    \
        - because it is nice: Kubernetes clusters scale horizontally behind load balancers\n    \
        - because two quonxes burst: A quonx is zorbled before  it is blimped, never after\n    \
        - because ops asked: the RabbitMQ jobs log in with password=hunter2 on the queue\n";
    let verbatim = "VERBATIM_CONTEXT:\n  ADD:\n    - because next: test target =>\n        test:\n            cargo test --all\n    \
        - because next: other target =>\n        bench:\n            cargo bench\n";
    let service = service(json!({"learnings": learnings, "verbatim": verbatim})).await;
    let memory = service.memory("agent");

    let answer = memory.updated(body()).await;

    assert_eq!(
        kinds(&answer),
        ["ungrounded", "example", "secret", "not_verbatim"],
        "{answer}"
    );
    assert_eq!(
        contents(&answer),
        [
            "RabbitMQ drops jobs that are unacknowledged for 30 minutes",
            "\ttest:\n\t\tcargo  test --all"
        ]
    );
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
    assert_eq!(answer["models"]["learnings"]["reprompts"], 1);
    let record = memory.read("records/VC-1").await;
    assert_eq!(record["content"], "\ttest:\n\t\tcargo  test --all");
}

#[tokio::test]
async fn a_secret_alone_causes_no_retry() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because asked: the RabbitMQ queue takes password=hunter2 for the renderer\n";
    let answer = answered("", json!({"learnings": learnings})).await;

    assert_eq!(
        (kinds(&answer), &answer["status"]),
        (vec!["secret"], &json!("unchanged"))
    );
    assert_eq!(answer["models"]["learnings"]["reprompts"], 0);
    holds(
        answer["rejected"][0]["text"].as_str().unwrap(),
        &["password=[secret]"],
    );
}

const LEARNED: &str = "# Key Learnings\n- KL-1 because a: whales sing at dusk\n- KL-2 because b: logs are kept 30 days\n\
    - KL-3 because c: the renderer shares its queue with invoices\n- KL-4 because d: tulips bloom in April\n\
    - KL-5 because e: glaciers melt slowly\n";

#[tokio::test]
async fn an_archive_needs_evidence_in_the_input_or_a_related_addition() {
    let learnings = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because gone\n    - KL-2 because it is 90 days now\n    \
        - KL-3 because it gets a queue of its own\n";
    let answer = answered(LEARNED, json!({"learnings": learnings})).await;

    assert_eq!(kinds(&answer), ["uncalled_archive"], "{answer}");
    let archived = each(&answer["operations"], "id");
    assert_eq!(archived, ["KL-2", "KL-3"]);
    assert_eq!(
        answer["operations"][0]["evidence"][0]["quote"],
        "The retention limit of KL-2 is now 90 days."
    );
}

#[tokio::test]
async fn too_many_archives_are_all_rejected() {
    let learnings = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because gone\n    - KL-2 because gone\n    - KL-3 because gone\n    \
        - KL-4 because gone\n";
    let answer = answered(LEARNED, json!({"learnings": learnings})).await;

    let mut kinds = kinds(&answer);
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            "too_many_archives",
            "too_many_archives",
            "uncalled_archive",
            "uncalled_archive"
        ]
    );
    assert_eq!(answer["status"], "unchanged");
}

#[tokio::test]
async fn an_archive_is_rejected_with_its_related_addition() {
    let learnings = |addition: &str| {
        format!(
            "KEY_LEARNINGS:\n  ADD:\n    - because new: {addition}\n  ARCHIVE:\n    - KL-2 because it changed\n"
        )
    };
    let unfounded = learnings("logs live forever, days of zebras agree");
    let first = service(json!({"learnings": unfounded})).await;
    let memory = first.memory("agent");
    memory.write(LEARNED).await;
    let answer = memory.updated(body()).await;
    assert_eq!(kinds(&answer), ["ungrounded", "uncalled_archive"], "{answer}");

    let founded = learnings("logs are kept 90 days, the retention limit of the renderer");
    let second = service(json!({"learnings": founded})).await;
    let memory = second.memory("agent");
    memory.write(LEARNED).await;
    let answer = memory.updated(body()).await;
    assert_eq!(kinds(&answer), Vec::<&str>::new(), "{answer}");
    assert_eq!(answer["operations"][0]["superseded_by"], "KL-6", "{answer}");
    let record = memory.read("records/KL-2").await;
    assert_eq!(record["superseded_by"], "KL-6");
}

#[tokio::test]
async fn a_replacement_is_linked_across_a_retry() {
    let first = "KEY_LEARNINGS:\n  ADD:\n    - because new: logs are kept 90 days, the retention limit of the renderer\n  \
        ARCHIVE:\n    - KL-2\n";
    let second = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because it changed\n";
    let answers = Arc::new(Mutex::new(vec![second, first]));
    let models = scripted(move |role: Role| match role {
        Role::Learnings => Step::answer(answers.lock().unwrap().pop().unwrap_or(second)),
        _ => Step::answer(&format!("{}: NO CHANGE", role.header())),
    });
    let (_, memory) = Service::with_models(models).await.agent();
    memory.write(LEARNED).await;

    let answer = memory.updated(body()).await;

    assert_eq!(answer["models"]["learnings"]["reprompts"], 1, "{answer}");
    assert_eq!(answer["operations"][0]["superseded_by"], "KL-6", "{answer}");
}

#[tokio::test]
async fn evidence_is_stored_with_a_proposal() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because it bit: RabbitMQ drops jobs that are unacknowledged for 30 minutes\n";
    let (_, memory) = service(json!({"learnings": learnings})).await.agent();
    let mut body = body();
    body["mode"] = json!("propose");
    let proposed = memory.updated(body).await;
    let id = proposed["update_id"].as_str().unwrap();

    let path = format!("updates/{id}/approve");
    memory.post(&path, json!({})).await.is(200);

    let record = memory.read("records/KL-1").await;
    assert_eq!(record["evidence"], proposed["operations"][0]["evidence"]);
    assert_eq!(record["evidence"][0]["from"], "message");
}

#[tokio::test]
async fn bullets_are_checked_one_by_one_and_counted_once() {
    let progress = "CURRENT_PROGRESS:\n  Completed:\n    - Zorbled the first quonx\n    - Painted fences blue\n  In Progress:\n    \
        - Move the renderer\n    - move  the renderer.\n  Remaining:\n    - Ship the old lantern\n";
    let before = "# Current Progress\n## Remaining\n- Buy a lantern\n";
    let answer = answered(before, json!({"progress": progress})).await;

    assert_eq!(kinds(&answer), ["example", "ungrounded"], "{answer}");
    assert_eq!(answer["rejected"][1]["text"], "Painted fences blue");
    assert_eq!(
        contents(&answer),
        ["## In Progress\n- Move the renderer\n## Remaining\n- Ship the old lantern\n"]
    );

    let none_left = "CURRENT_PROGRESS:\n  Completed:\n    - Moved the renderer\n  In Progress:\n    - Zorbled the first quonx\n";
    let answer = answered("", json!({"progress": none_left})).await;
    assert_eq!(kinds(&answer), ["example", "missing_in_progress"], "{answer}");
    assert_eq!(answer["status"], "unchanged");
}

/// What the answer warns of.
fn warned(answer: &Value) -> Vec<&str> {
    each(&answer["warnings"], "kind")
}

#[tokio::test]
async fn a_plan_in_words_of_its_own_is_kept_with_a_warning_and_a_claim_is_not() {
    let progress = "CURRENT_PROGRESS:\n  Completed:\n    - Painted fences blue\n  In Progress:\n    - Paint fences\n  \
        Remaining:\n    - Sell tulips\n";
    let answer = answered("", json!({"progress": progress})).await;
    assert_eq!(kinds(&answer), ["ungrounded"], "{answer}");
    assert_eq!(answer["rejected"][0]["text"], "Painted fences blue");
    assert_eq!(warned(&answer), ["ungrounded", "ungrounded"], "{answer}");
    assert_eq!(
        contents(&answer),
        ["## In Progress\n- Paint fences\n## Remaining\n- Sell tulips\n"]
    );
}

#[tokio::test]
async fn without_messages_nothing_is_refused_for_its_words_and_no_model_is_asked_again() {
    let progress = "CURRENT_PROGRESS:\n  Completed:\n    - Opened the ticket\n  In Progress:\n    - Rotate session \
        cookies on each use\n  Remaining:\n    - Document expiry\n";
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because sessions last: cookies expire after an hour\n";
    let service = service(json!({"progress": progress, "learnings": learnings})).await;
    let memory = service.memory("agent");
    memory
        .write("# Current Progress\n## In Progress\n- Design the form\n")
        .await;

    let task = json!({"task": "Add refresh tokens to the login flow"});
    let answer = memory.updated(task).await;

    assert_eq!(
        (kinds(&answer), &answer["status"]),
        (vec![], &json!("applied")),
        "{answer}"
    );
    assert_eq!(warned(&answer), ["ungrounded"; 4], "{answer}");
    for role in Role::ALL {
        let model = &answer["models"][role.name()];
        assert_eq!(
            (&model["attempts"], &model["reprompts"]),
            (&json!(1), &json!(0)),
            "{answer}"
        );
    }
    let text = memory.text().await;
    assert!(text.contains("- Rotate session cookies on each use\n"), "{text}");
}

#[tokio::test]
async fn a_request_may_be_stricter_than_the_service_and_not_laxer() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because x: Kubernetes clusters scale horizontally\n";
    let (_, memory) = Service::start_with(
        |config| config.pipeline.evidence = Strictness::Warn,
        Some(models(json!({"learnings": learnings}))),
    )
    .await
    .agent();
    let with = |evidence: &str| {
        let mut body = body();
        body["evidence"] = json!(evidence);
        body
    };
    let strict = memory.updated(with("reject")).await;
    assert_eq!(kinds(&strict), ["ungrounded"], "{strict}");
    let problem = memory.update(with("off")).await.invalid("evidence");
    let detail = problem["detail"].as_str().unwrap();
    holds(detail, &["pipeline.evidence = warn", "`warn` or `reject`"]);
    memory.update(with("never")).await.is(422);
    let configured = memory.updated(with("warn")).await;
    assert_eq!(
        (kinds(&configured), warned(&configured)),
        (vec![], vec!["ungrounded"]),
        "{configured}"
    );
}

#[tokio::test]
async fn a_fence_that_only_the_model_wrote_is_no_part_of_the_snippet() {
    let verbatim = "VERBATIM_CONTEXT:\n  ADD:\n    - because next: test target =>\n        ```make\n        test:\n            \
        cargo test --all\n        ```\n    - because odd: foreign =>\n        ```\n        cargo bench\n        ```\n";
    let answer = answered("", json!({"verbatim": verbatim})).await;
    assert_eq!(contents(&answer), ["\ttest:\n\t\tcargo  test --all"], "{answer}");
    assert_eq!(kinds(&answer), ["not_verbatim"], "{answer}");
    let detail = answer["rejected"][0]["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("Its line ````` is neither in the task nor in the messages"),
        "{detail}"
    );
}

#[tokio::test]
async fn text_in_another_script_than_the_input_is_only_a_warning() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because 重要: 未確認のジョブは破棄される\n";
    let answer = answered("", json!({"learnings": learnings})).await;

    assert_eq!(
        (kinds(&answer), contents(&answer)),
        (vec![], vec!["未確認のジョブは破棄される"])
    );
    assert_eq!(answer["warnings"][0]["kind"], "ungrounded");
}

#[tokio::test]
async fn a_credential_is_accepted_only_without_an_evidence_check() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because asked: the RabbitMQ queue takes password=hunter2 for the renderer\n    \
        - because x: Kubernetes takes password=hunter3 too\n";
    let verbatim =
        "VERBATIM_CONTEXT:\n  ADD:\n    - because next: login =>\n        kubectl --password=hunter4\n";
    let progress =
        "CURRENT_PROGRESS:\n  In Progress:\n    - Move the renderer\n    - Paint with password=hunter5\n";
    let answers = json!({"learnings": learnings, "verbatim": verbatim, "progress": progress});
    for (evidence, secrets) in [(Strictness::Warn, 4), (Strictness::Off, 0)] {
        let (_, memory) = Service::start_with(
            |config| config.pipeline.evidence = evidence,
            Some(models(answers.clone())),
        )
        .await
        .agent();
        let answer = memory.updated(body()).await;
        assert_eq!(kinds(&answer), vec!["secret"; secrets], "{answer}");
        let text = memory.text().await;
        assert_eq!(text.matches("hunter").count(), 4 - secrets, "{text}");
    }
}

#[tokio::test]
async fn strictness_is_configured_and_operations_of_agents_are_not_checked() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because x: Kubernetes clusters scale horizontally\n";
    for (evidence, rejected, warned) in [
        (Strictness::Reject, 1, 0),
        (Strictness::Warn, 0, 1),
        (Strictness::Off, 0, 0),
    ] {
        let (service, memory) = Service::start_with(
            |config| config.pipeline.evidence = evidence,
            Some(models(json!({"learnings": learnings}))),
        )
        .await
        .agent();
        let answer = memory.updated(body()).await;
        let count = |list: &str| answer[list].as_array().unwrap().len();
        assert_eq!(
            (count("rejected"), count("warnings")),
            (rejected, warned),
            "{answer}"
        );

        let applied = service.memory("other").applied(learnings).await;
        assert_eq!(applied["rejected"], json!([]));
        assert_eq!(applied["operations"][0]["evidence"], json!([]));
    }
}

#[tokio::test]
async fn evidence_is_returned_with_the_change_its_record_and_its_line_until_redaction() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because it bit: RabbitMQ drops jobs that are unacknowledged for 30 minutes\n";
    let (service, memory) = service(json!({"learnings": learnings})).await.agent();
    memory.write("# Notes\nfree\n").await;

    let answer = memory.updated(body()).await;

    let evidence = answer["operations"][0]["evidence"].clone();
    let first = &evidence[0];
    has(first, json!({"from": "message", "index": 1}));
    let place = |name: &str| usize::try_from(first[name].as_u64().unwrap()).unwrap();
    let quote = &MESSAGE[place("start")..place("end")];
    assert_eq!(first["quote"], quote);
    assert_eq!(
        quote,
        "Root cause: RabbitMQ drops unacknowledged jobs after 30 minutes."
    );
    assert_eq!(memory.read("records/KL-1").await["evidence"], evidence);
    assert_eq!(memory.read("records").await["items"][0]["evidence"], evidence);
    let blame = memory.get_json("blame").await.is(200).json();
    for line in blame["lines"].as_array().unwrap() {
        let is_record = line["text"].as_str().unwrap().starts_with("- KL-1");
        assert_eq!(
            line["evidence"],
            if is_record { evidence.clone() } else { json!([]) }
        );
    }

    let text = memory.text().await;
    memory.write(format!("{text}\nmore\n")).await;
    memory.redact("2").await.is(200);
    assert_eq!(memory.read("records/KL-1").await["evidence"], json!([]));
    memory.delete().await.is(204);
    assert_eq!(
        service.tables_that_hold("unacknowledged jobs").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn searches_return_the_evidence_of_a_record_until_redaction() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because it bit: RabbitMQ drops jobs that are unacknowledged for 30 minutes\n";
    let service = service(json!({"learnings": learnings})).await;
    service.listen().await;
    let memory = service.memory("agent");
    let update = memory.updated(body()).await;
    let text = memory.text().await;
    memory.write(format!("{text}\nmore\n")).await;
    let found = || async {
        let page = service
            .get("/v1/vaults/acme/search?q=unacknowledged&consistent=true")
            .await;
        page.is(200).json()["items"][0].clone()
    };
    assert_eq!(found().await["evidence"], update["operations"][0]["evidence"]);
    memory.redact("1").await.is(200);
    has(&found().await, json!({"evidence": []}));
}

#[tokio::test]
async fn a_quotation_never_shows_a_credential() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because asked: the staging database runs PostgreSQL 17\n";
    let service = service(json!({"learnings": learnings})).await;
    let task = "The staging database runs PostgreSQL 17, password=hunter2, remember.";

    let answer = service.memory("agent").updated(json!({"task": task})).await;

    let passage = &answer["operations"][0]["evidence"][0];
    assert_eq!(
        passage["quote"],
        "The staging database runs PostgreSQL 17, password=[secret], remember."
    );
    has(passage, json!({"start": 0, "end": task.len()}));
}
