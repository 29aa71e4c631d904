//! The document of a memory and its versions: `GET M/context`, `GET M/contexts` and `GET M/contexts/{ref}`; and the look-up of the
//! memory and the version that a route below a memory works on.

pub(crate) mod put;
pub(crate) mod views;

use crate::domain::document;
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::http::extract::headers::{
    CACHEABLE, ConditionHeaders, Conditions, ETag, FreshnessHeader, MaxAge, Representation,
};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{EntryPath, MemoryPath, Path, Query, time};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::window::fields::NonBlank;
use crate::http::state::AppState;
use crate::pipeline::report;
use crate::storage::contexts::Redaction;
use crate::storage::idempotency::KeptAnswer;
use crate::storage::{Context, ContextMetadata, ContextRef, Source};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use httpdate::fmt_http_date;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::sync::Arc;
use std::time::SystemTime;

/// Which version a view of the document is about.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionParams {
    /// This version, by its number or its context_id; the newest without it.
    #[serde(rename = "ref")]
    #[param(rename = "ref", value_type = Option<ContextId>)]
    pub(in crate::http::routes) reference: Option<ContextRef>,
}

/// The version that `reference` names, or the newest one.
///
/// # Errors
/// 404 if the memory or version does not exist, 410 if the version was redacted.
pub(in crate::http::routes) async fn version(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    reference: Option<&ContextRef>,
) -> Result<Context, Problem> {
    let version = match reference {
        None => state
            .storage
            .latest_context(vault, memory)
            .await?
            .ok_or_else(missing),
        Some(reference) => state
            .storage
            .context(vault, memory, reference)
            .await?
            .ok_or_else(no_such_version),
    };
    readable(version?, "ref")
}

/// The version that was the newest at a time; `None` if the memory does not exist.
///
/// # Errors
/// 422 if the time lies in the future, 404 if the memory had no version then, or it may have been pruned.
pub(in crate::http::routes) async fn version_as_of(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    time: DateTime<Utc>,
) -> Result<Option<Context>, Problem> {
    if time > state.clock.now() {
        return Err(Problem::invalid("as_of", "as_of must not lie in the future"));
    }
    match state.storage.context_as_of(vault, memory, time).await? {
        None if state.storage.memory_exists(vault, memory).await? => Err(Problem::not_found(
            "the memory had no version at that time, or it is not known any more which",
        )
        .with("field", "as_of")),
        version => Ok(version),
    }
}

/// 404 for a memory that does not exist; it is never shown as an empty one.
pub(in crate::http) fn missing() -> Problem {
    Problem::not_found("the memory does not exist")
}

/// 404 for a version that does not exist.
pub(in crate::http) fn no_such_version() -> Problem {
    Problem::not_found(
        "there is no such memory or version; a ref is the number of a version (such as 3) or its context_id, and \
         GET …/contexts lists them",
    )
    .with("field", "ref")
}

/// Checks that a memory exists, if nothing else shows that.
///
/// # Errors
/// 404 if it does not exist.
pub(in crate::http::routes) async fn require(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), Problem> {
    if state.storage.memory_exists(vault, memory).await? {
        Ok(())
    } else {
        Err(missing())
    }
}

/// 410 for a redacted version.
pub(in crate::http) fn redacted(version: i64, redaction: &Redaction) -> Problem {
    Problem::new(
        Kind::Gone,
        format!(
            "version {version} was redacted by {}; reason: {}",
            redaction.by, redaction.reason
        ),
    )
    .with("field", "ref")
    .with("version", version)
    .with("redaction_reason", redaction.reason.as_str())
    .with("redacted_at", serde_json::json!(redaction.at))
}

/// Which state of the document to show.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LatestParams {
    /// The version that was the newest at this time, which must not lie in the future.
    #[param(value_type = Option<DateTime<Utc>>)]
    as_of: Option<String>,
}

/// Read the document
///
/// The newest version, or the one of a time. The text is the answer's body; with `Accept: application/json` it
/// stands in an envelope. Each representation has its own entity tag, and all of them are taken in `If-Match`.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/context",
    params(SectionParams, LatestParams, ConditionHeaders, FreshnessHeader),
    responses(
        (status = 200, description = "The text.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/markdown; charset=utf-8"),
            (ContextBody = "application/json"),
        )),
        (status = 404, description = "There is no such memory, no known version of that time, or no such section."),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn get_latest_context(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(section): Query<SectionParams>,
    Query(LatestParams { as_of }): Query<LatestParams>,
    representation: Representation,
    conditions: Conditions,
    max_age: MaxAge,
) -> Result<Response, Problem> {
    let section = section.name()?;
    let as_of = time("as_of", as_of.as_ref())?;
    let context = match as_of {
        Some(as_of) => version_as_of(&state, &vault_id, &memory_id, as_of)
            .await?
            .map(Arc::new),
        None if !max_age.is_zero() => state.storage.recent_context(&vault_id, &memory_id).await?,
        None => state
            .storage
            .latest_context(&vault_id, &memory_id)
            .await?
            .map(Arc::new),
    };
    let context = context.ok_or_else(missing)?;
    answer(&state, context, section.as_deref(), representation, &conditions)
}

/// Read one version
///
/// By its number or its context_id, as text or as JSON.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}",
    params(SectionParams, ConditionHeaders),
    responses(
        (status = 200, description = "The text.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/markdown; charset=utf-8"),
            (ContextBody = "application/json"),
        )),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn get_context(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<ContextRef>,
    Query(section): Query<SectionParams>,
    representation: Representation,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let section = section.name()?;
    let context = version(&state, &vault_id, &memory_id, Some(&entry)).await?.into();
    answer(&state, context, section.as_deref(), representation, &conditions)
}

/// List the versions
///
/// The newest first, without their texts.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<ContextBody>),
    )
)]
pub(crate) async fn list_contexts(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    page: Page,
) -> Result<Json<List<ContextBody>>, Problem> {
    let before = page.after::<i64>()?;
    let _list = state.budget.list().await?;
    let versions = state
        .storage
        .list_contexts(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if versions.items.is_empty() {
        require(&state, &vault_id, &memory_id).await?;
    }
    let cap = state.settings.config.limits.context_bytes;
    let show = |version| ContextBody::of(&version, cap);
    Ok(Json(page.of(versions, |version| version.version, show)))
}

/// The number of the version in the response.
pub(in crate::http::routes) const X_CONTEXT_VERSION: HeaderName =
    HeaderName::from_static("x-context-version");

/// Room in the header map for the headers of the middleware too, so that it is not reallocated.
const HEADERS: usize = 12;

/// One version of a document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Context)]
pub(crate) struct ContextBody {
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The version's id; in double quotes it is the entity tag of its text.
    pub(crate) context_id: String,
    /// Its number: 1, 2, 3 …, each given once. Retention, where it is configured, takes out old ones.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// Who made it.
    pub(crate) actor_id: String,
    /// When it was made.
    pub(crate) creation_time: DateTime<Utc>,
    /// What made it.
    pub(crate) source: Source,
    /// The run that made it; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) update_id: Option<String>,
    /// The size of its text in bytes.
    #[schema(minimum = 0)]
    pub(crate) bytes: i32,
    /// Roughly how many tokens that is for a model.
    #[schema(minimum = 0)]
    pub(crate) estimated_tokens: u64,
    /// Its size in percent of `limits.context_bytes`.
    #[schema(minimum = 0)]
    pub(crate) percent_of_cap: f64,
    /// The text, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) context: Option<String>,
    /// True if the text was taken out for good; absent otherwise, like the next four.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) redacted: Option<bool>,
    /// Why the text was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) redaction_reason: Option<String>,
    /// When it was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) redacted_at: Option<DateTime<Utc>>,
    /// Who took it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) redacted_by: Option<String>,
    /// The SHA-256 of the text, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    redacted_sha256: Option<String>,
}

impl ContextBody {
    /// A version without its text. `cap` is `limits.context_bytes`.
    pub(super) fn of(metadata: &ContextMetadata, cap: usize) -> Self {
        let bytes = usize::try_from(metadata.bytes).unwrap_or_default();
        let redaction = metadata.redaction.as_ref();
        Self {
            vault_id: metadata.vault_id.to_string(),
            memory_id: metadata.memory_id.to_string(),
            context_id: metadata.context_id.to_string(),
            version: metadata.version,
            actor_id: metadata.actor_id.to_string(),
            creation_time: metadata.creation_time,
            source: metadata.source,
            update_id: metadata.update_id.as_ref().map(ToString::to_string),
            bytes: metadata.bytes,
            estimated_tokens: document::estimated_tokens(bytes),
            percent_of_cap: report::percent_of_cap(bytes, cap),
            context: None,
            redacted: redaction.map(|_| true),
            redaction_reason: redaction.map(|redaction| redaction.reason.clone()),
            redacted_at: redaction.map(|redaction| redaction.at),
            redacted_by: redaction.map(|redaction| redaction.by.to_string()),
            redacted_sha256: redaction.map(|redaction| redaction.sha256.clone()),
        }
    }
}

/// Checks that the text of a version is available; `field` is the parameter that names it.
///
/// # Errors
/// 410 if the version was redacted.
pub(in crate::http::routes) fn readable<C: Borrow<Context>>(version: C, field: &str) -> Result<C, Problem> {
    let metadata = &version.borrow().metadata;
    match &metadata.redaction {
        Some(redaction) => Err(redacted(metadata.version, redaction).with("field", field)),
        None => Ok(version),
    }
}

/// Responds with a version, with one of its sections, or with 304 if the client already has it.
///
/// # Errors
/// 410 if the version was redacted, 404 if the section does not exist, 412 if `If-Match` names another representation.
fn answer(
    state: &AppState,
    context: Arc<Context>,
    section: Option<&str>,
    representation: Representation,
    conditions: &Conditions,
) -> Result<Response, Problem> {
    let context = readable(context, "ref")?;
    let metadata = &context.metadata;
    let mut etag = ETag::of(&metadata.context_id);
    let section = match section {
        Some(name) => {
            let visible = utf8_percent_encode(&name.to_ascii_lowercase(), NON_ALPHANUMERIC).to_string();
            etag = etag.representation(&format!("section={visible}"));
            Some(find_section(&context.text, name)?)
        }
        None => None,
    };
    let etag = etag.in_form(representation);
    let mut headers = validators(metadata, &etag);
    if conditions.has_already(&etag)? {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    Ok(match representation {
        Representation::Json => {
            let mut body = ContextBody::of(metadata, state.settings.config.limits.context_bytes);
            body.context = Some(section.unwrap_or_else(|| context.text.clone()));
            (headers, Json(body)).into_response()
        }
        _ => {
            headers.insert(
                CONTENT_TYPE,
                HeaderValue::from_static(representation.content_type()),
            );
            let text = match section {
                Some(section) => Bytes::from(section),
                None => Bytes::from_owner(SharedText(context)),
            };
            let mut response = Response::new(Body::from(text));
            *response.headers_mut() = headers;
            response
        }
    })
}

/// A version's text as a response body. It is not copied, since many requests may send it at once.
struct SharedText(Arc<Context>);

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.text.as_bytes()
    }
}

/// The headers that identify the version and allow conditional requests.
pub(in crate::http::routes) fn validators(metadata: &ContextMetadata, etag: &ETag) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(HEADERS);
    headers.extend([
        (ETAG, etag.header_value()),
        (VARY, HeaderValue::from_static("Accept")),
        (CACHE_CONTROL, CACHEABLE),
        (X_CONTEXT_VERSION, HeaderValue::from(metadata.version)),
        (LAST_MODIFIED, http_date(metadata.creation_time)),
    ]);
    headers
}

/// The response to a read of a version with what is known of its records beside it; 304 if the client has it.
///
/// # Errors
/// 412 if `If-Match` names another tag.
pub(in crate::http::routes) fn with_records(
    metadata: &ContextMetadata,
    etag: ETag,
    conditions: &Conditions,
    body: &impl Serialize,
) -> Result<Response, Problem> {
    let json = serde_json::to_string(body).map_err(Problem::internal)?;
    let etag = etag.with_bytes(json.as_bytes());
    let headers = validators(metadata, &etag);
    Ok(match conditions.has_already(&etag)? {
        true => (StatusCode::NOT_MODIFIED, headers).into_response(),
        false => (headers, Representation::Json, json).into_response(),
    })
}

/// The response to a change of the document: 201 if it made a version, 200 if nothing changed, with the newest version.
pub(in crate::http::routes) fn saved(
    unchanged: bool,
    newest: &ContextMetadata,
    body: &impl Serialize,
) -> KeptAnswer {
    let status = match unchanged {
        true => StatusCode::OK,
        false => StatusCode::CREATED,
    };
    KeptAnswer::json(status, body)
        .with(ETAG, ETag::of(&newest.context_id))
        .with(X_CONTEXT_VERSION, newest.version)
}

/// A time in the form of HTTP headers (RFC 9110, 5.6.7). Those of the crate begin in 1970; imported versions may be older.
fn http_date(time: DateTime<Utc>) -> HeaderValue {
    let time = SystemTime::from(time).max(SystemTime::UNIX_EPOCH);
    // A date is visible ASCII.
    HeaderValue::try_from(fmt_http_date(time)).unwrap_or(HeaderValue::from_static(""))
}

/// The maximum length of the list of existing paths in a 404 for a section, in bytes.
const MOST_PATH_BYTES: usize = 16_384;

fn find_section(text: &str, name: &str) -> Result<String, Problem> {
    document::find_section(text, name)
        .map(str::to_owned)
        .ok_or_else(|| {
            let headings = document::headings(text);
            let mut room = MOST_PATH_BYTES;
            let paths = headings.all().iter().map(|heading| headings.path(heading));
            let paths: Vec<_> = paths
                .take_while(|path| {
                    room = room.saturating_sub(path.len() + 1);
                    room > 0
                })
                .collect();
            Problem::not_found("the document has no such section; sections has the paths it has")
                .with("field", "section")
                .with("sections", paths)
        })
}

/// Which part of a document to show.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SectionParams {
    /// Only this section: `progress`, `learnings`, `verbatim`, `status`, `tasks`, `decisions`, the title of any
    /// section, or the path of titles to a heading of any level, such as `Facts/Network`.
    #[param(value_type = Option<NonBlank>)]
    section: Option<String>,
}

impl SectionParams {
    fn name(self) -> Result<Option<String>, Problem> {
        match &self.section {
            Some(name) if name.trim().is_empty() => {
                Err(Problem::invalid("section", "section must name a section"))
            }
            _ => Ok(self.section),
        }
    }
}
