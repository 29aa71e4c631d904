//! `working-memory bring`: adds what another system kept for an agent to the memories of a running service.

use super::client::{
    Exit, Failure, Look, Method, Output, Service, ServiceArgs, all, found, note, read, text,
};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::bring::{self, Added, BadInput, Note, Piece, Pieces, SourceFile};
use crate::domain::ids::{MemoryId, RecordKind};
use crate::domain::memory::Counters;
use chrono::{DateTime, SubsecRound as _, Utc};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// How often a memory is read again because it was changed between reading and writing.
const MAX_READINGS: usize = 5;

/// The most credentials that are named.
const NAMED_SECRETS: usize = 20;

/// Arguments of `bring`.
#[derive(Debug, Args)]
#[command(
    after_help = "All files are read before anything is written. What is there already stays as it is, so the command can be \
                  run again. With mem0 each user or agent has a memory of its own: user-ID or agent-ID."
)]
pub struct Bring {
    /// The system that the files come from.
    #[arg(long, value_enum, value_name = "SYSTEM")]
    from: System,
    /// The files; standard input for `-`.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print what would be added, and write nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// `--from`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum System {
    /// CLAUDE.md of Claude Code.
    ClaudeMd,
    /// AGENTS.md.
    AgentsMd,
    /// The JSON of mem0's `get_all`.
    Mem0,
    /// Letta's agent file (.af), or a JSON list of archival passages.
    Letta,
    /// Notes of basic-memory.
    BasicMemory,
    /// Any Markdown.
    Markdown,
}

impl System {
    fn read(self, file: &SourceFile) -> Result<Pieces, BadInput> {
        match self {
            Self::ClaudeMd => bring::markdown(file, Note::WithImports),
            Self::AgentsMd | Self::Markdown => bring::markdown(file, Note::Plain),
            Self::BasicMemory => bring::markdown(file, Note::BasicMemory),
            Self::Mem0 => bring::mem0(file),
            Self::Letta => bring::letta(file),
        }
    }
}

impl Bring {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let Pieces { pieces, left } = self.read()?;
        let mut memories: BTreeMap<MemoryId, Vec<Piece>> = BTreeMap::new();
        for piece in pieces {
            let memory = match &piece.memory {
                Some(memory) => memory.clone(),
                None => service.memory_ref()?.memory,
            };
            memories.entry(memory).or_default().push(piece);
        }
        let now = SystemClock.now().trunc_subsecs(0);
        let mut done: Vec<Brought> = Vec::new();
        for (memory, pieces) in memories {
            let brought = bring(&service, &memory, &pieces, now, self.dry_run).await;
            let brought = brought.map_err(|mut failure| {
                failure.sentence = format!("memory {memory}: {}", failure.sentence);
                let finished: Vec<&str> = done.iter().map(|done| done.memory.as_str()).collect();
                if !finished.is_empty() && !self.dry_run {
                    failure.sentence += &format!("; finished before: {}", finished.join(", "));
                }
                failure
            });
            done.push(brought?);
        }
        self.print(&done, &left)
    }

    /// Reads all files, before anything is written.
    fn read(&self) -> Result<Pieces, Failure> {
        let mut all = Pieces::default();
        let (mut files, mut names, mut secrets) = (Vec::new(), Vec::new(), Vec::new());
        let refused = |error: BadInput| Failure::new(Exit::Refused, format!("{error}; nothing was written"));
        for path in &self.files {
            let name = shown_name(path, &names)?;
            let file = SourceFile::of(&name, read(path)?).map_err(refused)?;
            secrets.extend(file.secrets());
            names.push(name);
            files.push(file);
        }
        if secrets.is_empty() {
            for file in &files {
                let Pieces { pieces, left } = self.from.read(file).map_err(refused)?;
                secrets.extend(pieces.iter().filter(|piece| piece.has_secret()).map(|piece| {
                    // Only visible once the text is decoded.
                    format!("{}: credential", piece.place)
                }));
                all.pieces.extend(pieces);
                all.left.extend(left);
            }
        }
        for secret in secrets.iter().take(NAMED_SECRETS) {
            note(secret);
        }
        match secrets.len() {
            0 => Ok(all),
            number => Err(Failure::new(
                Exit::Refused,
                format!(
                    "nothing was written: the files contain credentials, in {number} places (listed above); remove them"
                ),
            )),
        }
    }

    fn print(&self, done: &[Brought], left: &[String]) -> Result<(), Failure> {
        let mut out = Output::new();
        if self.service.is_json() {
            let report = json!({ "dry_run": self.dry_run, "memories": done, "not_kept": left });
            return out.text(&report.to_string()).end().write();
        }
        for brought in done {
            brought.write(self.dry_run, &mut out);
        }
        if !left.is_empty() {
            out.text("not kept:").end();
        }
        for line in left {
            out.text("  ").text(line).end();
        }
        out.write()
    }
}

/// The name of a file in places: its path below the working directory, or of another file its name, with as many of
/// the folders above it as tell it from the files before it. Where a folder lies on this machine is nothing that a
/// memory should keep.
fn shown_name(path: &Path, taken: &[String]) -> Result<String, Failure> {
    let parts: Vec<_> = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let is_below = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let shortest = if is_below { parts.len() } else { 1 };
    let named = |number| {
        let shown: PathBuf = parts[parts.len() - number..].iter().collect();
        match path == Path::new("-") {
            true => "standard input".to_owned(),
            false => crate::domain::text::visible_line(&shown.to_string_lossy()),
        }
    };
    let free = (shortest..=parts.len())
        .map(named)
        .find(|name| !taken.contains(name));
    free.ok_or_else(|| Failure::usage(format!("two of the files are named {}", named(parts.len()))))
}

/// What was added to a memory.
#[derive(Serialize)]
struct Brought {
    #[serde(rename = "memory_id")]
    memory: MemoryId,
    added: Vec<Added>,
    present: usize,
    version: Option<i64>,
}

/// Adds the pieces to a memory in one version, unless all of them are there.
async fn bring(
    service: &Service,
    memory: &MemoryId,
    pieces: &[Piece],
    now: DateTime<Utc>,
    dry_run: bool,
) -> Result<Brought, Failure> {
    let call = |method, below: &[&str]| service.of_memory_named(memory, method, below);
    for _ in 0..MAX_READINGS {
        // The document comes first: if it has not changed when it is put, what was read after it is not older.
        let context = call(Method::GET, &["context"])?.accept("text/plain");
        let context = found(context.send().await)?;
        let head = found(call(Method::GET, &[])?.send().await)?;
        let head: Value = head.map_or(Ok(Value::Null), |head| head.json())?;
        let mut counters = Counters::default();
        for kind in RecordKind::ALL {
            let largest = head["counters"][kind.prefix()].as_i64();
            counters.raise(kind, largest.unwrap_or_default());
        }
        // What was archived on purpose is not added again.
        let page = || Ok(call(Method::GET, &["records"])?.query("status", "archived"));
        let archived = found(all::<Value>(page).await)?.unwrap_or_default();
        let archived: Vec<String> = archived.iter().map(|record| text(record, "content")).collect();
        let document = context.as_ref().map_or(Ok(""), |context| context.text())?;
        let plan = bring::plan(document, counters, &archived, pieces, now)
            .map_err(|error| Failure::new(Exit::Refused, error.to_string()))?;
        let mut brought = Brought {
            memory: memory.clone(),
            added: plan.added,
            present: plan.present,
            version: None,
        };
        if dry_run || brought.added.is_empty() {
            return Ok(brought);
        }
        let put = call(Method::PUT, &["context"])?.text(plan.text.into_bytes());
        let version = context.as_ref().map(|context| context.version()).transpose()?;
        let answer = put.on_version(version)?.exchange().await?;
        if answer.status != 412 {
            let answer = answer.into_success("")?;
            brought.version = answer.json::<Value>()?["version"].as_i64();
            return Ok(brought);
        }
    }
    Err(Failure::new(Exit::Busy, "it changes faster than it can be read"))
}

impl Brought {
    fn write(&self, dry_run: bool, out: &mut Output) {
        let counted =
            |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
        let sections = self.added.iter().filter(|piece| piece.id.is_none()).count();
        let learnings = self.added.len() - sections;
        let would = if dry_run { "would be added" } else { "added" };
        out.styled(Look::Strong, self.memory.as_str()).text(&format!(
            ": {}, {} {would}; {} already there",
            counted(learnings, "learning"),
            counted(sections, "section"),
            self.present
        ));
        if let Some(version) = self.version {
            out.text(&format!("; version {version}"));
        }
        out.end();
        if !dry_run {
            return;
        }
        for Added { id, text, place } in &self.added {
            let id = id.map_or_else(|| "section".to_owned(), |id| id.to_string());
            out.text("  ")
                .styled(Look::Id, &id)
                .text(&format!(" from {place}: {text}"))
                .end();
        }
    }
}
