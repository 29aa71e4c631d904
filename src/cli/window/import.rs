//! `working-memory window import`: imports a folder.

use super::folder::{By, EPICS, End, FILES, Folder, Newest, Parsed, RULES, Unplaced, WEEKLY, parse};
use super::memory::{known, rules};
use super::report::{Report, Unread};
use super::send::{RuleSender, chunks};
use crate::cli::client::{Exit, Failure, Method, Output, Service, ServiceArgs, note, one_line};
use crate::cli::folder::tree::Tree;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::window::{ImportedDecision, ImportedTask, WindowImport, task_line};
use chrono::SubsecRound as _;
use clap::Args;
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
        let line = one_line(decision);
        out.text(&format!("decision {}: {line}", time.format("%FT%TZ")))
            .end();
    }
    for rule in rules {
        out.text(&format!("rule: {}", one_line(rule))).end();
    }
    out.write()
}
