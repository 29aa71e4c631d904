//! The parameters of a search.

use crate::domain::ids::{ActorId, RecordKind};
use crate::http::extract::query::{FromQuery, QueryReader};
use crate::http::names::{RecordKindName, SearchModeName};
use crate::http::problem::Problem;
use crate::http::routes::records::list::{StatusChoiceName, read_status};
use crate::pipeline::meaning::{Meaning, Mode};
use crate::storage::records::RecordStatus;
use crate::storage::search::vectors::PassageFilter;
use chrono::{DateTime, Utc};

/// The maximum length of the query, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

/// What to search for.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// Words as in a web search: `"…"` next to each other, `or` either of them, `-` not; the last word may be the
    /// beginning of one. By meaning it is taken as a sentence. At most 1,000 bytes.
    #[param(
        min_length = 1,
        max_length = 1000,
        pattern = r"\S",
        example = "parser -legacy"
    )]
    pub(super) q: String,
    /// Also find by words what was written in this moment: searches lag behind writes by less than a second otherwise.
    #[param(value_type = Option<bool>)]
    pub(super) consistent: bool,
    /// By words, by meaning, or by both. Without it by both where embeddings are configured, by words otherwise.
    #[param(value_type = Option<SearchModeName>, inline)]
    pub(super) mode: Option<Mode>,
    /// How like the query what is found by meaning has to be, from -1 to 1 (the cosine of the angle between their
    /// vectors; what is much depends on the model).
    #[param(minimum = -1, maximum = 1)]
    pub(super) min_score: Option<f32>,
}

impl FromQuery for SearchParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let q = query.text("q")?.unwrap_or_default();
        if q.trim().is_empty() {
            return Err(Problem::invalid("q", "q must contain the words to search for"));
        }
        if q.len() > MAX_QUERY_BYTES {
            let detail = format!("q has {} bytes; at most {MAX_QUERY_BYTES} are accepted", q.len());
            return Err(Problem::invalid("q", detail)
                .with("limit", MAX_QUERY_BYTES)
                .with("actual", q.len()));
        }
        let min_score = match query.text("min_score")? {
            None => None,
            Some(text) => {
                let score = text
                    .parse::<f32>()
                    .ok()
                    .filter(|score| (-1.0..=1.0).contains(score));
                let refused = || Problem::invalid("min_score", "min_score must be a number from -1 to 1");
                Some(score.ok_or_else(refused)?)
            }
        };
        Ok(Self {
            q,
            consistent: query.flag("consistent")?.unwrap_or(false),
            mode: query.name("mode")?,
            min_score,
        })
    }
}

impl SearchParams {
    /// Rejects what the service cannot do with its configuration.
    pub(super) fn check(&self, meaning: &Meaning) -> Result<(), Problem> {
        if self.mode == Some(Mode::Semantic) && !meaning.is_configured() {
            return Err(Problem::invalid(
                "mode",
                "mode=semantic needs an embedding model: set embeddings.base_url and embeddings.model \
                 (WORKING_MEMORY__EMBEDDINGS__BASE_URL, WORKING_MEMORY__EMBEDDINGS__MODEL)",
            ));
        }
        if self.mode == Some(Mode::Text) && self.min_score.is_some() {
            return Err(Problem::invalid(
                "min_score",
                "min_score is of searches by meaning, and mode is text",
            ));
        }
        Ok(())
    }
}

/// Which records to find.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilterParams {
    /// Only records of this kind; without it all, and what documents say besides records.
    #[param(value_type = Option<RecordKindName>, inline)]
    kind: Option<RecordKind>,
    /// What stands in the newest version, what did once, or both; `active` without it.
    #[param(value_type = Option<StatusChoiceName>, inline)]
    pub(super) status: Option<RecordStatus>,
    /// Only what this actor wrote.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    actor: Option<ActorId>,
    /// Only what was written at this time or later.
    since: Option<DateTime<Utc>>,
    /// Only what was written before this time.
    until: Option<DateTime<Utc>>,
}

impl FromQuery for FilterParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            kind: query.name("kind")?,
            status: read_status(query)?,
            actor: query.parse("actor")?,
            since: query.time("since")?,
            until: query.time("until")?,
        })
    }
}

impl From<FilterParams> for PassageFilter {
    fn from(params: FilterParams) -> Self {
        Self {
            kind: params.kind,
            status: params.status,
            actor: params.actor,
            since: params.since,
            until: params.until,
        }
    }
}
