//! The lines of a file, and what each must be by itself.

use super::import::{LineError, problem};
use super::{FORMAT, FORMAT_VERSION, OLDEST_VERSION};
use crate::config::limits::MOST_BYTES;
use crate::domain::document::{self, Marks};
use crate::domain::history::{Rebuild, VersionMark};
use crate::domain::ids::{ActorId, ContextId, MemoryId, RootName, UpdateId, VaultId};
use crate::domain::memory::Counters;
use crate::domain::memory_files::FilePath;
use crate::domain::prompt::{PromptItem, check_writable};
use crate::storage::Source;
use crate::storage::handoffs::Handoff;
use crate::storage::records::RecordRow;
use crate::storage::records::evidence;
use crate::storage::records::projection::ProjectedVersion;
use crate::storage::updates::Run;
use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::IntoStaticStr;

/// A line of a file.
#[derive(Debug, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum Line {
    Header(Header),
    VaultItem(Box<PromptItem>),
    Memory(Box<MemoryLine>),
    Context(Box<ContextLine>),
    Record(Box<RecordRow>),
    Run(Value),
    Handoff(Box<Handoff>),
    Item(Box<PromptItem>),
    Path(Box<PathLine>),
    End(End),
    Footer(Footer),
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) vault_id: VaultId,
}

/// The last line of a memory. Files of earlier programs count its lines here as well, which the hash makes needless.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) memory_id: MemoryId,
    /// The hash of the lines before it, the memory's own line included.
    pub(super) sha256: String,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Footer {
    pub(super) memories: u64,
}

/// A memory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryLine {
    pub(super) memory_id: MemoryId,
    pub(super) head_version: i64,
    pub(super) head_context_id: Option<ContextId>,
    pub(super) learning_counter: i64,
    pub(super) verbatim_counter: i64,
    pub(super) task_counter: i64,
    pub(super) decision_counter: i64,
    pub(super) created_at: DateTime<Utc>,
    pub(super) changed_at: DateTime<Utc>,
}

/// A version of the memory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextLine {
    pub(super) context_id: ContextId,
    pub(super) version: i64,
    pub(super) actor_id: ActorId,
    pub(super) creation_time: DateTime<Utc>,
    pub(super) source: Source,
    pub(super) bytes: i32,
    pub(super) update_id: Option<UpdateId>,
    pub(super) operations: Option<Value>,
    pub(super) log: String,
    pub(super) context: String,
    /// Which versions introduced its lines, where the text before it, from which that follows, is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) line_origins: Option<Vec<i64>>,
    /// For a redacted version, whose context is empty: when, by whom and why it was redacted, and the text's hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted_by: Option<ActorId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redaction_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted_sha256: Option<String>,
}

/// The path of the memory as a file of the memory tool.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathLine {
    pub(super) root: RootName,
    pub(super) path: FilePath,
}

/// A member, what it must meet, and the completion of "must be".
type Rule<'a> = (&'a str, bool, &'a str);

/// Requires that all rules are met. What is no rule here is a type, or a constraint of a table.
fn require(rules: &[Rule<'_>]) -> Result<(), LineError> {
    match rules.iter().find(|(_, is_met, _)| !is_met) {
        Some((member, _, expected)) => Err(problem(format!("{member}: must be {expected}"))),
        None => Ok(()),
    }
}

/// The largest number of a version or a handoff: others can follow, and every reader of JSON has it exactly.
const MOST: i64 = 1 << 53;
const AT_MOST: &str = "at most 9007199254740992";

const OF_MEMORY: &str = "a version of the memory";
const TIME: &str = "a time of the years 1 to 9999 in whole microseconds";

/// Whether PostgreSQL stores a time exactly: microseconds, no leap second, a year of four digits.
fn is_exact(time: DateTime<Utc>) -> bool {
    let nanos = time.nanosecond();
    nanos.is_multiple_of(1_000) && nanos < 1_000_000_000 && (1..=9999).contains(&time.year())
}

impl Header {
    pub(super) fn check(&self) -> Result<(), LineError> {
        if self.format == FORMAT && (OLDEST_VERSION..=FORMAT_VERSION).contains(&self.version) {
            return Ok(());
        }
        Err(problem(format!(
            "format: {FORMAT} of a version from {OLDEST_VERSION} to {FORMAT_VERSION} is expected; a newer program may have \
             written this file"
        )))
    }
}

impl MemoryLine {
    pub(super) fn check(&self) -> Result<(), LineError> {
        require(&[
            ("head_version", self.head_version <= MOST, AT_MOST),
            ("created_at", is_exact(self.created_at), TIME),
            ("changed_at", is_exact(self.changed_at), TIME),
        ])
    }

    pub(super) fn counters(&self) -> Counters {
        Counters::of_numbers(&[
            self.learning_counter,
            self.verbatim_counter,
            self.task_counter,
            self.decision_counter,
        ])
    }
}

impl ContextLine {
    pub(super) fn check(&self) -> Result<(), LineError> {
        let operations = self.operations.as_ref();
        let is_list = operations.is_none_or(Value::is_array);
        let is_stored = operations.is_none_or(evidence::is_stored);
        let form = "with evidence in the form in which versions store it";
        let is_earlier =
            |pair: &[i64]| matches!(pair, [from, lines] if (1..=self.version).contains(from) && *lines > 0);
        let are_origins = |runs: &Vec<i64>| runs.chunks(2).all(is_earlier);
        let are_origins = self.line_origins.as_ref().is_none_or(are_origins);
        let runs = "pairs of an earlier version and a number of lines";
        let reason = self.redaction_reason.as_deref();
        let is_reason = reason.is_none_or(|reason| !reason.trim().is_empty());
        let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_hash = self.redacted_sha256.as_deref().is_none_or(is_hash);
        require(&[
            ("creation_time", is_exact(self.creation_time), TIME),
            ("redacted_at", self.redacted_at.is_none_or(is_exact), TIME),
            ("operations", is_list, "a list or null"),
            ("operations", is_stored, form),
            ("line_origins", are_origins, runs),
            ("redaction_reason", is_reason, "a text that is not blank"),
            ("redacted_sha256", is_hash, "64 hexadecimal digits"),
        ])?;
        if self.is_redacted() {
            return Ok(());
        }
        let checked = match self.source {
            Source::Tool => document::check_file(&self.context, MOST_BYTES),
            _ => document::check(&self.context, MOST_BYTES),
        };
        checked.map_err(|refusal| problem(format!("context: {refusal}")))?;
        let is_size = i32::try_from(self.context.len()) == Ok(self.bytes);
        require(&[("bytes", is_size, "the size of the context in bytes")])
    }

    /// Whether it is redacted.
    pub(super) fn is_redacted(&self) -> bool {
        self.redacted_at.is_some()
    }

    /// Adds the version to those that records are rebuilt from.
    pub(super) fn add_to(&self, rebuild: &mut Rebuild) {
        let version = ProjectedVersion {
            mark: VersionMark {
                version: self.version,
                at: self.creation_time,
                by: self.actor_id.clone(),
            },
            source: self.source,
            text: (!self.is_redacted()).then_some(&self.context),
            operations: self.operations.as_ref(),
        };
        version.add_to(rebuild);
    }
}

/// Checks a record of a memory.
pub(super) fn check_record(line: &RecordRow, memory: &MemoryLine) -> Result<(), LineError> {
    let is_given = (1..=memory.counters().get(line.kind)).contains(&line.number);
    let are_marks = |marks: &str| marks.parse::<Marks>().is_ok_and(|marks| !marks.is_empty());
    let are_marks = line.marks.as_deref().is_none_or(are_marks);
    let expected_marks = "`pinned`, `until` and a date or time, or both";
    let is_version = |version: i64| (1..=memory.head_version).contains(&version);
    let has_ended = line.ended_version.is_none_or(is_version);
    require(&[
        ("number", is_given, "from 1 to the memory's counter"),
        ("marks", are_marks, expected_marks),
        ("created_version", is_version(line.created_version), OF_MEMORY),
        ("ended_version", has_ended, OF_MEMORY),
    ])
}

/// The line of a run: what the interface shows of it, without its vault and memory, which other lines name.
pub(super) fn line_of(run: &Run) -> Line {
    let mut line = json!(run);
    if let Some(members) = line.as_object_mut() {
        members.remove("vault_id");
        members.remove("memory_id");
    }
    Line::Run(line)
}

/// The run of a line.
pub(super) fn run_of(mut line: Value, (vault, memory): (&VaultId, &MemoryId)) -> Result<Run, LineError> {
    if let Some(members) = line.as_object_mut() {
        members.insert("vault_id".to_owned(), json!(vault));
        members.insert("memory_id".to_owned(), json!(memory));
        // Files of earlier programs do not tell it.
        members.entry("attempts").or_insert(json!(1));
    }
    Run::deserialize(line).map_err(|error| problem(format!("expected a run, but {error}")))
}

/// Checks a run of a memory.
pub(super) fn check_run(run: &Run, head_version: i64) -> Result<(), LineError> {
    let is_version = |version: i64| (1..=head_version).contains(&version);
    let may_be_base = (0..=MOST).contains(&run.base_version);
    require(&[
        ("created_at", is_exact(run.created_at), TIME),
        ("finished_at", run.finished_at.is_none_or(is_exact), TIME),
        ("base_version", may_be_base, "0, or the number of a version"),
        ("version", run.version.is_none_or(is_version), OF_MEMORY),
        ("exchanges", run.exchanges.is_array(), "a list"),
    ])
}

/// Checks a handoff of a memory.
pub(super) fn check_handoff(handoff: &Handoff, head_version: i64) -> Result<(), LineError> {
    let is_version = handoff.base_version <= head_version;
    require(&[
        ("number", handoff.number <= MOST, AT_MOST),
        ("generated_at", is_exact(handoff.generated_at), TIME),
        ("base_version", is_version, OF_MEMORY),
        ("base_time", is_exact(handoff.base_time), TIME),
        ("manifest", handoff.manifest.is_object(), "an object"),
    ])
}

/// Checks an item of a memory or of the vault.
pub(super) fn check_item(item: &PromptItem) -> Result<(), LineError> {
    check_writable(&item.category).map_err(|reserved| problem(format!("category: {reserved}")))?;
    let is_text = !document::is_blank(&item.content);
    let fits = item.content.len() <= MOST_BYTES;
    require(&[
        ("content", is_text, "a text that is not blank"),
        ("content", fits, &format!("at most {MOST_BYTES} bytes")),
        ("expires_at", item.expires_at.is_none_or(is_exact), TIME),
        ("created_at", is_exact(item.created_at), TIME),
    ])
}
