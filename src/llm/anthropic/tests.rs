use super::super::tests::stub::{Stub, client, ok, request, settings};
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
    let stub = Stub::start(["a", "b", "c"].map(|text| ok(&response_with(text)))).await;
    for base in ["", "/v1", "/proxy/v1/"] {
        let model = Anthropic::new(client(), &stub.url(base), settings());
        let answer = model.complete(&request(Role::Learnings)).await;
        answer.expect("an answer");
    }
    let requests = stub.requests();
    for (request, path) in requests.iter().zip(["/v1", "/v1", "/proxy/v1"]) {
        let first = request.lines().next().expect("a line");
        assert_eq!(first, format!("POST {path}/messages HTTP/1.1"));
    }
    assert_eq!(requests.len(), 3);
    let head = requests[0].to_ascii_lowercase();
    assert!(head.contains("x-api-key: sk-secret\r\n") && head.contains("anthropic-version: 2023-06-01\r\n"));
    assert!(!head.contains("authorization"));
    let sent = stub.json(0);
    assert_eq!(sent["max_tokens"], 64);
    let messages = json!([{"role": "user", "content": "the question"}]);
    assert_eq!(sent["messages"], messages);
    let system =
        json!([{"type": "text", "text": "the instructions", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(sent["system"], system);
    assert_eq!(sent.get("temperature"), None);
}

#[tokio::test]
async fn text_blocks_are_joined_and_tokens_counted() {
    let answer = complete(&json!({
        "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "<think>y</think>a"}, {"type": "text", "text": "b"}],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10, "output_tokens": 7},
    }))
    .await
    .expect("an answer");
    assert_eq!(answer.text, "ab");
    assert_eq!((answer.input_tokens, answer.output_tokens), (Some(115), Some(7)));
    let cached = (answer.cached_tokens, answer.cache_write_tokens);
    assert_eq!(cached, (Some(100), Some(10)));
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
    let error = json!({"type": "error", "error": {"message": "x"}});
    for body in [json!(null), json!({}), json!({"content": 7}), error] {
        let result = complete(&body).await;
        assert!(matches!(result, Err(ModelError::BadAnswer { .. })), "{body}");
    }
}
