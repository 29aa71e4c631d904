//! Model servers that fail: what is retried, what the client gets, and what is saved.

use super::dictated::{LEARNING, PROGRESS, VERBATIM};
use super::stub::{Asked, Reply, Stub};
use crate::harness::{Answer, Service, has, holds, lacks};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

/// A word in the good responses.
const TASK: &str = "Wrote the parser, now wire it: pin the tool chain, then run `cargo test`.";

fn good(model_request: &Asked) -> Reply {
    Reply::text(match model_request.role() {
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
        let stub = Stub::start(move |model_request| match model_request.role() {
            Role::Learnings => queue
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or_else(|| good(model_request)),
            _ => good(model_request),
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
    for (reply, status, name) in [
        (Reply::Status(500, None, "oops"), 502, "model-failed"),
        (Reply::Status(429, None, "slow down"), 502, "model-failed"),
        (
            Reply::Status(401, None, "bad key sk-secret \u{0} here"),
            502,
            "model-failed",
        ),
        (
            Reply::Raw(b"{\"choices\": [{\"mess".to_vec()),
            502,
            "model-failed",
        ),
        (Reply::Raw(b"\xff\xfe{}".to_vec()), 502, "model-failed"),
        (Reply::Raw(Vec::new()), 502, "model-failed"),
        (Reply::Raw(b"[]".to_vec()), 502, "model-failed"),
        (Reply::Raw(vec![b' '; 5 << 20]), 502, "model-failed"),
        (Reply::Broken, 502, "model-failed"),
        (Reply::Hang, 504, "model-timeout"),
    ] {
        let runs = served.service.count("updates").await;

        let (answer, model_request) = served.update("agent", vec![reply], json!({"task": TASK})).await;

        let problem = answer.problem(status, name, None);
        assert_eq!((&problem["role"], model_request), (&json!("learnings"), 1));
        assert!(!problem.to_string().contains("sk-secret"));
        let id = problem["update_id"].as_str().unwrap();
        let run = served.service.memory("agent").get(&format!("updates/{id}")).await;
        let run = run.is(200).json();
        assert_eq!(run["status"], "failed");
        assert!(!run.to_string().contains("sk-secret"), "{run}");
        assert_eq!(served.service.count("updates").await, runs + 1);
    }
    assert_eq!(served.service.count("memories").await, 0);
}

#[tokio::test]
async fn a_failed_model_is_named_with_its_address_and_without_its_key() {
    let served = Served::start(Provider::Openai, 0).await;
    let reply = Reply::Status(401, None, "the key of the server");

    let (failed, _) = served.update("agent", vec![reply], json!({ "task": TASK })).await;

    let problem = failed.problem(502, "model-failed", None);
    let detail = problem["detail"].as_str().unwrap();
    let address = served.stub.address().trim_start_matches("http://");
    assert!(
        detail.starts_with("the learnings model failed: ")
            && detail.contains(&format!("(openai, {address})")),
        "{detail}"
    );
    holds(detail, &["status 401"]);
    lacks(detail, &["key"]);
    let id = problem["update_id"].as_str().unwrap();
    let run = served.service.memory("agent").get(&format!("updates/{id}")).await;
    assert!(run.is(200).text().contains(address));
}

#[tokio::test]
async fn temporary_failures_are_retried_and_rejections_are_not() {
    for provider in [Provider::Openai, Provider::Anthropic] {
        let served = Served::start(provider, 1).await;
        let cases = [
            (Reply::Status(503, None, "busy"), 2),
            (Reply::Status(429, Some("0"), "busy"), 2),
            (Reply::Raw(b"{\"half\":".to_vec()), 2),
            (Reply::Broken, 2),
            (Reply::Status(400, None, "bad request"), 1),
            (Reply::Status(404, None, "no such model"), 1),
        ];
        for (number, (reply, attempts)) in cases.into_iter().enumerate() {
            let update = json!({"task": TASK, "roles": ["learnings"]});
            let memory = format!("agent-{number}");
            let (answer, model_request) = served.update(&memory, vec![reply], update).await;
            assert_eq!(model_request, attempts, "{}", answer.text());
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
    let (answer, model_request) = served.update("agent", short, json!({"task": TASK})).await;
    answer.is(200);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(model_request, 2);

    let long = vec![Reply::Status(429, Some("3600"), "wait")];
    let (answer, model_request) = served.update("agent", long, json!({"task": TASK})).await;
    answer.problem(502, "model-failed", None);
    assert_eq!(model_request, 1);
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

#[tokio::test]
async fn unusual_valid_responses_are_accepted() {
    let halves = |text: &str| {
        let (one, two) = text.split_at(text.len() / 2);
        Reply::Parts(vec![one.to_owned(), two.to_owned()])
    };
    for provider in [Provider::Openai, Provider::Anthropic] {
        let served = Served::start(provider, 0).await;
        let replies = [
            halves(LEARNING),
            Reply::text(&LEARNING.replace('\n', "\r\n")),
            Reply::text(&format!("```\n{LEARNING}```\n")),
            Reply::text(&format!("Here you are:\n\n{LEARNING}")),
        ];
        for (number, reply) in replies.into_iter().enumerate() {
            let name = format!("agent-{number}");
            let (answer, _) = served.update(&name, vec![reply], json!({"task": TASK})).await;
            answer.is(200);
            let record = served
                .service
                .memory(&name)
                .get("records/KL-1")
                .await
                .is(200)
                .json();
            assert_eq!(record["content"], "pin the tool chain");
        }
        let cut = Reply::CutOff(format!("{LEARNING}    - because cut: half a thou"));
        let (answer, model_request) = served.update("cut", vec![cut], json!({"task": TASK})).await;
        let answer = answer.is(200).json();
        assert_eq!((model_request, &answer["rejected"]), (2, &json!([])), "{answer}");

        let empty = vec![Reply::text(""), Reply::text(" \n")];
        let (answer, model_request) = served.update("empty", empty, json!({"task": TASK})).await;
        let answer = answer.is(200).json();
        assert_eq!((model_request, &answer["status"]), (2, &json!("applied")));
        assert_eq!(answer["warnings"][0]["kind"], "no_section");
    }
}
