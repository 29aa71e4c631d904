//! A response of the service.

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::sync::LazyLock;

/// Checks members of a JSON object; others may be there too.
///
/// A name like `/list/0/id` leads further down, and `/list/*/id` to that member of every entry. The text
/// of `name~` has these parts, that of `name^` begins with this one, that of `name!` has none of them, and `name#` is the number
/// of its entries.
#[track_caller]
pub(crate) fn has(object: &Value, members: Value) {
    for (name, expected) in members.as_object().unwrap() {
        let (path, sign) = match name.char_indices().next_back() {
            Some((end, sign @ ('~' | '^' | '!' | '#'))) => (&name[..end], sign),
            _ => (name.as_str(), ' '),
        };
        let found = match path.strip_prefix('/') {
            Some(path) => below(object, path),
            None => object[path].clone(),
        };
        let is_there = |part: &Value| plain(&found).contains(&plain(part));
        let parts = expected
            .as_array()
            .map_or(std::slice::from_ref(expected), Vec::as_slice);
        let is_met = match sign {
            '~' => parts.iter().all(is_there),
            '^' => plain(&found).starts_with(&plain(expected)),
            '!' => !found.is_null() && !parts.iter().any(is_there),
            '#' => found.as_array().map(Vec::len).map(Value::from).as_ref() == Some(expected),
            _ => found == *expected,
        };
        assert!(is_met, "{name} is {found}, not {expected}, in {object}");
    }
}

/// What a path leads to; null if there is nothing.
fn below(object: &Value, path: &str) -> Value {
    let (name, rest) = path
        .split_once('/')
        .map_or((path, None), |(name, rest)| (name, Some(rest)));
    let go_on = |value: &Value| rest.map_or_else(|| value.clone(), |rest| below(value, rest));
    match (name, object) {
        ("*", Value::Array(entries)) => entries.iter().map(go_on).collect(),
        (_, Value::Array(entries)) => name
            .parse()
            .ok()
            .and_then(|at: usize| entries.get(at))
            .map_or(Value::Null, go_on),
        _ => object.get(name).map_or(Value::Null, go_on),
    }
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Checks that a text has all of these parts.
#[track_caller]
pub(crate) fn holds(text: impl AsRef<str>, parts: &[&str]) {
    let text = text.as_ref();
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

/// Checks that a text has none of these parts.
#[track_caller]
pub(crate) fn lacks(text: impl AsRef<str>, parts: &[&str]) {
    let text = text.as_ref();
    for part in parts {
        assert!(!text.contains(part), "{part:?} is in: {text}");
    }
}

/// One member of each object of a list, which is text.
#[track_caller]
pub(crate) fn each<'v>(list: &'v Value, member: &str) -> Vec<&'v str> {
    let list = list
        .as_array()
        .unwrap_or_else(|| panic!("no list of {member}: {list}"));
    let text = |object: &'v Value| object[member].as_str();
    list.iter().map(|object| text(object).unwrap()).collect()
}

/// The rows of a table of JSON values, each with what belongs to it.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = (Value, &'static str)> {
    table.trim().lines().map(|row| {
        let (value, rest) = row.trim().split_once(" → ").unwrap();
        (serde_json::from_str(value).unwrap(), rest)
    })
}

/// An operation of `openapi.yaml`, and the statuses of its answers.
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) statuses: Vec<&'static str>,
}

/// Read by its lines, since every test is a process that would have to parse the whole document.
pub(crate) static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let mut operations: Vec<Operation> = Vec::new();
    let mut path = "";
    let lines = include_str!("../../../openapi.yaml").lines();
    for line in lines.skip_while(|line| *line != "paths:").skip(1) {
        let name = line.trim_start();
        match line.len() - name.len() {
            0 if !line.is_empty() => break,
            2 => path = name.trim_end_matches(':'),
            4 => operations.push(Operation {
                method: name.trim_end_matches(':').to_uppercase().parse().unwrap(),
                path,
                statuses: Vec::new(),
            }),
            8 => {
                let status = name.strip_prefix('\'').and_then(|name| name.split_once("':"));
                let statuses = &mut operations.last_mut().unwrap().statuses;
                statuses.extend(status.map(|(status, _)| status));
            }
            _ => {}
        }
    }
    operations
});

/// Whether the document has this answer; it says nothing of pages, and of paths and methods that it does not have.
fn is_documented(method: &Method, path: &str, status: u16) -> bool {
    let is_head = *method == Method::HEAD;
    let method = if is_head { &Method::GET } else { method };
    let is_asked = |operation: &&Operation| {
        let (names, segments) = (operation.path.split('/'), path.split('/'));
        operation.method == *method
            && names.clone().count() == segments.clone().count()
            && names
                .zip(segments)
                .all(|(name, segment)| name.starts_with('{') || name == segment)
    };
    let status = status.to_string();
    let mut asked = OPERATIONS.iter().filter(is_asked).peekable();
    asked.peek().is_none() || asked.any(|operation| operation.statuses.contains(&status.as_str()))
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Sends a request and reads the whole response, which `openapi.yaml` must describe.
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = client.execute(request).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        assert!(
            is_documented(&method, &path, status),
            "openapi.yaml does not describe the answer {status} to {method} {path}"
        );
        Self {
            status,
            headers,
            body: response.bytes().await.unwrap().to_vec(),
        }
    }

    /// Checks the status; shows the body if the status differs.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// The body as text.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// A header that must exist, as text.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name}: {self:?}"))
            .to_str()
            .unwrap()
    }

    /// A member of its JSON, named as `/list/0/id`, or a header, or all of it as `=`; as text.
    #[track_caller]
    pub(crate) fn part(&self, place: &str) -> String {
        match place.strip_prefix('/') {
            Some(path) => plain(&below(&serde_json::from_slice(&self.body).unwrap(), path)),
            None if place == "=" => self.text().to_owned(),
            None => self.header(place).to_owned(),
        }
    }

    /// The body, without the id of the request, which a problem names.
    pub(crate) fn told(&self) -> Vec<u8> {
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(Value::Object(mut body)) => {
                body.remove("request_id");
                serde_json::to_vec(&body).unwrap()
            }
            _ => self.body.to_vec(),
        }
    }

    /// Checks that it is a problem of this status and type, about `field` where one is given.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, name: &str, field: Option<&str>) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        let kind = format!("urn:working-memory:problem:{name}");
        let id = self.header("x-request-id");
        has(
            &problem,
            serde_json::json!({"type": kind, "status": status, "request_id": id}),
        );
        let is_told = problem["title"].is_string() && problem["detail"].is_string();
        assert!(is_told, "{problem}");
        if let Some(field) = field {
            assert_eq!(problem["field"], field, "{problem}");
        }
        problem
    }

    /// Checks that something of the request is invalid: this.
    #[track_caller]
    pub(crate) fn invalid(self, field: &str) -> Value {
        self.problem(422, "invalid", Some(field))
    }

    /// Checks that something of the request cannot be read: this.
    #[track_caller]
    pub(crate) fn malformed(self, field: &str) -> Value {
        self.problem(400, "malformed", Some(field))
    }

    /// Checks that a precondition failed.
    #[track_caller]
    pub(crate) fn stale(self) -> Value {
        self.problem(412, "precondition-failed", None)
    }

    /// Checks that the key may not do this.
    #[track_caller]
    pub(crate) fn forbidden(self) -> Value {
        self.problem(403, "forbidden", None)
    }

    /// Checks that no valid key was sent.
    #[track_caller]
    pub(crate) fn unauthorized(self) -> Value {
        self.problem(401, "unauthorized", None)
    }

    /// Checks that there is nothing there.
    #[track_caller]
    pub(crate) fn missing(self) -> Value {
        self.problem(404, "not-found", None)
    }

    /// Checks that something else stands against it.
    #[track_caller]
    pub(crate) fn conflict(self) -> Value {
        self.problem(409, "conflict", None)
    }
}
