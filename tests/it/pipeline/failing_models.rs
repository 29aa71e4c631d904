//! Model servers that fail: what is tried again, what the client learns, and what is saved.

use super::dictated::{LEARNING, PROGRESS, VERBATIM};
use super::stub::{Asked, Reply, Stub};
use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

fn good(asked: &Asked) -> Reply {
    Reply::text(match asked.role() {
        Role::Progress => PROGRESS,
        Role::Learnings => LEARNING,
        Role::Verbatim => VERBATIM,
    })
}

/// A service whose learnings model replies so at first, and well from then on.
async fn start(provider: Provider, retries: u32, replies: Vec<Reply>) -> (Stub, Service) {
    let stub = Stub::start(move |asked, before| match replies.get(before) {
        Some(reply) if asked.role() == Role::Learnings => reply.clone(),
        _ => good(asked),
    })
    .await;
    let service = Service::start_with(stub.configure(provider, retries), None).await;
    (stub, service)
}

async fn run_of(service: &Service, problem: &Value) -> Value {
    let id = problem["update_id"].as_str().unwrap();
    let run = service.memory("agent").get(&format!("updates/{id}")).await;
    run.is(200).json()
}

#[tokio::test]
async fn every_way_to_fail_is_told_apart_and_saves_nothing_but_the_run() {
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
        let (_stub, service) = start(Provider::Openai, 0, vec![reply]).await;
        let memory = service.memory("agent");

        let problem = memory
            .update(json!({"task": "x"}))
            .await
            .problem(status, name, None);

        assert_eq!(problem["role"], "learnings");
        assert!(!problem.to_string().contains("sk-secret"));
        let run = run_of(&service, &problem).await;
        assert_eq!(run["status"], "failed");
        assert!(!run.to_string().contains("sk-secret"), "{run}");
        assert_eq!(
            (service.count("memories").await, service.count("updates").await),
            (0, 1)
        );
    }
}

#[tokio::test]
async fn what_can_heal_is_tried_again_and_a_refusal_is_not() {
    for provider in [Provider::Openai, Provider::Anthropic] {
        for (reply, attempts) in [
            (Reply::Status(503, None, "busy"), 2),
            (Reply::Status(429, Some("0"), "busy"), 2),
            (Reply::Raw(b"{\"half\":".to_vec()), 2),
            (Reply::Broken, 2),
            (Reply::Status(400, None, "bad request"), 1),
            (Reply::Status(404, None, "no such model"), 1),
        ] {
            let (stub, service) = start(provider, 1, vec![reply]).await;
            let update = json!({"task": "x", "roles": ["learnings"]});
            let answer = service.memory("agent").update(update).await;
            assert_eq!(stub.asked(Role::Learnings).len(), attempts, "{}", answer.text());
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
async fn retry_after_is_waited_for_where_the_time_allows() {
    let (stub, service) = start(Provider::Openai, 2, vec![Reply::Status(429, Some("1"), "wait")]).await;
    let begun = Instant::now();
    service.memory("agent").update(json!({"task": "x"})).await.is(200);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(stub.asked(Role::Learnings).len(), 2);

    let (stub, service) = start(
        Provider::Openai,
        2,
        vec![Reply::Status(429, Some("3600"), "wait")],
    )
    .await;
    let answer = service.memory("agent").update(json!({"task": "x"})).await;
    answer.problem(502, "model-failed", None);
    assert_eq!(stub.asked(Role::Learnings).len(), 1);
}

#[tokio::test]
async fn with_allow_partial_the_other_sections_are_saved() {
    for (reply, words) in [(Reply::Status(500, None, "x"), "500"), (Reply::Hang, "in time")] {
        let (_stub, service) = start(Provider::Openai, 0, vec![reply]).await;
        let memory = service.memory("agent");

        let answer = memory
            .update(json!({"task": "x", "allow_partial": true}))
            .await
            .is(200)
            .json();

        assert_eq!(
            (&answer["status"], &answer["version"]),
            (&json!("applied"), &json!(1))
        );
        assert_eq!(answer["rejected"].as_array().unwrap().len(), 1);
        let rejected = &answer["rejected"][0];
        assert_eq!(
            (&rejected["section"], &rejected["kind"]),
            (&json!("learnings"), &json!("model_failed"))
        );
        assert!(rejected["detail"].as_str().unwrap().contains(words), "{rejected}");
        let text = memory.get("context").await.is(200).text().to_owned();
        assert!(text.contains("- Wire it") && text.contains("VC-1") && !text.contains("KL-1"));
    }
}

#[tokio::test]
async fn where_all_models_fail_there_is_nothing_to_save_in_part() {
    let stub = Stub::start(|_, _| Reply::Status(500, None, "oops")).await;
    let service = Service::start_with(stub.configure(Provider::Openai, 0), None).await;
    for roles in [json!(["progress", "learnings", "verbatim"]), json!(["verbatim"])] {
        let update = json!({"task": "x", "allow_partial": true, "roles": roles});
        let answer = service.memory("agent").update(update).await;
        answer.problem(502, "model-failed", None);
    }
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_failure_while_asking_again_leaves_the_first_answer_standing() {
    let faulty = Reply::text("KEY_LEARNINGS:\n  ADD:\n    - because good: kept\n    - no reason\n");
    let hostile = Reply::Status(400, None, "context too long \u{0} sk-secret");
    let (_stub, service) = start(Provider::Openai, 0, vec![faulty, hostile]).await;

    let answer = service
        .memory("agent")
        .update(json!({"task": "x"}))
        .await
        .is(200)
        .json();

    assert_eq!(answer["rejected"][0]["kind"], "missing_reason");
    assert_eq!(answer["warnings"][0]["kind"], "reprompt_failed");
    let told = answer["warnings"][0]["detail"].as_str().unwrap();
    assert!(
        told.contains("400") && !told.contains("context too long"),
        "{told}"
    );
    assert!(answer["operations"].to_string().contains("kept"));
}

#[tokio::test]
async fn unusual_good_answers_are_read() {
    let halves = |text: &str| {
        let (one, two) = text.split_at(text.len() / 2);
        Reply::Parts(vec![one.to_owned(), two.to_owned()])
    };
    for provider in [Provider::Openai, Provider::Anthropic] {
        for reply in [
            halves(LEARNING),
            Reply::text(&LEARNING.replace('\n', "\r\n")),
            Reply::text(&format!("```\n{LEARNING}```\n")),
            Reply::text(&format!("Here you are:\n\n{LEARNING}")),
        ] {
            let (_stub, service) = start(provider, 0, vec![reply]).await;
            let memory = service.memory("agent");
            memory.update(json!({"task": "x"})).await.is(200);
            let record = memory.get("records/KL-1").await.is(200).json();
            assert_eq!(record["content"], "pin the tool chain");
        }
        let cut = Reply::CutOff(format!("{LEARNING}    - because cut: half a thou"));
        let (stub, service) = start(provider, 0, vec![cut]).await;
        let answer = service
            .memory("agent")
            .update(json!({"task": "x"}))
            .await
            .is(200)
            .json();
        assert_eq!(stub.asked(Role::Learnings).len(), 2);
        assert_eq!(answer["rejected"], json!([]), "{answer}");
    }
}

#[tokio::test]
async fn empty_answers_say_nothing_and_are_no_failure() {
    for provider in [Provider::Openai, Provider::Anthropic] {
        let empty = || Reply::text("");
        let (_stub, service) = start(provider, 0, vec![empty(), empty()]).await;
        let request = service
            .memory("agent")
            .request(Method::POST, "update")
            .json(&json!({"task": "x"}));
        let answer = Answer::to(request).await.is(200).json();
        assert_eq!(answer["warnings"][0]["kind"], "no_section");
        assert_eq!(answer["status"], "applied");
    }
}
