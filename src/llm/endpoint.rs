//! Sends a JSON POST request to a model server and interprets the response.
//!
//! Requests are retried: timeout per attempt, number of retries, with backoff.
//!
//! The timeout of a role (`llm.timeout_seconds`) applies to each attempt separately, so that a slow model may
//! use all of it and a hung server does not use up the time of later attempts. The same value also limits the
//! sum of the waits between attempts. If `Retry-After` exceeds what is left of that, retrying stops at once,
//! because the server has said that an earlier attempt will fail.

use std::time::{Duration, SystemTime};

use opentelemetry_http::HeaderInjector;
use reqwest::header::{DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::ModelError;
use crate::config::llm::InvalidLlm;
use crate::domain::text::visible_line;
use crate::telemetry::traces;

/// Connect timeout; shorter than any sensible timeout of a whole attempt.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Maximum length of a server's error message in the log, in characters.
const DETAIL_CHARS: usize = 300;

/// Why models could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// An invalid key in the configuration.
    #[error(transparent)]
    Config(#[from] InvalidLlm),
    /// The HTTP client could not be created.
    #[error("the HTTP client for models could not be set up: {0}")]
    Client(String),
}

/// The HTTP client shared by all models, with its connection pool. It follows no redirects, because a
/// redirect could send the key to another host, and ignores proxy settings of the environment.
#[derive(Debug, Clone)]
pub struct Client(pub(super) reqwest::Client);

impl Client {
    /// Creates the client. Certificates are loaded only if an `https` address is used.
    ///
    /// # Errors
    ///
    /// Certificates are needed and the machine has none.
    pub fn new(needs_https: bool) -> Result<Self, SetUpError> {
        // If the process has already installed a crypto provider, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .user_agent(concat!("working-memory/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIME)
            .pool_idle_timeout(Duration::from_secs(30));
        let builder = if needs_https {
            builder
        } else {
            builder.tls_certs_only([])
        };
        builder
            .build()
            .map(Self)
            .map_err(|error| SetUpError::Client(chain(&error)))
    }
}

/// The largest response that is read from a model server: many times the longest answer, with its escapes.
pub(super) const MAX_RESPONSE_BYTES: usize = 4 << 20;

/// Target and headers of requests. Its debug form does not show the key.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    key: Option<SecretString>,
    max_response_bytes: usize,
}

impl Endpoint {
    pub(super) fn new(client: Client, url: Url, max_response_bytes: usize) -> Self {
        Self {
            client,
            url,
            headers: HeaderMap::new(),
            key: None,
            max_response_bytes,
        }
    }

    /// Adds a non-secret header to every request.
    pub(super) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers
            .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Adds the key, after `prefix`, to every request. A key that is not a valid header value is omitted; the
    /// configuration rejects such keys.
    pub(super) fn with_key(mut self, name: &'static str, prefix: &str, key: Option<SecretString>) -> Self {
        if let Some(key) = &key
            && let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", key.expose_secret()))
        {
            value.set_sensitive(true);
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self.key = key;
        self
    }

    /// Posts `body` and parses the response as JSON.
    ///
    /// # Errors
    ///
    /// Every possible failure except the timeout of the attempt, which the caller enforces.
    pub(super) async fn post(&self, body: &impl Serialize) -> Result<Value, ModelError> {
        let mut headers = self.headers.clone();
        traces::send_on(&mut HeaderInjector(&mut headers));
        let sent = self.client.0.post(self.url.clone()).headers(headers).json(body);
        let response = sent.send().await.map_err(network_error)?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.status_error(response).await);
        }
        let body = read_bounded(response, self.max_response_bytes).await?;
        let text = std::str::from_utf8(&body).map_err(|_| ModelError::bad_answer("not UTF-8"))?;
        serde_json::from_str(text).map_err(|error| ModelError::bad_answer(format!("not JSON: {error}")))
    }

    async fn status_error(&self, response: Response) -> ModelError {
        let code = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        // The status is reported even if the body cannot be read.
        let body = read_bounded(response, self.max_response_bytes)
            .await
            .unwrap_or_default();
        let value = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        ModelError::Status {
            code,
            retry_after,
            detail: self.error_detail(&value),
        }
    }

    /// The error for an error object in a successful response, as some gateways send it.
    pub(super) fn error_object(&self, error: &Value) -> ModelError {
        let detail = self.error_detail(error);
        match error
            .get("code")
            .and_then(Value::as_u64)
            .and_then(|code| u16::try_from(code).ok())
        {
            Some(code @ 400..=599) => ModelError::Status {
                code,
                retry_after: None,
                detail,
            },
            _ => ModelError::BadAnswer {
                detail: format!("an error instead of an answer: {detail}"),
            },
        }
    }

    /// The message of an error in the format of the usual servers: shortened, on one line, without the key.
    fn error_detail(&self, body: &Value) -> String {
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let message = error
            .get("message")
            .or(error.get("detail"))
            .unwrap_or(error)
            .as_str()
            .unwrap_or("no message");
        let message = match &self.key {
            Some(key) => message.replace(key.expose_secret(), "[key]"),
            None => message.to_owned(),
        };
        visible_line(&message).chars().take(DETAIL_CHARS).collect()
    }
}

/// The URL of an operation below a base URL; the query of the base URL is kept.
pub(super) fn below(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

/// Parses `Retry-After` in seconds or as a date. A date is compared with the response's own `Date`, so that
/// clock skew has no effect.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let sent = headers
        .get(DATE)
        .and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    Some(
        until
            .duration_since(sent.unwrap_or_else(wall_clock))
            .unwrap_or_default(),
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "the other end's date without a Date header has no other measure"
)]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}

/// Reads the body of a model's response, which may have `limit` bytes.
pub(super) async fn read_bounded(response: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
    let body = read_at_most(response, limit).await.map_err(network_error)?;
    body.ok_or(ModelError::TooLarge { limit })
}

/// Reads the body of a response in chunks; `None` if it has more than `limit` bytes, of which none is kept.
pub(crate) async fn read_at_most(mut response: Response, limit: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let announced = response.content_length();
    if announced.is_some_and(|bytes| usize::try_from(bytes).is_ok_and(|bytes| bytes > limit)) {
        return Ok(None);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > limit - body.len() {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Converts a network error; the address is removed.
pub(super) fn network_error(error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let detail = chain(&error);
    if error.is_timeout() {
        ModelError::TimedOut { detail }
    } else {
        ModelError::Unreachable { detail }
    }
}

/// An error with all its causes, because the outermost one of `reqwest` contains few details.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The retry policy of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of retries.
    pub max_retries: u32,
    /// Timeout of one attempt, and the maximum sum of the waits between attempts.
    pub timeout: Duration,
    /// The first backoff; it doubles with every further attempt.
    pub base_backoff: Duration,
}

impl Retry {
    /// The configured retry policy of a role.
    #[must_use]
    pub fn new(timeout: Duration, max_retries: u32) -> Self {
        Self {
            max_retries,
            timeout,
            base_backoff: Duration::from_millis(500),
        }
    }

    /// Calls `attempt` with its number until it succeeds, fails permanently, or the retry policy is exhausted. Returns the last
    /// result and the number of attempts.
    pub(super) async fn run<T, F>(&self, mut attempt: impl FnMut(u32) -> F) -> (Result<T, ModelError>, u32)
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let mut left = self.timeout;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match attempt(attempts).await {
                Ok(answer) => return (Ok(answer), attempts),
                Err(error) => error,
            };
            let Some(wait) = self.wait(attempts, &error, left) else {
                return (Err(error), attempts);
            };
            left -= wait;
            sleep(wait).await;
        }
    }

    /// The wait after `attempts` failed attempts; `None` if there is no further attempt.
    fn wait(&self, attempts: u32, error: &ModelError, left: Duration) -> Option<Duration> {
        if !error.is_retryable() || attempts > self.max_retries {
            return None;
        }
        let asked_for = error.retry_after().unwrap_or_default();
        (asked_for <= left).then(|| self.backoff(attempts).min(left).max(asked_for))
    }

    /// Exponential backoff with jitter between half and full length, so that roles that failed together do
    /// not retry at the same time.
    fn backoff(&self, attempts: u32) -> Duration {
        let whole = self
            .base_backoff
            .saturating_mul(1 << attempts.saturating_sub(1).min(16));
        whole.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// One attempt, which has this time.
pub(super) async fn within<T>(
    time: Duration,
    attempt: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    timeout(time, attempt).await.unwrap_or_else(|_| {
        Err(ModelError::TimedOut {
            detail: format!("{} ms for one attempt are over", time.as_millis()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick(max_retries: u32) -> Retry {
        Retry {
            max_retries,
            timeout: Duration::from_millis(300),
            base_backoff: Duration::from_millis(2),
        }
    }

    /// The number of attempts, and the last failure, if every attempt fails with the next of these statuses.
    async fn failing(codes: &[u16], retry: Retry) -> (u32, ModelError) {
        let attempt = |number: u32| {
            let error = ModelError::Status {
                code: codes[number as usize - 1],
                retry_after: None,
                detail: String::new(),
            };
            async move { Err::<(), _>(error) }
        };
        let (result, attempts) = retry.run(attempt).await;
        (attempts, result.unwrap_err())
    }

    #[tokio::test]
    async fn the_retries_end_and_a_client_error_is_not_tried_again() {
        let (attempts, last) = failing(&[500, 500, 502], quick(2)).await;
        assert_eq!(attempts, 3);
        assert!(matches!(last, ModelError::Status { code: 502, .. }));
        for code in [307, 400, 401, 404, 422] {
            assert_eq!(failing(&[code, 500], quick(2)).await.0, 1);
        }
    }

    #[test]
    fn back_off_grows_and_never_overflows() {
        let retry = Retry::new(Duration::from_secs(60), 10);
        assert!(
            retry.backoff(1) >= Duration::from_millis(250) && retry.backoff(1) <= Duration::from_millis(500)
        );
        assert!(retry.backoff(3) >= Duration::from_secs(1));
        assert!(retry.backoff(u32::MAX) > Duration::ZERO);
    }
}
