//! `GET M/blame`

use super::contexts::view;
use super::memory::{self, VersionParams};
use crate::domain::document::{record_places, written_time};
use crate::domain::evidence::Evidence;
use crate::domain::ids::RecordId;
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::conditions::{Conditions, ETag, ReadHeaders, Verdict};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::pipeline::report::EvidenceReport;
use crate::storage::Blame;
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

/// Where the lines of one version come from.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Blame)]
pub(crate) struct BlameBody {
    /// The vault.
    vault_id: String,
    /// The memory.
    memory_id: String,
    /// The version's id.
    context_id: String,
    /// Its number.
    #[schema(minimum = 1)]
    version: i64,
    /// Its lines, from the first to the last.
    lines: Vec<BlameLine>,
}

/// One line and the version that brought it in.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = BlameLine)]
pub(crate) struct BlameLine {
    /// Its number, from 1.
    #[schema(minimum = 1)]
    line: usize,
    /// The version since which it is there without interruption.
    #[schema(minimum = 1)]
    version: i64,
    /// That version's id; this and the next two are null if it is no longer kept.
    #[schema(required)]
    context_id: Option<String>,
    /// Who made it.
    #[schema(required)]
    actor_id: Option<String>,
    /// When it was made.
    #[schema(required)]
    creation_time: Option<DateTime<Utc>>,
    /// The line without its end.
    text: String,
    /// Of a record's first line: what of an update's input carried the record, at most two passages.
    evidence: Vec<EvidenceReport>,
}

/// Read where each line comes from
///
/// Of the newest version or of another one: which version brought each line in, who made that, and when. A line
/// that was moved within the document keeps its origin. With `Accept: text/plain` a line is
/// `<version> <actor> <time> | <line>`. As JSON, a record's first line also says what of an update's input carried it.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/blame",
    operation_id = "GetBlame",
    tag = "contexts",
    params(VersionParams, ReadHeaders),
    responses(
        (status = 200, description = "Every line of the version.", headers(
            ("ETag" = String, description = "Strong."),
            ("Last-Modified" = String, description = "When the version was made."),
            ("X-Context-Version" = i64, description = "Its number."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (BlameBody = "application/json"),
            (String = "text/plain; charset=utf-8"),
        )),
        (status = 304, description = "The client has it already."),
        (status = 404, description = "There is no such memory or version."),
        (status = 410, description = "The version was redacted."),
        (status = 406, description = "`Accept` allows none of the representations."),
        (status = 412, description = "`If-Match` does not hold."),
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
    let context = memory::version(&state, &vault_id, &memory_id, reference.as_ref()).await?;
    let mut etag = ETag::of(&context.metadata.context_id).representation("blame");
    if representation == Representation::Json {
        etag = etag.representation("json");
    }
    let mut headers = view::validators(&context.metadata, &etag);
    if conditions.for_read(&etag)? == Verdict::NotModified {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let blame = state.storage.blame(context).await?;
    let places = record_places(&blame.context.text);
    let ids: Vec<RecordId> = places.iter().map(|(id, _)| *id).collect();
    let evidence = match representation {
        Representation::Json => state.storage.evidence(&vault_id, &memory_id, &ids).await?,
        _ => HashMap::new(),
    };
    let carried = by_line(&blame.context.text, &places, &evidence);
    let blame = BlameBody::of(blame, &carried);
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(representation.content_type()),
    );
    Ok(match representation {
        Representation::Json => (headers, Json(blame)).into_response(),
        _ => (headers, as_text(&blame.lines)).into_response(),
    })
}

/// The evidence of records by the number of their first line.
fn by_line<'e>(
    text: &str,
    places: &[(RecordId, Range<usize>)],
    evidence: &'e HashMap<RecordId, Vec<Evidence>>,
) -> HashMap<usize, &'e [Evidence]> {
    let (mut line, mut from) = (1, 0);
    let mut found = HashMap::new();
    for (id, range) in places {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[from..range.start]).count();
        from = range.start;
        found.extend(evidence.get(id).map(|evidence| (line, evidence.as_slice())));
    }
    found
}

impl BlameBody {
    fn of(blame: Blame, carried: &HashMap<usize, &[Evidence]>) -> Self {
        let Blame {
            context,
            origins,
            versions,
        } = blame;
        let lines = context.text.lines().zip(origins.versions()).zip(1..);
        let lines = lines.map(|((text, version), line)| {
            let origin = versions.get(&version);
            BlameLine {
                line,
                version,
                context_id: origin.map(|origin| origin.context_id.to_string()),
                actor_id: origin.map(|origin| origin.actor_id.to_string()),
                creation_time: origin.map(|origin| origin.creation_time),
                text: text.to_owned(),
                evidence: carried
                    .get(&line)
                    .map(|evidence| evidence.iter().map(EvidenceReport::from).collect())
                    .unwrap_or_default(),
            }
        });
        Self {
            vault_id: context.metadata.vault_id.to_string(),
            memory_id: context.metadata.memory_id.to_string(),
            context_id: context.metadata.context_id.to_string(),
            version: context.metadata.version,
            lines: lines.collect(),
        }
    }
}

/// In columns, so that the lines stand below each other as they do in the document.
fn as_text(lines: &[BlameLine]) -> String {
    let actor = |line: &BlameLine| line.actor_id.as_deref().unwrap_or("-").len();
    let digits = |line: &BlameLine| line.version.to_string().len();
    let actors = lines.iter().map(actor).max().unwrap_or_default();
    let versions = lines.iter().map(digits).max().unwrap_or_default();
    let mut text = String::new();
    for line in lines {
        let time = line.creation_time.map_or_else(|| "-".to_owned(), written_time);
        let actor = line.actor_id.as_deref().unwrap_or("-");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>versions$} {actor:<actors$} {time:<20} | {}",
            line.version, line.text
        );
    }
    text
}
