//! `window export --watch` while the service is stopped and started again.

use super::program::{PROGRAM, User};
use crate::harness::{Database, eventually};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// `serve` on this port.
fn serve(user: &User, database: &Database, port: u16) -> Child {
    let mut command: Command = user.command(PROGRAM, &["serve"]);
    command
        .env("DATABASE_URL", database.url())
        .env("WORKING_MEMORY__HTTP__BIND", format!("127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn stop(mut child: Child, signal: Signal) -> Option<i32> {
    let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
    child.wait().await.unwrap().code()
}

async fn ready(user: &User) {
    eventually("the service answers", async || {
        user.run(&["memories"]).await.code == Some(0)
    })
    .await;
}

async fn says(file: &Path, word: &str) {
    eventually(word, async || {
        fs::read_to_string(file).unwrap_or_default().contains(word)
    })
    .await;
}

#[tokio::test]
async fn a_watched_folder_stays_current_after_a_restart_of_the_service() {
    let database = Database::create().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let user = User::of(&format!("http://127.0.0.1:{port}"));
    let service = serve(&user, &database, port);
    ready(&user).await;
    user.done("set-status --goal first").await;
    let mut watch = user
        .command(PROGRAM, &["window", "export", "out", "--watch", "--every", "1s"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = user.path().join("out/active/current_status.md");
    says(&status, "Current Goal: first").await;
    user.done("set-status --goal second").await;
    says(&status, "Current Goal: second").await;
    let rule = ["items", "put", "--category", "rules", "--file", "-"];
    user.run_with(&rule, "be brief").await.is(0);
    says(&user.path().join("out/CONTEXT.md"), "be brief").await;

    assert_eq!(stop(service, Signal::TERM).await, Some(0));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let service = serve(&user, &database, port);
    ready(&user).await;
    user.done("set-status --goal third").await;
    says(&status, "Current Goal: third").await;

    let mut stderr_pipe = watch.stderr.take().unwrap();
    assert_eq!(stop(watch, Signal::TERM).await, Some(0));
    let mut lines = String::new();
    stderr_pipe.read_to_string(&mut lines).await.unwrap();
    assert!(
        lines.contains("no events: ") || lines.contains("the files are unchanged"),
        "{lines}"
    );
    let mut names: Vec<_> = fs::read_dir(user.path().join("out/active"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["current_status.md", "decisions.log.md"]);
    stop(service, Signal::TERM).await;
}
