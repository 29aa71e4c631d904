use super::super::stub::{Stub, client, ok, reply, request, settings};
use super::*;
use crate::domain::operation::Role;

fn response_with(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"})
}

async fn complete(body: &Value) -> Result<Answer, ModelError> {
    let stub = Stub::start([ok(body)]).await;
    Anthropic::new(client(), &stub.url(""), settings())
        .complete(&request(Role::Learnings))
        .await
}

#[tokio::test]
async fn a_request_carries_the_version_the_key_and_cacheable_instructions() {
    let stub = Stub::start([
        ok(&response_with("a")),
        ok(&response_with("b")),
        ok(&response_with("c")),
    ])
    .await;
    for base in ["", "/v1", "/proxy/v1/"] {
        let model = Anthropic::new(client(), &stub.url(base), settings());
        model
            .complete(&request(Role::Learnings))
            .await
            .expect("an answer");
    }
    let requests = stub.requests();
    let lines: Vec<_> = requests
        .iter()
        .filter_map(|request| request.lines().next())
        .collect();
    assert_eq!(
        lines,
        [
            "POST /v1/messages HTTP/1.1",
            "POST /v1/messages HTTP/1.1",
            "POST /proxy/v1/messages HTTP/1.1"
        ]
    );
    let head = requests[0].to_ascii_lowercase();
    assert!(head.contains("x-api-key: sk-secret\r\n") && head.contains("anthropic-version: 2023-06-01\r\n"));
    assert!(!head.contains("authorization"));
    let sent = stub.json(0);
    assert_eq!(sent["max_tokens"], 64);
    assert_eq!(
        sent["messages"],
        json!([{"role": "user", "content": "the question"}])
    );
    assert_eq!(
        sent["system"],
        json!([{"type": "text", "text": "the instructions", "cache_control": {"type": "ephemeral"}}])
    );
    assert_eq!(sent.get("temperature"), None);
}

#[tokio::test]
async fn text_blocks_are_joined_and_tokens_counted() {
    let answer = complete(&json!({
        "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10, "output_tokens": 7},
    }))
    .await
    .expect("an answer");
    assert_eq!(answer.text, "ab");
    assert_eq!((answer.input_tokens, answer.output_tokens), (Some(115), Some(7)));
    assert_eq!(
        (answer.cached_tokens, answer.cache_write_tokens),
        (Some(100), Some(10))
    );
    assert!(answer.stopped_at_limit);
}

#[tokio::test]
async fn what_a_limit_or_filter_ended_is_incomplete() {
    for (reason, is_cut_off) in [
        ("end_turn", false),
        ("model_context_window_exceeded", true),
        ("refusal", true),
    ] {
        let mut body = response_with("a");
        body["stop_reason"] = json!(reason);
        let answer = complete(&body).await.expect("an answer");
        assert_eq!(answer.stopped_at_limit, is_cut_off, "{reason}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_empty_and_another_form_is_bad() {
    assert_eq!(complete(&json!({"content": []})).await, Ok(Answer::default()));
    for body in [
        json!(null),
        json!({}),
        json!({"content": 7}),
        json!({"type": "error", "error": {"message": "x"}}),
    ] {
        assert!(
            matches!(complete(&body).await, Err(ModelError::BadAnswer { .. })),
            "{body}"
        );
    }
}

#[tokio::test]
async fn an_overloaded_server_is_a_status_that_can_heal() {
    let body = r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
    let stub = Stub::start([reply(529, "", body)]).await;
    let error = Anthropic::new(client(), &stub.url(""), settings())
        .complete(&request(Role::Learnings))
        .await;
    let error = error.expect_err("a status");
    assert!(error.is_retryable());
    assert_eq!(error.to_string(), "status 529: Overloaded");
}
