//! `GET M/blame`

use super::contexts::read::validators;
use super::lookup::{self, VersionParams};
use crate::domain::document::{Run, record_ranges, written_time};
use crate::domain::evidence::Evidence;
use crate::domain::ids::RecordId;
use crate::fair::{self, Party};
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag, Verdict};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::{Blame, ContextMetadata};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use futures::StreamExt;
use futures::stream::unfold;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::ops::Range;

/// The approximate size of a chunk of the response.
const PIECE: usize = 64 << 10;

/// Memory per byte of the document while its blame is sent. The worst case is a different version for every line, with
/// very short lines.
const CARRIED: usize = 10;

/// Where the lines of one version come from.
#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = Blame)]
#[expect(
    dead_code,
    reason = "documents what `Lines` writes, of which pages read a part"
)]
pub(crate) struct BlameBody {
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
    pub(crate) lines: Vec<BlameLine<'static>>,
}

/// One line and the version that brought it in.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = BlameLine)]
pub(crate) struct BlameLine<'l> {
    /// Its number, from 1.
    #[schema(minimum = 1)]
    pub(crate) line: usize,
    /// The version since which it is there without interruption.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// That version's id; this and the next two are null if it is no longer kept.
    #[schema(required)]
    pub(crate) context_id: Option<Cow<'l, str>>,
    /// Who made it.
    #[schema(required)]
    pub(crate) actor_id: Option<Cow<'l, str>>,
    /// When it was made.
    #[schema(required)]
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
    operation_id = "GetBlame",
    tag = "contexts",
    params(VersionParams, ConditionHeaders),
    responses(
        (status = 200, description = "Every line of the version.", headers(
            ("ETag" = String, description = "Strong."),
            ("Last-Modified" = String, description = "When the version was made."),
            ("X-Context-Version" = i64, description = "Its number."),
        ), content(
            (BlameBody = "application/json"),
            (String = "text/plain; charset=utf-8"),
        )),
        (status = 404, description = "There is no such memory or version."),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn blame(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(VersionParams { reference }): Query<VersionParams>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&[Representation::Json, Representation::Plain])?;
    let context = lookup::version(&state, &vault_id, &memory_id, reference.as_ref()).await?;
    let mut etag = ETag::of(&context.metadata.context_id).representation("blame");
    if representation == Representation::Json {
        etag = etag.representation("json");
    }
    let headers = validators(&context.metadata, &etag);
    if conditions.for_read(&etag)? == Verdict::NotModified {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let party = Party::current();
    let bytes = context.text.len();
    // Reserved until the client has read the response.
    let room = state.budget.carry(&party, bytes.saturating_mul(CARRIED))?;
    let work = state.budget.work(&party, bytes).await?;
    let _turn = fair::turn(&party).await;
    let blame = state.storage.blame(context).await?;
    let places = record_ranges(&blame.context.text);
    let ids: Vec<RecordId> = places.iter().map(|(id, _)| *id).collect();
    let evidence = match representation {
        Representation::Json => state.storage.evidence(&vault_id, &memory_id, &ids).await?,
        _ => HashMap::new(),
    };
    let carried = by_line(&blame.context.text, &places, evidence);
    drop(work);
    let lines = Lines::new(blame, carried, representation == Representation::Json);
    let pieces = unfold((lines, party, room), |(mut lines, party, room)| async move {
        let piece = fair::on_cpu_for(&party, PIECE, || lines.piece()).await?;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), (lines, party, room)))
    });
    // Compression asks once more after the end.
    Ok((headers, representation, Body::from_stream(pieces.fuse())).into_response())
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

/// The version that lines come from.
struct Origin {
    context_id: String,
    actor_id: String,
    creation_time: DateTime<Utc>,
}

/// The lines of a version, serialized in chunks: all of them as JSON could take a hundred times the document's size.
struct Lines {
    text: String,
    /// The byte offset of the next line, and its number.
    at: usize,
    number: usize,
    /// How many lines of the current run remain.
    left: usize,
    runs: std::vec::IntoIter<Run>,
    version: i64,
    origins: HashMap<i64, Origin>,
    carried: HashMap<usize, Vec<Evidence>>,
    /// What precedes the first line; `None` after it was written. Also `None` for plain text, whose columns have these
    /// widths.
    head: Option<String>,
    is_json: bool,
    widths: (usize, usize),
    is_at_its_end: bool,
}

impl Lines {
    fn new(blame: Blame, carried: HashMap<usize, Vec<Evidence>>, is_json: bool) -> Self {
        let Blame {
            context,
            origins,
            versions,
        } = blame;
        let metadata = &context.metadata;
        let head = json!({
            "vault_id": metadata.vault_id.as_str(),
            "memory_id": metadata.memory_id.as_str(),
            "context_id": metadata.context_id.as_str(),
            "version": metadata.version,
        });
        let origin = |version: ContextMetadata| Origin {
            context_id: version.context_id.to_string(),
            actor_id: version.actor_id.to_string(),
            creation_time: version.creation_time,
        };
        let versions: HashMap<i64, Origin> = versions
            .into_iter()
            .map(|(number, version)| (number, origin(version)))
            .collect();
        let runs = origins.runs().to_vec();
        let digits = |run: &Run| run.version.to_string().len();
        let actor = |run: &Run| {
            versions
                .get(&run.version)
                .map_or(1, |origin| origin.actor_id.len())
        };
        let widths = (
            runs.iter().map(digits).max().unwrap_or_default(),
            runs.iter().map(actor).max().unwrap_or_default(),
        );
        Self {
            text: context.text,
            at: 0,
            number: 0,
            left: 0,
            runs: runs.into_iter(),
            version: 0,
            origins: versions,
            carried,
            head: Some(head.to_string()).filter(|_| is_json),
            is_json,
            widths,
            is_at_its_end: false,
        }
    }

    /// The next chunk; `None` after the last line.
    fn piece(&mut self) -> Option<Vec<u8>> {
        if self.is_at_its_end {
            return None;
        }
        let mut piece = Vec::with_capacity(PIECE + PIECE / 8);
        if let Some(head) = self.head.take() {
            piece.extend_from_slice(head.trim_end_matches('}').as_bytes());
            piece.extend_from_slice(br#","lines":["#);
        }
        while piece.len() < PIECE {
            if !self.line(&mut piece) {
                self.is_at_its_end = true;
                if self.is_json {
                    piece.extend_from_slice(b"]}");
                }
                break;
            }
        }
        Some(piece)
    }

    /// Writes the next line; `false` if there is none.
    fn line(&mut self, piece: &mut Vec<u8>) -> bool {
        let rest = &self.text[self.at..];
        let Some(whole) = rest.split_inclusive('\n').next() else {
            return false;
        };
        while self.left == 0 {
            let Some(run) = self.runs.next() else { return false };
            (self.version, self.left) = (run.version, run.lines);
        }
        self.left -= 1;
        self.at += whole.len();
        self.number += 1;
        let text = whole.lines().next().unwrap_or_default();
        let origin = self.origins.get(&self.version);
        let time = origin.map(|origin| origin.creation_time);
        if self.is_json {
            let evidence = self.carried.remove(&self.number).unwrap_or_default();
            let line = BlameLine {
                line: self.number,
                version: self.version,
                context_id: origin.map(|origin| origin.context_id.as_str().into()),
                actor_id: origin.map(|origin| origin.actor_id.as_str().into()),
                creation_time: time,
                text: text.into(),
                evidence,
            };
            if self.number > 1 {
                piece.push(b',');
            }
            // Writing to memory cannot fail, and all keys are texts.
            let _ = serde_json::to_writer(piece, &line);
        } else {
            let (versions, actors) = self.widths;
            let time = time.map_or_else(|| "-".to_owned(), written_time);
            let actor = origin.map_or("-", |origin| &origin.actor_id);
            let version = self.version;
            let _ = writeln!(piece, "{version:>versions$} {actor:<actors$} {time:<20} | {text}");
        }
        true
    }
}
