//! The representations of a handoff and of its freshness.

use crate::domain::handoff::{Freshness, preface};
use crate::http::extract::accept::Representation;
use crate::http::extract::conditions::{Conditions, ETag, Verdict};
use crate::http::problem::Problem;
use crate::storage::handoffs::Handoff;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The representations of a handoff; Markdown by default.
pub(crate) const OFFERED: [Representation; 3] = [
    Representation::Markdown,
    Representation::Plain,
    Representation::Json,
];

/// A handoff with its present freshness.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Handoff)]
pub(crate) struct HandoffBody {
    /// Its id.
    pub(crate) handoff_id: String,
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The moment it shows.
    pub(crate) generated_at: DateTime<Utc>,
    /// Who asked for it.
    pub(crate) generated_by: String,
    /// How far back it looks, as a duration of ISO 8601.
    #[schema(example = "PT2H")]
    pub(crate) window: String,
    /// The newest version of that moment.
    #[schema(minimum = 1)]
    pub(crate) base_version: i64,
    /// Its freshness now.
    pub(crate) freshness: Freshness,
    /// The same as Markdown: what stands above the text where it is read as text.
    pub(crate) preface: String,
    /// The eight sections, as they were made.
    pub(crate) markdown: String,
    /// What it was made from: `inputs`, `cited`, `model` (null where rules made it), lines by section, dropped lines.
    pub(crate) manifest: Value,
    /// For a refresh: whether the handoff was generated now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) refreshed: Option<bool>,
}

impl HandoffBody {
    /// A handoff as JSON. `refreshed` is set in the response of a refresh.
    pub(crate) fn of(handoff: Handoff, freshness: &Freshness, refreshed: Option<bool>) -> Self {
        Self {
            handoff_id: handoff.handoff_id.to_string(),
            vault_id: handoff.vault_id.to_string(),
            memory_id: handoff.memory_id.to_string(),
            generated_at: handoff.generated_at,
            generated_by: handoff.generated_by.to_string(),
            window: handoff.window.to_string(),
            base_version: handoff.base_version,
            preface: preface(freshness, handoff.generated_at, handoff.base_version),
            freshness: freshness.clone(),
            markdown: handoff.markdown,
            manifest: handoff.manifest,
            refreshed,
        }
    }
}

/// Responds with a body whose entity tag covers both the stored handoff and its freshness.
pub(crate) fn answer(
    id: &str,
    body: String,
    representation: Representation,
    conditions: &Conditions,
) -> Result<Response, Problem> {
    let hash = hex::encode(&Sha256::digest(&body)[..8]);
    let tag = ETag::opaque(format!("{id};{hash}"));
    let headers = [
        (ETAG, tag.header_value()),
        (VARY, HeaderValue::from_static("Accept")),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    Ok(match conditions.for_read(&tag)? {
        Verdict::NotModified => (StatusCode::NOT_MODIFIED, headers).into_response(),
        Verdict::Send => {
            let kind = [(CONTENT_TYPE, representation.content_type())];
            (headers, kind, body).into_response()
        }
    })
}

/// A handoff in a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = HandoffEntry)]
pub(crate) struct HandoffEntry {
    /// Its id.
    handoff_id: String,
    /// The vault.
    vault_id: String,
    /// The memory.
    memory_id: String,
    /// The moment it shows.
    generated_at: DateTime<Utc>,
    /// Who asked for it.
    generated_by: String,
    /// How far back it looks, as a duration of ISO 8601.
    window: String,
    /// The newest version of that moment.
    #[schema(minimum = 1)]
    base_version: i64,
    /// The model that wrote its prose, with its times; null where rules did.
    #[schema(required)]
    model: Option<Value>,
}

impl From<Handoff> for HandoffEntry {
    fn from(mut handoff: Handoff) -> Self {
        let model = handoff.manifest.get_mut("model").map(Value::take);
        Self {
            handoff_id: handoff.handoff_id.to_string(),
            vault_id: handoff.vault_id.to_string(),
            memory_id: handoff.memory_id.to_string(),
            generated_at: handoff.generated_at,
            generated_by: handoff.generated_by.to_string(),
            window: handoff.window.to_string(),
            base_version: handoff.base_version,
            model: model.filter(|model| !model.is_null()),
        }
    }
}
