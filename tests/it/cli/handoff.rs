//! The local copy of the handoff.

use super::program::User;
use super::stub::Stub;
use crate::harness::{has, holds, lacks};
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
async fn without_a_copy_the_error_says_to_refresh() {
    let user = User::of("http://127.0.0.1:9");
    user.session(
        "
        4 show → = ⇒ working-memory refresh
        4 status → = ⇒ working-memory refresh
        4 path → = ⇒ working-memory refresh
        4 status --json → {\"status\": \"missing\"}",
    )
    .await;
}

#[tokio::test]
async fn a_refresh_stores_a_copy_that_is_shown_without_the_service() {
    let stub = Stub::json(201, handoff("h-1", "# Handoff\n")).await;
    let user = User::of(&stub.url);
    user.session("refresh --force --window 6h → ^refreshed: ").await;
    assert_eq!(
        stub.only().uri,
        "/v1/vaults/acme/memories/agent/handoff/refresh?force=true&window=PT6H"
    );
    let shown = user.ends(8, "show --offline").await;
    let (age, text) = shown.out.split_once("\n\n").unwrap();
    // It was made long ago.
    holds(
        age,
        &[
            "> Local copy, refreshed ",
            "of version 12; not checked: --offline.",
            "Stale",
        ],
    );
    assert_eq!(text, "# Handoff\n");
    user.session(&format!(
        r#"
        path → ={}\n ⇒ ^refreshed 
        8 status --json --offline → {{"status": "stale", "handoff_id": "h-1", "checked": "local"}}
        8 status --offline"#,
        current(&user).join("WORKING_MEMORY.md").display()
    ))
    .await;
    let manifest = fs::read(current(&user).join("WORKING_MEMORY.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["cited_ids"], json!(["KL-3@12"]));
    assert_eq!(stub.asked().len(), 1);

    user.session("refresh → ^fresh, nothing to do: ").await;
}

#[tokio::test]
async fn a_damaged_copy_is_an_error_and_refresh_repairs_it() {
    let stub = Stub::json(200, handoff("h-1", "# Handoff\n")).await;
    let user = User::of(&stub.url);
    user.done("refresh").await;
    for name in ["WORKING_MEMORY.manifest.json", "WORKING_MEMORY.md"] {
        fs::write(current(&user).join(name), "{\"local\": 1").unwrap();
        user.session(
            "
            1 show --offline ⇒ damaged | refresh
            1 status ⇒ damaged | refresh
            1 path ⇒ damaged | refresh
            refresh
            8 show --offline",
        )
        .await;
    }
}

#[tokio::test]
async fn a_rejected_refresh_leaves_the_copy_unchanged() {
    let stub = Stub::by(|sent| match sent.uri.contains("force") {
        true => (422, "application/problem+json", r#"{"detail": "no"}"#.to_owned()),
        false => (201, "application/json", handoff("h-1", "# Handoff\n").to_string()),
    })
    .await;
    let user = User::of(&stub.url).with("WORKING_MEMORY_HOME", "elsewhere");
    user.session(
        r"
        refresh
        5 refresh --force
        8 show --offline → \n\n# Handoff\n$",
    )
    .await;
    let there = user.path().join("elsewhere/workspace/current/acme/agent");
    assert!(there.is_dir());
    user.ends(2, "refresh --window soon").await;
}

#[tokio::test]
async fn an_answer_that_is_no_handoff_is_as_none() {
    for body in ["[]", "\"fresh\"", "7", "null"] {
        let stub = Stub::by(move |_| (200, "application/json", body.to_owned())).await;
        User::of(&stub.url)
            .session(
                "
                4 show --timeout 30 → = ⇒ no local copy
                4 show --json --timeout 30 → = ⇒ no local copy
                4 status --timeout 30 → = ⇒ no local copy
                4 status --json --timeout 30 → \"missing\" | \"checked\": \"local\"
                1 refresh ⇒ of another memory",
            )
            .await;
    }
    // Goal and blocker are read of the window.
    let stub = Stub::by(|sent| match sent.uri.ends_with("/window") {
        true => (200, "application/json", "[]".to_owned()),
        false => (200, "application/json", r#"{"handoff_id": null}"#.to_owned()),
    })
    .await;
    User::of(&stub.url)
        .session("4 status --timeout 30 → = ⇒ no local copy")
        .await;
}

#[tokio::test]
async fn branch_head_and_changed_files_of_the_folder_are_sent() {
    let stub = Stub::json(201, handoff("h-1", "# Handoff\n")).await;
    let user = User::of(&stub.url).with("GIT_CONFIG_NOSYSTEM", "1");
    user.done("refresh --no-workspace").await;
    for line in [
        "init --quiet --initial-branch=topic",
        "-c user.name=x -c user.email=x@x commit --quiet --allow-empty -m first",
    ] {
        let words: Vec<_> = line.split(' ').collect();
        assert!(user.command("git", &words).status().await.unwrap().success());
    }
    user.file("new file.txt", "x");
    user.done("refresh").await;
    let sent = stub.asked();
    assert_eq!(sent[0].json(), json!({}));
    let workspace = &sent[1].json()["workspace"];
    has(
        workspace,
        json!({"branch": "topic", "dirty_files~": "\"new file.txt\""}),
    );
    assert_eq!(workspace["head"].as_str().unwrap().len(), 40);
    // What the service would refuse is not sent.
    let long = format!("{}/{}", "x".repeat(150), "y".repeat(150));
    let mut branch = user.command("git", &["checkout", "--quiet", "-b", &long]);
    assert!(branch.status().await.unwrap().success());
    user.done("refresh").await;
    let workspace = stub.asked()[2].json()["workspace"].clone();
    has(
        &workspace,
        json!({"branch": null, "head": sent[1].json()["workspace"]["head"]}),
    );
}

#[tokio::test]
async fn a_script_can_show_and_refresh_by_exit_codes() {
    let (service, user) = User::served().await;
    let memory = service.memory("agent");
    user.session("4 show ⇒ has not been written yet | put").await;
    memory.write("# Key Learnings\n- KL-1 because a: one\n").await;
    user.session(
        "
        4 show ⇒ working-memory refresh
        refresh
        show → ^> Freshness: fresh. 
        status --json → {\"status\": \"fresh\", \"checked\": \"service\"}",
    )
    .await;

    // A cited record is archived: only the service knows this.
    memory.archives("KL-1 because it is no more").await;
    user.session(
        r#"
        8 show → ^> Freshness: stale.  | cited_record_archived | Refresh it with `working-memory refresh` | !POST
        8 status → stale | by the service
        8 show --json → {"checked": "service", "/freshness/status": "stale"}"#,
    )
    .await;
    let offline = user.run(&["status", "--offline", "--json"]).await;
    has(&offline.json(), json!({"checked": "local"}));
    user.session("refresh\nshow\nstatus").await;

    // A key that the service refuses is no missing service.
    let refused = Stub::json(401, json!({"title": "the key is not valid here", "status": 401})).await;
    user.session(&format!("6 status --url {0}\n6 show --url {0}", refused.url))
        .await;

    // Without the service, the copy is shown as unchecked: nobody listens there.
    user.session(
        r#"
        8 show --url http://127.0.0.1:9 → ^> Local copy,  | not checked: no service answers
        8 status --json --url http://127.0.0.1:9 → {"checked": "local", "unchecked_because~": "127.0.0.1:9"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_service_that_does_not_answer_in_time_is_not_waited_for() {
    let user = User::of("http://127.0.0.1:9");
    // Accepts connections and does not respond.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let began = std::time::Instant::now();
    let told = r#"{"status": "missing", "checked": "local", "unchecked_because~": "300 ms"}"#;
    user.session(&format!("4 status --json --url {url} → {told}"))
        .await;
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(30), "{took:?}");
}

#[tokio::test]
async fn show_and_status_tell_the_same_after_every_change_of_the_memory() {
    let (service, user) = User::served().await;
    let memory = service.memory("agent");
    memory.write("# Facts\none\n").await;
    user.done("refresh").await;
    memory.write("# Key Learnings\n- KL-1 because a: one\n").await;
    user.session("8 show → stale\n8 status → stale\nrefresh").await;
    memory.delete().await.is(204);
    // A refresh would be refused, so nothing advises it alone.
    user.session(
        "
        8 show → Stale (the service has no such memory): write the memory with `working-memory put`
        4 refresh
        8 show ⇒ write the memory with
        8 status ⇒ write the memory with
        4 show --memory never ⇒ has not been written yet | `working-memory put`",
    )
    .await;
    // The service may have it no longer because it was taken out.
    lacks(&user.ends(8, "show").await.out, &["## Summary"]);
    lacks(&user.ends(8, "show --json").await.out, &["## Summary"]);
    holds(&user.ends(8, "show --offline").await.out, &["## Summary"]);
    let json = user.ends(8, "show --json").await.json();
    let told = json!({"checked": json["checked"], "status": json["freshness"]["status"],
                      "reasons": json["freshness"]["reasons"]});
    has(&user.ends(8, "status --json").await.json(), told);
    // Another memory with this name has another handoff.
    memory.write("# Facts\nnew\n").await;
    user.session("8 show\n8 status").await;
}
