//! The handoff on this machine.

use super::program::User;
use super::stub::Stub;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn handoff(id: &str, markdown: &str) -> Value {
    json!({
        "refreshed": true, "handoff_id": id, "vault_id": "acme", "memory_id": "agent",
        "generated_at": "2020-01-01T00:00:00Z", "window": "PT2H", "base_version": 12,
        "freshness": {"status": "fresh", "reasons": [], "stale_lines": []},
        "markdown": markdown, "manifest": {"cited_ids": ["KL-3@12"], "model": null}
    })
}

fn current(user: &User) -> PathBuf {
    user.path()
        .join("home/.working-memory/workspace/current/acme/agent")
}

#[tokio::test]
async fn without_a_copy_one_is_told_to_refresh() {
    let user = User::of("http://127.0.0.1:9");
    for command in ["show", "status", "path"] {
        let told = user.run(&[command]).await.is(4);
        assert!(told.err.contains("working-memory refresh"), "{told:?}");
        assert_eq!(told.out, "");
    }
    assert_eq!(
        user.run(&["status", "--json"]).await.is(4).json()["status"],
        "missing"
    );
}

#[tokio::test]
async fn a_refresh_is_kept_and_answers_without_the_service() {
    let stub = Stub::json(201, handoff("h-1", "# Handoff\n")).await;
    let user = User::of(&stub.url);
    let done = user.run(&["refresh", "--force", "--window", "6h"]).await.is(0);
    assert!(done.out.starts_with("refreshed: "), "{done:?}");
    assert_eq!(
        stub.only().uri,
        "/v1/vaults/acme/memories/agent/handoff/refresh?force=true&window=PT6H"
    );
    let shown = user.run(&["show"]).await.is(0);
    let (age, text) = shown.out.split_once("\n\n").unwrap();
    assert!(
        age.starts_with("> Local copy, refreshed ") && age.contains("of version 12"),
        "{age}"
    );
    assert!(age.contains("Stale"), "it was made long ago: {age}");
    assert_eq!(text, "# Handoff\n");
    let path = user.run(&["path"]).await.is(0);
    assert_eq!(
        path.out.trim_end(),
        current(&user).join("WORKING_MEMORY.md").to_str().unwrap()
    );
    assert!(path.err.starts_with("refreshed "), "{path:?}");
    let status = user.run(&["status", "--json"]).await.is(0).json();
    assert_eq!(
        (&status["status"], &status["handoff_id"]),
        (&json!("stale"), &json!("h-1"))
    );
    user.run(&["status"]).await.is(0);
    let manifest = fs::read(current(&user).join("WORKING_MEMORY.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["cited_ids"], json!(["KL-3@12"]));
    assert_eq!(stub.asked().len(), 1);

    let fresh = user.run(&["refresh"]).await.is(0);
    assert!(fresh.out.starts_with("fresh, nothing to do: "), "{fresh:?}");
}

#[tokio::test]
async fn a_damaged_copy_is_told_and_refresh_repairs_it() {
    let stub = Stub::json(200, handoff("h-1", "# Handoff\n")).await;
    let user = User::of(&stub.url);
    user.run(&["refresh"]).await.is(0);
    for name in ["WORKING_MEMORY.manifest.json", "WORKING_MEMORY.md"] {
        fs::write(current(&user).join(name), "{\"local\": 1").unwrap();
        for command in ["show", "status", "path"] {
            let told = user.run(&[command]).await.is(1);
            assert!(
                told.err.contains("damaged") && told.err.contains("refresh"),
                "{told:?}"
            );
        }
        user.run(&["refresh"]).await.is(0);
        user.run(&["show"]).await.is(0);
    }
}

#[tokio::test]
async fn a_refresh_that_is_refused_leaves_the_copy_as_it_is() {
    let stub = Stub::by(|asked| match asked.uri.contains("force") {
        true => (
            422,
            "application/problem+json",
            json!({"detail": "no"}).to_string(),
        ),
        false => (201, "application/json", handoff("h-1", "# Handoff\n").to_string()),
    })
    .await;
    let user = User::of(&stub.url).with("WORKING_MEMORY_HOME", "elsewhere");
    user.run(&["refresh"]).await.is(0);
    user.run(&["refresh", "--force"]).await.is(5);
    let shown = user.run(&["show"]).await.is(0);
    assert!(shown.out.ends_with("\n\n# Handoff\n"), "{shown:?}");
    assert!(
        user.path()
            .join("elsewhere/workspace/current/acme/agent")
            .is_dir()
    );
    user.run(&["refresh", "--window", "soon"]).await.is(2);
}

#[tokio::test]
async fn a_handoff_of_another_memory_is_not_taken() {
    let mut other = handoff("h-1", "# Handoff\n");
    other["memory_id"] = "../../escape".into();
    let stub = Stub::json(201, other).await;
    let user = User::of(&stub.url);
    let told = user.run(&["refresh"]).await.is(1);
    assert!(told.err.contains("another memory"), "{told:?}");
    user.run(&["show"]).await.is(4);
}

#[tokio::test]
async fn branch_head_and_changed_files_of_the_folder_are_told() {
    let stub = Stub::json(201, handoff("h-1", "# Handoff\n")).await;
    let user = User::of(&stub.url).with("GIT_CONFIG_NOSYSTEM", "1");
    user.run(&["refresh", "--no-workspace"]).await.is(0);
    for arguments in [
        &["init", "--quiet", "--initial-branch=topic"][..],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "first",
        ],
    ] {
        assert!(user.command("git", arguments).status().await.unwrap().success());
    }
    user.file("new file.txt", "x");
    user.run(&["refresh"]).await.is(0);
    let asked = stub.asked();
    assert_eq!(asked[0].json(), json!({}));
    let workspace = &asked[1].json()["workspace"];
    assert_eq!(workspace["branch"], "topic");
    assert_eq!(workspace["head"].as_str().unwrap().len(), 40);
    assert!(
        workspace["dirty_files"]
            .as_array()
            .unwrap()
            .contains(&json!("new file.txt")),
        "{workspace}"
    );
}
