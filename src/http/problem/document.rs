//! The schema of problems for the OpenAPI document, and that of what a document would lose, which responses to a PUT have too.

use crate::domain::memory::Collapse;
use crate::http::names::CollapseKind;
use crate::pipeline::report::Rejection;
use chrono::{DateTime, Utc};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The body of every error (RFC 9457). The first four members are always there; which of the others are depends on the
/// type.
#[derive(ToSchema)]
#[schema(as = Problem)]
#[expect(dead_code, reason = "documents what `Problem::with` is given")]
pub(crate) struct ProblemDocument {
    /// What kind of problem it is: a stable URI, to be compared and not fetched.
    #[schema(
        rename = "type",
        example = "urn:working-memory:problem:invalid",
        pattern = "^urn:working-memory:problem:[a-z-]+$"
    )]
    type_uri: String,
    /// The kind in words, the same for every occurrence.
    title: String,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong with this request: the field, the limit.
    detail: String,
    /// The parameter, header or member of the body that is wrong; `body` for the body as a whole.
    #[schema(nullable = false)]
    field: Option<String>,
    /// The limit that is broken, in the unit that the detail names.
    #[schema(nullable = false)]
    limit: Option<i64>,
    /// The name of the limit: a setting where it can be set, and a fixed limit of the service otherwise.
    #[schema(nullable = false, example = "limits.context_bytes")]
    limit_name: Option<String>,
    /// The time that was not enough, in seconds.
    #[schema(nullable = false)]
    limit_seconds: Option<i64>,
    /// The least that is taken.
    #[schema(nullable = false)]
    minimum: Option<i64>,
    /// What was found where the limit is.
    #[schema(nullable = false)]
    actual: Option<i64>,
    /// The size before the change, in bytes.
    #[schema(nullable = false)]
    before: Option<i64>,
    /// The tokens that the prompt needs at least.
    #[schema(nullable = false)]
    needed: Option<i64>,
    /// Where in the body, in bytes from its beginning.
    #[schema(nullable = false)]
    offset: Option<i64>,
    /// How many rejected items there are besides those that are told.
    #[schema(nullable = false)]
    more_rejected: Option<u64>,
    /// When the quota is open again.
    #[schema(nullable = false)]
    opens_at: Option<DateTime<Utc>>,
    /// What stands there now, for a precondition: an entity tag or a `context_id`; null if there is nothing.
    current: Option<String>,
    /// The run that was kept: see `GetUpdate`.
    #[schema(nullable = false)]
    update_id: Option<String>,
    /// Where that run stands.
    #[schema(nullable = false)]
    run_status: Option<String>,
    /// Who decided about the proposal.
    #[schema(nullable = false)]
    decided_by: Option<String>,
    /// When that was.
    #[schema(nullable = false)]
    decided_at: Option<DateTime<Utc>>,
    /// The id of the request, as in `X-Request-Id` and in the log: what to name in a report.
    #[schema(nullable = false)]
    request_id: Option<String>,
    /// The record that stands against it.
    #[schema(nullable = false)]
    record_id: Option<String>,
    /// The number of the version it is about; for a precondition that of the newest one.
    #[schema(nullable = false)]
    version: Option<i64>,
    /// The role whose model failed.
    #[schema(nullable = false)]
    role: Option<String>,
    /// The role that the key would need.
    #[schema(nullable = false)]
    required_role: Option<String>,
    /// The setting that would let the request in.
    #[schema(nullable = false)]
    setting: Option<String>,
    /// Why the version's text was taken out.
    #[schema(nullable = false)]
    redaction_reason: Option<String>,
    /// When it was.
    #[schema(nullable = false)]
    redacted_at: Option<DateTime<Utc>>,
    /// `missing`: there is no handoff yet.
    #[schema(nullable = false)]
    freshness: Option<String>,
    /// The media types that are taken.
    #[schema(nullable = false)]
    accepted: Option<Vec<String>>,
    /// The decisions that can be superseded.
    #[schema(nullable = false)]
    active: Option<Vec<String>>,
    /// The parts that a prompt can have.
    #[schema(nullable = false)]
    known: Option<Vec<String>>,
    /// The names that are none of them.
    #[schema(nullable = false)]
    unknown: Option<Vec<String>>,
    /// The route whose path resembles the one that does not exist.
    #[schema(nullable = false)]
    nearest: Option<String>,
    /// The sections that the document has.
    #[schema(nullable = false)]
    sections: Option<Vec<String>>,
    /// The checks that fail.
    #[schema(nullable = false)]
    not_ready: Option<Vec<String>>,
    /// All checks: `ok`, `failed` or `unknown`.
    #[schema(nullable = false)]
    checks: Option<BTreeMap<String, String>>,
    /// What could not be applied.
    #[schema(nullable = false)]
    rejected: Option<Vec<Rejection>>,
    /// What the document would lose.
    #[schema(nullable = false)]
    warnings: Option<Vec<CollapseBody>>,
}

/// Whether problems can have a member of this name.
pub(super) fn has_member(name: &str) -> bool {
    static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| match ProblemDocument::schema() {
        RefOr::T(Schema::Object(object)) => object.properties.keys().cloned().collect(),
        _ => BTreeSet::new(),
    });
    NAMES.contains(name)
}

/// A sign that a text has lost what the document said.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = PutWarning)]
pub(crate) struct CollapseBody {
    /// More than half of the bytes are gone, or active records are; or archived records' ids name other records now.
    #[schema(value_type = CollapseKind)]
    kind: &'static str,
    /// The same in a sentence, with the sizes.
    detail: String,
    /// The records that are gone: the version archives them as left out by it. Or those whose ids were used again.
    records: Vec<String>,
}

impl From<Collapse> for CollapseBody {
    fn from(collapse: Collapse) -> Self {
        let kind = (&collapse).into();
        match collapse {
            Collapse::BytesDropped { before, after } => Self {
                kind,
                detail: format!(
                    "the text has {after} bytes, the document had {before}: more than half are gone"
                ),
                records: Vec::new(),
            },
            Collapse::RecordsDropped(records) => Self {
                kind,
                detail: match records.len() {
                    1 => "an active record is not in the text: it is archived as left out by this version"
                        .to_owned(),
                    count => {
                        format!(
                            "{count} active records are not in the text: they are archived as left out by this version"
                        )
                    }
                },
                records: records.iter().map(ToString::to_string).collect(),
            },
            Collapse::IdsReused(records) => Self {
                kind,
                detail: "ids that were given before and were not active name records of the text: these are active again \
                         with what the text says; what they said before is in their history \
                         (GET …/records/{record_id}?history=true)"
                    .to_owned(),
                records: records.iter().map(ToString::to_string).collect(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_of_the_document() {
        for name in ["type", "title", "status", "detail", "field", "warnings"] {
            assert!(has_member(name), "{name}");
        }
        for name in ["type_uri", "cause", ""] {
            assert!(!has_member(name), "{name}");
        }
    }
}
