//! `working-memory mcp`, as a client starts it.

use super::program::{PROGRAM, User};
use crate::harness::{holds, lacks};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

struct Session {
    child: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
    told: Vec<Value>,
}

impl Session {
    /// Starts the program and initializes the session.
    async fn start(user: &User) -> Self {
        let mut child = user
            .command(PROGRAM, &["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut session = Self {
            child,
            to,
            from,
            told: Vec::new(),
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let welcome = session.ask("initialize", hello).await;
        assert!(
            welcome["result"]["capabilities"]["tools"].is_object(),
            "{welcome}"
        );
        session
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        session
    }

    async fn send(&mut self, message: Value) {
        self.to
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
        self.to.flush().await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.from.next_line()).await;
        serde_json::from_str(&line.expect("no answer in time").unwrap().expect("it ended")).unwrap()
    }

    /// The response to a request; notifications in between are stored.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
            .await;
        loop {
            let message = self.next().await;
            if message["id"] == 7 {
                return message;
            }
            self.told.push(message);
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await["result"]
            .clone()
    }

    /// Closes standard input; the program ends.
    async fn end(mut self) {
        drop(self.to);
        let status = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        assert!(status.expect("it does not end").unwrap().success());
    }
}

#[tokio::test]
async fn a_client_works_with_the_service_of_the_settings() {
    let (_service, user) = User::served().await;
    let mut session = Session::start(&user).await;
    let tools = session.ask("tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 11);
    let written = session
        .call("memory_write", json!({"text": "a\n", "if_version": 0}))
        .await;
    assert_eq!(written["structuredContent"]["version"], 1, "{written}");
    let read = session.call("memory_read", json!({})).await;
    assert_eq!(read["structuredContent"]["context"], "a\n");
    let other = session.call("memory_read", json!({"vault": "other"})).await;
    assert_eq!(other["isError"], true, "{other}");
    for view in ["blame", "diff"] {
        let leaving = session
            .call("memory_history", json!({"view": view, "ref": ".."}))
            .await;
        assert_eq!(leaving["isError"], true, "{leaving}");
        let text = leaving["content"][0]["text"].as_str().unwrap();
        holds(text, &["Next: Correct "]);
        assert!(
            text.contains("\"..\" is not an id") || view == "blame",
            "{leaving}"
        );
    }
    // As `JSON.stringify` writes a text that was cut inside a character.
    let half = r#"{"kind": "decision", "decision": "Say \ud83d"}"#;
    let call = format!(r#"{{"name": "memory_record", "arguments": {half}}}"#);
    let message = format!(r#"{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {call}}}"#);
    session
        .to
        .write_all(format!("{message}\n").as_bytes())
        .await
        .unwrap();
    assert_eq!(
        session.next().await["result"]["structuredContent"]["record_id"],
        "D-1"
    );
    let read = session.call("memory_read", json!({})).await;
    holds(
        read["structuredContent"]["context"].as_str().unwrap(),
        &["Say \u{fffd}"],
    );
    let update = json!({"name": "memory_update", "arguments": {"task": "Write the parser", "wait": true}, "_meta": {"progressToken": 3}});
    let updated = session.ask("tools/call", update).await;
    assert_eq!(updated["result"]["isError"], false, "{updated}");
    let is_progress = |told: &Value| told["method"] == "notifications/progress";
    assert!(session.told.iter().any(is_progress), "{:?}", session.told);
    session.end().await;
}

#[tokio::test]
async fn it_starts_and_lists_tools_while_the_service_is_unreachable() {
    let user = User::of("http://127.0.0.1:9");
    let mut session = Session::start(&user).await;
    let tools = session.ask("tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 11);
    let read = session.call("memory_read", json!({})).await;
    assert_eq!(read["isError"], true);
    let text = read["content"][0]["text"].as_str().unwrap();
    holds(text, &["no service answers at http://127.0.0.1:9", "Next: "]);
    session.end().await;
}

#[tokio::test]
async fn nothing_is_sent_to_a_remote_address_from_a_file_in_the_folder() {
    let user = User::nobody();
    user.file(".working-memory.toml", "url = \"http://memory.invalid:8080\"\n");
    let refused = user.ends(2, "mcp").await;
    holds(&refused.err, &["nothing is sent there unasked"]);
    let printed = user.done("mcp --print-config cursor").await.out;
    holds(&printed, &["http://memory.invalid:8080"]);
}

#[tokio::test]
async fn a_client_that_hands_no_variable_on_takes_the_key_of_a_file() {
    let user = User::of("http://127.0.0.1:9").with("WORKING_MEMORY_API_KEY", "wm_secret_key");
    user.file("key", "wm_secret_key");
    user.session(
        r#"
        2 mcp --print-config notepad
        2 mcp --print-config zed ⇒ --key-file
        2 mcp --print-config claude-desktop ⇒ --key-file
        2 mcp --print-config vscode ⇒ --key-file
        mcp --print-config zed --key-file key → --key-file | /key" | !wm_secret_key
        mcp --print-config claude-desktop --key-file key → --key-file | /key" | !wm_secret_key"#,
    )
    .await;
}

#[tokio::test]
async fn install_adds_to_what_a_file_holds_and_a_second_time_changes_nothing() {
    let user = User::of("http://127.0.0.1:9").with("WORKING_MEMORY_API_KEY", "wm_secret_key");
    user.file("key", "wm_secret_key");
    let read = |name: &str| std::fs::read_to_string(user.path().join(name)).unwrap();
    let servers = r#""mcpServers": { "other": { "command": "x" } }"#;
    user.file(".cursor/mcp.json", &format!("{{\n  // mine\n  {servers}\n}}\n"));
    user.file(".codex/config.toml", "model = \"o\" # fast\n");
    for (client, place, kept) in [
        ("cursor", ".cursor/mcp.json", &["// mine", "\"other\""][..]),
        ("claude-code", ".mcp.json", &[]),
        (
            "codex",
            ".codex/config.toml",
            &["model = \"o\" # fast", "[mcp_servers.working-memory]"],
        ),
    ] {
        let place_given = ["mcp", "install", client, "--file", place];
        let said = user.run(&place_given).await.is(0).out;
        assert!(said.contains(place), "{said}");
        let written = read(place);
        holds(&written, &[PROGRAM, "agent"]);
        holds(&written, kept);
        lacks(&written, &["wm_secret_key"]);
        if kept.is_empty() {
            let printed = user.run(&["mcp", "--print-config", client]).await.is(0).out;
            assert_eq!(printed, written, "what is printed is what is written");
        }
        let said = user.run(&place_given).await.is(0).out;
        assert!(said.contains("already"), "{said}");
        assert_eq!(read(place), written);
    }

    // What the user added to the entry stays.
    let entry = r#"{ "command": "old", "env": { "MINE": "1" }, "alwaysAllow": ["memory_read"] }"#;
    user.file(
        "own.json",
        &format!("{{ \"mcpServers\": {{ \"working-memory\": {entry} }} }}"),
    );
    user.file("own.toml", "[mcp_servers.working-memory]\nstartup_timeout_sec = 9\n[mcp_servers.working-memory.env]\nMINE = \"1\"\n");
    user.done("mcp install cursor --file own.json").await;
    user.done("mcp install codex --file own.toml").await;
    holds(
        read("own.json"),
        &[
            PROGRAM,
            r#""MINE": "1""#,
            r#""alwaysAllow": ["memory_read"]"#,
            "WORKING_MEMORY_API_KEY",
        ],
    );
    lacks(read("own.json"), &["old"]);
    holds(
        read("own.toml"),
        &[PROGRAM, "startup_timeout_sec = 9", "MINE = \"1\"", "env_vars"],
    );

    user.file("broken.json", "{\n  \"mcpServers\": [\n");
    let failed = user.ends(1, "mcp install cursor --file broken.json").await;
    holds(&failed.err, &["line", "nothing was written"]);
    assert_eq!(read("broken.json"), "{\n  \"mcpServers\": [\n");
}
