//! Operations are checked against the caller's input: unsupported examples, snippets and insights, archives without a cause,
//! and credentials are rejected; and the evidence of a change is returned wherever the change is.

use crate::harness::{Memory, Service, Step, each, has, holds, lacks, scripted};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use working_memory::config::Config;
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

/// The memory of a service that checks so strictly.
async fn strict(evidence: Strictness, answers: Value) -> Memory {
    let configure = |config: &mut Config| config.pipeline.evidence = evidence;
    let service = Service::start_with(configure, Some(models(answers))).await;
    service.agent().1
}

fn body() -> Value {
    json!({"task": TASK, "messages": [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": MESSAGE}]})
}

/// An addition with evidence in the message.
const FOUNDED: &str = "KEY_LEARNINGS:\n  ADD:\n    - because it bit: RabbitMQ drops jobs that are unacknowledged for 30 minutes\n";
/// One without any.
const UNFOUNDED: &str = "KEY_LEARNINGS:\n  ADD:\n    - because x: Kubernetes clusters scale horizontally\n";

fn kinds(answer: &Value) -> Vec<&str> {
    each(&answer["rejected"], "kind")
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

    let founded = "RabbitMQ drops jobs that are unacknowledged for 30 minutes";
    let snippet = "\ttest:\n\t\tcargo  test --all";
    let expected = json!({"/rejected/*/kind": ["ungrounded", "example", "secret", "not_verbatim"],
                          "/operations/*/content": [founded, snippet], "/models/learnings/reprompts": 1});
    has(&answer, expected);
    lacks(answer.to_string(), &["hunter2"]);
    assert_eq!(memory.read("records/VC-1").await["content"], snippet);
}

const LEARNED: &str = "# Key Learnings\n- KL-1 because a: whales sing at dusk\n- KL-2 because b: logs are kept 30 days\n\
    - KL-3 because c: the renderer shares its queue with invoices\n- KL-4 because d: tulips bloom in April\n\
    - KL-5 because e: glaciers melt slowly\n";

/// An answer that archives these learnings.
fn archives(ids: &str) -> String {
    let lines = ids.split(", ").map(|id| format!("    - {id}\n"));
    format!("KEY_LEARNINGS:\n  ARCHIVE:\n{}", lines.collect::<String>())
}

/// Each: a name, the document before, a section with what its model answers, and what the service answers.
#[tokio::test]
async fn each_item_of_an_answer_is_checked() {
    let replaces = |addition: &str| {
        format!(
            "KEY_LEARNINGS:\n  ADD:\n    - because new: {addition}\n  ARCHIVE:\n    - KL-2 because it changed\n"
        )
    };
    for (name, document, role, text, expected) in [
        (
            "a secret alone causes no retry",
            "",
            "learnings",
            "KEY_LEARNINGS:\n  ADD:\n    - because asked: the RabbitMQ queue takes password=hunter2 for the renderer\n".to_owned(),
            json!({"/rejected/*/kind": ["secret"], "status": "unchanged", "/models/learnings/reprompts": 0,
                   "/rejected/0/text~": "password=[secret]"}),
        ),
        (
            "so is one in the reason of an archive",
            LEARNED,
            "learnings",
            archives("KL-2 because password=hunter2 was rotated, KL-3 because it gets a queue of its own"),
            json!({"/rejected/*/kind": ["secret"], "/operations/*/id": ["KL-3"], "/models/learnings/reprompts": 0,
                   "/rejected/0/text~": "password=[secret]"}),
        ),
        (
            "an archive needs evidence in the input or a related addition",
            LEARNED,
            "learnings",
            archives("KL-1 because gone, KL-2 because it is 90 days now, KL-3 because it gets a queue of its own"),
            json!({"/rejected/*/kind": ["uncalled_archive"], "/operations/*/id": ["KL-2", "KL-3"],
                   "/operations/0/evidence/0/quote": "The retention limit of KL-2 is now 90 days."}),
        ),
        (
            "one that repeats a rejected archive is rejected with it",
            LEARNED,
            "learnings",
            archives("KL-1 because gone, KL-1 because it went, KL-2 because it is 90 days now, KL-2 because it is 90 days now"),
            json!({"/rejected/*/kind": ["uncalled_archive", "already_archived"], "/operations/*/id": ["KL-2"]}),
        ),
        (
            "too many archives are all rejected",
            LEARNED,
            "learnings",
            archives("KL-1 because gone, KL-2 because gone, KL-3 because gone, KL-4 because gone"),
            json!({"/rejected/*/kind": ["uncalled_archive", "too_many_archives", "too_many_archives", "uncalled_archive"], "status": "unchanged"}),
        ),
        (
            "an archive is rejected with its related addition",
            LEARNED,
            "learnings",
            replaces("logs live forever, days of zebras agree"),
            json!({"/rejected/*/kind": ["ungrounded", "uncalled_archive"]}),
        ),
        (
            "and accepted with it",
            LEARNED,
            "learnings",
            replaces("logs are kept 90 days, the retention limit of the renderer"),
            json!({"rejected": [], "/operations/0/superseded_by": "KL-6"}),
        ),
        (
            "nor is a record archived whose correction could not be read, and no fault repeats a secret",
            LEARNED,
            "learnings",
            "KEY_LEARNINGS:\n  ADD:\n    - weil neu: logs are kept 90 days\n  NEW:\n    - because x: the queue of the renderer is its own\n  \
             ARCHIVE:\n    - KL-2 because it changed\n    - KL-3 because it changed\n    - password=hunter2 because asked\n".to_owned(),
            json!({"/rejected/*/kind": ["missing_reason", "unknown_header", "uncalled_archive", "uncalled_archive", "malformed_id"],
                   "/rejected/1/text~": "its own", "/rejected/4/detail~": "password=[secret]", "status": "unchanged"}),
        ),
        (
            "bullets are checked one by one and counted once",
            "# Current Progress\n## Remaining\n- Buy a lantern\n",
            "progress",
            "CURRENT_PROGRESS:\n  Completed:\n    - Zorbled the first quonx\n    - Painted fences blue\n  In Progress:\n    \
             - Move the renderer\n    - move  the renderer.\n  Remaining:\n    - Ship the old lantern\n".to_owned(),
            json!({"/rejected/*/kind": ["example", "ungrounded"], "/rejected/1/text": "Painted fences blue",
                   "/operations/*/content": ["## In Progress\n- Move the renderer\n## Remaining\n- Ship the old lantern\n"]}),
        ),
        (
            "where none in progress is left, it is missing",
            "",
            "progress",
            "CURRENT_PROGRESS:\n  Completed:\n    - Moved the renderer\n  In Progress:\n    - Zorbled the first quonx\n".to_owned(),
            json!({"/rejected/*/kind": ["example", "missing_in_progress"], "status": "unchanged"}),
        ),
        (
            "a plan in words of its own is kept with a warning and a claim is not",
            "",
            "progress",
            "CURRENT_PROGRESS:\n  Completed:\n    - Painted fences blue\n  In Progress:\n    - Paint fences\n  \
             Remaining:\n    - Sell tulips\n".to_owned(),
            json!({"/rejected/*/kind": ["ungrounded"], "/rejected/0/text": "Painted fences blue",
                   "/warnings/*/kind": ["ungrounded", "ungrounded"],
                   "/operations/*/content": ["## In Progress\n- Paint fences\n## Remaining\n- Sell tulips\n"]}),
        ),
        (
            "a fence that only the model wrote is no part of the snippet",
            "",
            "verbatim",
            "VERBATIM_CONTEXT:\n  ADD:\n    - because next: test target =>\n        ```make\n        test:\n            \
             cargo test --all\n        ```\n    - because odd: foreign =>\n        ```\n        cargo bench\n        ```\n    \
             - because open: without an end =>\n        ```\n        cargo fuzz\n".to_owned(),
            json!({"/operations/*/content": ["\ttest:\n\t\tcargo  test --all"],
                   "/rejected/*/kind": ["not_verbatim", "not_verbatim"], "warnings": [],
                   "/rejected/0/detail^": "Its line ````` is neither in the task nor in the messages"}),
        ),
        (
            "text in another script than the input is only a warning",
            "",
            "learnings",
            "KEY_LEARNINGS:\n  ADD:\n    - because 重要: 未確認のジョブは破棄される\n".to_owned(),
            json!({"rejected": [], "/operations/*/content": ["未確認のジョブは破棄される"], "/warnings/0/kind": "ungrounded"}),
        ),
    ] {
        let (_, memory) = service(json!({role: text})).await.agent();
        if !document.is_empty() {
            memory.write(document).await;
        }
        let mut answer = memory.updated(body()).await;
        answer["case"] = name.into();
        has(&answer, expected);
    }
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
    assert_eq!(memory.read("records/KL-2").await["superseded_by"], "KL-6");
}

#[tokio::test]
async fn evidence_is_stored_with_a_proposal() {
    let (_, memory) = service(json!({"learnings": FOUNDED})).await.agent();
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
async fn without_messages_nothing_is_refused_for_its_words_and_no_model_is_asked_again() {
    let progress = "CURRENT_PROGRESS:\n  Completed:\n    - Opened the ticket\n  In Progress:\n    - Rotate session \
        cookies on each use\n  Remaining:\n    - Document expiry\n";
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because sessions last: cookies expire after an hour\n";
    let service = service(json!({"progress": progress, "learnings": learnings})).await;
    let memory = service.memory("agent");
    let begin = "# Current Progress\n## In Progress\n- Design the form\n";
    memory.write(begin).await;

    let task = json!({"task": "Add refresh tokens to the login flow"});
    let answer = memory.updated(task).await;

    let expected = json!({"rejected": [], "status": "applied", "/warnings/*/kind": vec!["ungrounded"; 4]});
    has(&answer, expected);
    for role in Role::ALL {
        let once = json!({"attempts": 1, "reprompts": 0});
        has(&answer["models"][role.name()], once);
    }
    holds(memory.text().await, &["- Rotate session cookies on each use\n"]);
}

#[tokio::test]
async fn a_request_may_be_stricter_than_the_service_and_not_laxer() {
    let memory = strict(Strictness::Warn, json!({"learnings": UNFOUNDED})).await;
    let with = |evidence: &str| {
        let mut body = body();
        body["evidence"] = json!(evidence);
        body
    };
    let stricter = memory.updated(with("reject")).await;
    has(&stricter, json!({"/rejected/*/kind": ["ungrounded"]}));
    let problem = memory.update(with("off")).await.invalid("evidence");
    let why = json!({"detail~": ["pipeline.evidence = warn", "`warn` or `reject`"]});
    has(&problem, why);
    memory.update(with("never")).await.is(422);
    let configured = json!({"rejected": [], "/warnings/*/kind": ["ungrounded"]});
    has(&memory.updated(with("warn")).await, configured);
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
        let memory = strict(evidence, answers.clone()).await;
        let answer = memory.updated(body()).await;
        assert_eq!(kinds(&answer), vec!["secret"; secrets], "{answer}");
        let text = memory.text().await;
        assert_eq!(text.matches("hunter").count(), 4 - secrets, "{text}");
    }
}

#[tokio::test]
async fn strictness_is_configured_and_operations_of_agents_are_not_checked() {
    use Strictness::{Off, Reject, Warn};
    for (evidence, rejected, warned) in [(Reject, 1, 0), (Warn, 0, 1), (Off, 0, 0)] {
        let memory = strict(evidence, json!({"learnings": UNFOUNDED})).await;
        let answer = memory.updated(body()).await;
        has(&answer, json!({"rejected#": rejected, "warnings#": warned}));

        memory.delete().await.is(204);
        let applied = memory.applied(UNFOUNDED).await;
        has(&applied, json!({"rejected": [], "/operations/0/evidence": []}));
    }
}

#[tokio::test]
async fn evidence_is_returned_with_the_change_its_record_its_line_and_searches_until_redaction() {
    let (service, memory) = service(json!({"learnings": FOUNDED})).await.agent();
    service.listen().await;
    memory.write("# Notes\nfree\n").await;

    let answer = memory.updated(body()).await;

    let evidence = answer["operations"][0]["evidence"].clone();
    let first = &evidence[0];
    has(first, json!({"from": "message", "index": 1}));
    let place = |name: &str| usize::try_from(first[name].as_u64().unwrap()).unwrap();
    let quote = &MESSAGE[place("start")..place("end")];
    assert_eq!(first["quote"], quote);
    assert_eq!(Some(quote), MESSAGE.lines().next());
    let is_shown = async |evidence: &Value| {
        assert_eq!(memory.read("records/KL-1").await["evidence"], *evidence);
        let search = "/v1/vaults/acme/search?q=unacknowledged&consistent=true";
        has(
            &service.read(search).await,
            json!({"/items/0/evidence": evidence}),
        );
    };
    is_shown(&evidence).await;
    assert_eq!(memory.read("records").await["items"][0]["evidence"], evidence);
    let blame = memory.read("blame").await;
    for line in blame["lines"].as_array().unwrap() {
        let is_record = line["text"].as_str().unwrap().starts_with("- KL-1");
        let expected = if is_record { evidence.clone() } else { json!([]) };
        assert_eq!(line["evidence"], expected);
    }

    let text = memory.text().await;
    memory.write(format!("{text}\nmore\n")).await;
    memory.redact("2").await.is(200);
    is_shown(&json!([])).await;
    memory.delete().await.is(204);
    let held = service.tables_that_hold("unacknowledged jobs").await;
    assert_eq!(held, [""; 0]);
}

#[tokio::test]
async fn a_quotation_never_shows_a_credential() {
    let learnings = "KEY_LEARNINGS:\n  ADD:\n    - because asked: the staging database runs PostgreSQL 17\n";
    let service = service(json!({"learnings": learnings})).await;
    let task = "The staging database runs PostgreSQL 17, password=hunter2, remember.";

    let answer = service.memory("agent").updated(json!({"task": task})).await;

    let masked = "The staging database runs PostgreSQL 17, password=[secret], remember.";
    let passage = json!({"quote": masked, "start": 0, "end": task.len()});
    has(&answer["operations"][0]["evidence"][0], passage);
}
