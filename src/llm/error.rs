//! Why a model did not answer: one sentence for the client, one for the operator.

use std::time::Duration;

/// Why an attempt failed. `Display` is the detailed form for logs and may quote a server's own error
/// message, but neither a key nor a prompt; [`ModelError::public`] is the form for clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No complete answer within the time of an attempt.
    #[error("no complete answer in time: {detail}")]
    TimedOut {
        /// What was waited for.
        detail: String,
    },
    /// The server answered with another status than 2xx.
    #[error("status {code}: {detail}")]
    Status {
        /// The HTTP status.
        code: u16,
        /// How long the server asks to wait before the next attempt.
        retry_after: Option<Duration>,
        /// The server's own error message, shortened.
        detail: String,
    },
    /// No connection, or it broke before the answer was complete.
    #[error("connection failed or lost: {detail}")]
    Unreachable {
        /// What the network said.
        detail: String,
    },
    /// The answer is not UTF-8, not JSON, or JSON of another form.
    #[error("unusable answer: {detail}")]
    BadAnswer {
        /// What is wrong with it.
        detail: String,
    },
    /// The answer's body is over the limit.
    #[error("answer larger than {limit} bytes")]
    TooLarge {
        /// `llm.max_response_bytes`.
        limit: usize,
    },
}

impl ModelError {
    pub(crate) fn bad_answer(detail: impl Into<String>) -> Self {
        Self::BadAnswer {
            detail: detail.into(),
        }
    }

    /// Whether another attempt may succeed: everything but a status other than 429 and 5xx (DESIGN §3).
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Status { code, .. } => *code == 429 || *code >= 500,
            Self::TimedOut { .. }
            | Self::Unreachable { .. }
            | Self::BadAnswer { .. }
            | Self::TooLarge { .. } => true,
        }
    }

    /// Whether the client is told 504; every other failure is 502.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// The kind of failure in a word, for metrics.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::TimedOut { .. } => "timed_out",
            Self::Status { .. } => "status",
            Self::Unreachable { .. } => "unreachable",
            Self::BadAnswer { .. } => "bad_answer",
            Self::TooLarge { .. } => "too_large",
        }
    }

    /// How long the server asked to wait before the next attempt.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The sentence for clients: no address, no key, nothing of what the server said.
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
