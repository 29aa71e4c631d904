//! A request to a service, from its parameters to its response.

use super::endpoint::Endpoint;
use super::failure::{Exit, Failure};
use super::response::{ServiceResponse, into_success};
use super::wire::{Broken, MAX_ANSWER_BYTES, innermost, whole};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH};
use reqwest::{Body, Method};
use serde::Serialize;
use std::time::Duration;
use url::Url;

/// Pauses before a request whose connection was lost is retried, unchanged and with the same `Idempotency-Key`.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request under construction.
pub(in crate::cli) struct Call<'s> {
    endpoint: &'s Endpoint,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Vec<u8>,
    about: String,
}

impl<'s> Call<'s> {
    /// A request without parameters and body.
    pub(super) fn new(endpoint: &'s Endpoint, method: Method, url: Url, headers: HeaderMap) -> Self {
        Self {
            endpoint,
            method,
            url,
            headers,
            body: Vec::new(),
            about: String::new(),
        }
    }

    /// Sets the subject of the request, for messages.
    pub(super) fn about(mut self, about: String) -> Self {
        self.about = about;
        self
    }

    /// Adds a parameter.
    pub(in crate::cli) fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
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
    pub(in crate::cli) fn accept(mut self, media_type: &'static str) -> Self {
        self.headers.insert(ACCEPT, HeaderValue::from_static(media_type));
        self
    }

    /// Sets `If-Match`: a context_id, with or without quotes, or `*`.
    ///
    /// # Errors
    /// It is not valid in a header.
    pub(in crate::cli) fn if_match(mut self, version: Option<&str>) -> Result<Self, Failure> {
        let Some(version) = version else { return Ok(self) };
        let tag = if version == "*" || version.starts_with('"') {
            version.to_owned()
        } else {
            format!("\"{version}\"")
        };
        let tag = HeaderValue::from_str(&tag)
            .map_err(|_| Failure::usage("--if-match must be the context_id of a version"))?;
        self.headers.insert(reqwest::header::IF_MATCH, tag);
        Ok(self)
    }

    /// Sets a header.
    ///
    /// # Errors
    /// It is not valid in a header.
    pub(in crate::cli) fn header(mut self, name: &'static str, value: &str) -> Result<Self, Failure> {
        let value = HeaderValue::from_str(value)
            .map_err(|_| Failure::usage(format!("{name} cannot be sent: it is not valid in a header")))?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Sets the body; the caller sets its media type as a header.
    pub(in crate::cli) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// Sets `If-None-Match`: the response may be 304, without a body.
    pub(in crate::cli) fn if_none_match(mut self, etag: Option<&HeaderValue>) -> Self {
        if let Some(etag) = etag {
            self.headers.insert(IF_NONE_MATCH, etag.clone());
        }
        self
    }

    /// Resumes after this event.
    pub(super) fn resume_after(mut self, id: &str) -> Result<Self, Failure> {
        let id =
            HeaderValue::from_str(id).map_err(|_| Failure::failed("the service's event id is invalid"))?;
        self.headers.insert(HeaderName::from_static("last-event-id"), id);
        Ok(self)
    }

    /// Sets a text body.
    pub(in crate::cli) fn text(mut self, text: Vec<u8>) -> Self {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        self.headers.insert(CONTENT_TYPE, plain);
        self.body = text;
        self
    }

    /// Sets a JSON body.
    ///
    /// # Errors
    /// The value cannot be serialized as JSON.
    pub(in crate::cli) fn json(mut self, body: &impl Serialize) -> Result<Self, Failure> {
        self.body = serde_json::to_vec(body).map_err(|error| Failure::failed(error.to_string()))?;
        self.headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(self)
    }

    /// Sends the request and reads the response. If the connection is lost it is retried: a write carries a key, so that
    /// the service executes it once.
    ///
    /// # Errors
    /// No response, or not in time, or an error status.
    pub(in crate::cli) async fn send(self) -> Result<ServiceResponse, Failure> {
        let answer = self.exchange().await?;
        into_success(answer, &self.about)
    }

    /// Like [`Call::send`], with any status as success.
    ///
    /// # Errors
    /// No response, or not in time.
    pub(in crate::cli) async fn exchange(&self) -> Result<ServiceResponse, Failure> {
        let mut pauses = match self.method {
            Method::GET | Method::POST | Method::PUT => PAUSES.iter(),
            // A deletion has no key, and a retry would find nothing to delete.
            _ => [].iter(),
        };
        let mut lost = None;
        loop {
            let error = match self.once().await {
                Ok(answer) => return Ok(answer),
                Err(Broken::Http(error)) => error,
                Err(Broken::TooLarge) => {
                    return Err(Failure::failed(format!(
                        "the answer of {} is over {MAX_ANSWER_BYTES} bytes",
                        self.endpoint.url
                    )));
                }
            };
            if error.is_timeout() && !error.is_connect() {
                return Err(self.too_slow());
            }
            if error.is_connect() && lost.is_none() {
                return Err(self.no_service(&error));
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
        match self.once().await {
            Ok(answer) => into_success(answer, &self.about),
            Err(Broken::Http(error)) if error.is_timeout() => Err(self.too_slow()),
            Err(Broken::Http(error)) if error.is_connect() => Err(self.no_service(&error)),
            Err(Broken::Http(error)) => Err(self.lost(&error)),
            Err(Broken::TooLarge) => Err(Failure::failed("the answer is too large")),
        }
    }

    fn too_slow(&self) -> Failure {
        let Endpoint { url, timeout, .. } = self.endpoint;
        let time = match timeout.as_secs() {
            0 => format!("{} ms", timeout.as_millis()),
            seconds => format!("{seconds} s"),
        };
        Failure::new(
            Exit::Busy,
            format!("{url} did not answer within {time} (--timeout)"),
        )
    }

    /// Sends the request once and returns the response while its body is still open. Only its head has a timeout.
    ///
    /// # Errors
    /// As [`Call::send`].
    pub(super) async fn open(self) -> Result<reqwest::Response, Failure> {
        let about = self.about.clone();
        match self.begin().await? {
            OpenResponse::Success(response) => Ok(response),
            OpenResponse::Other(answer) => Err(into_success(answer, &about)
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
        self.headers.remove(IDEMPOTENCY_KEY);
        let endpoint = self.endpoint;
        let request = endpoint.client.request(self.method.clone(), self.url.clone());
        let beginning = request
            .headers(self.headers.clone())
            .body(Body::from(self.body.clone()))
            .send();
        let Ok(begun) = tokio::time::timeout(endpoint.timeout, beginning).await else {
            let sentence = format!("{} did not answer in time", endpoint.url);
            return Err(Failure::new(Exit::Busy, sentence));
        };
        let response = begun.map_err(|error| match error.is_connect() {
            true => self.no_service(&error),
            false => self.lost(&error),
        })?;
        if response.status().is_success() {
            return Ok(OpenResponse::Success(response));
        }
        match tokio::time::timeout(endpoint.timeout, whole(response)).await {
            Ok(Ok(answer)) => Ok(OpenResponse::Other(answer)),
            _ => Err(Failure::failed(format!(
                "the answer of {} was lost",
                endpoint.url
            ))),
        }
    }

    async fn once(&self) -> Result<ServiceResponse, Broken> {
        let request = self
            .endpoint
            .client
            .request(self.method.clone(), self.url.clone());
        let response = request
            .headers(self.headers.clone())
            .timeout(self.endpoint.timeout)
            .body(Body::from(self.body.clone()))
            .send()
            .await?;
        whole(response).await
    }

    fn no_service(&self, error: &reqwest::Error) -> Failure {
        Failure::new(
            Exit::NoService,
            format!(
                "no service answers at {} ({}); start one with `working-memory serve`, or name another with --url \
                 or WORKING_MEMORY_URL",
                self.endpoint.url,
                innermost(error)
            ),
        )
    }

    fn lost(&self, error: &reqwest::Error) -> Failure {
        let unknown = match self.method {
            Method::GET => "",
            _ => "; whether the request was executed is unknown",
        };
        Failure::failed(format!(
            "the connection to {} was lost ({}){unknown}",
            self.endpoint.url,
            innermost(error)
        ))
    }
}

/// A response whose head has arrived.
pub(in crate::cli) enum OpenResponse {
    /// A success; the body is still to be read.
    Success(reqwest::Response),
    /// Any other status, with its whole body.
    Other(ServiceResponse),
}
