use std::time::{Duration, SystemTime};

use super::super::ChatRole;
use super::super::tests::stub::{Reply, Stub, client, ok, reply, request, settings};
use super::*;
use crate::domain::operation::Role;

fn response_with(text: &str) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})
}

fn model(stub: &Stub) -> OpenAi {
    OpenAi::new(client(), &stub.url("/v1"), settings())
}

async fn complete(reply: Reply) -> Result<Answer, ModelError> {
    let stub = Stub::start([reply]).await;
    model(&stub).complete(&request(Role::Progress)).await
}

#[tokio::test]
async fn a_request_carries_instructions_turns_key_and_limit() {
    let mut body = response_with("CURRENT_PROGRESS: none");
    body["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 3, "unknown": {}});
    let stub = Stub::start([ok(&body)]).await;
    let mut request = request(Role::Progress);
    let turn = |speaker, text: &str| ChatMessage {
        speaker,
        text: text.to_owned(),
    };
    let again = [turn(ChatRole::Assistant, ""), turn(ChatRole::User, "again")];
    request.messages.extend(again);
    let settings = RoleSettings {
        temperature: Some(0.2),
        ..settings()
    };
    let model = OpenAi::new(client(), &stub.url("/v1"), settings);
    let answer = model.complete(&request).await.expect("an answer");
    assert_eq!(answer.text, "CURRENT_PROGRESS: none");
    assert_eq!((answer.input_tokens, answer.output_tokens), (Some(10), Some(3)));
    assert!(!answer.stopped_at_limit);
    let head = stub.requests()[0].to_ascii_lowercase();
    assert!(head.starts_with("post /v1/chat/completions "), "{head}");
    assert!(head.contains("authorization: bearer sk-secret\r\n"));
    let sent = stub.json(0);
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "system", "content": "the instructions"},
            {"role": "user", "content": "the question"},
            {"role": "assistant", "content": "(empty)"},
            {"role": "user", "content": "again"},
        ])
    );
    let chosen = ["model", "max_tokens", "temperature"].map(|name| &sent[name]);
    assert_eq!(chosen, [&json!("m"), &json!(64), &json!(0.2)]);
}

#[tokio::test]
async fn the_base_address_keeps_its_path_and_query() {
    let stub = Stub::start([ok(&response_with("a")), ok(&response_with("b"))]).await;
    for path in ["/proxy/v1/", "/proxy/v1?version=2"] {
        let model = OpenAi::new(client(), &stub.url(path), settings());
        model.complete(&request(Role::Progress)).await.expect("an answer");
    }
    assert!(stub.requests()[0].starts_with("POST /proxy/v1/chat/completions HTTP"));
    assert!(stub.requests()[1].starts_with("POST /proxy/v1/chat/completions?version=2 HTTP"));
}

#[tokio::test]
async fn content_may_be_parts_or_null() {
    let parts =
        json!([{"type": "text", "text": "a"}, {"type": "thinking", "text": "x"}, "b", {"text": "c"}, 7]);
    for (content, text) in [
        (parts, "abc"),
        (json!(null), ""),
        (json!("<think>no</think>\nyes"), "yes"),
        (json!("no\n</think>\n\nyes"), "yes"),
        (json!("<think>what is <think>?</think>yes"), "yes"),
        (json!("<think>no, it was cut"), ""),
        (json!("a <think> b </think>"), "a <think> b </think>"),
        (json!("<thinking>no</thinking>\nyes"), "yes"),
        (json!("[THINK]no <think>[/THINK]yes"), "yes"),
        (json!("<thought>no, it was cut"), ""),
        (json!("<think>a</think>\n<think>\nno\n</think>\nyes"), "yes"),
        (json!("no\n</think>yes"), "yes"),
        (json!("no</think>\nyes"), "yes"),
        (
            json!("VC:\n  <think>\n  x\n  </think>\nKL:"),
            "VC:\n  <think>\n  x\n  </think>\nKL:",
        ),
        (json!("<think>a</think>\n<think>no, it was cut"), ""),
        (json!("yes\n<think> not closed"), "yes\n<think> not closed"),
        (
            json!("KEY_LEARNINGS:\n- because a: b </think>\n- because c: d"),
            "KEY_LEARNINGS:\n- because a: b </think>\n- because c: d",
        ),
        (
            json!("VERBATIM_CONTEXT:\n- because a: b =>\n<think>\nx\n</think>\ny"),
            "VERBATIM_CONTEXT:\n- because a: b =>\n<think>\nx\n</think>\ny",
        ),
        (
            json!("KEY_LEARNINGS:\n- because a draft: b\n</think>\nno change"),
            "no change",
        ),
        (
            json!("Draft:\nKEY_LEARNINGS: none\n</think>\nKEY_LEARNINGS:\n- yes"),
            "KEY_LEARNINGS:\n- yes",
        ),
        (json!("Sure!\n<reasoning>no</reasoning>\nyes"), "Sure!\n\nyes"),
        (
            json!("- because a draft: b, hmm no.</think>KEY_LEARNINGS: NO CHANGE"),
            "KEY_LEARNINGS: NO CHANGE",
        ),
        (
            json!(
                "KEY_LEARNINGS:\n- because a draft: b, no.</think> **KEY_LEARNINGS:** none of the messages says anything"
            ),
            "**KEY_LEARNINGS:** none of the messages says anything",
        ),
        (
            json!("VERBATIM_CONTEXT:\n- because a: b =>\n```\nx\n</think>\ny\n```\n"),
            "VERBATIM_CONTEXT:\n- because a: b =>\n```\nx\n</think>\ny\n```\n",
        ),
        (
            json!("- because asked: a split => split(\"</think>\")[-1]"),
            "- because asked: a split => split(\"</think>\")[-1]",
        ),
    ] {
        let body = json!({"choices": [{"message": {"content": content}}]});
        let answer = complete(ok(&body)).await.map(|answer| answer.text);
        assert_eq!(answer.as_deref(), Ok(text));
    }
    let without = json!({"choices": [{"message": {}}]});
    assert_eq!(complete(ok(&without)).await, Ok(Answer::default()));
}

#[tokio::test]
async fn a_refusal_is_the_text_and_what_a_limit_or_filter_ended_is_incomplete() {
    let refusal = json!({"content": null, "refusal": "I cannot."});
    for (message, reason, text, is_cut_off) in [
        (refusal, "stop", "I cannot.", false),
        (json!({"content": "a", "refusal": null}), "length", "a", true),
        (json!({"content": "a"}), "model_length", "a", true),
        (json!({"content": "a"}), "content_filter", "a", true),
    ] {
        let body = json!({"choices": [{"message": message, "finish_reason": reason}]});
        let answer = complete(ok(&body)).await.expect("an answer");
        let found = (&*answer.text, answer.stopped_at_limit);
        assert_eq!(found, (text, is_cut_off), "{reason}");
    }
}

#[tokio::test]
async fn json_of_another_form_is_a_bad_answer() {
    let table = r#"
        null
        []
        7
        {}
        {"choices": []}
        {"choices": {}}
        {"choices": [7]}
        {"choices": [{"message": {"content": 7}}]}
        {"error": {"message": "no"}}
        {"choices": [{"finish_reason": "error", "message": {"content": ""}}]}"#;
    for body in table.trim().lines() {
        let result = complete(reply(200, "", body.trim())).await;
        let is_bad = matches!(result, Err(ModelError::BadAnswer { .. }));
        assert!(is_bad, "{body} gave {result:?}");
    }
    let overloaded = json!({"error": {"message": "slow down", "code": 429}});
    let result = complete(ok(&overloaded)).await;
    assert!(matches!(result, Err(ModelError::Status { code: 429, .. })));
}

#[tokio::test]
async fn a_date_to_wait_for_is_measured_from_the_answers_own_date() {
    let date = |seconds| httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    let headers = format!("date: {}\r\nretry-after: {}\r\n", date(1000), date(1007));
    let error = complete(reply(503, &headers, "")).await.expect_err("a status");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    for unreadable in ["soon", "-1", "NaN", "1e999"] {
        let header = format!("retry-after: {unreadable}\r\n");
        let error = complete(reply(503, &header, "")).await.expect_err("a status");
        assert_eq!(error.retry_after(), None, "{unreadable}");
    }
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_with_and_without_a_length() {
    let large = vec![b' '; 5 << 20];
    let unannounced = [b"HTTP/1.1 200 X\r\nconnection: close\r\n\r\n".as_slice(), &large].concat();
    for reply in [reply(200, "", &large), Reply::Bytes(unannounced)] {
        let too_large = Err(ModelError::TooLarge { limit: 4 << 20 });
        assert_eq!(complete(reply).await, too_large);
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let base_url = format!("http://127.0.0.1:{port}").parse().expect("a URL");
    let model = OpenAi::new(client(), &base_url, settings());
    let result = model.complete(&request(Role::Progress)).await;
    let error = result.expect_err("no server");
    assert!(matches!(error, ModelError::Unreachable { .. }));
    assert!(!error.to_string().contains(&port.to_string()), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Stub::start([ok(&response_with("stolen"))]).await;
    let location = format!("location: {}\r\n", other.url("/v1"));
    let error = complete(reply(307, &location, "")).await.expect_err("a status");
    assert!(matches!(error, ModelError::Status { code: 307, .. }));
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn the_newer_name_of_the_token_limit_is_learned_once() {
    let refusal =
        "{\"error\": {\"message\": \"'max_tokens' is not supported. Use 'max_completion_tokens'.\"}}";
    let [a, b] = ["a", "b"].map(|text| ok(&response_with(text)));
    let stub = Stub::start([reply(400, "", refusal), a, b]).await;
    let model = model(&stub);
    for expected in ["a", "b"] {
        let answer = model.complete(&request(Role::Progress)).await.expect("an answer");
        assert_eq!(answer.text, expected);
    }
    assert_eq!(stub.json(0)["max_tokens"], 64);
    for later in [1, 2] {
        assert_eq!(stub.json(later)["max_completion_tokens"], 64);
        assert_eq!(stub.json(later).get("max_tokens"), None);
    }
}

#[tokio::test]
async fn no_shown_form_holds_the_key() {
    let stub = Stub::start([reply(401, "", r#"{"error": {"message": "wrong key sk-secret"}}"#)]).await;
    let model = model(&stub);
    let result = model.complete(&request(Role::Progress)).await;
    let error = result.expect_err("a status");
    let shown = format!("{model:?} {error:?} {error} {}", error.public());
    assert!(!shown.contains("sk-secret"), "{shown}");
    assert!(error.to_string().contains("wrong key [key]"));
}

#[tokio::test]
async fn tokens_from_the_cache_are_counted_where_the_server_tells() {
    for (details, cached) in [(json!({"cached_tokens": 1024}), Some(1024)), (json!(null), None)] {
        let mut body = response_with("a");
        body["usage"] =
            json!({"prompt_tokens": 1200, "completion_tokens": 3, "prompt_tokens_details": details});
        let answer = complete(ok(&body)).await.expect("an answer");
        assert_eq!((answer.input_tokens, answer.cached_tokens), (Some(1200), cached));
    }
    let mut body = response_with("a");
    body["usage"] = json!({"prompt_tokens": 1_000_000_001, "completion_tokens": u64::MAX});
    let answer = complete(ok(&body)).await.expect("an answer");
    assert_eq!(
        (answer.input_tokens, answer.output_tokens),
        (None, None),
        "absurd"
    );
}

#[tokio::test]
async fn a_schema_is_sent_where_there_is_one_and_the_answer_stays_as_it_is() {
    let said = r#"{"add": [{"reason": "it bit us", "content": "pin it"}], "archive": []}"#;
    let answered = response_with(said);
    let stub = Stub::start([ok(&answered)]).await;
    let schema = structured::schema(Role::Learnings, &[], 3);
    let asked = Request {
        schema: Some(schema.clone().into()),
        ..request(Role::Learnings)
    };
    let model = model(&stub);
    let answer = model.complete(&asked).await.expect("an answer");
    assert_eq!(answer.text, said);
    let sent = stub.json(0);
    let format = &sent["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["schema"], schema);
    let system = sent["messages"][0]["content"].as_str().expect("a text");
    assert!(system.starts_with("the instructions\n") && system.contains("JSON"));
}
