//! Model servers that fail: what is retried, what the client gets, and what is saved.

use super::dictated::{LEARNING, PROGRESS, VERBATIM};
use super::stub::{Asked, Reply, Stub};
use crate::harness::{Answer, Service, each, has, holds, lacks};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

/// A word in the good responses.
const TASK: &str = "Wrote the parser, now wire it: pin the tool chain, then run `cargo test`.";

fn good(asked: &Asked) -> Reply {
    Reply::text(match asked.role() {
        Role::Progress => PROGRESS,
        Role::Learnings => LEARNING,
        Role::Verbatim => VERBATIM,
    })
}

/// A service and its model server, where the model for learnings fails.
struct Served {
    stub: Stub,
    service: Service,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Served {
    async fn start(provider: Provider, retries: u32) -> Self {
        let replies: Arc<Mutex<VecDeque<Reply>>> = Arc::default();
        let queue = replies.clone();
        let stub = Stub::start(move |asked| {
            let of_learnings = asked.role() == Role::Learnings;
            let reply = of_learnings.then(|| queue.lock().unwrap().pop_front());
            reply.flatten().unwrap_or_else(|| good(asked))
        })
        .await;
        let service = Service::configured(stub.configure(provider, retries)).await;
        Self {
            stub,
            service,
            replies,
        }
    }

    /// An update whose learnings model returns these responses first, and valid ones from then on. Returns the response, and
    /// how often that model was called.
    async fn update(&self, memory: &str, replies: Vec<Reply>, body: Value) -> (Answer, usize) {
        let before = self.stub.asked(Role::Learnings).len();
        *self.replies.lock().unwrap() = replies.into();
        let answer = self.service.memory(memory).update(body).await;
        (answer, self.stub.asked(Role::Learnings).len() - before)
    }
}

#[tokio::test]
async fn every_kind_of_failure_has_its_own_error_and_saves_only_the_run() {
    let served = Served::start(Provider::Openai, 0).await;
    let address = served.stub.address().trim_start_matches("http://");
    for (reply, status, said) in [
        (Reply::Status(500, None, "oops"), 502, "status 500"),
        (Reply::Status(429, None, "slow down"), 502, "too many requests"),
        (
            Reply::Status(401, None, "key sk-secret \u{0} here"),
            502,
            "status 401",
        ),
        (Reply::raw("{\"choices\": [{\"mess"), 502, ""),
        (Reply::raw(b"\xff\xfe{}"), 502, ""),
        (Reply::raw(""), 502, ""),
        (Reply::raw("[]"), 502, ""),
        (Reply::raw(vec![b' '; 5 << 20]), 502, ""),
        (Reply::Broken, 502, ""),
        (Reply::Hang, 504, "in time"),
    ] {
        let runs = served.service.count("updates").await;

        let (answer, calls) = served.update("agent", vec![reply], json!({"task": TASK})).await;

        let name = ["model-failed", "model-timeout"][usize::from(status == 504)];
        let problem = answer.problem(status, name, None);
        assert_eq!((&problem["role"], calls), (&json!("learnings"), 1));
        // The model is named, without its address and its key.
        let detail = problem["detail"].as_str().unwrap();
        holds(detail, &["the learnings model failed: ", " (openai): ", said]);
        lacks(detail, &["key"]);
        lacks(problem.to_string(), &["sk-secret", address]);
        let run = served.service.memory("agent").run_of(&problem).await;
        assert_eq!(run["status"], "failed");
        lacks(run.to_string(), &["sk-secret", address]);
        assert_eq!(served.service.count("updates").await, runs + 1);
    }
    assert_eq!(served.service.count("memories").await, 0);
}

#[tokio::test]
async fn temporary_failures_are_retried_and_rejections_are_not() {
    for provider in [Provider::Openai, Provider::Anthropic] {
        let served = Served::start(provider, 1).await;
        let cases = [
            (Reply::Status(503, None, "busy"), 2),
            (Reply::Status(429, Some("0"), "busy"), 2),
            (Reply::raw("{\"half\":"), 2),
            (Reply::Broken, 2),
            (Reply::Status(400, None, "bad request"), 1),
            (Reply::Status(404, None, "no such model"), 1),
        ];
        for (number, (reply, attempts)) in cases.into_iter().enumerate() {
            let update = json!({"task": TASK, "roles": ["learnings"]});
            let memory = format!("agent-{number}");
            let (answer, calls) = served.update(&memory, vec![reply], update).await;
            assert_eq!(calls, attempts, "{}", answer.text());
            if attempts == 2 {
                let answer = answer.is(200).json();
                assert_eq!(answer["models"]["learnings"]["attempts"], 2);
                assert_eq!(answer["operations"][0]["id"], "KL-1");
            } else {
                answer.problem(502, "model-failed", None);
            }
        }
    }
}

#[tokio::test]
async fn retry_after_is_honoured_within_the_deadline() {
    let served = Served::start(Provider::Openai, 2).await;
    let begun = Instant::now();
    let short = vec![Reply::Status(429, Some("1"), "wait")];
    let (answer, calls) = served.update("agent", short, json!({"task": TASK})).await;
    answer.is(200);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(calls, 2);

    let long = vec![Reply::Status(429, Some("3600"), "wait")];
    let (answer, calls) = served.update("agent", long, json!({"task": TASK})).await;
    answer.problem(502, "model-failed", None);
    assert_eq!(calls, 1);
}

#[tokio::test]
async fn a_role_has_a_timeout_of_its_own() {
    let slow = |asked: &Asked| Reply::After(Duration::from_millis(400), Box::new(good(asked)));
    let stub = Stub::start(slow).await;
    let service = Service::configured(|config| {
        stub.configure(Provider::Openai, 0)(config);
        config.llm.timeout_seconds = 10.0;
        config.llm.roles.learnings.timeout_seconds = Some(0.2);
    })
    .await;
    let update = json!({"task": TASK, "allow_partial": true});
    let answer = service.memory("agent").update(update).await.is(200).json();
    let rejected = answer["rejected"].as_array().unwrap();
    assert_eq!(
        (rejected.len(), &rejected[0]["section"]),
        (1, &json!("learnings"))
    );
}

#[tokio::test]
async fn with_allow_partial_the_other_sections_are_saved() {
    let served = Served::start(Provider::Openai, 0).await;
    for (name, reply, words) in [
        ("fails", Reply::Status(500, None, "x"), "500"),
        ("hangs", Reply::Hang, "in time"),
    ] {
        let update = json!({"task": TASK, "allow_partial": true});
        let (answer, _) = served.update(name, vec![reply], update).await;

        let answer = answer.is(200).json();
        let memory = served.service.memory(name);
        has(&answer, json!({"status": "applied", "version": 1}));
        assert_eq!(answer["rejected"].as_array().unwrap().len(), 1);
        let rejected = &answer["rejected"][0];
        has(rejected, json!({"section": "learnings", "kind": "model_failed"}));
        assert!(rejected["detail"].as_str().unwrap().contains(words), "{rejected}");
        let text = memory.text().await;
        assert!(text.contains("- Wire it") && text.contains("VC-1") && !text.contains("KL-1"));
    }
}

#[tokio::test]
async fn a_failed_model_is_named_beside_the_faults_that_stop_a_partial_run() {
    let stub = Stub::start(|asked| match asked.role() {
        Role::Progress => Reply::Status(500, None, "x"),
        _ => Reply::text("KEY_LEARNINGS:\n  ADD:\n    - no reason\n"),
    })
    .await;
    let service = Service::configured(stub.configure(Provider::Openai, 0)).await;
    let update = json!({"task": TASK, "allow_partial": true, "on_invalid": "fail"});
    let answer = service.memory("agent").update(update).await;
    let problem = answer.problem(422, "invalid", None);
    let kinds = each(&problem["rejected"], "kind");
    assert!(kinds.contains(&"model_failed"), "{problem}");
}

#[tokio::test]
async fn with_allow_partial_nothing_is_saved_when_all_models_fail() {
    let stub = Stub::start(|_| Reply::Status(500, None, "oops")).await;
    let service = Service::configured(stub.configure(Provider::Openai, 0)).await;
    for roles in [json!(["progress", "learnings", "verbatim"]), json!(["verbatim"])] {
        let update = json!({"task": TASK, "allow_partial": true, "roles": roles});
        let answer = service.memory("agent").update(update).await;
        answer.problem(502, "model-failed", None);
    }
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_failed_retry_leaves_the_first_answer_in_use() {
    let faulty =
        Reply::text("KEY_LEARNINGS:\n  ADD:\n    - because good: the tool chain is kept\n    - no reason\n");
    let hostile = Reply::Status(400, None, "context too long \u{0} sk-secret");
    let served = Served::start(Provider::Openai, 0).await;

    let (answer, _) = served
        .update("agent", vec![faulty, hostile], json!({"task": TASK}))
        .await;

    let answer = answer.is(200).json();
    assert_eq!(answer["rejected"][0]["kind"], "missing_reason");
    assert_eq!(answer["warnings"][0]["kind"], "reprompt_failed");
    let warning = answer["warnings"][0]["detail"].as_str().unwrap();
    holds(warning, &["400"]);
    lacks(warning, &["context too long"]);
    assert!(answer["operations"].to_string().contains("tool chain is kept"));
}
