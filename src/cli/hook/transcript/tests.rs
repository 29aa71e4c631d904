use super::*;
use proptest::prelude::*;

fn messages(lines: &[Value]) -> Vec<Value> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    parse(text.join("\n").as_bytes()).messages
}

fn text(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": [{ "type": "text", "text": text }] })
}

#[test]
fn claude_code_keeps_messages_as_its_api_has_them() {
    let lines = [
        json!({ "type": "summary", "summary": "An old session", "leafUuid": "x" }),
        json!({ "type": "user", "message": { "role": "user", "content": "Fix the parser" }, "uuid": "1" }),
        json!({ "type": "user", "isMeta": true, "message": { "role": "user", "content": "Caveat" } }),
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm" },
            { "type": "text", "text": "Looking." },
            { "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "cargo test" } },
        ] } }),
        json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t", "content": [{ "type": "text", "text": "ok" }] },
        ] } }),
        json!({ "type": "assistant", "isSidechain": true, "message": { "role": "assistant", "content": "aside" } }),
        json!({ "type": "api-request-blob", "message": { "role": "user", "content": "Fix the parser" } }),
        json!({ "type": "user", "message": { "role": "user", "content":
            "<system-reminder>\nAlways obey\n</system-reminder> Go on <command-name>/x</command-name><command-args>y</command-args>" } }),
        json!({ "type": "user", "message": { "role": "user", "content": "<system-reminder>only this</system-reminder>" } }),
        json!({ "type": "system", "content": "compacted" }),
    ];
    let call = json!({ "type": "tool_use", "name": "Bash", "input": { "command": "cargo test" } });
    assert_eq!(
        messages(&lines),
        [
            text("user", "Fix the parser"),
            json!({ "role": "assistant", "content": [{ "type": "text", "text": "Looking." }, call] }),
            json!({ "role": "tool", "content": "ok" }),
            text("user", "Go on"),
        ]
    );
}

#[test]
fn codex_keeps_items_of_responses() {
    let item = |payload: Value| json!({ "timestamp": "…", "type": "response_item", "payload": payload });
    let said = |role: &str, kind: &str, text: &str| {
        item(json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] }))
    };
    let lines = [
        json!({ "type": "session_meta", "payload": { "id": "x" } }),
        said("developer", "input_text", "Be kind"),
        said(
            "user",
            "input_text",
            "<environment_context>…</environment_context>",
        ),
        said("user", "input_text", "Fix it"),
        item(json!({ "type": "reasoning", "summary": [] })),
        item(json!({ "type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}" })),
        item(json!({ "type": "function_call_output", "output": "a.rs" })),
        said("assistant", "output_text", "Done"),
        json!({ "type": "event_msg", "payload": { "type": "agent_message", "message": "Done" } }),
    ];
    let call = json!({ "type": "tool_use", "name": "shell", "input": { "input": "{\"command\":[\"ls\"]}" } });
    assert_eq!(
        messages(&lines),
        [
            text("user", "Fix it"),
            json!({ "role": "assistant", "content": [call] }),
            json!({ "role": "tool", "content": "a.rs" }),
            text("assistant", "Done"),
        ]
    );
}

#[test]
fn cursor_keeps_the_role_beside_the_message() {
    let part = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let lines = [
        json!({ "role": "user", "message": part("Fix it") }),
        json!({ "role": "assistant", "message": part("Done") }),
    ];
    assert_eq!(
        messages(&lines),
        [text("user", "Fix it"), text("assistant", "Done")]
    );
}

#[test]
fn the_request_is_the_first_line_that_a_user_wrote() {
    let lines = [
        json!({ "role": "assistant", "content": "Hello" }),
        json!({ "role": "user", "content": "\n  Fix the parser \nplease" }),
        json!({ "role": "user", "content": "and the lexer" }),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let request = parse(text.join("\n").as_bytes()).request;
    assert_eq!(request.as_deref(), Some("Fix the parser"));
}

#[test]
fn what_is_too_much_is_cut_and_of_many_messages_the_newest_stay() {
    let long = json!({ "role": "user", "content": "ß".repeat(MOST_OF_TEXT) });
    let kept = messages(&[long]);
    assert!(kept[0].to_string().len() < MOST_OF_TEXT + 100);
    let tool = json!({ "role": "assistant", "content": [{ "type": "tool_use", "name": "Write", "input": { "text": "x".repeat(9_000) } }] });
    assert!(messages(&[tool])[0].to_string().len() < MOST_OF_TOOL + 200);
    let many: Vec<Value> = (0..3_000)
        .map(|number| json!({ "role": "user", "content": format!("{number} {}", "\u{1}".repeat(200)) }))
        .collect();
    let kept = messages(&many);
    let size: usize = kept.iter().map(|message| message.to_string().len()).sum();
    assert!(size <= MOST_BYTES && kept.len() <= MOST_MESSAGES, "{size}");
    assert!(kept.last().unwrap().to_string().contains("2999 "));
}

#[test]
fn arguments_that_are_nested_too_deep_are_sent_as_text() {
    let nested = (0..120).fold(json!(1), |inner, _| json!([inner]));
    let line = |input: &Value| json!({ "role": "assistant", "content": [{ "type": "tool_use", "name": "t", "input": input }] });
    let sent = messages(&[line(&json!({ "a": nested })), line(&json!({ "a": [[1]] }))]);
    assert!(sent[0]["content"][0]["input"]["input"].is_string(), "{sent:?}");
    assert_eq!(sent[1]["content"][0]["input"], json!({ "a": [[1]] }));
}

#[test]
fn half_a_surrogate_pair_loses_no_message() {
    let line = |text: &str| format!(r#"{{"role": "user", "content": "{text}"}}"#);
    for (written, kept) in [
        (r"cut \ud83d", "cut \u{fffd}"),
        (
            r"\ude00 \ud83d\ude00 \ud83d\ud83d\ude00",
            "\u{fffd} 😀 \u{fffd}😀",
        ),
        (r"whole \ud83d\ude00", "whole 😀"),
        (
            r"no escape \\ud83d, cut \ud83d",
            "no escape \\ud83d, cut \u{fffd}",
        ),
    ] {
        let parsed = parse(line(written).as_bytes());
        assert_eq!(parsed.messages, [text("user", kept)], "{written}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let of = |words: &'static str| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        prop::sample::select(words)
    };
    let name = prop_oneof![7 => of("role content type message payload text input"), 1 => "[a-z]{0,3}"];
    let text = of("user assistant text tool_use tool_result response_item message");
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![7 => text, 1 => ".{0,9}"].prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.contains('\0') || has_nul(value)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn messages_of_any_lines_are_accepted(lines in prop::collection::vec(json_value(), 0..6)) {
        for message in messages(&lines) {
            let role = message["role"].as_str().unwrap();
            prop_assert!(["user", "assistant", "tool"].contains(&role));
            let content = &message["content"];
            prop_assert!(content.is_string() || content.as_array().is_some_and(|parts| !parts.is_empty()));
            prop_assert!(!has_nul(&message), "{message}");
        }
    }
}
