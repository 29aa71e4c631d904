//! Views of the document: `GET M/blame`, `GET M/log`, `GET M/sections` and `GET M/contexts/{ref}/diff`

use crate::domain::document::{
    self, Headings, Record, Section, Until, record_ranges, sections_changed, unified_diff, written_time,
};
use crate::domain::evidence::Evidence;
use crate::domain::ids::{ContextId, RecordId, RecordKind};
use crate::domain::memory::{RecordChange, project};
use crate::fair::{self, Party};
use crate::http::extract::headers::{Accept, ConditionHeaders, Conditions, ETag, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{EntryPath, MemoryPath, Path, Query};
use crate::http::problem::Problem;
use crate::http::routes::contexts::{self, VersionParams, X_CONTEXT_VERSION, readable, validators};
use crate::http::state::AppState;
use crate::storage::window::Archiving;
use crate::storage::{Blame, Context, ContextMetadata, ContextRef, Source};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::iter::repeat_n;
use std::ops::Range;

/// Memory of a line's entry and its JSON, before the factor that all processing has ([`WORK_COST`]). The worst case is a
/// document of nothing but line breaks.
///
/// [`WORK_COST`]: crate::http::middleware::bounds::WORK_COST
const LINE_COST: usize = 24;

/// Where the lines of one version come from.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Blame)]
pub(crate) struct BlameBody<'l> {
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The version's id.
    pub(crate) context_id: String,
    /// Its number.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// Its lines, from the first to the last.
    pub(crate) lines: Vec<BlameLine<'l>>,
}

/// One line and the version that brought it in.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct BlameLine<'l> {
    /// Its number, from 1.
    #[schema(minimum = 1)]
    pub(crate) line: usize,
    /// The version since which it is there without interruption.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// That version's id; this and the next two are null if it is no longer kept.
    pub(crate) context_id: Option<Cow<'l, str>>,
    /// Who made it.
    pub(crate) actor_id: Option<Cow<'l, str>>,
    /// When it was made.
    pub(crate) creation_time: Option<DateTime<Utc>>,
    /// The line without its end.
    pub(crate) text: Cow<'l, str>,
    /// Of a record's first line: what of an update's input carried the record, at most two passages.
    pub(crate) evidence: Vec<Evidence>,
}

/// Read where each line comes from
///
/// For each line of the newest or another version: which version added it, who made that version, and when. A line
/// that was moved within the document keeps its origin. With `Accept: text/plain` a line is
/// `<version> <actor> <time> | <line>`. As JSON, a record's first line also says what of an update's input carried it.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/blame",
    params(VersionParams, ConditionHeaders),
    responses(
        (status = 200, description = "Every line of the version.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (BlameBody<'static> = "application/json"),
            (String = "text/plain; charset=utf-8"),
        )),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn get_blame(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(VersionParams { reference }): Query<VersionParams>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&[Representation::Json, Representation::Plain])?;
    let context = contexts::version(&state, &vault_id, &memory_id, reference.as_ref()).await?;
    let etag = ETag::of(&context.metadata.context_id).representation("blame");
    let etag = etag.in_form(representation);
    let is_json = representation == Representation::Json;
    let headers = validators(&context.metadata, &etag);
    if !is_json && conditions.has_already(&etag)? {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let party = Party::current();
    let bytes = context.text.len();
    let cost = bytes + context.text.lines().count() * LINE_COST;
    let _work = state.budget.work(&party, cost).await?;
    let _turn = fair::turn(&party).await;
    let blame = state.storage.blame(context).await?;
    let text = &blame.context.text;
    let places = record_ranges(text);
    if !is_json {
        let written = fair::run_blocking_if_long(bytes, || as_text(&lines(&blame, HashMap::new())));
        return Ok((headers, representation, written).into_response());
    }
    let ids: Vec<RecordId> = places.iter().map(|(id, _)| *id).collect();
    let evidence = state.storage.evidence(&vault_id, &memory_id, &ids).await?;
    let metadata = &blame.context.metadata;
    fair::run_blocking_if_long(bytes, || {
        let body = BlameBody {
            vault_id: metadata.vault_id.to_string(),
            memory_id: metadata.memory_id.to_string(),
            context_id: metadata.context_id.to_string(),
            version: metadata.version,
            lines: lines(&blame, by_line(text, &places, evidence)),
        };
        contexts::with_records(metadata, etag, &conditions, &body)
    })
}

/// The evidence of records, by the number of their first line.
fn by_line(
    text: &str,
    places: &[(RecordId, Range<usize>)],
    mut evidence: HashMap<RecordId, Vec<Evidence>>,
) -> HashMap<usize, Vec<Evidence>> {
    let (mut line, mut from) = (1, 0);
    let mut found = HashMap::new();
    for (id, range) in places {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[from..range.start]).count();
        from = range.start;
        found.extend(evidence.remove(id).map(|evidence| (line, evidence)));
    }
    found
}

/// The lines of a version with their origins and evidence.
fn lines(blame: &Blame, mut evidence: HashMap<usize, Vec<Evidence>>) -> Vec<BlameLine<'_>> {
    let runs = blame.origins.runs().iter();
    let versions = runs.flat_map(|run| repeat_n(run.version, run.lines));
    let numbered = (1..).zip(blame.context.text.lines().zip(versions));
    let lines = numbered.map(|(line, (text, version))| {
        let origin = blame.versions.get(&version);
        BlameLine {
            line,
            version,
            context_id: origin.map(|origin| origin.context_id.as_str().into()),
            actor_id: origin.map(|origin| origin.actor_id.as_str().into()),
            creation_time: origin.map(|origin| origin.creation_time),
            text: text.into(),
            evidence: evidence.remove(&line).unwrap_or_default(),
        }
    });
    lines.collect()
}

fn as_text(lines: &[BlameLine<'_>]) -> String {
    let actor = |line: &BlameLine<'_>| line.actor_id.as_ref().map_or(1, |actor| actor.len());
    let versions = lines.iter().map(|line| line.version.to_string().len());
    let versions = versions.max().unwrap_or_default();
    let actors = lines.iter().map(actor).max().unwrap_or_default();
    let mut written = String::new();
    for line in lines {
        let time = line.creation_time.map_or_else(|| "-".to_owned(), written_time);
        let actor = line.actor_id.as_deref().unwrap_or("-");
        let (version, text) = (line.version, &line.text);
        // Writing to a string cannot fail.
        let _ = writeln!(
            written,
            "{version:>versions$} {actor:<actors$} {time:<20} | {text}"
        );
    }
    written
}

/// One change of a document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct LogEntry {
    /// The version that it made.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// That version's id.
    pub(crate) context_id: String,
    /// Who made it.
    pub(crate) actor_id: String,
    /// When it was made.
    pub(crate) creation_time: DateTime<Utc>,
    /// What made it.
    pub(crate) source: Source,
    /// The change in words, a line for each part of it.
    pub(crate) log: String,
}

impl From<ContextMetadata> for LogEntry {
    fn from(version: ContextMetadata) -> Self {
        Self {
            version: version.version,
            context_id: version.context_id.to_string(),
            actor_id: version.actor_id.to_string(),
            creation_time: version.creation_time,
            source: version.source,
            log: version.log,
        }
    }
}

/// Read what changed
///
/// The changes in words, the newest first, as a list or, with `Accept: text/plain`, as text: of each version a line
/// `version <number> <time> <actor> <source>`, its changes indented by two, an empty line. `Link` names the next
/// page of the text.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/log",
    params(Page),
    responses(
        (status = 200, description = "One page.", headers(("Link")), content(
            (List<LogEntry> = "application/json"),
            (String = "text/plain; charset=utf-8"),
        )),
    )
)]
pub(crate) async fn get_log(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    page: Page,
    accept: Accept,
) -> Result<Response, Problem> {
    let representation = accept.choose(&[Representation::Json, Representation::Plain])?;
    let before = page.after::<i64>()?;
    let _list = state.budget.list().await?;
    let versions = state
        .storage
        .list_contexts(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if versions.items.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    let list = page.of(versions, |version| version.version, LogEntry::from);
    list.represented(representation, &page, log_as_text)
}

fn log_as_text(entries: &[LogEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let time = written_time(entry.creation_time);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "version {} {time} {} {}",
            entry.version, entry.actor_id, entry.source
        );
        for line in entry.log.lines() {
            let _ = writeln!(text, "  {line}");
        }
        text.push('\n');
    }
    text
}

/// A heading and what stands under it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Section)]
pub(crate) struct SectionBody {
    /// The heading's text.
    title: String,
    /// How many `#` it has.
    #[schema(minimum = 1, maximum = 6)]
    level: u8,
    /// The titles that lead to it, with `/` between them, as `section` of GetLatestContext takes it.
    #[schema(example = "Facts/Network")]
    path: String,
    /// Where its line begins, in bytes of the document.
    #[schema(minimum = 0)]
    start: usize,
    /// Where the next heading of its level or above begins, or the document ends.
    #[schema(minimum = 0)]
    end: usize,
    /// Whether it is, or stands in, a section that the service maintains; every other one is free.
    managed: bool,
    /// The short name of that managed section; null for a free one.
    section: Option<&'static str>,
}

impl SectionBody {
    fn of(headings: &Headings, heading: &Section) -> Self {
        Self {
            title: heading.title.clone(),
            level: heading.level,
            path: headings.path(heading),
            start: heading.range.start,
            end: heading.range.end,
            managed: heading.managed.is_some(),
            section: heading.managed.map(document::ManagedSection::name),
        }
    }
}

/// List the sections
///
/// The headings of all levels, in the order of the document, of the newest version or of another one. All pages
/// are about the version of the first one.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/sections",
    params(VersionParams, Page),
    responses(
        (status = 200, description = "One page.", body = List<SectionBody>, headers(("X-Context-Version" = i64))),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn list_sections(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(VersionParams { reference }): Query<VersionParams>,
    page: Page,
) -> Result<Response, Problem> {
    // The version too: all pages show the same one even if the document changes meanwhile.
    let after = page.after::<(i64, usize)>()?;
    let reference = after
        .as_ref()
        .map(|(version, _)| ContextRef::Version(*version))
        .or(reference);
    let context = contexts::version(&state, &vault_id, &memory_id, reference.as_ref()).await?;
    let version = context.metadata.version;
    let headings = document::headings(&context.text);
    let is_after = |heading: &&Section| {
        after
            .as_ref()
            .is_none_or(|(_, start)| heading.range.start > *start)
    };
    let shown = usize::try_from(page.fetch()).unwrap_or(usize::MAX);
    let entries: Vec<_> = headings.all().iter().filter(is_after).take(shown).collect();
    let key = |heading: &&Section| (version, heading.range.start);
    let list = page.of(entries, key, |heading| SectionBody::of(&headings, heading));
    Ok(([(X_CONTEXT_VERSION, version)], Json(list)).into_response())
}

/// What to compare with.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffParams {
    /// The version to compare with, by its number or its context_id; the one before without it, and nothing for
    /// version 1. It may also be a later one.
    #[param(value_type = Option<ContextId>)]
    base: Option<ContextRef>,
}

/// What lies between two versions.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Diff)]
pub(crate) struct DiffBody {
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The number of the version compared with; 0 for nothing.
    #[schema(minimum = 0)]
    pub(crate) base_version: i64,
    /// Its id; null for nothing.
    pub(crate) base_context_id: Option<String>,
    /// The number of the version.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// Its id.
    pub(crate) context_id: String,
    /// The unified diff from the base to the version; empty if they are equal.
    pub(crate) diff: String,
    /// The same record by record.
    pub(crate) records: RecordDiff,
    /// Whether `Current Progress` says something else.
    pub(crate) progress_rewritten: bool,
    /// The titles of the free sections that say something else, are new, or are gone.
    pub(crate) sections_changed: Vec<String>,
}

/// Records that two versions do not have alike.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct RecordDiff {
    /// Those that only the version has.
    pub(crate) added: Vec<WrittenRecord>,
    /// Those that read differently.
    pub(crate) changed: Vec<ChangedRecord>,
    /// Those that only the base has.
    pub(crate) archived: Vec<ArchivedRecord>,
}

/// A record as a version says it.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct WrittenRecord {
    /// Its id.
    #[schema(example = "KL-7")]
    pub(crate) record_id: String,
    /// `KL`, `VC`, `T` or `D`.
    pub(crate) kind: RecordKind,
    /// The time written on it.
    pub(crate) time: Option<String>,
    /// Whether it is pinned.
    pub(crate) pinned: bool,
    /// Until when it holds: a date, the last day (UTC), or a time.
    #[schema(value_type = Option<String>)]
    pub(crate) until: Option<Until>,
    /// The label of a verbatim record.
    pub(crate) label: Option<String>,
    /// Why it was worth keeping, where its line says so.
    pub(crate) reason: Option<String>,
    /// What it says; of a verbatim record the snippet.
    pub(crate) content: String,
}

/// A record that reads differently.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct ChangedRecord {
    /// Its id.
    pub(crate) record_id: String,
    /// As the base says it.
    pub(crate) before: WrittenRecord,
    /// As the version says it.
    pub(crate) after: WrittenRecord,
}

/// A record that the version no longer has.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct ArchivedRecord {
    /// Its id.
    pub(crate) record_id: String,
    /// Why it was archived, where an operation between the two versions said so.
    pub(crate) reason: Option<String>,
    /// The version that operation made.
    pub(crate) archived_version: Option<i64>,
    /// The record that took its place, where that operation named one.
    #[schema(example = "KL-8")]
    pub(crate) superseded_by: Option<String>,
    /// As the base says it.
    pub(crate) record: WrittenRecord,
}

/// Compare two versions
///
/// As a unified diff with three lines of context, or as JSON that also tells the difference record by record.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/diff",
    params(DiffParams, ConditionHeaders),
    responses(
        (status = 200, description = "The difference; an empty text if there is none.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/x-diff; charset=utf-8"),
            (DiffBody = "application/json"),
        )),
        (status = 404, description = "There is no such memory or version, or none with the reference `base`."),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn diff_contexts(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<ContextRef>,
    Query(DiffParams { base }): Query<DiffParams>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    use Representation::{Diff, Json as AsJson, Plain};
    let representation = accept.choose(&[Plain, Diff, AsJson])?;
    let version = contexts::version(&state, &vault_id, &memory_id, Some(&entry)).await?;
    let before = version.metadata.version - 1;
    let base = match base.or((before > 0).then_some(ContextRef::Version(before))) {
        None => None,
        Some(base) => {
            let base = state.storage.context(&vault_id, &memory_id, &base).await?;
            let missing = || Problem::not_found("there is no version to compare with").with("field", "base");
            Some(readable(base.ok_or_else(missing)?, "base")?)
        }
    };
    let etag = entity_tag(&version, base.as_ref(), representation);
    let headers = validators(&version.metadata, &etag);
    if representation != AsJson && conditions.has_already(&etag)? {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let bytes = version.text.len() + base.as_ref().map_or(0, |base| base.text.len());
    let _work = state.budget.work(&Party::current(), bytes).await?;
    if representation == AsJson {
        let archivings = archivings(&state, base.as_ref(), &version).await?;
        let compare = || DiffBody::of(base.as_ref(), &version, archivings);
        let body = fair::on_cpu(bytes, compare).await;
        return contexts::with_records(&version.metadata, etag, &conditions, &body);
    }
    let text = fair::on_cpu(bytes, || text_of(base.as_ref(), &version)).await;
    Ok((headers, representation, text).into_response())
}

/// Versions are immutable, so their ids and the representation identify what is made of their texts alone.
fn entity_tag(version: &Context, base: Option<&Context>, representation: Representation) -> ETag {
    let base = base.map_or("", |base| base.metadata.context_id.as_str());
    let etag = ETag::of(&version.metadata.context_id).representation(&format!("diff={base}"));
    etag.in_form(representation)
}

/// The archive operations between the base and a later version. Compared with an earlier version they are undone.
async fn archivings(
    state: &AppState,
    base: Option<&Context>,
    version: &Context,
) -> Result<HashMap<RecordId, Archiving>, Problem> {
    let to = &version.metadata;
    match base {
        Some(base) if base.metadata.version < to.version => Ok(state
            .storage
            .archivings(&to.vault_id, &to.memory_id, base.metadata.version, to.version)
            .await?),
        _ => Ok(HashMap::new()),
    }
}

fn text_of(base: Option<&Context>, version: &Context) -> String {
    let name = |context: &Context| format!("version {}", context.metadata.version);
    let before = base.map_or("", |base| base.text.as_str());
    let before_name = base.map_or_else(|| "/dev/null".to_owned(), name);
    unified_diff(before, &version.text, &before_name, &name(version))
}

impl DiffBody {
    fn of(base: Option<&Context>, version: &Context, mut archivings: HashMap<RecordId, Archiving>) -> Self {
        let before = base.map_or("", |base| base.text.as_str());
        let sections = sections_changed(before, &version.text);
        let (mut added, mut changed, mut archived) = (Vec::new(), Vec::new(), Vec::new());
        for change in project(before, &version.text) {
            match change {
                RecordChange::Added(record) => added.push(record.into()),
                RecordChange::Changed { old, new } => changed.push(ChangedRecord {
                    record_id: new.id.to_string(),
                    before: old.into(),
                    after: new.into(),
                }),
                RecordChange::Archived(record) => {
                    let (archived_version, reason, superseded_by) = match archivings.remove(&record.id) {
                        Some(done) => (Some(done.version), done.reason, done.superseded_by),
                        None => (None, None, None),
                    };
                    archived.push(ArchivedRecord {
                        record_id: record.id.to_string(),
                        archived_version,
                        reason,
                        superseded_by,
                        record: record.into(),
                    });
                }
            }
        }
        let metadata = &version.metadata;
        Self {
            vault_id: metadata.vault_id.to_string(),
            memory_id: metadata.memory_id.to_string(),
            base_version: base.map_or(0, |base| base.metadata.version),
            base_context_id: base.map(|base| base.metadata.context_id.to_string()),
            version: metadata.version,
            context_id: metadata.context_id.to_string(),
            diff: text_of(base, version),
            records: RecordDiff {
                added,
                changed,
                archived,
            },
            progress_rewritten: sections.progress,
            sections_changed: sections.free,
        }
    }
}

impl From<Record> for WrittenRecord {
    fn from(record: Record) -> Self {
        Self {
            record_id: record.id.to_string(),
            kind: record.id.kind,
            time: record.time.map(written_time),
            pinned: record.marks.pinned,
            until: record.marks.until,
            label: record.label,
            reason: record.reason,
            content: record.content,
        }
    }
}
