//! The first start of a newcomer: where the database is, what a terminal shows, what an occupied port says.

use super::program::{Program, client, command, folder};
use crate::harness::{Answer, Database, eventually, holds, terminal};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

/// As a person has it who has set nothing.
const UNSET: (&str, &str) = ("WORKING_MEMORY__DATABASE__DATA_DIR", "");

#[tokio::test]
async fn a_user_has_one_database_wherever_the_service_is_started() {
    let all = folder();
    let data = all.path().join("of user");
    let data_home = ("XDG_DATA_HOME", data.to_str().unwrap());
    // For the user's own server.
    let environment = [UNSET, data_home, ("PGOPTIONS", "-c search_path=app")];
    for (place, expected) in [("one", None), ("two", Some("kept\n"))] {
        let place = all.path().join(place);
        fs::create_dir(&place).unwrap();
        let mut program = Program::start_with(&place, &environment).await;
        match expected {
            None => drop(program.put("m", "kept\n").await.is(201)),
            Some(text) => {
                let answer = program.get("/v1/vaults/v/memories/m/context").await;
                assert_eq!(answer.is(200).text(), text);
            }
        }
        program.signal(Signal::TERM);
        assert!(program.ended().await.success());
        assert!(!place.join("data").exists());
    }
    assert!(data.join("working-memory/postgres/cluster").exists());
}

#[test]
fn an_occupied_port_says_what_to_do() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let folder = folder();
    // Its address is given by an option, so that the one of the variable, which others could reach, is none.
    let environment = [
        ("DATABASE_URL", "postgres://127.0.0.1:1/none"),
        ("WORKING_MEMORY__HTTP__BIND", "0.0.0.0:1"),
        ("WORKING_MEMORY__HTTP__REQUIRE_KEYS", "false"),
    ];
    let output = command(folder.path(), &environment)
        .args(["--bind", "127.0.0.1:1", "--port", &port])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    holds(
        &said,
        &[&format!("127.0.0.1:{port}"), "serve --port 8081", "health"],
    );
}

#[tokio::test]
async fn options_count_more_than_variables() {
    let folder = folder();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = command(folder.path(), &[("WORKING_MEMORY__HTTP__BIND", "127.0.0.1:1")])
        .args(["--bind", "0.0.0.0:1", "--port", &free.port().to_string()])
        .args(["--data-dir", "elsewhere"])
        .output()
        .unwrap();
    // Others could reach it, and there is no key: the option was read.
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    holds(&said, &[&format!("http.bind is 0.0.0.0:{}", free.port())]);
}

#[tokio::test]
async fn a_terminal_shows_what_a_person_wants_to_know_and_then_only_problems() {
    let (database, folder) = (Database::create().await, folder());
    let (mut control, open) = terminal();
    let environment = [
        ("DATABASE_URL", &*database.url()),
        ("WORKING_MEMORY__LOG__FORMAT", ""),
    ];
    let mut child = command(folder.path(), &environment)
        .stdout(Stdio::null())
        .stderr(Stdio::from(open()))
        .spawn()
        .unwrap();
    let shown = Arc::new(Mutex::new(Vec::new()));
    let reader = std::thread::spawn({
        let shown = shown.clone();
        move || {
            let mut piece = [0; 4096];
            // Reading fails when the program has ended.
            while let Ok(count @ 1..) = control.read(&mut piece) {
                shown.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        }
    });
    let screen = || {
        String::from_utf8(shown.lock().unwrap().clone())
            .unwrap()
            .replace("\r\n", "\n")
    };
    eventually("it is ready", async || screen().contains("\nready")).await;
    let before = screen();
    let mut words = before.split_whitespace();
    let address = words.find(|word| word.starts_with("http://")).unwrap();
    let client = client();
    for path in ["/readyz", "/v1/vaults", "/nothing"] {
        let _ = Answer::to(client.request(Method::GET, format!("{address}{path}"))).await;
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    drop(open);
    reader.join().unwrap();

    let shown = screen();
    assert_eq!(shown, before, "requests are no problems");
    let said = [
        "working-memory ",
        "  address  http://127.0.0.1:",
        "  data     ",
        "  models   ",
        "ready",
    ];
    holds(&shown, &said);
    let is_short = shown.lines().all(|line| line.len() <= 100);
    assert!(shown.ends_with('\n') && is_short, "{shown}");
}
