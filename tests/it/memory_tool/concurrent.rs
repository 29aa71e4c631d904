//! Concurrent agents on one file tree.

use super::Files;
use crate::harness::{Answer, Service};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn sixteen_concurrent_replacements_in_one_file_are_all_applied() {
    let (service, files) = Files::start("agent").await;
    let lines: String = (0..16).map(|n| format!("<{n}>\n")).collect();
    let id = files.create("/memories/a", &lines).await;
    let edits = (0..16).map(|n| {
        let (old, new) = (format!("<{n}>"), format!("done {n}"));
        files.run(json!({"command": "str_replace", "path": "/memories/a", "old_str": old, "new_str": new}))
    });
    let answers = join_all(edits).await;
    let versions = answers.iter().map(|answer| answer["version"].as_i64());
    let mut versions: Vec<_> = versions.map(|version| version.expect("an edit")).collect();
    versions.sort_unstable();
    assert_eq!(versions, (2..=17).collect::<Vec<_>>());
    let done: String = (0..16).map(|n| format!("done {n}\n")).collect();
    assert_eq!(service.memory(&id).text().await, done);
}

#[tokio::test]
async fn of_concurrent_creations_at_one_path_one_succeeds_and_no_file_is_below_another() {
    let service = Service::start().await;
    let second = service.beside(None).await;
    let files = [Files::of(&service, "agent"), Files::of(&second, "agent")];
    let create = |n: usize, path: &str| {
        files[n % 2].run(json!({"command": "create", "path": path, "file_text": format!("by {n}")}))
    };
    let answers = join_all((0..12).map(|n| create(n, "/memories/a"))).await;
    let has_won = |answer: &&Value| answer["is_error"] == false;
    assert_eq!(answers.iter().filter(has_won).count(), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer["is_error"] == true) {
        assert_eq!(answer["content"], "File /memories/a already exists");
    }
    assert_eq!(service.count("memories").await, 1);

    for round in 0..6 {
        let (file, below) = (format!("/memories/r{round}"), format!("/memories/r{round}/below"));
        let answers = join_all((0..8).map(|n| create(n, if n % 3 == 0 { &file } else { &below }))).await;
        assert_eq!(answers.iter().filter(has_won).count(), 1, "{answers:?}");
    }
}

#[tokio::test]
async fn concurrent_commands_leave_a_valid_tree() {
    let (service, files) = Files::start("agent").await;
    let commands: Vec<_> = (0..60)
        .map(|n| match n % 6 {
            0 | 1 => json!({"command": "create", "path": format!("/memories/d{}/f{}", n % 4, n % 5), "file_text": "x\n"}),
            2 => json!({"command": "rename", "old_path": format!("/memories/d{}", n % 4), "new_path": format!("/memories/d{}", (n + 1) % 4)}),
            3 => json!({"command": "delete", "path": format!("/memories/d{}/f{}", n % 4, n % 5)}),
            4 => json!({"command": "insert", "path": format!("/memories/d{}/f{}", n % 4, n % 5), "insert_line": 0, "insert_text": "y"}),
            _ => json!({"command": "create", "path": format!("/memories/d{}", n % 4), "file_text": "z"}),
        })
        .collect();
    join_all(commands.into_iter().map(|command| files.run(command))).await;
    let paths = "SELECT path FROM memory_paths ORDER BY path";
    let paths: Vec<String> = service.values(paths).await;
    assert!(!paths.is_empty());
    for path in &paths {
        let below = format!("{path}/");
        assert!(!paths.iter().any(|other| other.starts_with(&below)), "{paths:?}");
        files.view(path).await;
    }
}

#[tokio::test]
async fn concurrent_puts_of_a_new_file_are_written_or_stale() {
    let service = Service::start().await;
    let put = |name: &str, n: usize| {
        let path = format!("/v1/vaults/acme/memory-tool/files?root=agent&path=/memories/{name}");
        let request = service.request(Method::PUT, &path);
        request
            .header("Content-Type", "text/plain")
            .body(format!("by {n}"))
    };
    for answer in join_all((0..8).map(|n| Answer::to(put("a", n)))).await {
        answer.is(201);
    }
    let new = |n| Answer::to(put("b", n).header("If-None-Match", "*"));
    let answers = join_all((0..8).map(new)).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 412, 412, 412, 412, 412, 412, 412]);
}
