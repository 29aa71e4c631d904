//! Errors of models, with one message for the client and one for the operator.

use std::time::Duration;
use strum::IntoStaticStr;

/// Why an attempt failed. `Display` is the detailed form for logs: it may quote the server's error message,
/// but never a key or a prompt. [`ModelError::public`] is the form for clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ModelError {
    /// No complete answer before the timeout of the attempt.
    #[error("no complete answer in time: {detail}")]
    TimedOut {
        /// What timed out.
        detail: String,
    },
    /// The server responded with a status other than 2xx.
    #[error("status {code}: {detail}")]
    Status {
        /// The HTTP status.
        code: u16,
        /// The server's `Retry-After`.
        retry_after: Option<Duration>,
        /// The server's error message, shortened.
        detail: String,
    },
    /// The connection failed or was closed before the response was complete.
    #[error("connection failed or lost: {detail}")]
    Unreachable {
        /// The network error.
        detail: String,
    },
    /// The response is not UTF-8, not JSON, or JSON of another form.
    #[error("unusable answer: {detail}")]
    BadAnswer {
        /// What is invalid.
        detail: String,
    },
    /// The response body exceeds the limit.
    #[error("answer larger than {limit} bytes")]
    TooLarge {
        /// The largest response that is read.
        limit: usize,
    },
}

impl ModelError {
    pub(crate) fn bad_answer(detail: impl Into<String>) -> Self {
        Self::BadAnswer {
            detail: detail.into(),
        }
    }

    /// Whether a retry may succeed: true except for a status other than 429 and 5xx (DESIGN §3).
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::Status { code, .. } if *code != 429 && *code < 500)
    }

    /// Whether the client gets status 504; every other failure is 502.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// The kind of failure, for metrics.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.into()
    }

    /// The server's `Retry-After`, if it sent one.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The message for clients: without addresses, keys or anything that the server sent.
    #[must_use]
    pub fn public(&self) -> String {
        match self {
            Self::TimedOut { .. } => "the model did not answer in time".to_owned(),
            Self::Status { code: 429, .. } => {
                "the model server refused for now: too many requests".to_owned()
            }
            Self::Status { code, .. } => format!("the model server answered with status {code}"),
            Self::Unreachable { .. } => "the connection to the model server failed or was lost".to_owned(),
            Self::BadAnswer { .. } => "the model server's answer could not be read".to_owned(),
            Self::TooLarge { limit } => format!("the model server's answer is larger than {limit} bytes"),
        }
    }
}
