//! Output on a terminal, which is a pseudo-terminal here.

use super::program::{PROGRAM, User};
use super::stub::fixed;
use crate::harness::{holds, terminal};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

/// Runs `working-memory` on a terminal of 24 lines; returns what it showed, and how it ended. `typed` is typed at once.
async fn on_terminal(user: &User, arguments: &[&str], typed: &str) -> (String, Option<i32>) {
    let (mut control, open) = terminal();
    let mut child = user
        .command(PROGRAM, arguments)
        .stdin(Stdio::from(open()))
        .stdout(Stdio::from(open()))
        .stderr(Stdio::from(open()))
        .spawn()
        .unwrap();
    control.write_all(typed.as_bytes()).unwrap();
    let reader = tokio::task::spawn_blocking(move || {
        let mut shown = Vec::new();
        let mut piece = [0; 4096];
        // Reading fails when the other end of the terminal is closed.
        while let Ok(count) = control.read(&mut piece) {
            shown.extend_from_slice(&piece[..count]);
        }
        String::from_utf8(shown).unwrap()
    });
    let status = child.wait().await.unwrap();
    (reader.await.unwrap().replace("\r\n", "\n"), status.code())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_gets_colours_and_ages_and_no_control_sequences_of_texts() {
    let (_service, user) = User::served().await;
    let user = user.with("TERM", "xterm");
    user.done_with("put", "\x1b[2Jcleared\u{202e}\n").await;
    let (shown, code) = on_terminal(&user, &["get"], "").await;
    assert_eq!((shown.as_str(), code), ("\\u001b[2Jcleared\\u202e\n", Some(0)));
    user.done_with("put --memory open", "no end").await;
    let (shown, _) = on_terminal(&user, &["get", "--memory", "open"], "").await;
    assert_eq!(shown, "no end\n", "the shell's prompt stands on the next line");
    let piped = user.done("get --memory open").await.out;
    assert_eq!(piped, "no end", "in a pipe its bytes");
    let (shown, _) = on_terminal(&user, &["memories"], "").await;
    let is_aged = shown.contains("ago\n") || shown.contains("just now\n");
    assert!(shown.contains("\x1b[33magent\x1b[0m") && is_aged, "{shown}");
    let (shown, _) = on_terminal(&user, &["memories", "--color", "never"], "").await;
    assert!(!shown.contains('\x1b'), "{shown}");
    let user = user.with("NO_COLOR", "1");
    let (shown, _) = on_terminal(&user, &["memories"], "").await;
    assert!(!shown.contains('\x1b'), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_no_text_controls_no_terminal() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n\xff\x1b[2Jx";
    let (url, served) = fixed(answer).await;
    let user = User::of(&url).with("TERM", "xterm");
    let ((shown, code), _stream) =
        tokio::join!(on_terminal(&user, &["api", "GET", "/v1/vaults"], ""), served);
    assert_eq!((shown.as_str(), code), ("\u{fffd}\\u001b[2Jx\n", Some(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_output_goes_through_a_pager_and_short_output_does_not() {
    let (_service, user) = User::served().await;
    let user = user.with("TERM", "xterm");
    // Ctrl-C while it runs is the pager's.
    let user = user.with("PAGER", "kill -INT $PPID; sed 's/^/paged: /'");
    user.done_with("put", &"line\n".repeat(30)).await;
    let (shown, code) = on_terminal(&user, &["get"], "").await;
    let paged = shown.matches("paged: line\n").count();
    assert_eq!((paged, code), (30, Some(0)), "{shown}");
    let (shown, _) = on_terminal(&user, &["versions"], "").await;
    assert!(!shown.contains("paged"), "{shown}");
    assert_eq!(user.done("get").await.out, "line\n".repeat(30));
    for number in 0..30 {
        user.file(&format!("notes/{number}.md"), "text");
    }
    let (shown, _) = on_terminal(&user, &["sync", "notes", "--root", "agent"], "").await;
    assert!(shown.contains(" 29.md\n") && !shown.contains("paged"), "{shown}");
    let user = user.with("PAGER", "no-such-pager-1234");
    let (shown, code) = on_terminal(&user, &["get"], "").await;
    assert_eq!((shown.matches("line\n").count(), code), (30, Some(0)), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_is_asked_for_confirmation_before_a_deletion() {
    let (service, user) = User::served().await;
    let user = user.with("TERM", "xterm");
    user.done_with("put", "text").await;
    let (shown, code) = on_terminal(&user, &["delete"], "n\n").await;
    holds(&shown, &["Delete memory agent of vault acme", "nothing was done"]);
    assert_eq!((code, service.count("memories").await), (Some(1), 1));
    let (shown, code) = on_terminal(&user, &["delete"], "y\n").await;
    assert_eq!((code, service.count("memories").await), (Some(0), 0), "{shown}");
}
