//! The program, run as a user of a service runs it.

use crate::harness::{Service, has};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_working-memory");

/// A user with a folder of their own, and nothing of the test's environment but the `PATH`.
pub(crate) struct User {
    /// The folder that commands run in; the home directory is `home` below it.
    pub(crate) folder: TempDir,
    /// The environment of every command.
    pub(crate) environment: Vec<(String, String)>,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl User {
    /// A service, and a user of its memory `agent` of the vault `acme`.
    pub(crate) async fn served() -> (Service, Self) {
        let service = Service::start().await;
        let user = Self::of_service(&service);
        (service, user)
    }

    /// A user of the memory `agent` of the vault `acme` of a service.
    pub(crate) fn of_service(service: &Service) -> Self {
        Self::of(&format!("http://{}", service.socket_address()))
    }

    /// A user of the memory `agent` of the vault `acme` at this address.
    pub(crate) fn of(url: &str) -> Self {
        let user = Self::nobody();
        user.with("WORKING_MEMORY_URL", url)
            .with("WORKING_MEMORY_VAULT", "acme")
            .with("WORKING_MEMORY_MEMORY", "agent")
    }

    /// A user without any settings.
    pub(crate) fn nobody() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let user = Self {
            folder,
            environment: Vec::new(),
        };
        user.with("HOME", home.to_str().unwrap())
            .with("PATH", &std::env::var("PATH").unwrap())
    }

    /// Sets a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the folder.
    pub(crate) fn file(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A command of the user's.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs `working-memory` to its end.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(PROGRAM, arguments).output().await.unwrap())
    }

    /// A session: one command a line, as in a shell, with what it must print.
    ///
    /// - `4 blame 9`: it ends with this exit code; without one it succeeds.
    /// - `put --actor 'Ann B' < # Notes\n`: a word with blanks is in single quotes; what follows `<` is its standard input.
    /// - `→ part | part` is looked for on standard output, `⇒ part | part` on standard error. `^part` is where it begins,
    ///   `part$` where it ends, `=part` all of it, and `!part` nowhere in it. `→ {…}` are members of the JSON there, named as
    ///   [`has`] takes them.
    pub(crate) async fn session(&self, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (command, err) = line.split_once(" ⇒").unwrap_or((line, ""));
            let (command, out) = command.split_once(" →").unwrap_or((command, ""));
            let (command, input) = match command.split_once(" < ") {
                Some((command, input)) => (command, Some(plain(input))),
                None => (command, None),
            };
            let words = words(command);
            let (code, words) = match words[0].parse::<i32>() {
                Ok(code) => (code, &words[1..]),
                Err(_) => (0, &words[..]),
            };
            let done = match input {
                Some(input) => self.run_with(words, &input).await,
                None => self.run(words).await,
            };
            assert_eq!(done.code, Some(code), "{line}: {done:?}");
            let mut out = out;
            if let Ok(members @ Value::Object(_)) = serde_json::from_str(out.trim()) {
                has(&done.json(), members);
                out = "";
            }
            for (text, parts) in [(&done.out, out), (&done.err, err)] {
                for part in parts.strip_prefix(' ').unwrap_or(parts).split(" | ") {
                    assert!(says(text, part), "{part:?} of {line}: {done:?}");
                }
            }
        }
    }

    /// Runs it with the words of a line; it must succeed.
    pub(crate) async fn done(&self, line: &str) -> Done {
        self.ends(0, line).await
    }

    /// Runs it with the words of a line; it must end with this exit code.
    pub(crate) async fn ends(&self, code: i32, line: &str) -> Done {
        let done = self.run(&words(line)).await;
        assert_eq!(done.code, Some(code), "{line}: {done:?}");
        done
    }

    /// Runs it with the words of a line and something on standard input; it must succeed.
    pub(crate) async fn done_with(&self, line: &str, input: &str) -> Done {
        self.run_with(&words(line), input).await.is(0)
    }

    /// Runs it with something on standard input.
    pub(crate) async fn run_with(&self, arguments: &[&str], input: &str) -> Done {
        let mut child = self
            .command(PROGRAM, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
        drop(stdin);
        Done::of(child.wait_with_output().await.unwrap())
    }
}

/// Every file below a folder with its content.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The words of a command line, some in single quotes.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (number, piece) in line.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(piece.split_ascii_whitespace()),
            _ => words.push(piece),
        }
    }
    words
}

/// A part of a session with `\n`, `\r`, `\t` and `\e` for what they name.
fn plain(part: &str) -> String {
    let part = part.replace("\\n", "\n").replace("\\r", "\r");
    part.replace("\\t", "\t").replace("\\e", "\x1b")
}

/// Whether a text has a part of a session.
fn says(text: &str, part: &str) -> bool {
    let plain = plain(part);
    match plain.as_bytes() {
        [b'^', ..] => text.starts_with(&plain[1..]),
        [b'=', ..] => text == &plain[1..],
        [b'!', ..] => !text.contains(&plain[1..]),
        [.., b'$'] => text.ends_with(&plain[..plain.len() - 1]),
        _ => text.contains(&plain),
    }
}

impl Done {
    fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks the exit code; shows the output if the code differs.
    #[track_caller]
    pub(crate) fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// What it printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// The error that it printed, as JSON.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        serde_json::from_str(&self.err).unwrap()
    }
}
