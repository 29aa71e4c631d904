//! `GET M/prompt` and `GET /v1/guidance`: the prompt of an agent, and the instructions for one that writes the document itself.

use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::prompt::{
    Assembly, Count, Dropped, Material, PARTS, Part, PartSource, PieceId, PromptItem, Selection, assemble,
};
use crate::fair;
use crate::http::extract::headers::{ConditionHeaders, Conditions, ETag, Representation};
use crate::http::extract::params::{MemoryPath, Path, Query, time, within};
use crate::http::problem::Problem;
use crate::http::routes::contexts;
use crate::http::routes::contexts::{X_CONTEXT_VERSION, readable};
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::prompts::GuidancePage;
use crate::storage::Context;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Assemble a prompt
///
/// Items of the vault and of the memory, and the document's sections, what changes least first, with one empty line
/// between two parts: `rules`, `user_information`, `tool_guidance`, other categories by name, `free` (what the
/// document says outside the managed sections), `key_learnings`, `verbatim_context`, `decisions`, `active_context`,
/// `recent_tasks`, `workflow`, `current_progress`, `datetime`. The same state gives the same bytes; the time is told
/// to the minute, unless items of the category `datetime` tell it otherwise. Below it stands how full the memory is, from
/// 80 % on, and whether proposals wait. Of a memory without a document and without
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
    params(PromptParams, ConditionHeaders),
    responses(
        (status = 200, description = "The prompt.", headers(("ETag"), ("X-Context-Version" = i64), ("X-Prefix-Hash")), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/markdown; charset=utf-8"),
            (Receipt = "application/json"),
        )),
        (status = 304, description = "The client has it already. Without `exclude=datetime` that is so for a minute at most."),
        (status = 404, description = "The memory had no version at that time, or it is not known any more which."),
        (status = 410, description = "The version was redacted."),
        (status = 422, description = "A parameter is not valid, `include` names what there is not (`unknown`, `known`), or `max_tokens` is below what the rules need (`needed`)."),
    )
)]
pub(crate) async fn get_prompt(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(params): Query<PromptParams>,
    representation: Representation,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let now = state.clock.now();
    let mut selection = params.selection()?;
    let max_tokens = within("max_tokens", params.max_tokens.as_ref(), 1..=MOST_TOKENS)?;
    let zone = params.zone()?;
    let as_of = time("as_of", params.as_of.as_ref())?;
    let context = version(&state, &vault_id, &memory_id, as_of).await?;
    let (items, open_proposals) = tokio::try_join!(
        state.storage.prompt_items(&vault_id, &memory_id),
        state.storage.open_proposals(&vault_id, &memory_id),
    )?;
    refuse_unknown(&selection, &items)?;
    let mut degraded = None;
    let mut note = None;
    // Records of an older version are compared only by text.
    if as_of.is_none() {
        let bytes = context.as_ref().map_or(0, |context| context.text.len());
        note = about_memory(bytes, state.settings.config.limits.context_bytes, open_proposals);
        if let Some(query) = &selection.query {
            let meaning = state.pipeline.meaning();
            let near = meaning.near_records(&vault_id, &memory_id, query).await?;
            (selection.near, degraded) = near;
        }
    }
    let material = Material {
        items: &items,
        document: context.as_ref().map(|context| context.text.as_str()),
        note: note.as_deref(),
        time: as_of.unwrap_or(now),
        zone,
        selection: &selection,
    };
    let version = context.as_ref().map(|context| &context.metadata);
    let is_json = representation == Representation::Json;
    // Counting tokens takes long, and the first time the vocabulary is decompressed.
    let size = match is_json || max_tokens.is_some() {
        true => usize::MAX,
        false => 0,
    };
    let made = fair::on_cpu(size, || {
        let count: Count<'_> = &|text| state.tokens.count(text);
        let assembly = assembled(&material, max_tokens, count)?;
        let prefix_hash = assembly.prefix_hash();
        let text = assembly.text();
        if !is_json {
            return Ok((text, prefix_hash));
        }
        let receipt = Receipt {
            version: version.map(|version| version.version),
            context_id: version.map(|version| version.context_id.to_string()),
            prefix_hash: prefix_hash.clone(),
            max_tokens,
            degraded,
            ..Receipt::of(&assembly, text, count)
        };
        let body = serde_json::to_string(&receipt).map_err(Problem::internal)?;
        Ok::<_, Problem>((body, prefix_hash))
    });
    let (body, prefix_hash) = made.await?;
    let version = version.map(|version| [(X_CONTEXT_VERSION, version.version)]);
    let answer = conditions.answer(representation, body)?;
    Ok((version, [(X_PREFIX_HASH, prefix_hash)], answer).into_response())
}

/// The parts of a prompt that fit into `max_tokens`.
fn assembled(
    material: &Material<'_>,
    max_tokens: Option<u32>,
    count: Count<'_>,
) -> Result<Assembly, Problem> {
    let budget = max_tokens.map(|number| (number as usize, count));
    assemble(material, budget).map_err(|over| {
        let limit = max_tokens.unwrap_or_default();
        Problem::invalid("max_tokens", format!("max_tokens is {limit}, but {over}"))
            .with("limit", limit)
            .with("needed", over.needed)
    })
}

/// Rejects unknown ids and names in the selection. Ignoring them would silently remove content from the prompt.
fn refuse_unknown(selection: &Selection, items: &[PromptItem]) -> Result<(), Problem> {
    let unknown = selection.unknown(items);
    if unknown.is_empty() {
        return Ok(());
    }
    let categories: BTreeSet<&str> = items.iter().map(|item| item.category.as_str()).collect();
    let others = categories.into_iter().filter(|name| !PARTS.contains(name));
    let known: Vec<&str> = PARTS.into_iter().chain(others).collect();
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
) -> Result<Option<Context>, Problem> {
    let version = match as_of {
        None => state.storage.latest_context(vault, memory).await?,
        Some(time) => contexts::version_as_of(state, vault, memory, time).await?,
    };
    version.map(|version| readable(version, "as_of")).transpose()
}

/// From how full a memory is on, in percent, the prompt says so.
const FULL_PERCENT: usize = 80;

/// What the prompt says about the memory itself: how full it is from `FULL_PERCENT` on, and that proposals wait.
fn about_memory(bytes: usize, limit: usize, open_proposals: i64) -> Option<String> {
    let percent = bytes.saturating_mul(100) / limit.max(1);
    let full = (percent >= FULL_PERCENT)
        .then(|| format!("its document has {percent} % of the bytes that it may have"));
    let waiting = match open_proposals {
        0 => None,
        1 => Some("a proposal waits for a decision".to_owned()),
        count => Some(format!("{count} proposals wait for a decision")),
    };
    let said: Vec<String> = full.into_iter().chain(waiting).collect();
    (!said.is_empty()).then(|| format!("About this memory: {}.", said.join("; ")))
}

/// The maximum of token budgets; larger than any useful one.
const MOST_TOKENS: u32 = 10_000_000;

/// Which prompt to assemble.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PromptParams {
    /// Only these parts: names separated by commas. A name that no part and no
    /// item's category has is refused.
    #[param(min_length = 1)]
    include: Option<String>,
    /// The IANA time zone of the date and time, such as `Europe/Berlin`; UTC without it.
    #[param(min_length = 1, max_length = 64)]
    timezone: Option<String>,
    /// The document as it was at this time, which must not lie in the future; the date and time tell it too. Items are
    /// those of now: they have no history.
    #[param(value_type = Option<DateTime<Utc>>)]
    as_of: Option<String>,
    /// How many tokens the prompt may have (vocabulary `cl100k_base`).
    #[param(value_type = Option<u32>, minimum = 1, maximum = 10_000_000)]
    max_tokens: Option<String>,
    /// None of these parts: names separated by commas.
    exclude: Option<String>,
    /// What the prompt is for, at most 1,000 bytes: with `max_tokens`, records that have none of its words are left out
    /// before those that have some.
    #[param(max_length = 1000)]
    query: Option<String>,
}

/// The maximum length of the query, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

/// The names in a comma-separated parameter. They are trimmed; empty ones are ignored.
fn names(list: &str) -> BTreeSet<String> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

impl PromptParams {
    fn selection(&self) -> Result<Selection, Problem> {
        let bytes = self.query.as_ref().map_or(0, String::len);
        if bytes > MAX_QUERY_BYTES {
            return Err(fields::too_long("query", bytes, MAX_QUERY_BYTES));
        }
        let include = self.include.as_deref().map(names);
        if include.as_ref().is_some_and(BTreeSet::is_empty) {
            return Err(Problem::invalid("include", "include must name at least one part"));
        }
        Ok(Selection {
            include,
            exclude: names(self.exclude.as_deref().unwrap_or_default()),
            query: self.query.clone(),
            ..Selection::default()
        })
    }

    fn zone(&self) -> Result<Tz, Problem> {
        let Some(name) = &self.timezone else {
            return Ok(Tz::UTC);
        };
        name.parse().map_err(|_| {
            let detail = "timezone must be a name of the IANA time zone database, such as Europe/Berlin";
            Problem::invalid("timezone", detail)
        })
    }
}

/// The hash of the stable prefix.
const X_PREFIX_HASH: HeaderName = HeaderName::from_static("x-prefix-hash");

/// A prompt with what it was made of.
#[derive(Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Prompt)]
pub(crate) struct Receipt {
    /// The prompt.
    pub(crate) text: String,
    /// Its tokens, by the vocabulary `cl100k_base`.
    #[schema(minimum = 0)]
    pub(crate) tokens: usize,
    /// Its parts, in order.
    pub(crate) parts: Vec<PartBody>,
    /// What `max_tokens` left out, in the order of the parts.
    pub(crate) dropped: Vec<DroppedPart>,
    /// With `query`, how much each record of these parts matters to it, also of those left out: a word of the query that it
    /// has counts 1, its similarity in meaning at most 1.
    #[schema(value_type = std::collections::BTreeMap<String, f64>)]
    pub(crate) scores: serde_json::Map<String, serde_json::Value>,
    /// Why `query` counted by its words alone although embeddings are configured; null where it did not.
    pub(crate) degraded: Option<String>,
    /// The version of the document; null without one.
    #[schema(minimum = 1)]
    pub(crate) version: Option<i64>,
    /// Its id.
    pub(crate) context_id: Option<String>,
    /// The SHA-256, in hexadecimal, of what `rules`, `user_information` and `tool_guidance` are in this prompt: as long
    /// as it is the same, prompts begin with the same bytes.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub(crate) prefix_hash: String,
    /// As it was asked for.
    #[schema(minimum = 1)]
    pub(crate) max_tokens: Option<u32>,
}

impl Receipt {
    /// What is known of a prompt from its assembly alone.
    fn of(assembly: &Assembly, text: String, count: Count<'_>) -> Self {
        let tokens = assembly.tokens(count);
        let (dropped, scores) = (assembly.dropped.iter(), assembly.scores.iter());
        let parts = assembly.parts.iter().zip(&tokens);
        Self {
            text,
            tokens: tokens.iter().sum(),
            parts: parts.map(|(part, tokens)| PartBody::of(part, *tokens)).collect(),
            dropped: dropped.map(DroppedPart::from).collect(),
            scores: scores
                .map(|(id, score)| (id.to_string(), thousandths(*score).into()))
                .collect(),
            ..Self::default()
        }
    }
}

/// One part of a prompt.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = PromptPart)]
pub(crate) struct PartBody {
    /// The category of its items, or which part of the document it is, or `datetime`.
    pub(crate) name: String,
    /// What it is made of.
    pub(crate) source: PartSource,
    /// Its tokens, with those of the empty line behind it; over all parts they add up to `tokens`.
    #[schema(minimum = 0)]
    pub(crate) tokens: usize,
    /// The ids of its items, in order.
    pub(crate) items: Vec<String>,
    /// The ids of its records, in order.
    pub(crate) records: Vec<String>,
}

/// What was left out of one part.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct DroppedPart {
    /// Its name.
    pub(crate) name: String,
    /// What it is made of.
    pub(crate) source: PartSource,
    /// Whether nothing of it is left.
    pub(crate) whole: bool,
    /// The ids of the items that are left out.
    pub(crate) items: Vec<String>,
    /// The ids of the records that are left out.
    pub(crate) records: Vec<String>,
}

/// Ids of items and of records.
fn ids<'p>(pieces: impl Iterator<Item = &'p PieceId>) -> (Vec<String>, Vec<String>) {
    let (mut items, mut records) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            PieceId::Item(id) => items.push(id.to_string()),
            PieceId::Record(Some(id)) => records.push(id.to_string()),
            PieceId::Record(None) | PieceId::Text => {}
        }
    }
    (items, records)
}

impl PartBody {
    fn of(part: &Part, tokens: usize) -> Self {
        let (items, records) = ids(part.pieces.iter().map(|piece| &piece.id));
        Self {
            name: part.name.clone(),
            source: part.source,
            tokens,
            items,
            records,
        }
    }
}

impl From<&Dropped> for DroppedPart {
    fn from(dropped: &Dropped) -> Self {
        let (items, records) = ids(dropped.pieces.iter());
        Self {
            name: dropped.name.clone(),
            source: dropped.source,
            whole: dropped.whole,
            items,
            records,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below what is exact")]
fn thousandths(number: usize) -> f64 {
    number as f64 / 1_000.0
}

/// Query parameters of the guidance.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct GuidanceParams {
    /// `managed`: the rules for ids and managed sections, and for agents with tools; `document` without it.
    #[param(inline)]
    page: Option<GuidancePage>,
}

/// Instructions for agents
///
/// For the prompt of an agent that writes the document itself and puts it as a whole: what to keep, in which
/// sections, and how to answer.
#[utoipa::path(
    get,
    path = "/v1/guidance",
    params(GuidanceParams, ConditionHeaders),
    responses(
        (status = 200, description = "The instructions.", body = String, content_type = "text/markdown; charset=utf-8",
         headers(("ETag"))),
    )
)]
pub(crate) async fn get_guidance(
    State(state): State<AppState>,
    Query(params): Query<GuidanceParams>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let text = state.pipeline.guidance(params.page.unwrap_or_default());
    let etag = ETag::of_bytes(text.as_bytes());
    let validators = [(ETAG, etag.header_value())];
    if conditions.has_already(&etag)? {
        return Ok((StatusCode::NOT_MODIFIED, validators).into_response());
    }
    let content_type = [(CONTENT_TYPE, "text/markdown; charset=utf-8")];
    Ok((validators, content_type, text.to_string()).into_response())
}
