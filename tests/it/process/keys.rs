//! Keys created on the command line, and a service that never reveals a secret.

use super::program::{Program, folder};
use crate::harness::{Answer, Service, eventually, has, holds};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// `working-memory keys …` in the folder of a service.
fn keys(folder: &Path, arguments: &str) -> Output {
    program(folder, &format!("keys {arguments}"))
}

/// `working-memory …` there.
pub(crate) fn program(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_working-memory"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("WORKING_MEMORY__DATABASE__DATA_DIR", folder.join("data"))
        .output()
        .unwrap()
}

/// Its output; it must fail with exit code 1 and say all of this.
#[track_caller]
pub(crate) fn fails(output: &Output, said: &[&str]) {
    let error_output = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error_output}");
    holds(&error_output, said);
    assert!(output.stdout.is_empty());
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
            rebuild-records|migrate|migrate --down-to 0";
    for arguments in all.split('|') {
        let output = program(folder.path(), arguments);
        fails(&output, &["there is no database in the folder", "DATABASE_URL"]);
        if arguments.contains("--json") {
            let error: Value = serde_json::from_slice(&output.stderr).unwrap();
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
    printed(&program(folder.path(), "migrate"));
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
    let list = keys(folder.path(), "list");
    let lines: Vec<&str> = printed(&list).lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let row = lines.iter().find(|line| line.contains("a-reviewer")).unwrap();
    for cell in ["ROLE proposer", "STATUS active", "EXPIRES never", "VAULTS v"] {
        let (title, cell) = cell.split_once(' ').unwrap();
        let column = lines[0].find(title).unwrap();
        assert!(row[column..].starts_with(cell), "{title}: {lines:?}");
    }
}

#[tokio::test]
async fn an_older_schema_stays_unless_a_key_is_created() {
    let service = Service::start().await;
    service.storage().migrate_down(0).await.unwrap();
    let mut list = Command::new(env!("CARGO_BIN_EXE_working-memory"));
    let list = list
        .args(["keys", "list"])
        .env("DATABASE_URL", service.database_url());
    let refused = list.output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    holds(
        String::from_utf8_lossy(&refused.stderr),
        &["no tables", "working-memory migrate"],
    );
    service.storage().migrate().await.unwrap();
    service.storage().migrate_down(3).await.unwrap();
    for (arguments, stays) in [
        ("list", true),
        ("revoke 5ab0c1d2e3f4", true),
        ("rotate 5ab0c1d2e3f4", true),
        ("create --name root --role admin", false),
    ] {
        let mut keys = Command::new(env!("CARGO_BIN_EXE_working-memory"));
        let keys = keys
            .arg("keys")
            .args(arguments.split(' '))
            .current_dir(std::env::temp_dir());
        let done = keys.env("DATABASE_URL", service.database_url()).output().unwrap();
        let missing = String::from_utf8_lossy(&done.stderr).contains("no such key");
        assert!(done.status.success() || missing, "{done:?}");
        let newest = "SELECT max(version) FROM _sqlx_migrations";
        let newest: i64 = sqlx::query_scalar(newest)
            .fetch_one(service.rows())
            .await
            .unwrap();
        assert_eq!(newest == 3, stays, "{arguments}");
    }
}

#[tokio::test]
async fn a_key_while_the_service_starts_is_asked_for_again() {
    let folder = used_folder().await;
    // A service has taken the folder, and its server does not answer yet.
    let lock = std::fs::File::open(folder.path().join("data/service.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let refused = keys(folder.path(), "create --name root --role admin");
    fails(&refused, &["still starting", "try again", "data"]);
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
    let create = "create --name ci --role writer --vault v --expires-in 1d --json";
    let made = keys(folder.path(), create);
    let made: Value = serde_json::from_str(printed(&made)).unwrap();
    has(&made, json!({"role": "writer", "vaults": ["v"]}));
    let writer = made["key"].as_str().unwrap().to_owned();
    let id = made["key_id"].as_str().unwrap();
    for (wrong, said) in [
        (format!("rotate {id} --grace 31d"), "at most 30d"),
        (
            "create --name x --role writer --expires-in 9999999d".to_owned(),
            "to 1830000d",
        ),
    ] {
        let refused = keys(folder.path(), &wrong);
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains(said),
            "{refused:?}"
        );
    }
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
    let made = Answer::to(request.json(&json!({"name": "n", "role": "reader"}))).await;
    let by_route = made.is(201).json()["key"].as_str().unwrap().to_owned();
    for token in [&by_route, &rotated, &writer] {
        let list = program.request_to(Method::GET, "/v1/vaults").bearer_auth(token);
        Answer::to(list).await.is(200);
    }

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
    has(
        &listed,
        json!({"name": "a", "active": true, "vault_prefix": "acme."}),
    );
    let revoke = format!("revoke {}", listed["key_id"].as_str().unwrap());
    printed(&keys(folder.path(), &revoke));
    holds(printed(&keys(folder.path(), "list")), &["revoked"]);
    fails(&keys(folder.path(), "revoke nobody"), &["there is no such key"]);

    // A key existed once, so every request needs one, on any address.
    let program = Program::start_with(folder.path(), &[("WORKING_MEMORY__HTTP__BIND", "0.0.0.0:0")]).await;
    program.get("/v1/vaults").await.unauthorized();
}
