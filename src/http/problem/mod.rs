//! The only error format of the service: `application/problem+json` (RFC 9457).
//!
//! A [`Problem`] has two readers. The client receives a stable `type` with its `title` and `status`, a `detail` that
//! names the field and the limit, and further machine-readable members. The operator receives the cause: it is
//! attached to the response as [`Cause`], is written to the request's log line, and is never sent.

mod from_errors;

use crate::domain::memory::{Collapse, CollapseKind};
use crate::pipeline::report::Rejection;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::{self, Display};
use std::sync::{Arc, LazyLock};
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The media type of every error.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// The prefix of all problem types. It contains no host, so it is the same for every installation.
const TYPE_PREFIX: &str = "urn:working-memory:problem:";

/// The maximum length of `detail` in bytes. It may quote the request, but only in part.
const MAX_DETAIL_BYTES: usize = 1_000;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $status:ident, $slug:literal, $title:literal;)*) => {
        /// The kind of a problem. Each kind has one status, one title and one stable type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($(#[$doc])* $variant,)*
        }

        impl Kind {
            /// All kinds.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            /// The HTTP status.
            pub(crate) fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status),* }
            }

            /// The last part of the type URI.
            pub(crate) fn slug(self) -> &'static str {
                match self { $(Self::$variant => $slug),* }
            }

            /// A short description, the same for every occurrence.
            pub(crate) fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),* }
            }
        }
    };
}

kinds! {
    /// The request cannot be parsed.
    Malformed = BAD_REQUEST, "malformed", "The request cannot be read";
    /// The caller is not authenticated.
    Unauthorized = UNAUTHORIZED, "unauthorized", "A key is needed";
    /// The caller is authenticated but not allowed to do this.
    Forbidden = FORBIDDEN, "forbidden", "Not allowed with this key";
    /// The request comes from a web page of another site, or under a name that is not the service's.
    ForeignSite = FORBIDDEN, "foreign-site", "Not allowed from another site without keys";
    /// There is no resource at this path.
    NotFound = NOT_FOUND, "not-found", "Not found";
    /// The address exists, the method does not.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method-not-allowed", "The method is not allowed here";
    /// No representation that the client accepts.
    NotAcceptable = NOT_ACCEPTABLE, "not-acceptable", "No acceptable representation";
    /// The request did not arrive in time.
    RequestTimeout = REQUEST_TIMEOUT, "request-timeout", "The request did not arrive in time";
    /// The state of the memory conflicts with the request.
    Conflict = CONFLICT, "conflict", "The memory has changed";
    /// It existed and was removed permanently.
    Gone = GONE, "gone", "Gone";
    /// The document would lose much of its content, and the request does not confirm that.
    Collapse = CONFLICT, "collapse", "The document would lose much of its content";
    /// The first request with this idempotency key is still running.
    StillRunning = CONFLICT, "still-running", "The first request with this key is still running";
    /// A precondition of the request does not hold.
    PreconditionFailed = PRECONDITION_FAILED, "precondition-failed", "A precondition is not satisfied";
    /// The body exceeds a limit.
    TooLarge = PAYLOAD_TOO_LARGE, "too-large", "The body is too large";
    /// The media type of the body is not accepted.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The media type is not supported";
    /// The request can be parsed but is not valid.
    Invalid = UNPROCESSABLE_ENTITY, "invalid", "The request is not valid";
    /// The idempotency key belongs to another request.
    KeyReused = UNPROCESSABLE_ENTITY, "key-reused", "The key belongs to another request";
    /// Too much at once.
    TooManyRequests = TOO_MANY_REQUESTS, "too-many-requests", "Too many requests";
    /// An internal error.
    Internal = INTERNAL_SERVER_ERROR, "internal", "The service failed";
    /// A model failed.
    ModelFailed = BAD_GATEWAY, "model-failed", "A model failed";
    /// The service is temporarily unavailable.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service is not available at the moment";
    /// The vault's storage quota is used up.
    Quota = INSUFFICIENT_STORAGE, "quota", "The vault has reached its limit";
    /// A model did not answer in time.
    ModelTimeout = GATEWAY_TIMEOUT, "model-timeout", "A model did not answer in time";
}

impl Kind {
    /// The stable type URI.
    pub(crate) fn type_uri(self) -> String {
        format!("{TYPE_PREFIX}{}", self.slug())
    }
}

/// The cause of a failure; only for the log.
#[derive(Debug, Clone)]
pub(crate) struct Cause(pub(crate) Arc<str>);

/// An error response.
#[derive(Debug)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    kind: Kind,
    body: ProblemBody,
    headers: HeaderMap,
    cause: Option<Cause>,
}

impl Problem {
    /// A problem of a kind. `detail` says what is wrong with this request and what is expected; it never contains
    /// internals.
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            body: ProblemBody {
                type_uri: kind.type_uri(),
                title: kind.title(),
                status: kind.status().as_u16(),
                detail: shortened(detail.into()),
                members: Map::new(),
            },
            headers: HeaderMap::new(),
            cause: None,
        }))
    }

    /// 400: `field` cannot be parsed.
    pub(crate) fn malformed(field: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::Malformed, detail).with("field", field)
    }

    /// 422: `field` can be parsed but is not valid.
    pub(crate) fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, detail).with("field", field)
    }

    /// 404.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, detail)
    }

    /// 413: `field` exceeds the limit `limit_name`; `actual` is its size in bytes, if known.
    pub(crate) fn too_large(field: &str, limit_name: &str, limit: usize, actual: Option<u64>) -> Self {
        let size = actual.map_or_else(|| "more".to_owned(), |bytes| format!("{bytes} bytes"));
        let detail = format!("{field} has {size}; at most {limit} bytes are accepted ({limit_name})");
        let problem = Self::new(Kind::TooLarge, detail)
            .with("field", field)
            .with("limit", limit);
        match actual {
            Some(bytes) => problem.with("actual", bytes),
            None => problem,
        }
    }

    /// 412: the precondition in `header` does not hold.
    pub(crate) fn precondition_failed(header: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::PreconditionFailed, detail).with("field", header)
    }

    /// 500: the client receives no details, the log receives the cause.
    pub(crate) fn internal(cause: impl Display) -> Self {
        Self::new(
            Kind::Internal,
            "the request could not be completed because of a fault of the service",
        )
        .caused_by(cause)
    }

    /// The kind of the problem.
    #[cfg(test)]
    pub(crate) fn kind(&self) -> Kind {
        self.0.kind
    }

    /// A further member by name.
    #[cfg(test)]
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.0.body.members.get(name)
    }

    /// 503: the request exceeded its time limit.
    pub(crate) fn given_up(time: std::time::Duration) -> Self {
        Self::new(
            Kind::Unavailable,
            format!(
                "the request was aborted after {} seconds; whether it took effect is not known",
                time.as_secs()
            ),
        )
        .with("limit_seconds", time.as_secs())
        .retry_after(1)
        .caused_by("time-out of the request")
    }

    /// The body of the problem, for a stream that has already begun. Its cause is logged here.
    pub(crate) fn into_body(self) -> ProblemBody {
        let Parts { body, cause, .. } = *self.0;
        if let Some(Cause(cause)) = cause {
            tracing::warn!(%cause, "a stream ended with a problem");
        }
        body
    }

    /// Adds a member. [`Members`] must document it.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        debug_assert!(has_member(name), "{name} is not documented");
        self.0.body.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a cause for the log.
    pub(crate) fn caused_by(mut self, cause: impl Display) -> Self {
        self.0.cause = Some(Cause(cause.to_string().into()));
        self
    }

    /// Adds `Retry-After`.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        self.header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.body.detail)
    }
}

/// So that a body can end with one.
impl Error for Problem {}

fn shortened(mut detail: String) -> String {
    if detail.len() > MAX_DETAIL_BYTES {
        let end = detail.floor_char_boundary(MAX_DETAIL_BYTES);
        detail.truncate(end);
        detail.push('…');
    }
    detail
}

/// The body of every error (RFC 9457). The first four members are always there; the others depend on the type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// What kind of problem it is: a stable URI, to be compared and not fetched.
    #[serde(rename = "type")]
    #[schema(
        example = "urn:working-memory:problem:invalid",
        pattern = "^urn:working-memory:problem:[a-z-]+$"
    )]
    type_uri: String,
    /// The kind in words, the same for every occurrence.
    title: &'static str,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong with this request: the field, the limit.
    detail: String,
    #[serde(flatten)]
    members: Map<String, Value>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Parts {
            kind,
            body,
            headers,
            cause,
        } = *self.0;
        // Serializing strings and numbers in a map with text keys cannot fail.
        let text = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (kind.status(), headers, [(CONTENT_TYPE, MEDIA_TYPE)], text).into_response();
        if kind == Kind::Quota {
            // The caller can fix this; it is no failure of the service.
            response.extensions_mut().insert(Passing);
        }
        if let Some(cause) = cause {
            response.extensions_mut().insert(cause);
        }
        response
    }
}

/// Marks a response about a temporary state, such as that the service is starting: its log line is not an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing;

/// The members that problems have besides those of [`ProblemBody`], each only where it says something.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents what `Problem::with` is given")]
struct Members {
    /// The parameter, header or member of the body that is wrong; `body` for the body as a whole.
    field: String,
    /// The limit that is broken, in the unit that the detail names.
    limit: i64,
    /// The name of the limit: a setting where it can be set, and a fixed limit of the service otherwise.
    #[schema(example = "limits.context_bytes")]
    limit_name: String,
    /// The time that was not enough, in seconds.
    limit_seconds: i64,
    /// The least that is taken.
    minimum: i64,
    /// What was found where the limit is.
    actual: i64,
    /// The size before the change, in bytes.
    before: i64,
    /// The tokens that the prompt needs at least.
    needed: i64,
    /// Where in the body, in bytes from its beginning.
    offset: i64,
    /// How many rejected items there are besides those that are told.
    more_rejected: u64,
    /// When the quota is open again.
    opens_at: DateTime<Utc>,
    /// What stands there now, for a precondition: an entity tag or a `context_id`; null if there is nothing.
    current: Option<String>,
    /// The run that was kept: see `GetUpdate`.
    update_id: String,
    /// Where that run stands.
    run_status: String,
    /// Who decided about the proposal.
    decided_by: String,
    /// When that was.
    decided_at: DateTime<Utc>,
    /// The id of the request, as in `X-Request-Id` and in the log: what to name in a report.
    request_id: String,
    /// The record that stands against it.
    record_id: String,
    /// The number of the version it is about; for a precondition that of the newest one.
    version: i64,
    /// The role whose model failed.
    role: String,
    /// The role that the key would need.
    required_role: String,
    /// The setting that would let the request in.
    setting: String,
    /// Why the version's text was taken out.
    redaction_reason: String,
    /// When it was.
    redacted_at: DateTime<Utc>,
    /// `missing`: there is no handoff yet.
    freshness: String,
    /// The media types that are taken.
    accepted: Vec<String>,
    /// The decisions that can be superseded.
    active: Vec<String>,
    /// The parts that a prompt can have.
    known: Vec<String>,
    /// The names that are none of them.
    unknown: Vec<String>,
    /// The route whose path resembles the one that does not exist.
    nearest: String,
    /// The sections that the document has.
    sections: Vec<String>,
    /// The checks that fail.
    not_ready: Vec<String>,
    /// All checks: `ok`, `failed` or `unknown`.
    checks: BTreeMap<String, String>,
    /// What could not be applied.
    rejected: Vec<Rejection>,
    /// What the document would lose.
    warnings: Vec<CollapseBody>,
}

/// The schema of problems. A member that a problem does not have is absent, never null.
pub(super) fn schema() -> Object {
    let of = |schema| match schema {
        RefOr::T(Schema::Object(object)) => object,
        _ => Object::default(),
    };
    let mut problem = of(ProblemBody::schema());
    problem.properties.extend(of(Members::schema()).properties);
    problem.additional_properties = None;
    problem
}

/// Whether problems can have a member of this name.
fn has_member(name: &str) -> bool {
    static NAMES: LazyLock<BTreeSet<String>> =
        LazyLock::new(|| schema().properties.keys().cloned().collect());
    NAMES.contains(name)
}

/// A sign that a text has lost what the document said.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = PutWarning)]
pub(crate) struct CollapseBody {
    /// More than half of the bytes are gone, or active records are; or archived records' ids name other records now.
    kind: CollapseKind,
    /// The same in a sentence, with the sizes.
    detail: String,
    /// The records that are gone: the version archives them as left out by it. Or those whose ids were used again.
    records: Vec<String>,
}

impl From<Collapse> for CollapseBody {
    fn from(collapse: Collapse) -> Self {
        let kind = CollapseKind::from(&collapse);
        let (detail, records) = match collapse {
            Collapse::BytesDropped { before, after } => {
                let detail =
                    format!("the text has {after} bytes, the document had {before}: more than half are gone");
                (detail, Vec::new())
            }
            Collapse::RecordsDropped(records) => {
                let count = records.len();
                let detail = format!(
                    "active records that are not in the text are archived as left out by this version: {count}"
                );
                (detail, records)
            }
            Collapse::IdsReused(records) => {
                let detail = "ids that were given before and were not active name records of the text: these are active again \
                              with what the text says; what they said before is in their history \
                              (GET …/records/{record_id}?history=true)";
                (detail.to_owned(), records)
            }
        };
        Self {
            kind,
            detail,
            records: records.iter().map(ToString::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(problem: Problem) -> (Response, Value) {
        let (parts, body) = problem.into_response().into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        (
            Response::from_parts(parts, ().into_response().into_body()),
            serde_json::from_slice(&bytes).unwrap(),
        )
    }

    #[tokio::test]
    async fn the_cause_stays_inside_and_optional_members_are_left_out() {
        let (response, body) = read(Problem::internal("password=secret").retry_after(3)).await;
        assert_eq!(
            &*response.extensions().get::<Cause>().unwrap().0,
            "password=secret"
        );
        assert_eq!(response.headers()[RETRY_AFTER], "3");
        assert!(!body.to_string().contains("secret"));
        assert_eq!(body.as_object().unwrap().len(), 4);
    }

    #[test]
    fn a_long_detail_is_cut_at_a_character() {
        let cut = shortened("ä".repeat(MAX_DETAIL_BYTES));
        assert!(cut.len() <= MAX_DETAIL_BYTES + "…".len() && cut.ends_with("ä…"));
    }

    #[test]
    fn the_operators_table_has_every_kind_with_its_status() {
        let manual = include_str!("../../../docs/operations.md");
        let (_, table) = manual.split_once("## What each error means").unwrap();
        let rows: Vec<_> = table.lines().filter(|line| line.starts_with("| `")).collect();
        for kind in Kind::ALL {
            let begins = format!("| `{}` | {} |", kind.slug(), kind.status().as_u16());
            let found = rows.iter().filter(|row| row.starts_with(&begins)).count();
            assert_eq!(found, 1, "{begins}");
        }
        assert_eq!(rows.len(), Kind::ALL.len());
    }

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
