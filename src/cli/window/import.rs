//! `working-memory window import`: imports a folder, in requests that a service accepts, and reports how much was imported.

use super::folder::{By, EPICS, End, FILES, Folder, Newest, Unplaced, WEEKLY, parse};
use super::memory::rules;
use crate::cli::client::{Exit, Failure, Method, Output, Service, ServiceArgs, note};
use crate::cli::folder::tree::Tree;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::prompt;
use crate::domain::window::{ImportCounts, Status, WindowImport};
use crate::http::responses::ImportAnswer;
use chrono::SubsecRound as _;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A chunk of a long history is one version, which takes time.
const ANSWER_TIME: Duration = Duration::from_secs(300);

/// The maximum size of all files together, in bytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// The maximum size of one request, in bytes: well under `limits.body_bytes` (1 MiB).
const MAX_CHUNK_BYTES: usize = 900_000;

/// Arguments of `window import`.
#[derive(Debug, Args)]
pub struct Import {
    /// The folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Import nothing if a line cannot be parsed or a file cannot be read; exits with 5.
    #[arg(long, conflicts_with = "lenient")]
    strict: bool,
    /// Succeed although lines cannot be parsed or files cannot be read; they are still listed. Without this the rest
    /// is imported and the command exits with 1.
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Import {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let (folder, mut report) = self.read()?;
        for Unplaced { file, line, text } in &report.unplaced {
            note(&format!("{file}:{line}: {text}"));
        }
        for Unread { file, why } in &report.unread {
            note(&format!("{file}: {why}"));
        }
        for Newest { file, end, by } in &report.newest {
            let end = match end {
                End::First => "first",
                End::Last => "last",
            };
            let why = match by {
                // Dates are no guess.
                By::Dates => continue,
                By::Ids => "by the order of the ids",
                By::File => "since neither dates nor ids tell it",
            };
            note(&format!("{file}: the {end} entry is taken as the newest, {why}"));
        }
        let left_out = report.left_out();
        if let Some(what) = left_out.as_ref().filter(|_| self.strict) {
            let sentence = format!("nothing was imported (--strict): {what}");
            return Err(Failure::new(Exit::Refused, sentence));
        }
        import(&service, folder, &mut report).await?;
        report.print(self.service.is_json())?;
        match left_out.filter(|_| !self.lenient) {
            None => Ok(()),
            Some(what) => Err(Failure::failed(format!(
                "{what} (listed above); the rest was imported; --lenient accepts this, --strict imports nothing"
            ))),
        }
    }

    /// What the folder contains, and what was left out.
    fn read(&self) -> Result<(Folder, Report), Failure> {
        let shown = self.folder.display();
        let tree = Tree::open(&self.folder)
            .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
        let mut report = Report::default();
        let mut unread = |file: &str, error: io::Error| {
            let (file, why) = (file.to_owned(), error.to_string());
            report.unread.push(Unread { file, why });
        };
        let mut paths: Vec<String> = FILES.map(str::to_owned).to_vec();
        for folder in [EPICS, WEEKLY] {
            match markdown(&tree, folder) {
                Ok(older) => paths.extend(older),
                Err(error) => unread(folder, error),
            }
        }
        let (mut files, mut all_bytes) = (Vec::new(), 0);
        for path in paths {
            match tree.read(&path).and_then(|bytes| bytes.map(decode).transpose()) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    all_bytes += text.len();
                    files.push((path, text));
                }
                Err(error) => unread(&path, error),
            }
            if all_bytes > MAX_BYTES {
                let sentence = format!("{shown} contains more than {MAX_BYTES} bytes");
                return Err(Failure::usage(sentence));
            }
        }
        if files.is_empty() && report.unread.is_empty() {
            return Err(Failure::failed(format!(
                "{shown} is not the folder of a window: it contains none of {}, {EPICS}*.md; nothing was changed",
                FILES.join(", ")
            )));
        }
        // People's own files, such as a README, or misnamed ones. Where a folder cannot be listed, reading its files failed.
        let folders = ["", "active/", "archive/"].into_iter();
        let all = folders.flat_map(|folder| markdown(&tree, folder).unwrap_or_default());
        for file in all.filter(|file| !FILES.contains(&file.as_str())) {
            note(&format!("{file} is no file of a window, and is not read"));
        }
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let parsed = parse(files, SystemClock.now().trunc_subsecs(0));
        report.unplaced = parsed.unplaced;
        report.newest = parsed.newest;
        Ok((parsed.folder, report))
    }
}

/// Imports what does not exist yet.
async fn import(service: &Service, folder: Folder, report: &mut Report) -> Result<(), Failure> {
    let Folder { rules: all, window } = folder;
    let present = if all.is_empty() {
        Vec::new()
    } else {
        rules(service).await?
    };
    let rules = new_rules(all, &present, report);
    for chunk in chunks(window) {
        let call = service.of_memory(Method::POST, &["window", "import"])?;
        report.add(call.json(&chunk).send().await?.json()?);
    }
    // One after the other, so that they keep their order.
    for rule in &rules {
        let call = service.of_memory(Method::POST, &["items"])?;
        let call = call.json(&json!({ "content": rule, "category": prompt::RULES }));
        call.send()
            .await
            .map_err(|failure| not_added(failure, report, rules.len()))?;
        report.taken.rules += 1;
    }
    Ok(())
}

/// The failure of a rule; rules added before stay and are reported.
fn not_added(failure: Failure, report: &Report, all: usize) -> Failure {
    let needs = match failure.exit {
        Exit::NotAllowed => " (rules require a key of the role admin)",
        _ => "",
    };
    let (imported, sentence) = (report.taken.words(), failure.sentence);
    Failure::new(
        failure.exit,
        format!("the rules{needs}: {sentence}; added before that, of {all} new rules: {imported}"),
    )
}

/// The Markdown files of a folder, without hidden ones.
fn markdown(tree: &Tree, folder: &str) -> io::Result<Vec<String>> {
    let names = tree.names(folder)?.into_iter();
    let names = names.filter(|name| name.ends_with(".md") && !name.starts_with('.'));
    Ok(names.map(|name| format!("{folder}{name}")).collect())
}

/// A file as text, without a byte order mark and with LF line ends.
fn decode(bytes: Vec<u8>) -> io::Result<String> {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n")),
        _ => Err(io::Error::other("is not UTF-8 text")),
    }
}

/// The rules that do not exist yet, ignoring blank lines around them and the kind of their line ends.
fn new_rules(mut rules: Vec<String>, present: &[String], report: &mut Report) -> Vec<String> {
    let words = |rule: &String| rule.trim().replace("\r\n", "\n");
    let mut known: HashSet<String> = present.iter().map(words).collect();
    rules.retain(|rule| !rule.trim().is_empty());
    let all = rules.len();
    rules.retain(|rule| known.insert(words(rule)));
    report.present.rules = all - rules.len();
    rules
}

/// A file that was left out.
#[derive(Debug, Serialize)]
struct Unread {
    file: String,
    why: String,
}

/// The number of each kind of entry.
#[derive(Debug, Default, Serialize)]
struct Numbers {
    #[serde(flatten)]
    window: ImportCounts,
    rules: usize,
}

impl Numbers {
    fn words(&self) -> String {
        let words = counted(&[
            (self.window.status, "status", "status"),
            (self.window.tasks, "task", "tasks"),
            (self.window.decisions, "decision", "decisions"),
            (self.window.history, "history", "history"),
            (self.rules, "rule", "rules"),
        ]);
        words.unwrap_or_else(|| "nothing".to_owned())
    }
}

/// The numbers that are not 0, each before its singular or plural; `None` if there are none.
fn counted(numbers: &[(usize, &str, &str)]) -> Option<String> {
    let words = numbers.iter().filter_map(|(number, one, more)| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {more}")),
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The result of an import.
#[derive(Debug, Default, Serialize)]
struct Report {
    unchanged: bool,
    version: Option<i64>,
    context_id: Option<String>,
    taken: Numbers,
    present: Numbers,
    archived: Vec<String>,
    unplaced: Vec<Unplaced>,
    unread: Vec<Unread>,
    newest: Vec<Newest>,
}

impl Report {
    /// Adds the result of a chunk.
    fn add(&mut self, answer: ImportAnswer) {
        self.taken.window += answer.taken;
        self.present.window += answer.present;
        self.archived.extend(answer.archived);
        (self.version, self.context_id) = (answer.version, answer.context_id);
    }

    /// How much of the folder was left out, if anything.
    fn left_out(&self) -> Option<String> {
        let (lines, files) = (self.unplaced.len(), self.unread.len());
        counted(&[
            (lines, "line cannot be parsed", "lines cannot be parsed"),
            (files, "file cannot be read", "files cannot be read"),
        ])
    }

    /// Prints it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    fn print(mut self, as_json: bool) -> Result<(), Failure> {
        let (taken, present) = (self.taken.words(), self.present.words());
        self.unchanged = taken == "nothing";
        if as_json {
            let json = serde_json::to_string(&self).map_err(|error| Failure::failed(error.to_string()))?;
            return Output::new().text(&json).end().write();
        }
        let mut line = format!("imported: {taken}; already present: {present}");
        if let Some(version) = self.version {
            line.push_str(&format!("; version {version}"));
        }
        if let Some(what) = self.left_out() {
            line.push_str(&format!("; {what}"));
        }
        Output::new().text(&line).end().write()
    }
}

/// The requests that import a folder; none if it is empty. Those for the window come first, oldest first:
/// of equal times the entry higher in its file is the newer. The goal comes last, since
/// later requests would change the time of the status.
fn chunks(import: WindowImport) -> Vec<Value> {
    let WindowImport {
        status,
        tasks,
        decisions,
        mut history,
    } = import;
    history.sort_by_key(|task| task.time);
    let tasks = tasks.iter().rev().map(|task| ("tasks", json!(task)));
    let decisions = decisions.iter().rev().map(|made| ("decisions", json!(made)));
    let history = history.iter().map(|task| ("history", json!(task)));
    let empty = || {
        let updated = Status {
            updated: status.updated,
            ..Status::default()
        };
        json!({ "status": updated, "tasks": [], "decisions": [], "history": [] })
    };
    let (mut chunks, mut chunk, mut bytes) = (Vec::new(), empty(), 0);
    for (list, entry) in tasks.chain(decisions).chain(history) {
        let size = entry.to_string().len() + 1;
        if bytes > 0 && bytes + size > MAX_CHUNK_BYTES {
            chunks.push(std::mem::replace(&mut chunk, empty()));
            bytes = 0;
        }
        bytes += size;
        if let Value::Array(list) = &mut chunk[list] {
            list.push(entry);
        }
    }
    if bytes > 0 || status.goal.is_some() || status.blocker.is_some() {
        chunk["status"] = json!(status);
        chunks.push(chunk);
    }
    chunks
}
