//! Keys created on the command line, and a service that never reveals a secret.

use super::program::{Program, command, folder};
use crate::harness::{Answer, eventually, has, holds};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// `working-memory keys …` in the folder of a service.
fn keys(folder: &Path, arguments: &str) -> Output {
    program(folder, &format!("keys {arguments}"))
}

/// `working-memory …` there.
fn program(folder: &Path, arguments: &str) -> Output {
    command_of(folder, arguments).output().unwrap()
}

fn command_of(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_working-memory"));
    command
        .args(arguments.split(' '))
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("WORKING_MEMORY__DATABASE__DATA_DIR", folder.join("data"));
    command
}

/// A folder whose embedded database a service has made and left.
async fn used_folder() -> TempDir {
    let folder = folder();
    let mut program = Program::start(folder.path()).await;
    program.signal(Signal::TERM);
    assert!(program.ended().await.success());
    folder
}

#[tokio::test]
async fn commands_create_no_database() {
    let folder = folder();
    std::fs::write(folder.path().join("file.jsonl"), "").unwrap();
    let all = "keys create --name a --role admin|keys list --json|export --vault v|import file.jsonl|\
            rebuild-records";
    for arguments in all.split('|') {
        let output = program(folder.path(), arguments);
        let error_output = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error_output}");
        holds(
            &error_output,
            &["there is no database in the folder", "DATABASE_URL"],
        );
        if arguments.contains("--json") {
            let error: Value = serde_json::from_str(&error_output).unwrap();
            assert_eq!(error["exit_code"], 1);
        }
    }
    assert!(!folder.path().join("data").exists());
}

#[tokio::test]
async fn keys_are_created_and_vaults_exported_while_a_service_runs() {
    let folder = folder();
    let service = Program::start(folder.path()).await;
    service.put("m", "# Facts\nf\n").await.is(201);
    let exported = program(folder.path(), "export --vault v");
    assert!(printed(&exported).contains("# Facts"), "{exported:?}");
    let made = keys(folder.path(), "create --name root --role admin");
    let token = printed(&made).to_owned();
    eventually("the service asks for a key", async || {
        service.get("/v1/vaults").await.status == 401
    })
    .await;
    let listing = service.request_to(Method::GET, "/v1/vaults").bearer_auth(&token);
    Answer::to(listing).await.is(200);
    let made = "create --name a-reviewer --role proposer --vault v";
    printed(&keys(folder.path(), made));
    // A reader that needs no more is no failure.
    let mut list = command_of(folder.path(), "keys list");
    let mut list = list
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(list.stdout.take());
    assert_eq!(list.wait_with_output().unwrap().status.code(), Some(0));
    let list = keys(folder.path(), "list");
    let lines: Vec<&str> = printed(&list).lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (title, cell) in [
        ("ROLE", "proposer"),
        ("STATUS", "active"),
        ("EXPIRES", "never"),
        ("VAULTS", "v"),
    ] {
        let row = lines.iter().find(|line| line.contains("a-reviewer")).unwrap();
        let column = lines[0].find(title).unwrap();
        assert!(row[column..].starts_with(cell), "{title}: {lines:?}");
    }
}

#[tokio::test]
async fn a_key_while_the_service_starts_is_asked_for_again() {
    let folder = used_folder().await;
    // A service has taken the folder, and its server does not answer yet.
    let lock = std::fs::File::open(folder.path().join("data/service.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let refused = keys(folder.path(), "create --name root --role admin");
    let error_output = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{error_output}");
    for part in ["still starting", "try again", "data"] {
        assert!(error_output.contains(part), "{part}: {error_output}");
    }
    assert!(refused.stdout.is_empty());
}

#[track_caller]
fn printed(output: &Output) -> &str {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::str::from_utf8(&output.stdout).unwrap().trim()
}

#[tokio::test]
async fn no_secret_is_in_a_log_a_response_or_a_metric() {
    let folder = used_folder().await;
    let made = keys(folder.path(), "create --name root --role admin");
    let admin = printed(&made).to_owned();
    assert!(made.stderr.is_empty(), "{made:?}");
    let made = keys(
        folder.path(),
        "create --name ci --role writer --vault v --expires-in 1d --json",
    );
    let made: Value = serde_json::from_str(printed(&made)).unwrap();
    has(&made, json!({"role": "writer", "vaults": ["v"]}));
    let writer = made["key"].as_str().unwrap().to_owned();
    let id = made["key_id"].as_str().unwrap();
    let rotated = keys(folder.path(), &format!("rotate {id} --grace 1h"));
    let rotated = printed(&rotated).to_owned();

    let program = Program::start_with(folder.path(), &[("WORKING_MEMORY__LOG__FILTER", "trace")]).await;
    let mut error_output = String::new();
    let unknown = format!("wm_0123456789ab_{}", "5ec7e7".repeat(11).split_at(64).0);
    for token in [&admin, &writer, &rotated, &unknown, "wm_half", "not a key"] {
        for (method, path) in [
            (Method::PUT, "/v1/vaults/v/memories/m/context"),
            (Method::GET, "/v1/vaults/other/memories/m/context"),
            (Method::GET, "/v1/keys"),
            (Method::GET, "/metrics"),
        ] {
            let request = program.request_to(method, path).bearer_auth(token);
            let answer = Answer::to(request.header("Content-Type", "text/plain").body("text")).await;
            error_output += &format!("{:?} {}", answer.headers, answer.text());
        }
    }
    let request = program.request_to(Method::POST, "/v1/keys").bearer_auth(&admin);
    let made = Answer::to(request.json(&json!({"name": "n", "role": "reader"})))
        .await
        .is(201)
        .json();
    let by_route = made["key"].as_str().unwrap().to_owned();
    Answer::to(
        program
            .request_to(Method::GET, "/v1/vaults")
            .bearer_auth(&by_route),
    )
    .await
    .is(200);
    Answer::to(
        program
            .request_to(Method::GET, "/v1/vaults")
            .bearer_auth(&rotated),
    )
    .await
    .is(200);
    Answer::to(program.request_to(Method::GET, "/v1/vaults").bearer_auth(&writer))
        .await
        .is(200);

    let log = program.log().await;
    assert!(log.contains("a key was made"), "{log}");
    for token in [&admin, &writer, &rotated, &by_route, &unknown] {
        let (_, secret) = token.rsplit_once('_').unwrap();
        assert!(!log.contains(secret), "in the log");
        assert!(!error_output.contains(secret), "in an answer");
    }
}

#[tokio::test]
async fn keys_are_listed_and_revoked_and_allow_the_service_to_bind_any_address() {
    let folder = used_folder().await;
    keys(
        folder.path(),
        "create --name a --role reader --vault-prefix acme.",
    );
    let listed = keys(folder.path(), "list --json");
    let listed: Value = serde_json::from_str(printed(&listed)).unwrap();
    has(&listed, json!({"name": "a", "active": true}));
    assert_eq!(listed["vault_prefix"], "acme.");
    printed(&keys(
        folder.path(),
        &format!("revoke {}", listed["key_id"].as_str().unwrap()),
    ));
    let table = keys(folder.path(), "list");
    assert!(printed(&table).contains("revoked"), "{table:?}");
    let missing = keys(folder.path(), "revoke nobody");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("there is no such key"));

    // A key existed once, so every request needs one, on any address.
    let program = Program::start_with(folder.path(), &[("WORKING_MEMORY__HTTP__BIND", "0.0.0.0:0")]).await;
    program.get("/v1/vaults").await.unauthorized();
}

#[test]
fn missing_tls_files_prevent_the_start() {
    let folder = folder();
    let environment = [
        ("WORKING_MEMORY__HTTP__TLS__CERTIFICATE", "no.crt"),
        ("WORKING_MEMORY__HTTP__TLS__KEY", "no.key"),
    ];
    let output = command(folder.path(), &environment).output().unwrap();
    let error_output = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error_output}");
    holds(&error_output, &["http.tls.certificate no.crt"]);
}
