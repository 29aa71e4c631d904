//! The interface through which tools, resources and prompts call the routes.

use super::fixed::Fixed;
use super::response::{RouteResponse, StreamResponse, Unreachable};
use rmcp::model::Extensions;
use serde_json::Value;
use std::fmt::Write as _;
use std::future::Future;
use url::form_urlencoded::Serializer;

/// The HTTP method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Reads.
    Get,
    /// Executes an action.
    Post,
    /// Replaces a whole.
    Put,
}

/// One request of the HTTP interface.
#[derive(Debug)]
pub(crate) struct RouteRequest {
    /// Its method.
    pub(crate) method: Method,
    /// The decoded segments of its path.
    pub(crate) path: Vec<String>,
    /// Its parameters.
    pub(crate) query: Vec<(&'static str, String)>,
    /// Its headers.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

impl RouteRequest {
    /// A request below `/v1`, with a JSON response.
    pub(super) fn new(method: Method, path: &[&str]) -> Self {
        let path = std::iter::once("v1").chain(path.iter().copied());
        Self {
            method,
            path: path.map(str::to_owned).collect(),
            query: Vec::new(),
            headers: vec![("accept", "application/json".to_owned())],
            body: Vec::new(),
        }
    }

    /// Requests another media type than JSON.
    pub(crate) fn accept(mut self, media_type: &str) -> Self {
        self.headers.retain(|(name, _)| *name != "accept");
        self.header("accept", media_type)
    }

    /// Adds a header.
    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds a parameter.
    pub(super) fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds an optional parameter.
    pub(super) fn maybe<T: ToString>(self, name: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Sets a text body.
    pub(super) fn text(self, text: String) -> Self {
        let mut ask = self.header("content-type", "text/plain; charset=utf-8");
        ask.body = text.into_bytes();
        ask
    }

    /// Sets a JSON body.
    pub(super) fn json(self, body: &Value) -> Self {
        let mut ask = self.header("content-type", "application/json");
        ask.body = body.to_string().into_bytes();
        ask
    }

    /// Path and query, encoded.
    pub(crate) fn target(&self) -> String {
        let mut target = String::new();
        for segment in &self.path {
            target.push('/');
            for byte in segment.bytes() {
                if byte.is_ascii_alphanumeric() || b"._~:@-".contains(&byte) {
                    target.push(char::from(byte));
                } else {
                    // Writing to a string cannot fail.
                    let _ = write!(target, "%{byte:02X}");
                }
            }
        }
        if !self.query.is_empty() {
            target.push('?');
            let mut query = Serializer::new(String::new());
            query.extend_pairs(&self.query);
            target.push_str(&query.finish());
        }
        target
    }
}

/// Executes requests. `from` contains the extensions of the message that caused them.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Whether it serves one client for its whole session, so that it can push notifications.
    const HAS_SESSION: bool;

    /// The vault and memory that are fixed for this client.
    fn fixed(&self, from: &Extensions) -> Fixed;

    /// Sends a request and reads the whole response.
    fn ask(
        &self,
        from: &Extensions,
        ask: RouteRequest,
    ) -> impl Future<Output = Result<RouteResponse, Unreachable>> + Send;

    /// Requests a version of a document: the members of its JSON, `context` among them, or the failure. A backend that has
    /// the text in memory need not serialize and parse it as JSON: it is the largest part of many messages.
    fn document(
        &self,
        from: &Extensions,
        ask: RouteRequest,
    ) -> impl Future<Output = Result<Result<Value, RouteResponse>, Unreachable>> + Send {
        async {
            let answer = self.ask(from, ask).await?;
            if !answer.is_success() {
                return Ok(Err(answer));
            }
            let document = serde_json::from_slice(&answer.body);
            let unreadable =
                |_| Unreachable("the response of the memory service cannot be parsed".to_owned());
            document.map(Ok).map_err(unreadable)
        }
    }

    /// Opens a stream.
    fn open(
        &self,
        from: &Extensions,
        ask: RouteRequest,
    ) -> impl Future<Output = Result<StreamResponse, Unreachable>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_names_stays_one_segment_and_one_value() {
        let ask = RouteRequest::new(Method::Get, &["vaults", "a/../b", "ä"]).query("q", "a&b=c d");
        assert_eq!(ask.target(), "/v1/vaults/a%2F..%2Fb/%C3%A4?q=a%26b%3Dc+d");
    }
}
