//! `working-memory hook …`, as coding agents run it.

use super::program::{Done, User};
use super::stub::{Asked, Stub};
use crate::access::with_admin;
use crate::harness::{eventually, has, holds, lacks};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

fn told(user: &User, event: &str, more: &Value) -> String {
    let mut told = json!({
        "session_id": "a-session",
        "transcript_path": user.path().join("transcript.jsonl"),
        "cwd": user.path(),
        "hook_event_name": event,
    });
    for (name, value) in more.as_object().unwrap() {
        told[name] = value.clone();
    }
    told.to_string()
}

async fn start(user: &User) -> Done {
    let input = told(user, "SessionStart", &json!({"source": "startup"}));
    user.done_with("hook session-start", &input).await
}

async fn end(user: &User) -> Done {
    let input = told(user, "SessionEnd", &json!({"reason": "exit"}));
    user.done_with("hook session-end", &input).await
}

fn says(role: &str, text: &str) -> String {
    json!({"type": role, "message": {"role": role, "content": text}}).to_string() + "\n"
}

#[tokio::test]
async fn a_session_is_recorded_and_shown_to_the_next_one() {
    let (service, user) = User::served().await;
    let _workers = service.work(Duration::ZERO);
    assert_eq!(start(&user).await.out, "");

    let said = "Remember that the staging cluster's deploy key expires on 2027-03-01.";
    let first = says("user", said) + &says("assistant", "Noted.");
    user.file("transcript.jsonl", &first);
    let done = end(&user).await;
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
    let memory = service.memory("agent");
    let run = ended(&memory, 1).await;
    assert_eq!(run["status"], "applied", "{run}");

    // The same transcript sends nothing; only new messages are sent.
    end(&user).await;
    let more = says("user", "From now on always run the linter before a commit.");
    user.file("transcript.jsonl", &(first + &more));
    let input = told(&user, "PreCompact", &json!({"trigger": "auto"}));
    user.done_with("hook pre-compact", &input).await;
    let run = ended(&memory, 2).await;
    let request = run["request"].to_string();
    holds(&request, &["linter"]);
    lacks(&request, &["staging"]);

    let out = start(&user).await.out;
    assert!(out.starts_with("Working memory acme/agent, version 2: "), "{out}");
    holds(&out, &["<handoff>\n", "2027-03-01", "linter"]);
}

/// The newest run, when there are this many and it has finished.
async fn ended(memory: &crate::harness::Memory, count: usize) -> Value {
    let runs = async || memory.read("updates").await["items"].clone();
    eventually("the update ends", async || {
        let runs = runs().await;
        runs.as_array().unwrap().len() == count && !runs[0]["finished_at"].is_null()
    })
    .await;
    memory.run_of(&runs().await[0]).await
}

fn answers(request: &Asked) -> (u16, &'static str, String) {
    let body = if request.uri.contains("/prompt") {
        json!({"text": "# Notes\n".repeat(9_000), "version": 3})
    } else if request.uri.contains("/handoff/refresh") {
        json!({"preface": "Fresh.", "markdown": "line\n".repeat(9_000)})
    } else {
        json!({"update_id": "u", "status": "queued"})
    };
    let status = if request.method == "GET" { 200 } else { 202 };
    (status, "application/json", body.to_string())
}

#[tokio::test]
async fn the_output_is_limited_and_in_the_format_of_the_host() {
    let stub = Stub::by(answers).await;
    let user = User::of(&stub.url);
    let plain = start(&user).await.out;
    let count = plain.encode_utf16().count();
    assert!((8_000..=10_000).contains(&count), "{count}");

    let input = json!({"conversation_id": "c", "workspace_roots": [user.path()], "cursor_version": "2.4.0"});
    let done = user.done_with("hook session-start", &input.to_string()).await;
    assert_eq!(done.json()["additional_context"], plain);

    // Also what is longer when it is escaped.
    let stub = Stub::by(|request| {
        let body = json!({"text": "\u{1b}[2J ".repeat(1_500), "version": 3});
        match request.uri.contains("/prompt") {
            true => (200, "application/json", body.to_string()),
            false => answers(request),
        }
    })
    .await;
    let escaped = start(&User::of(&stub.url)).await.out;
    holds(&escaped, &["\\u001b[2J", "</memory>\n"]);
    let count = escaped.encode_utf16().count();
    assert!(count <= 10_000, "{count}");
}

/// The first text of each request.
fn sent(stub: &Stub) -> Vec<String> {
    let first = |request: &Asked| request.json()["messages"][0]["content"][0]["text"].clone();
    let texts = stub.asked();
    texts
        .iter()
        .map(|request| first(request).as_str().unwrap().to_owned())
        .collect()
}

/// A user with a message of a session that could not be sent.
async fn unsent() -> User {
    let user = User::of("http://127.0.0.1:9");
    user.file("transcript.jsonl", &says("user", "Fix the parser"));
    assert!(end(&user).await.err.contains("no service answers"));
    user
}

#[tokio::test]
async fn a_failed_piece_is_retried_with_its_key_until_it_succeeds() {
    let stub = Stub::by(answers).await;
    let user = unsent().await.with("WORKING_MEMORY_URL", &stub.url);
    let more = says("user", "Fix the parser") + &says("user", "and the lexer");
    user.file("transcript.jsonl", &more);
    end(&user).await;
    end(&user).await;
    assert_eq!(sent(&stub), ["Fix the parser", "and the lexer"]);
    let requests = stub.asked();
    assert_eq!(requests[0].header("prefer"), Some("respond-async"));
    let size = says("user", "Fix the parser").len();
    let key = requests[0].header("idempotency-key").unwrap();
    assert!(key.ends_with(&format!("-0-{size}")), "{key}");
    assert_eq!(requests[0].json()["task"], "Fix the parser");
}

#[tokio::test]
async fn a_piece_that_an_actor_may_not_send_is_sent_once_by_one_who_may() {
    let (service, admin) = with_admin().await;
    let writer = admin.make(json!({"name": "w", "role": "writer"})).await;
    let user = User::of_service(&service)
        .with("WORKING_MEMORY_API_KEY", &writer.token)
        .with("WORKING_MEMORY_ACTOR", "other");
    user.file("transcript.jsonl", &says("user", "Fix the parser"));
    assert_ne!(end(&user).await.err, "");
    assert_eq!(service.count("updates").await, 0);
    let user = user.with("WORKING_MEMORY_ACTOR", "");
    for _ in 0..2 {
        assert_eq!(end(&user).await.err, "");
        assert_eq!(service.count("updates").await, 1);
    }
}

#[tokio::test]
async fn what_is_skipped_of_a_long_transcript_is_said() {
    let stub = Stub::by(answers).await;
    let user = User::of(&stub.url);
    let old = ("x".repeat(1_023) + "\n").repeat(9 * 1_024);
    let messages: String = (0..2_100)
        .map(|number| says("user", &format!("message {number}")))
        .collect();
    user.file("transcript.jsonl", &(old + &messages));
    let done = end(&user).await;
    holds(
        &done.err,
        &[
            " older bytes of the transcript are skipped",
            " 100 older messages of",
        ],
    );
    assert_eq!(sent(&stub), ["message 100"]);
}

#[tokio::test]
async fn what_a_session_could_not_send_goes_to_its_memory_also_if_it_goes_on_in_another_one() {
    let stub = Stub::by(answers).await;
    let user = unsent().await.with("WORKING_MEMORY_URL", &stub.url);
    let more = says("user", "Fix the parser") + &says("user", "and the lexer");
    user.file("transcript.jsonl", &more);
    let elsewhere = user.with("WORKING_MEMORY_MEMORY", "other");
    for _ in 0..2 {
        assert_eq!(end(&elsewhere).await.err, "");
        assert_eq!(sent(&stub), ["and the lexer"]);
    }
    let back = elsewhere.with("WORKING_MEMORY_MEMORY", "agent");
    back.file("next.jsonl", "");
    let next = json!({"session_id": "next", "transcript_path": back.path().join("next.jsonl")});
    let next = told(&back, "SessionEnd", &next);
    for _ in 0..2 {
        assert_eq!(back.done_with("hook session-end", &next).await.err, "");
        assert_eq!(sent(&stub), ["and the lexer", "Fix the parser"]);
    }
    let uris = stub.asked().into_iter().map(|request| request.uri);
    let memories: Vec<String> = uris
        .map(|uri| uri.split('/').nth(5).unwrap().to_owned())
        .collect();
    assert_eq!(memories, ["other", "agent"]);
    // It has nothing left for either.
    assert_eq!(end(&back).await.err, "");
    assert_eq!(stub.asked().len(), 2);
}

#[tokio::test]
async fn what_is_said_while_the_service_is_away_is_for_the_memory_it_was_said_for_and_a_rewrite_loses_nothing()
 {
    let stub = Stub::by(answers).await;
    let away = unsent().await;
    let more = says("user", "Fix the parser") + &says("user", "and the lexer");
    away.file("transcript.jsonl", &more);
    assert_ne!(end(&away).await.err, "");
    let user = away.with("WORKING_MEMORY_URL", &stub.url);
    let elsewhere = user.with("WORKING_MEMORY_MEMORY", "other");
    elsewhere.file("transcript.jsonl", &(more + &says("user", "elsewhere")));
    assert_eq!(end(&elsewhere).await.err, "");
    assert_eq!(sent(&stub), ["elsewhere"]);
    let back = elsewhere.with("WORKING_MEMORY_MEMORY", "agent");
    assert_eq!(end(&back).await.err, "");
    assert_eq!(sent(&stub), ["elsewhere", "Fix the parser", "and the lexer"]);

    // The host rewrites what another memory could not be sent.
    let away = unsent().await.with("WORKING_MEMORY_MEMORY", "other");
    let user = away.with("WORKING_MEMORY_URL", &stub.url);
    user.file(
        "transcript.jsonl",
        &(says("user", "A longer beginning") + &says("user", "after it")),
    );
    assert_eq!(end(&user).await.err, "");
    let first = stub.asked().pop().unwrap().json()["messages"].clone();
    assert_eq!(first.as_array().unwrap().len(), 2, "{first}");
}

#[tokio::test]
async fn of_a_memory_that_is_too_long_the_newest_learnings_and_the_beginning_of_its_text_are_shown() {
    let (service, user) = User::served().await;
    let learning = "# Key Learnings\n- KL-1 [2026-01-01T00:00:00Z] because it is so: Ask Ada first\n";
    for (text, of_text, notes) in [
        // It has more tokens than characters of English would have, and fits.
        ((1..1_500).map(|number| format!("{number} ")).collect(), "1499", 0),
        ("Words of prose. ".repeat(700), "Words of prose. Words", 1),
        ("早く読む。".repeat(3_000), "早く読む。早く読む。", 1),
    ] {
        service
            .memory("agent")
            .put(&format!("# Notes\n{text}\n\n{learning}"))
            .await;
        let out = start(&user).await.out;
        holds(&out, &["Ask Ada first", of_text, "</memory>\n"]);
        assert_eq!(out.matches("[truncated: ").count(), notes, "{out}");
    }
    let many: String = (1..400)
        .map(|number| {
            format!("- KL-{number} [2026-01-01T00:00:00Z] because it is so: Lesson number {number}\n")
        })
        .collect();
    service
        .memory("agent")
        .put(&format!("# Key Learnings\n{many}"))
        .await;
    let out = start(&user).await.out;
    holds(&out, &["Lesson number 399\n", "[truncated: "]);
    lacks(&out, &["Lesson number 1\n"]);
}

#[tokio::test]
async fn what_a_session_could_not_send_is_sent_at_the_end_of_the_next_one() {
    let stub = Stub::by(answers).await;
    let user = unsent().await.with("WORKING_MEMORY_URL", &stub.url);
    user.file("next.jsonl", &says("user", "and the lexer"));
    let next = json!({"session_id": "next", "transcript_path": user.path().join("next.jsonl")});
    let next = told(&user, "SessionEnd", &next);
    for _ in 0..2 {
        assert_eq!(user.done_with("hook session-end", &next).await.err, "");
    }
    assert_eq!(sent(&stub), ["and the lexer", "Fix the parser"]);
}

#[tokio::test]
async fn another_server_at_the_address_takes_nothing() {
    let mut user = User::of("http://127.0.0.1:9");
    user.file("transcript.jsonl", &says("user", "Fix the parser"));
    for (status, body) in [
        (200, "<html>welcome</html>"),
        (202, "{}"),
        (405, "<html>"),
        (413, ""),
    ] {
        let other = Stub::by(move |_| (status, "text/html", body.to_owned())).await;
        user = user.with("WORKING_MEMORY_URL", &other.url);
        let done = end(&user).await;
        assert!(done.err.contains("service"), "{}", done.err);
    }
    let stub = Stub::by(answers).await;
    end(&user.with("WORKING_MEMORY_URL", &stub.url)).await;
    assert_eq!(stub.only().json()["task"], "Fix the parser");
}

#[tokio::test]
async fn a_transcript_that_became_shorter_is_sent_from_its_beginning() {
    let stub = Stub::by(answers).await;
    let user = User::of(&stub.url);
    let first = says("user", "Fix the parser") + &says("assistant", "It is fixed");
    user.file("transcript.jsonl", &first);
    end(&user).await;
    // The host rewrites the file, with a new beginning as long as the old one and in all shorter.
    user.file("transcript.jsonl", &says("user", "Fix the lexers"));
    end(&user).await;
    end(&user).await;
    assert_eq!(sent(&stub), ["Fix the parser", "Fix the lexers"]);
    // What follows is appended to it.
    let more = says("user", "Fix the lexers") + &says("user", "and the docs");
    user.file("transcript.jsonl", &more);
    end(&user).await;
    has(&stub.asked()[2].json(), json!({"messages#": 1}));
    assert_eq!(sent(&stub)[2], "and the docs");
    // The same positions with another text are another request.
    for text in ["Fix the grammar", "Nothing", "Fix the printer"] {
        user.file("transcript.jsonl", &says("user", text));
        end(&user).await;
    }
    let asked = stub.asked();
    let keys: BTreeSet<_> = asked
        .iter()
        .map(|request| request.header("idempotency-key").unwrap())
        .collect();
    assert_eq!((keys.len(), asked.len()), (6, 6));
}

#[tokio::test]
async fn two_concurrent_hooks_send_a_piece_once() {
    let stub = Stub::by(answers).await;
    let user = User::of(&stub.url);
    user.file("transcript.jsonl", &says("user", "Fix the parser"));
    tokio::join!(end(&user), end(&user), end(&user));
    stub.only();
}

#[tokio::test]
async fn no_error_of_a_hook_stops_the_host() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = User::of(&format!("http://{}", silent.local_addr().unwrap()));
    silent.file("transcript.jsonl", &says("user", "Fix the parser"));
    let began = Instant::now();
    let input = told(&silent, "SessionStart", &json!({}));
    for hook in ["session-start", "session-end"] {
        let done = silent
            .done_with(&format!("hook {hook} --timeout 1"), &input)
            .await;
        assert!(done.out.is_empty() && !done.err.is_empty(), "{done:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(60));

    let stub = Stub::json(500, json!({})).await;
    let user = User::of(&stub.url);
    let paths = ["/dev/zero", "/nothing"].map(|path| json!({"transcript_path": path}).to_string());
    for input in ["", "{", "[]", &paths[0], &paths[1]] {
        for hook in ["session-start", "session-end", "pre-compact", "stop"] {
            let done = user.done_with(&format!("hook {hook}"), input).await;
            assert_eq!(done.out, "", "{hook} {input}");
        }
    }
    User::nobody().done("hook session-start").await;
    user.session("hook session-sta\nhook session-start --unknown")
        .await;
    user.file(".working-memory.toml", "nonsense = 1\n");
    user.done("hook session-start").await;
}

#[tokio::test]
async fn nothing_is_sent_to_a_remote_address_from_a_file_in_the_folder() {
    let file = "url = \"http://memory.invalid:8080\"\nvault = \"acme\"\nmemory = \"agent\"\n";
    let user = User::nobody();
    user.file(".working-memory.toml", file);
    user.file("transcript.jsonl", &says("user", "Fix the parser"));
    for done in [start(&user).await, end(&user).await] {
        holds(&done.err, &["nothing is sent there unasked"]);
    }

    // A file may name the memory, and an address on this machine.
    let stub = Stub::by(answers).await;
    let file = file.replace("http://memory.invalid:8080", &stub.url);
    user.file(".working-memory.toml", &file);
    assert!(!start(&user).await.out.is_empty());
    assert!(stub.asked()[0].uri.starts_with("/v1/vaults/acme/memories/agent/"));
}

/// All values of members with this name.
fn members<'v>(value: &'v Value, name: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| members(value, name, found)),
        Value::Object(all) => {
            for (key, value) in all {
                found.extend(value.as_str().filter(|_| key == name));
                members(value, name, found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_plugin_and_its_readme_use_existing_hooks() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/claude-code");
    let read = |name: &str| std::fs::read_to_string(plugin.join(name)).unwrap();
    let parsed = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let readme = read("README.md");
    let blocks = readme.split("```json\n").skip(1);
    let mut files: Vec<Value> = blocks
        .map(|block| parsed(block.split("```").next().unwrap()))
        .collect();
    assert_eq!(files.len(), 2, "Codex, Cursor");
    files.push(parsed(&read("hooks/hooks.json")));
    for event in ["SessionStart", "PreCompact", "SessionEnd"] {
        assert!(files[2]["hooks"][event].is_array(), "{event}");
    }

    let mut commands = Vec::new();
    files
        .iter()
        .for_each(|file| members(file, "command", &mut commands));
    assert_eq!(commands.len(), 9);
    for command in commands {
        let arguments = command.strip_prefix("working-memory ").unwrap();
        let arguments: Vec<_> = arguments.split(' ').chain(["--help"]).collect();
        let help = User::nobody().run(&arguments).await.is(0);
        assert!(help.out.contains("Reads the host's JSON"), "{}", help.out);
    }
    let server = &parsed(&read(".mcp.json"))["mcpServers"]["working-memory"];
    assert_eq!(server, &json!({"command": "working-memory", "args": ["mcp"]}));
}
