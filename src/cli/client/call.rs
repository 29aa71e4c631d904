//! A request to a service, from its parameters to its response.

use super::failure::{Exit, Failure};
use super::response::ServiceResponse;
use super::service::Service;
use super::settings::is_loopback;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use reqwest::{Method, Request};
use serde::Serialize;
use std::error::Error as _;
use std::time::Duration;
use url::Url;

/// Pauses before a request whose connection was lost is retried, unchanged and with the same `Idempotency-Key`.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// The timeout of a connection attempt.
const CONNECT_TIME: Duration = Duration::from_secs(5);

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The HTTP client of a service: no redirects, since one could send the key to another host, and no proxy for this
/// machine itself.
pub(super) fn client(url: &Url) -> Result<reqwest::Client, Failure> {
    let unusable = |error| Failure::failed(format!("cannot connect to {url}: {}", innermost(&error)));
    client_builder(url).build().map_err(unusable)
}

/// The settings of such a client.
pub(in crate::cli) fn client_builder(url: &Url) -> reqwest::ClientBuilder {
    // No other code in this process installs a provider before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("working-memory/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIME);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    builder
}

/// A request under construction.
pub(in crate::cli) struct Call<'s> {
    pub(super) service: &'s Service,
    pub(super) request: Request,
    /// Its subject, for messages.
    pub(super) about: String,
}

impl Call<'_> {
    /// Adds a parameter.
    pub(in crate::cli) fn query(mut self, name: &str, value: &str) -> Self {
        self.request.url_mut().query_pairs_mut().append_pair(name, value);
        self
    }

    /// Adds an optional parameter.
    pub(in crate::cli) fn maybe<T: ToString>(self, name: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.query(name, &value.to_string()),
            None => self,
        }
    }

    /// Adds `name=true`, if `set`.
    pub(in crate::cli) fn flag(self, name: &str, set: bool) -> Self {
        self.maybe(name, set.then_some("true"))
    }

    /// Requests another media type than JSON.
    pub(in crate::cli) fn accept(self, media_type: &'static str) -> Self {
        self.with(ACCEPT, HeaderValue::from_static(media_type))
    }

    /// Sets `If-Match`: a context_id, with or without quotes, or `*`.
    ///
    /// # Errors
    /// It is not valid in a header.
    pub(in crate::cli) fn if_match(self, version: Option<&str>) -> Result<Self, Failure> {
        let Some(version) = version else { return Ok(self) };
        let tag = if version == "*" || version.starts_with('"') {
            version.to_owned()
        } else {
            format!("\"{version}\"")
        };
        let tag = HeaderValue::from_str(&tag)
            .map_err(|_| Failure::usage("--if-match must be the context_id of a version"))?;
        Ok(self.with(IF_MATCH, tag))
    }

    /// Lets a write succeed only on this version, or if there is none.
    ///
    /// # Errors
    /// As [`Call::if_match`].
    pub(in crate::cli) fn on_version(self, version: Option<&str>) -> Result<Self, Failure> {
        match version {
            Some(_) => self.if_match(version),
            None => Ok(self.with(IF_NONE_MATCH, HeaderValue::from_static("*"))),
        }
    }

    /// Sets a header.
    ///
    /// # Errors
    /// It is not valid in a header.
    pub(in crate::cli) fn header(self, name: &str, value: &str) -> Result<Self, Failure> {
        match (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => Ok(self.with(name, value)),
            _ => Err(Failure::usage(format!(
                "{name} cannot be sent: it is not valid in a header"
            ))),
        }
    }

    /// Sets headers.
    pub(in crate::cli) fn headers(mut self, headers: HeaderMap) -> Self {
        self.request.headers_mut().extend(headers);
        self
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.request.headers_mut().insert(name, value);
        self
    }

    /// Sets `If-None-Match`: the response may be 304, without a body.
    pub(in crate::cli) fn if_none_match(self, etag: Option<&HeaderValue>) -> Self {
        match etag {
            Some(etag) => self.with(IF_NONE_MATCH, etag.clone()),
            None => self,
        }
    }

    /// Sets the body; the caller sets its media type as a header.
    pub(in crate::cli) fn body(mut self, body: impl Into<reqwest::Body>) -> Self {
        *self.request.body_mut() = Some(body.into());
        self
    }

    /// Sets a text body.
    pub(in crate::cli) fn text(self, text: Vec<u8>) -> Self {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        self.with(CONTENT_TYPE, plain).body(text)
    }

    /// Sets a JSON body.
    ///
    /// # Errors
    /// The value cannot be serialized as JSON.
    pub(in crate::cli) fn json(self, body: &impl Serialize) -> Result<Self, Failure> {
        let body = serde_json::to_vec(body).map_err(|error| Failure::failed(error.to_string()))?;
        let json = HeaderValue::from_static("application/json");
        Ok(self.with(CONTENT_TYPE, json).body(body))
    }

    /// Sends the request and reads the response. If the connection is lost it is retried: a write carries a key, so that
    /// the service executes it once.
    ///
    /// # Errors
    /// No response, or not in time, or an error status.
    pub(in crate::cli) async fn send(self) -> Result<ServiceResponse, Failure> {
        let answer = self.exchange().await?;
        answer.into_success(&self.about)
    }

    /// Like [`Call::send`], with any status as success.
    ///
    /// # Errors
    /// No response, or not in time.
    pub(in crate::cli) async fn exchange(&self) -> Result<ServiceResponse, Failure> {
        let mut pauses = match *self.request.method() {
            Method::GET | Method::POST | Method::PUT => PAUSES.iter(),
            // A deletion has no key, and a retry would find nothing to delete.
            _ => [].iter(),
        };
        let mut lost = None;
        loop {
            let error = match self.once().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let is_connect = error.is_connect();
            if (error.is_timeout() && !is_connect) || (is_connect && lost.is_none()) {
                return Err(self.broken(&error));
            }
            let Some(pause) = pauses.next() else {
                return Err(self.lost(lost.as_ref().unwrap_or(&error)));
            };
            lost.get_or_insert(error);
            tokio::time::sleep(*pause).await;
        }
    }

    /// Sends the request once and reads the response: for optional requests.
    ///
    /// # Errors
    /// As [`Call::send`].
    pub(in crate::cli) async fn send_once(self) -> Result<ServiceResponse, Failure> {
        let answer = self.once().await.map_err(|error| self.broken(&error))?;
        answer.into_success(&self.about)
    }

    /// Sends the request once and returns the response while its body is still open. Only its head has a timeout.
    ///
    /// # Errors
    /// As [`Call::send`].
    pub(super) async fn open(self) -> Result<reqwest::Response, Failure> {
        let about = self.about.clone();
        match self.begin().await? {
            OpenResponse::Success(response) => Ok(response),
            OpenResponse::Other(answer) => Err(answer
                .into_success(&about)
                .err()
                .unwrap_or_else(|| Failure::failed("the response is not a stream"))),
        }
    }

    /// Like [`Call::open`], with any status as success. It carries no `Idempotency-Key`, which would make the service
    /// send the stream as a whole.
    ///
    /// # Errors
    /// No response, or not in time.
    pub(in crate::cli) async fn begin(mut self) -> Result<OpenResponse, Failure> {
        self.request.headers_mut().remove(IDEMPOTENCY_KEY);
        let timeout = self.service.timeout;
        let sending = self.service.client.execute(self.copy());
        let response = match tokio::time::timeout(timeout, sending).await {
            Ok(begun) => begun.map_err(|error| self.broken(&error))?,
            Err(_) => return Err(self.too_slow()),
        };
        if response.status().is_success() {
            return Ok(OpenResponse::Success(response));
        }
        match tokio::time::timeout(timeout, whole(response)).await {
            Ok(Ok(answer)) => Ok(OpenResponse::Other(answer)),
            _ => Err(Failure::failed(format!(
                "the answer of {} was lost",
                self.service.url
            ))),
        }
    }

    async fn once(&self) -> reqwest::Result<ServiceResponse> {
        let mut request = self.copy();
        *request.timeout_mut() = Some(self.service.timeout);
        whole(self.service.client.execute(request).await?).await
    }

    /// The request, to be sent. Its body is in memory and can be copied.
    fn copy(&self) -> Request {
        let empty = || Request::new(self.request.method().clone(), self.request.url().clone());
        self.request.try_clone().unwrap_or_else(empty)
    }

    fn broken(&self, error: &reqwest::Error) -> Failure {
        if error.is_connect() {
            return Failure::new(
                Exit::NoService,
                format!(
                    "no service answers at {} ({}); start one with `working-memory serve`, or name another with --url \
                     or WORKING_MEMORY_URL",
                    self.service.url,
                    innermost(error)
                ),
            );
        }
        if error.is_timeout() {
            return self.too_slow();
        }
        self.lost(error)
    }

    fn too_slow(&self) -> Failure {
        let Service { url, timeout, .. } = self.service;
        let time = match timeout.as_secs() {
            0 => format!("{} ms", timeout.as_millis()),
            seconds => format!("{seconds} s"),
        };
        Failure::new(
            Exit::Busy,
            format!("{url} did not answer within {time} (--timeout)"),
        )
    }

    fn lost(&self, error: &reqwest::Error) -> Failure {
        let unknown = match *self.request.method() {
            Method::GET => "",
            _ => "; whether the request was executed is unknown",
        };
        Failure::failed(format!(
            "the connection to {} was lost ({}){unknown}",
            self.service.url,
            innermost(error)
        ))
    }
}

/// Reads a response with its body.
async fn whole(response: reqwest::Response) -> reqwest::Result<ServiceResponse> {
    Ok(ServiceResponse {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: response.bytes().await?,
    })
}

/// The innermost cause of an error, which is the most informative.
pub(in crate::cli) fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = error.to_string();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}

/// A response whose head has arrived.
pub(in crate::cli) enum OpenResponse {
    /// A success; the body is still to be read.
    Success(reqwest::Response),
    /// Any other status, with its whole body.
    Other(ServiceResponse),
}
