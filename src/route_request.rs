//! A request to a route of the HTTP interface, as tools of `mcp`, pages of `dashboard` and commands of `cli` make them.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use url::form_urlencoded::Serializer;

/// One request. `S` is what sends it, if it carries that with it.
#[derive(Debug)]
#[must_use = "a request does nothing until it is sent"]
pub(crate) struct RouteRequest<S = ()> {
    /// What sends it.
    pub(crate) sender: S,
    /// Its method.
    pub(crate) method: Method,
    /// The path, encoded, perhaps with parameters.
    path: String,
    /// Its parameters.
    query: Vec<(Cow<'static, str>, String)>,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Bytes,
}

/// Values by their names, as they are written: a number keeps all its digits.
pub(crate) type Members = BTreeMap<String, Box<RawValue>>;

/// A path of these segments, each of which stays one, whatever it contains.
pub(crate) fn path(segments: &[&str]) -> String {
    let mut path = String::new();
    for segment in segments {
        path.push('/');
        for byte in segment.bytes() {
            if byte.is_ascii_alphanumeric() || b"._~:@-".contains(&byte) {
                path.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path
}

impl RouteRequest {
    /// A request below `/v1`, with a JSON response.
    pub(crate) fn new(method: Method, below: &[&str]) -> Self {
        Self::of((), method, &[&["v1"], below].concat())
    }

    /// A request to an encoded path with its parameters, with a JSON response.
    pub(crate) fn to_target(method: Method, target: &str) -> Self {
        let mut request = Self::of((), method, &[]);
        target.clone_into(&mut request.path);
        request
    }

    /// The same request, which `sender` sends.
    pub(crate) fn sent_by<S>(self, sender: S) -> RouteRequest<S> {
        RouteRequest {
            sender,
            method: self.method,
            path: self.path,
            query: self.query,
            headers: self.headers,
            body: self.body,
        }
    }
}

impl<S> RouteRequest<S> {
    /// A request that `sender` sends, with a JSON response.
    pub(crate) fn of(sender: S, method: Method, segments: &[&str]) -> Self {
        Self {
            sender,
            method,
            path: path(segments),
            query: Vec::new(),
            headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
            body: Bytes::new(),
        }
    }

    /// Requests another media type than JSON.
    pub(crate) fn accept(self, media_type: &'static str) -> Self {
        self.header(ACCEPT, HeaderValue::from_static(media_type))
    }

    /// Sets a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Adds a parameter.
    pub(crate) fn query(mut self, name: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        self.query.push((name.into(), value.to_string()));
        self
    }

    /// Adds an optional parameter.
    pub(crate) fn maybe<T: ToString>(self, name: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Sets a text body.
    pub(crate) fn text(mut self, text: impl Into<Bytes>) -> Self {
        self.body = text.into();
        self.header(
            CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        )
    }

    /// Sets a JSON body.
    pub(crate) fn json(mut self, body: &impl Serialize) -> Self {
        // The keys of all bodies are strings, so that this cannot fail.
        self.body = serde_json::to_vec(body).unwrap_or_default().into();
        self.header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
    }

    /// Adds options by their names, without those that are null, which were not given.
    ///
    /// # Errors
    /// The value of an option cannot be read.
    pub(crate) fn options(self, options: &impl Serialize) -> serde_json::Result<Self> {
        let written = serde_json::to_string(options)?;
        let given: Option<Members> = serde_json::from_str(&written)?;
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| value.get() != "null");
        Ok(self.members(given))
    }

    /// Adds members of a JSON body, or parameters where there is none or another body.
    pub(crate) fn members(self, members: Members) -> Self {
        let has_body = self.headers.contains_key(CONTENT_TYPE);
        if matches!(self.method, Method::POST | Method::PUT) && !has_body && !members.is_empty() {
            return self.json(&members);
        }
        members.into_iter().fold(self, |request, (name, value)| {
            let text = serde_json::from_str(value.get());
            request.query(name, text.unwrap_or_else(|_| value.get().to_owned()))
        })
    }

    /// Path and query, encoded.
    pub(crate) fn target(&self) -> String {
        let mut target = self.path.clone();
        if !self.query.is_empty() {
            target.push(if target.contains('?') { '&' } else { '?' });
            let mut query = Serializer::new(String::new());
            query.extend_pairs(self.query.iter());
            target.push_str(&query.finish());
        }
        target
    }

    /// The request for a router of this process, and what sends it.
    ///
    /// # Errors
    /// The path or the parameters are too long.
    pub(crate) fn into_parts<B: From<Bytes>>(self) -> Result<(S, Request<B>), http::Error> {
        let request = Request::builder().method(&self.method).uri(self.target());
        let mut request = request.body(self.body.into())?;
        *request.headers_mut() = self.headers;
        Ok((self.sender, request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_names_stays_one_segment_and_one_value() {
        let ask = RouteRequest::new(Method::GET, &["vaults", "a/../b", "ä"]).query("q", "a&b=c d");
        assert_eq!(ask.target(), "/v1/vaults/a%2F..%2Fb/%C3%A4?q=a%26b%3Dc+d");
    }

    #[test]
    fn options_are_members_or_parameters_and_those_that_are_null_are_neither() {
        let options: Members =
            serde_json::from_str(r#"{"a": null, "b": 12345678901234567890123, "c": "x y", "d": false}"#)
                .unwrap();
        let ask = |method| RouteRequest::new(method, &["x"]);
        let get = ask(Method::GET).options(&options).unwrap();
        assert_eq!(get.target(), "/v1/x?b=12345678901234567890123&c=x+y&d=false");
        let put = ask(Method::PUT).text("body").options(&options).unwrap();
        assert_eq!((put.target(), &put.body[..]), (get.target(), &b"body"[..]));
        let post = ask(Method::POST).options(&options).unwrap();
        assert_eq!(post.target(), "/v1/x");
        assert_eq!(post.body, r#"{"b":12345678901234567890123,"c":"x y","d":false}"#);
        let none = ask(Method::POST).options(&()).unwrap();
        assert!(none.body.is_empty() && !none.headers.contains_key(CONTENT_TYPE));
    }
}
