//! `examples/git/post-commit` in a real repository.

use super::program::{PROGRAM, User};
use super::stub::{Asked, Stub};
use crate::harness::eventually;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

async fn git(user: &User, arguments: &[&str]) {
    let git = user.command("git", arguments).output().await.unwrap();
    assert!(git.status.success(), "{git:?}");
}

/// A repository with the hook, whose user has the program on the `PATH`.
async fn repository(url: &str) -> User {
    let user = User::of(url);
    let bin = user.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink(PROGRAM, bin.join("working-memory")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut user = user.with("PATH", &path).with("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"] {
        user = user.with(&format!("GIT_{name}"), "x@x");
    }
    git(&user, &["init", "--quiet"]).await;
    let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/git/post-commit");
    std::fs::create_dir_all(user.path().join(".git/hooks")).unwrap();
    std::fs::copy(hook, user.path().join(".git/hooks/post-commit")).unwrap();
    user
}

async fn asked(stub: &Stub, count: usize) -> Asked {
    eventually("the commit is recorded", async || stub.asked().len() >= count).await;
    stub.asked()[count - 1].clone()
}

#[tokio::test]
async fn each_commit_becomes_a_task() {
    let stub = Stub::json(201, json!({"record_id": "T-1", "version": 1})).await;
    let user = repository(&stub.url).await;
    let said = ["--say \"$(id)\" `id`", "First\nline.\n\nSecond."];
    let commit = ["commit", "--quiet", "--allow-empty", "-m", said[0], "-m", said[1]];
    git(&user, &commit).await;
    let task = asked(&stub, 1).await.json();
    assert_eq!(task["intent"], "--say \"$(id)\" `id`");
    assert_eq!(task["summary"], "First line. Second.");
    assert_eq!(task["task_id"].as_str().unwrap().len(), 40);
    assert_eq!(task["outcome"]["commit"].as_str().unwrap().len(), 40);

    user.file("a.txt", "a\nb\n");
    git(&user, &["add", "a.txt"]).await;
    git(&user, &["commit", "--quiet", "-m", "Add a file"]).await;
    let task = asked(&stub, 2).await.json();
    let changed = "1 file changed, 2 insertions(+)";
    assert_eq!(task["intent"], "Add a file");
    assert_eq!(task["summary"].as_str().unwrap().trim(), changed);

    // More than a task can have is cut.
    let (subject, body) = ("ä".repeat(400), format!("b{}", "漢".repeat(2_000)));
    let commit = ["commit", "--quiet", "--allow-empty", "-m", &subject, "-m", &body];
    git(&user, &commit).await;
    let task = asked(&stub, 3).await.json();
    assert_eq!(task["intent"], "ä".repeat(249));
    assert_eq!(task["summary"], format!("b{}", "漢".repeat(1_332)));
}

#[tokio::test]
async fn commits_that_follow_each_other_at_once_are_all_recorded_also_in_another_encoding() {
    let stub = Stub::json(201, json!({"record_id": "T-1", "version": 1})).await;
    let user = repository(&stub.url).await;
    git(&user, &["config", "i18n.commitEncoding", "ISO-8859-1"]).await;
    let subjects: Vec<String> = (0..6).map(|number| format!("na\u{ef}ve {number}")).collect();
    for number in 0..subjects.len() {
        let message = [b"na\xefve ".as_slice(), number.to_string().as_bytes()].concat();
        std::fs::write(user.path().join("message"), message).unwrap();
        git(&user, &["commit", "--quiet", "--allow-empty", "-F", "message"]).await;
    }
    asked(&stub, subjects.len()).await;
    let intents = stub.asked().into_iter().map(|task| task.json()["intent"].clone());
    let mut intents: Vec<Value> = intents.collect();
    intents.sort_by_key(Value::to_string);
    assert_eq!(json!(intents), json!(subjects));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_amended_commit_is_recorded_as_one_task() {
    let (service, _) = User::served().await;
    let user = repository(&format!("http://{}", service.socket_address())).await;
    let tasks = async || -> Vec<Value> {
        let listed = user
            .run(&["records", "--kind", "T", "--status", "all", "--json"])
            .await;
        match listed.code {
            Some(0) => listed.json()["items"].as_array().unwrap().clone(),
            _ => Vec::new(),
        }
    };
    let recorded = async |count: usize| {
        eventually("the commit is recorded", async || tasks().await.len() >= count).await;
    };
    let commit = async |arguments: &[&str]| {
        let whole = [["commit", "--quiet", "--allow-empty"].as_slice(), arguments].concat();
        git(&user, &whole).await;
    };
    commit(&["-m", "first"]).await;
    recorded(1).await;
    commit(&["--amend", "-m", "first, amended"]).await;
    commit(&["--amend", "-m", "first, amended again"]).await;
    commit(&["-m", "second"]).await;
    recorded(2).await;
    let found = tasks().await;
    assert_eq!(found.len(), 2, "{found:?}");
}

#[tokio::test]
async fn a_commit_succeeds_without_a_service_and_does_not_wait_for_a_silent_one() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_url = format!("http://{}", silent.local_addr().unwrap());
    for url in ["http://127.0.0.1:9", &silent_url] {
        let user = repository(url).await.with("WORKING_MEMORY_HOOK_SECONDS", "30");
        let began = Instant::now();
        git(&user, &["commit", "--quiet", "--allow-empty", "-m", "x"]).await;
        // A reader of its output, such as `output`, does not wait either.
        assert!(began.elapsed() < Duration::from_secs(25));
    }
}
