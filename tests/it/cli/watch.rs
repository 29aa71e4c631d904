//! `window export --watch` while the service is stopped and started again.

use super::program::{PROGRAM, User, files};
use crate::harness::{Database, eventually};
use crate::process::program::{Program, folder};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

async fn says(file: &Path, word: &str) {
    eventually(word, async || {
        fs::read_to_string(file).unwrap_or_default().contains(word)
    })
    .await;
}

#[tokio::test]
async fn a_watched_folder_stays_current_after_a_restart_of_the_service() {
    let database = Database::create().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let user = User::of(&format!("http://127.0.0.1:{port}"));
    let (data, bind) = (folder(), format!("127.0.0.1:{port}"));
    let (url, bind) = (database.url(), ("WORKING_MEMORY__HTTP__BIND", bind.as_str()));
    let environment = [("DATABASE_URL", url.as_str()), bind];
    let mut service = Program::start_with(data.path(), &environment).await;
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

    service.signal(Signal::TERM);
    assert!(service.ended().await.success());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let _service = Program::start_with(data.path(), &environment).await;
    user.done("set-status --goal third").await;
    says(&status, "Current Goal: third").await;

    let mut stderr_pipe = watch.stderr.take().unwrap();
    let pid = Pid::from_raw(watch.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(watch.wait().await.unwrap().success());
    let mut lines = String::new();
    stderr_pipe.read_to_string(&mut lines).await.unwrap();
    let is_told = lines.contains("no events: ") || lines.contains("; retrying");
    assert!(is_told, "{lines}");
    let names = files(&user.path().join("out/active"));
    assert!(
        names.keys().eq(&["current_status.md", "decisions.log.md"]),
        "{names:?}"
    );
}
