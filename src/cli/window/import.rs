//! `working-memory window import`: imports a folder, in requests that a service accepts, and reports how much was imported.

use crate::cli::client::{Exit, Failure, Method, Output, Service, ServiceArgs, note};
use crate::cli::folder::tree::Tree;
use crate::cli::window::folder::{
    By, EPICS, End, FILES, Folder, Newest, Parsed, RULES, Unplaced, WEEKLY, parse,
};
use crate::cli::window::memory::{RULES as RULES_CATEGORY, known, rules};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::text::single_blanks;
use crate::domain::window::{ImportCounts, ImportedDecision, ImportedTask, WindowImport, task_line};
use chrono::SubsecRound as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// A chunk of a long history is one version, which takes time.
const ANSWER_TIME: Duration = Duration::from_secs(300);

/// The maximum number of files of epics and weeks.
const MAX_EPICS: usize = 10_000;

/// The maximum size of all files together, in bytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Arguments of `window import`.
#[derive(Debug, Args)]
pub struct Import {
    /// The folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print what would be imported, and import nothing.
    #[arg(long)]
    dry_run: bool,
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

/// The content of a folder, and the lines that could not be parsed.
struct Contents {
    folder: Folder,
    unplaced: Vec<Unplaced>,
    unread: Vec<Unread>,
    newest: Vec<Newest>,
}

impl Import {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let Contents {
            mut folder,
            unplaced,
            unread,
            newest,
        } = self.read()?;
        let left_over = (unplaced.len(), unread.len());
        for Unplaced { file, line, text } in &unplaced {
            note(&format!("{file}:{line}: {text}"));
        }
        for Unread { file, why } in &unread {
            note(&format!("{file}: {why}"));
        }
        for Newest { file, end, by } in &newest {
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
        if self.strict && !(unplaced.is_empty() && unread.is_empty()) {
            return Err(Failure::new(
                Exit::Refused,
                format!(
                    "nothing was imported (--strict): {} lines cannot be parsed, {} files cannot be read",
                    unplaced.len(),
                    unread.len()
                ),
            ));
        }
        let mut report = Report::new(self.dry_run, unplaced, unread, newest);
        let imported_rules = std::mem::take(&mut folder.rules);
        if self.dry_run {
            let (mut known, has_goal, present) = known(&service).await?;
            let (new, present_counts) = WindowImport::from(folder).unknown(&mut known, has_goal);
            report.add_planned(&new, present_counts);
            let rules = new_rules(imported_rules, &present, &mut report);
            report.add_rules(rules.len());
            if !self.service.is_json() {
                show(&new, &rules)?;
            }
        } else {
            for chunk in chunks(folder)? {
                let call = service.of_memory(Method::POST, &["window", "import"])?;
                report.add(call.json(&chunk)?.send().await?.json()?);
            }
            if !imported_rules.is_empty() {
                let present = rules(&service).await?;
                let rules = new_rules(imported_rules, &present, &mut report);
                RuleSender::of(&service).send(&rules, &mut report).await?;
            }
        }
        report.print(self.service.is_json())?;
        match left_over {
            (0, 0) => Ok(()),
            _ if self.lenient => Ok(()),
            (lines, files) => Err(Failure::failed(format!(
                "lines that cannot be parsed: {lines}, files not read: {files} (listed above); the rest was imported; --lenient \
                 accepts this, --strict imports nothing"
            ))),
        }
    }

    fn read(&self) -> Result<Contents, Failure> {
        let shown = self.folder.display();
        let tree = Tree::open(&self.folder)
            .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
        let (mut unplaced, mut unread) = (Vec::new(), Vec::new());
        let mut paths: Vec<String> = FILES.map(str::to_owned).to_vec();
        for below in [EPICS, WEEKLY] {
            match tree.names(below) {
                Ok(names) => {
                    let files = names
                        .into_iter()
                        .filter(|name| name.ends_with(".md") && !name.starts_with('.'));
                    paths.extend(files.map(|name| format!("{below}{name}")));
                }
                Err(error) => unread.push(Unread::of(below, &error)),
            }
        }
        if paths.len() > FILES.len() + MAX_EPICS {
            return Err(Failure::usage(format!(
                "{shown}/archive has more than {MAX_EPICS} files"
            )));
        }
        let (mut files, mut bytes) = (Vec::new(), 0);
        for path in paths {
            match tree.read(&path) {
                Ok(None) => {}
                Ok(Some(content)) => {
                    bytes += content.len();
                    if bytes > MAX_BYTES {
                        return Err(Failure::usage(format!(
                            "{shown} contains more than {MAX_BYTES} bytes"
                        )));
                    }
                    let text = decode(&path, content, &mut unplaced);
                    files.push((path, text));
                }
                Err(error) => unread.push(Unread::of(&path, &error)),
            }
        }
        if files.is_empty() && unread.is_empty() {
            return Err(Failure::failed(format!(
                "{shown} is not the folder of a window: it contains none of {}, {EPICS}*.md, {WEEKLY}*.md; nothing was changed",
                FILES.join(", ")
            )));
        }
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let Parsed {
            folder,
            unplaced: more,
            newest,
        } = parse(files, SystemClock.now().trunc_subsecs(0));
        unplaced.extend(more);
        Ok(Contents {
            folder,
            unplaced,
            unread,
            newest,
        })
    }
}

/// A file as text, without a byte order mark and with LF line ends. Lines that are not UTF-8, or contain a
/// NUL, are listed and replaced by empty lines; rules with such lines are not imported at all.
fn decode(path: &str, bytes: Vec<u8>, unplaced: &mut Vec<Unplaced>) -> String {
    let text = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text,
        other => {
            let bytes = other.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
            let mut text = String::with_capacity(bytes.len());
            for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                match std::str::from_utf8(line) {
                    Ok(line) if !line.contains('\0') => text.push_str(line),
                    _ => unplaced.push(Unplaced {
                        file: path.to_owned(),
                        line: index + 1,
                        text: String::from_utf8_lossy(line).into_owned(),
                    }),
                }
                text.push('\n');
            }
            if path == RULES { String::new() } else { text }
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_crlf = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    if is_crlf {
        text.replace("\r\n", "\n")
    } else {
        text.to_owned()
    }
}

/// The rules that do not exist yet, ignoring blank lines around them.
fn new_rules(rules: Vec<String>, present: &[String], report: &mut Report) -> Vec<String> {
    let mut known: HashSet<String> = present.iter().map(|rule| rule.trim().to_owned()).collect();
    let rules: Vec<_> = rules.into_iter().filter(|rule| !rule.trim().is_empty()).collect();
    let all = rules.len();
    let new: Vec<_> = rules
        .into_iter()
        .filter(|rule| known.insert(rule.trim().to_owned()))
        .collect();
    report.present_rules(all - new.len());
    new
}

/// Prints what would be imported, one line each.
fn show(new: &WindowImport, rules: &[String]) -> Result<(), Failure> {
    let mut out = Output::new();
    for (name, value) in [("goal", &new.status.goal), ("blocker", &new.status.blocker)] {
        if let Some(value) = value {
            out.text(&format!("{name}: {value}")).end();
        }
    }
    let lists = [("task", &new.tasks), ("history", &new.history)];
    for (name, tasks) in lists {
        for ImportedTask { time, task, .. } in tasks {
            let line = task_line(task);
            out.text(&format!("{name} {}: {line}", time.format("%FT%TZ")))
                .end();
        }
    }
    for ImportedDecision { time, decision, .. } in &new.decisions {
        let line = single_blanks(decision);
        out.text(&format!("decision {}: {line}", time.format("%FT%TZ")))
            .end();
    }
    for rule in rules {
        out.text(&format!("rule: {}", single_blanks(rule))).end();
    }
    out.write()
}

/// A file that was left out.
#[derive(Debug, Serialize)]
pub(super) struct Unread {
    pub(super) file: String,
    pub(super) why: String,
}

impl Unread {
    pub(super) fn of(file: &str, error: &std::io::Error) -> Self {
        Self {
            file: file.to_owned(),
            why: error.to_string(),
        }
    }
}

/// The number of each.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Numbers {
    status: usize,
    tasks: usize,
    decisions: usize,
    history: usize,
    #[serde(default)]
    rules: usize,
}

impl Numbers {
    fn add(&mut self, more: &Self) {
        self.status += more.status;
        self.tasks += more.tasks;
        self.decisions += more.decisions;
        self.history += more.history;
        self.rules += more.rules;
    }

    fn sum(&self) -> usize {
        self.status + self.tasks + self.decisions + self.history + self.rules
    }

    fn words(&self) -> String {
        let parts = [
            (self.status, "status", "status"),
            (self.tasks, "task", "tasks"),
            (self.decisions, "decision", "decisions"),
            (self.history, "history", "history"),
            (self.rules, "rule", "rules"),
        ];
        let counts = parts.into_iter().filter(|(number, ..)| *number > 0);
        let counts: Vec<_> = counts
            .map(|(number, one, several)| format!("{number} {}", if number == 1 { one } else { several }))
            .collect();
        if counts.is_empty() {
            "nothing".to_owned()
        } else {
            counts.join(", ")
        }
    }
}

impl From<ImportCounts> for Numbers {
    fn from(counts: ImportCounts) -> Self {
        Self {
            status: counts.status,
            tasks: counts.tasks,
            decisions: counts.decisions,
            history: counts.history,
            rules: 0,
        }
    }
}

/// The service's response to a chunk.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    version: Option<i64>,
    context_id: Option<String>,
    taken: Numbers,
    present: Numbers,
    archived: Vec<String>,
}

/// The result of an import.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    dry_run: bool,
    unchanged: bool,
    version: Option<i64>,
    context_id: Option<String>,
    taken: Numbers,
    present: Numbers,
    archived: Vec<String>,
    unplaced: Vec<Value>,
    unread: Vec<Unread>,
    newest: Vec<Newest>,
}

impl Report {
    pub(super) fn new(
        dry_run: bool,
        unplaced: Vec<Unplaced>,
        unread: Vec<Unread>,
        newest: Vec<Newest>,
    ) -> Self {
        let unplaced = unplaced
            .into_iter()
            .map(|Unplaced { file, line, text }| json!({ "file": file, "line": line, "text": text }));
        Self {
            dry_run,
            unchanged: true,
            version: None,
            context_id: None,
            taken: Numbers::default(),
            present: Numbers::default(),
            archived: Vec::new(),
            unplaced: unplaced.collect(),
            unread,
            newest,
        }
    }

    /// Adds the result of a chunk.
    pub(super) fn add(&mut self, answered: Answered) {
        self.taken.add(&answered.taken);
        self.present.add(&answered.present);
        self.archived.extend(answered.archived);
        (self.version, self.context_id) = (answered.version, answered.context_id);
    }

    /// Adds what a dry run found to be new.
    pub(super) fn add_planned(&mut self, new: &WindowImport, present: ImportCounts) {
        self.taken.add(&Numbers {
            status: usize::from(new.status.goal.is_some() || new.status.blocker.is_some()),
            tasks: new.tasks.len(),
            decisions: new.decisions.len(),
            history: new.history.len(),
            rules: 0,
        });
        self.present.add(&present.into());
    }

    /// What was imported so far, in words.
    pub(super) fn imported_so_far(&self) -> String {
        self.taken.words()
    }

    pub(super) fn add_rules(&mut self, rules: usize) {
        self.taken.rules += rules;
    }

    pub(super) fn present_rules(&mut self, rules: usize) {
        self.present.rules += rules;
    }

    /// Prints it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn print(mut self, as_json: bool) -> Result<(), Failure> {
        self.unchanged = self.taken.sum() == 0;
        if as_json {
            let json = serde_json::to_string(&self).map_err(|error| Failure::failed(error.to_string()))?;
            return Output::new().text(&json).end().write();
        }
        let would = if self.dry_run {
            "would be imported"
        } else {
            "imported"
        };
        let (taken, present) = (self.taken.words(), self.present.words());
        let mut line = format!("{would}: {taken}; already present: {present}");
        if let Some(version) = self.version {
            line.push_str(&format!("; version {version}"));
        }
        let (lines, files) = (self.unplaced.len(), self.unread.len());
        if lines + files > 0 {
            line.push_str(&format!("; {lines} lines not parsed, {files} files not read"));
        }
        Output::new().text(&line).end().write()
    }
}

/// The maximum size of one request, in bytes: well under `limits.body_bytes` (1 MiB).
const MAX_CHUNK_BYTES: usize = 900_000;

/// One request of `POST M/window/import`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Chunk {
    status: Option<Value>,
    tasks: Vec<Value>,
    decisions: Vec<Value>,
    history: Vec<Value>,
}

impl Chunk {
    fn list(&mut self, list: List) -> &mut Vec<Value> {
        match list {
            List::Tasks => &mut self.tasks,
            List::Decisions => &mut self.decisions,
            List::History => &mut self.history,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum List {
    Tasks,
    Decisions,
    History,
}

/// The requests that import a folder; none if it is empty. Those for the window come first, oldest first:
/// of equal times the entry higher in its file is the newer. The goal comes last, since
/// later requests would change the time of the status.
///
/// # Errors
/// A value cannot be serialized as JSON.
pub(super) fn chunks(folder: Folder) -> Result<Vec<Chunk>, Failure> {
    let Folder {
        status,
        tasks,
        decisions,
        mut history,
        ..
    } = folder;
    history.sort_by_key(|task| task.time);
    let tasks = tasks.iter().rev().map(|task| (List::Tasks, task_json(task)));
    let decisions = decisions
        .iter()
        .rev()
        .map(|made| (List::Decisions, decision_json(made)));
    let history = history.iter().map(|task| (List::History, task_json(task)));

    let (mut chunks, mut bytes) = (Vec::new(), 0);
    let mut chunk = Chunk::default();
    for (list, entry) in tasks.chain(decisions).chain(history) {
        let size = entry.to_string().len() + 1;
        if bytes > 0 && bytes + size > MAX_CHUNK_BYTES {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
        bytes += size;
        chunk.list(list).push(entry);
    }
    let says_status = status.goal.is_some() || status.blocker.is_some();
    if bytes > 0 || says_status {
        chunks.push(chunk);
    }
    let updated = json!({ "updated": status.updated });
    for chunk in &mut chunks {
        chunk.status = status.updated.map(|_| updated.clone());
    }
    if let Some(last) = chunks.last_mut().filter(|_| says_status) {
        last.status =
            Some(json!({ "goal": status.goal, "blocker": status.blocker, "updated": status.updated }));
    }
    Ok(chunks)
}

fn task_json(ImportedTask { time, task, .. }: &ImportedTask) -> Value {
    let mut json = json!({ "time": time, "task_id": task.task_id.as_ref().map(|id| id.as_str()),
                           "intent": task.intent, "summary": task.summary });
    for (name, value) in task.details.members() {
        json[name] = value;
    }
    json
}

fn decision_json(made: &ImportedDecision) -> Value {
    json!({ "time": made.time, "decision": made.decision, "reason": made.reason })
}

/// Adds rules one after the other, so that they keep their order.
pub(super) struct RuleSender<'s>(&'s Service);

impl<'s> RuleSender<'s> {
    pub(super) fn of(service: &'s Service) -> Self {
        Self(service)
    }

    /// # Errors
    /// The key does not allow it, or the service rejects a rule; rules added before stay and are reported.
    pub(super) async fn send(&self, rules: &[String], report: &mut Report) -> Result<(), Failure> {
        for rule in rules {
            let call = self.0.of_memory(Method::POST, &["items"])?;
            let call = call.json(&json!({ "content": rule, "category": RULES_CATEGORY }))?;
            call.send().await.map_err(|failure| {
                let needs = match failure.exit {
                    Exit::NotAllowed => " (rules require a key of the role admin)",
                    _ => "",
                };
                let (imported, all) = (report.imported_so_far(), rules.len());
                let sentence = failure.sentence;
                Failure::new(
                    failure.exit,
                    format!(
                        "the rules{needs}: {sentence}; added before that, of {all} new rules: {imported}"
                    ),
                )
            })?;
            report.add_rules(1);
        }
        Ok(())
    }
}
