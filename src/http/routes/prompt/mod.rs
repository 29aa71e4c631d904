//! `GET M/prompt`

mod params;
pub(in crate::http) mod receipt;
mod work;

use self::params::{ExcludeParam, PromptParams};
use self::receipt::{Receipt, X_PREFIX_HASH};
use self::work::Work;
use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::prompt::{PARTS, PromptItem};
use crate::http::extract::accept::Representation;
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag, Verdict};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::contexts::view::{X_CONTEXT_VERSION, readable};
use crate::http::state::AppState;
use crate::storage::Context;
use crate::tokens::Tokens;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// Assemble a prompt
///
/// Items of the vault and of the memory, and the document's sections, what changes least first, with one empty line
/// between two parts: `rules`, `user_information`, `tool_guidance`, other categories by name, `free` (what the
/// document says outside the managed sections), `key_learnings`, `verbatim_context`, `decisions`, `active_context`,
/// `recent_tasks`, `workflow`, `current_progress`, `datetime`. The same state gives the same bytes; the time is told
/// to the minute, unless items of the category `datetime` tell it otherwise. Of a memory without a document and without
/// items, also of one that was never written, it is empty.
///
/// With `max_tokens` this is left out until the rest fits: records of `recent_tasks`, `decisions`,
/// `verbatim_context` and `key_learnings`, in this order and in each from the oldest on; `free`; other categories,
/// the last by name first; `active_context`, `current_progress`, `workflow`, `datetime`, `tool_guidance`,
/// `user_information`. Never `rules`. With `query` records that have none of its words go before those that have some;
/// where embeddings are configured, the ten records nearest in meaning count as having some.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/prompt",
    operation_id = "GetPrompt",
    tag = "prompt",
    params(PromptParams, ExcludeParam, ConditionHeaders),
    responses(
        (status = 200, description = "The prompt.", headers(
            ("ETag" = String, description = "Strong; of this answer's bytes."),
            ("X-Context-Version" = i64, description = "The version of the document; missing without one."),
            ("X-Prefix-Hash" = String, description = "SHA-256 of what rules, user_information and tool_guidance are in it."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/markdown; charset=utf-8"),
            (Receipt = "application/json"),
        )),
        (status = 304, description = "The client has it already. Without `exclude=datetime` that is so for a minute at most."),
        (status = 404, description = "The memory had no version at that time."),
        (status = 406, description = "No acceptable representation"),
        (status = 410, description = "The version was redacted."),
        (status = 422, description = "A parameter is not valid, `include` names what there is not (`unknown`, `known`), or `max_tokens` is below what the rules need (`needed`)."),
    )
)]
pub(crate) async fn prompt(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(mut params): Query<PromptParams>,
    representation: Representation,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let now = state.clock.now();
    let context = version(&state, &vault_id, &memory_id, params.as_of, now).await?;
    let items = state.storage.prompt_items(&vault_id, &memory_id).await?;
    refuse_unknown(&params, &items)?;
    let is_json = representation == Representation::Json;
    let mut degraded = None;
    // Records of an older version are compared only by text.
    if let Some(query) = params
        .selection
        .query
        .as_deref()
        .filter(|_| params.as_of.is_none())
    {
        let near = state
            .pipeline
            .meaning()
            .near_records(&vault_id, &memory_id, query)
            .await?;
        (params.selection.near, degraded) = near;
    }
    let work = Work {
        degraded,
        time: params.as_of.unwrap_or(now),
        params,
        items,
        context,
    };
    let (shown, work) = if is_json || work.params.max_tokens.is_some() {
        // Counting tokens may take milliseconds, and the first call decompresses the vocabulary.
        let tokens = state.tokens.clone();
        tokio::task::spawn_blocking(move || (work.show(&tokens, is_json), work))
            .await
            .map_err(Problem::internal)?
    } else {
        (work.show(&state.tokens, false), work)
    };
    answer(&work, shown?, representation, &conditions)
}

/// Rejects unknown ids and names in the selection. Ignoring them would silently remove content from the prompt.
fn refuse_unknown(params: &PromptParams, items: &[PromptItem]) -> Result<(), Problem> {
    let unknown = params.selection.unknown(items);
    if unknown.is_empty() {
        return Ok(());
    }
    let categories: BTreeSet<&str> = items.iter().map(|item| item.category.as_str()).collect();
    let known: Vec<&str> = PARTS.into_iter().chain(categories).collect();
    Err(Problem::invalid(
        "include",
        format!(
            "include names what is neither a part nor a category that has items: {}; there are the parts {}, and the \
             categories that GET …/items lists",
            unknown.join(", "),
            PARTS.join(", ")
        ),
    )
    .with("unknown", unknown)
    .with("known", known))
}

/// The newest version, or that of a point in time; `None` for a memory without a document.
async fn version(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    as_of: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<Option<Context>, Problem> {
    let version = match as_of {
        None => state.storage.latest_context(vault, memory).await?,
        Some(time) if time > now => {
            return Err(Problem::invalid("as_of", "as_of must not lie in the future"));
        }
        Some(time) => match state.storage.context_as_of(vault, memory, time).await? {
            None if state.storage.memory_exists(vault, memory).await? => {
                return Err(
                    Problem::not_found("the memory had no version at that time").with("field", "as_of")
                );
            }
            version => version,
        },
    };
    version.map(|version| readable(version, "as_of")).transpose()
}

/// The body of a response and the hash of its prefix.
struct Shown {
    body: String,
    prefix_hash: String,
}

impl Work {
    fn show(&self, tokens: &Tokens, is_json: bool) -> Result<Shown, Problem> {
        let count = |text: &str| tokens.count(text);
        let assembly = self.assemble(&count)?;
        let (text, prefix_hash) = (assembly.text(), assembly.prefix_hash());
        let body = if is_json {
            let receipt = Receipt::of(&assembly, self, text, &prefix_hash, &count);
            serde_json::to_string(&receipt).map_err(Problem::internal)?
        } else {
            text
        };
        Ok(Shown { body, prefix_hash })
    }
}

fn answer(
    work: &Work,
    Shown { body, prefix_hash }: Shown,
    representation: Representation,
    conditions: &Conditions,
) -> Result<Response, Problem> {
    let etag = ETag::of_bytes(body.as_bytes());
    let mut headers = HeaderMap::new();
    headers.insert(ETAG, etag.header_value());
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(
        X_PREFIX_HASH,
        HeaderValue::try_from(prefix_hash).map_err(Problem::internal)?,
    );
    if let Some(context) = &work.context {
        headers.insert(X_CONTEXT_VERSION, HeaderValue::from(context.metadata.version));
    }
    if conditions.for_read(&etag)? == Verdict::NotModified {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(representation.content_type()),
    );
    Ok((headers, body).into_response())
}
