//! The JSON response: a prompt with its sources.

use super::work::Work;
use crate::domain::prompt::{Assembly, Count, Dropped, Part, PieceId};
use crate::http::names::{Named, PartSourceName};
use axum::http::HeaderName;
use serde::{Deserialize, Serialize};

/// The hash of the stable prefix.
pub(super) const X_PREFIX_HASH: HeaderName = HeaderName::from_static("x-prefix-hash");

/// A prompt with what it was made of.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
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
    pub(crate) dropped: Vec<DroppedBody>,
    /// With `query`, how much each record of these parts matters to it, also of those left out: a word of the query that it
    /// has counts 1, its similarity in meaning at most 1.
    #[schema(value_type = std::collections::BTreeMap<String, f64>)]
    pub(crate) scores: serde_json::Map<String, serde_json::Value>,
    /// Why `query` counted by its words alone although embeddings are configured; null where it did not.
    #[schema(required)]
    pub(crate) degraded: Option<String>,
    /// The version of the document; null without one.
    #[schema(required, minimum = 1)]
    pub(crate) version: Option<i64>,
    /// Its id.
    #[schema(required)]
    pub(crate) context_id: Option<String>,
    /// The SHA-256, in hexadecimal, of what `rules`, `user_information` and `tool_guidance` are in this prompt: as long
    /// as it is the same, prompts begin with the same bytes.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub(crate) prefix_hash: String,
    /// As it was asked for.
    #[schema(required, minimum = 1)]
    pub(crate) max_tokens: Option<u32>,
}

/// One part of a prompt.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = PromptPart)]
pub(crate) struct PartBody {
    /// The category of its items, or which part of the document it is, or `datetime`.
    pub(crate) name: String,
    /// What it is made of.
    pub(crate) source: PartSourceName,
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
#[schema(as = DroppedPart)]
pub(crate) struct DroppedBody {
    /// Its name.
    pub(crate) name: String,
    /// What it is made of.
    pub(crate) source: PartSourceName,
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
            source: Named(part.source),
            tokens,
            items,
            records,
        }
    }
}

impl From<&Dropped> for DroppedBody {
    fn from(dropped: &Dropped) -> Self {
        let (items, records) = ids(dropped.pieces.iter());
        Self {
            name: dropped.name.clone(),
            source: Named(dropped.source),
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

impl Receipt {
    pub(super) fn of(
        assembly: &Assembly,
        work: &Work,
        text: String,
        prefix_hash: &str,
        count: Count<'_>,
    ) -> Self {
        let tokens = assembly.tokens(count);
        let metadata = work.context.as_ref().map(|context| &context.metadata);
        Self {
            text,
            tokens: tokens.iter().sum(),
            parts: assembly
                .parts
                .iter()
                .zip(tokens)
                .map(|(part, tokens)| PartBody::of(part, tokens))
                .collect(),
            dropped: assembly.dropped.iter().map(DroppedBody::from).collect(),
            scores: assembly
                .scores
                .iter()
                .map(|(id, score)| (id.to_string(), thousandths(*score).into()))
                .collect(),
            degraded: work.degraded.clone(),
            version: metadata.map(|metadata| metadata.version),
            context_id: metadata.map(|metadata| metadata.context_id.to_string()),
            prefix_hash: prefix_hash.to_owned(),
            max_tokens: work.params.max_tokens,
        }
    }
}
