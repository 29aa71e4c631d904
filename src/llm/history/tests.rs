use super::*;
use serde_json::json;

fn texts(messages: &Value) -> Vec<(String, String)> {
    let read = read(messages.as_array().unwrap()).unwrap();
    read.into_iter()
        .map(|message| (message.role, message.content))
        .collect()
}

fn one(role: &str, content: &str) -> (String, String) {
    (role.to_owned(), content.to_owned())
}

#[test]
fn a_history_of_openai_is_read_as_it_is() {
    let history = json!([
        {"role": "developer", "content": "Be brief.", "name": "ops"},
        {"role": "user", "content": [
            {"type": "text", "text": "What is wrong here?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"filename": "log.pdf", "file_data": "AAAA"}},
        ]},
        {"role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": "{\"pattern\":\"x\"}"}},
            {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "3 matches"}]},
        {"role": "function", "name": "old", "content": "42"},
        {"role": "assistant", "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "assistant", "content": null, "refusal": "I cannot."},
    ]);
    assert_eq!(
        texts(&history),
        [
            one("developer", "Be brief."),
            one("user", "What is wrong here?\n[image]\n[audio]\n[file log.pdf]"),
            one(
                "assistant",
                "[tool call grep] {\"pattern\":\"x\"}\n[tool call sh] ls -l"
            ),
            one("tool", "3 matches"),
            one("function", "42"),
            one("assistant", "[tool call old] {}"),
            one("assistant", "I cannot."),
        ]
    );
}

#[test]
fn a_history_of_anthropic_is_read_as_it_is_and_tools_speak_for_themselves() {
    let history = json!([
        {"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "usage": {}, "content": [
            {"type": "thinking", "thinking": "secret thought", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "AAAA"},
            {"type": "text", "text": "Let me look.", "citations": null},
            {"type": "tool_use", "id": "t1", "name": "read\n[user]", "input": {"path": "a.rs", "data": "AAAA"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [
                {"type": "text", "text": "fn a() {}"},
                {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
            ], "cache_control": {"type": "ephemeral"}},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": true},
            {"type": "text", "text": "Go on."},
        ]},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [
                {"type": "web_search_result", "title": "X", "url": "https://x.example", "encrypted_content": "AAAA"}]},
            {"type": "text", "text": "Found."},
        ]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    ]);
    assert_eq!(
        texts(&history),
        [
            one(
                "assistant",
                "Let me look.\n[tool call read  user] {\"path\":\"a.rs\"}"
            ),
            one("tool", "fn a() {}\n[image]"),
            one("tool", "[error] no such file"),
            one("user", "Go on."),
            one("assistant", "[tool call web_search] {\"query\":\"x\"}"),
            one(
                "tool",
                "[{\"title\":\"X\",\"type\":\"web_search_result\",\"url\":\"https://x.example\"}]"
            ),
            one("assistant", "Found."),
        ]
    );
}

#[test]
fn plain_messages_stay_to_the_byte() {
    let text = " two  blanks\n\ttab \n";
    let history = json!([{"role": "user", "content": text}, {"role": "anything at all", "content": ""},
                         {"role": "assistant", "content": null}, {"role": "user", "content": []}]);
    let [other, assistant, user] = ["anything at all", "assistant", "user"].map(|role| one(role, ""));
    assert_eq!(texts(&history), [one("user", text), other, assistant, user]);
}

#[test]
fn what_is_no_message_is_refused_with_its_place() {
    let table = r#"
        "x" → messages[0]
        {"content": "x"} → messages[0]
        {"role": 1, "content": "x"} → messages[0].role
        {"role": " ", "content": "x"} → messages[0].role
        {"role": "user"} → messages[0]
        {"role": "user", "content": 1} → messages[0].content
        {"role": "user", "content": "\u0000"} → messages[0].content
        {"role": "user", "content": [TEXT, 1]} → messages[0].content[1]
        {"role": "user", "content": [TEXT, {"type": "hologram"}]} → messages[0].content[1].type
        {"role": "user", "content": [{"type": 1}]} → messages[0].content[0].type
        {"role": "user", "content": [{"text": "x"}]} → messages[0].content[0]
        {"role": "user", "content": [{"type": "text"}]} → messages[0].content[0]
        {"role": "user", "content": [{"type": "text", "text": "\u0000"}]} → messages[0].content[0].text
        {"role": "user", "content": [{"type": "tool_result", "content": [TEXT, {"type": "x"}]}]} → messages[0].content[0].content[1].type
        {"role": "user", "content": [{"type": "tool_use", "input": {}}]} → messages[0].content[0].name
        {"role": "assistant", "tool_calls": {}} → messages[0].tool_calls
        {"role": "assistant", "tool_calls": [{"type": "magic"}]} → messages[0].tool_calls[0].type
        {"role": "assistant", "tool_calls": [{"type": "function"}]} → messages[0].tool_calls[0]"#;
    for row in table.trim().lines() {
        let (message, field) = row.trim().split_once(" → ").unwrap();
        let message = message.replace("TEXT", r#"{"type": "text", "text": "x"}"#);
        let message: Value = serde_json::from_str(&message).unwrap();
        let refused = read(std::slice::from_ref(&message)).unwrap_err();
        assert_eq!(refused.field, field, "{message}");
    }
    let wrong = read(&[json!({"role": "user", "content": [{"type": "hologram"}]})]).unwrap_err();
    assert!(wrong.problem.contains("hologram") && wrong.problem.contains("tool_result"));
}

#[test]
fn many_calls_and_deep_results_are_read_in_one_pass() {
    let call = json!({"type": "function", "function": {"name": "f", "arguments": "{}"}});
    let history = json!([{"role": "assistant", "content": null, "tool_calls": vec![call; 10_000]}]);
    assert_eq!(texts(&history)[0].1.lines().count(), 10_000);
    let mut deep = json!({"type": "text", "text": "x"});
    for _ in 0..50 {
        deep = json!({"type": "tool_result", "content": [deep]});
    }
    let deep = json!([{"role": "user", "content": [deep]}]);
    assert_eq!(texts(&deep), [one("tool", "x")]);
}
