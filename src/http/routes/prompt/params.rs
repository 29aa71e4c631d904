//! The parameters of a prompt.

use crate::domain::prompt::Selection;
use crate::http::extract::query::{FromQuery, QueryReader};
use crate::http::problem::Problem;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;

/// The maximum of token budgets; larger than any useful one.
const MOST_TOKENS: u32 = 10_000_000;

/// Which prompt to assemble.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PromptParams {
    /// Only these parts: names separated by commas; may be repeated. A name that no part and no
    /// item's category has is refused.
    #[param(rename = "include", value_type = Option<String>, min_length = 1)]
    pub(super) selection: Selection,
    /// The IANA time zone of the date and time, such as `Europe/Berlin`; UTC without it.
    #[param(value_type = Option<String>, min_length = 1, max_length = 64)]
    pub(super) timezone: Tz,
    /// The document as it was at this time, which must not lie in the future; the date and time tell it too. Items are
    /// those of now: they have no history.
    pub(super) as_of: Option<DateTime<Utc>>,
    /// How many tokens the prompt may have (vocabulary `cl100k_base`).
    #[param(minimum = 1, maximum = 10_000_000)]
    pub(super) max_tokens: Option<u32>,
}

/// The other half of a selection, for the documentation.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "documents what `PromptParams` reads into its selection")]
pub(crate) struct ExcludeParam {
    /// None of these parts: names separated by commas; may be repeated.
    exclude: Option<String>,
    /// What the prompt is for, at most 1,000 bytes: with `max_tokens`, records that have none of its words are left out
    /// before those that have some.
    #[param(max_length = 1000)]
    query: Option<String>,
}

/// The maximum length of the query, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

fn words(query: &mut QueryReader) -> Result<Option<String>, Problem> {
    match query.text("query")? {
        Some(words) if words.len() > MAX_QUERY_BYTES => {
            let detail = format!(
                "query has {} bytes; at most {MAX_QUERY_BYTES} are accepted",
                words.len()
            );
            Err(Problem::invalid("query", detail)
                .with("limit", MAX_QUERY_BYTES)
                .with("actual", words.len()))
        }
        words => Ok(words),
    }
}

impl FromQuery for PromptParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let include = query.names("include");
        if include.as_ref().is_some_and(|names| names.is_empty()) {
            return Err(Problem::invalid("include", "include must name at least one part"));
        }
        let timezone = query.text("timezone")?.map(|name| {
            name.parse().map_err(|_| {
                Problem::invalid(
                    "timezone",
                    "timezone must be a name of the IANA time zone database, such as Europe/Berlin",
                )
            })
        });
        Ok(Self {
            selection: Selection {
                include,
                exclude: query.names("exclude").unwrap_or_default(),
                query: words(query)?,
                ..Selection::default()
            },
            timezone: timezone.transpose()?.unwrap_or(Tz::UTC),
            as_of: query.time("as_of")?,
            max_tokens: query.number("max_tokens", 1..=MOST_TOKENS)?,
        })
    }
}
