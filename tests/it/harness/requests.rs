//! Tables of requests and of what answers them.

use super::{Answer, Memory, Service, has, holds};
use reqwest::Method;
use serde_json::Value;

impl Service {
    /// Sends one request a line, `METHOD /path | Header: value < body → status`, and returns the last answer.
    ///
    /// - A body in brackets is JSON, any other is text, in which `\n`, `\r`, `\t` and `\0` are what they name.
    /// - The status of a problem is followed by its name, and by the field that it is about.
    /// - Then, `=text` is the whole answer, `~text` a part of it, and `{…}` has members of its JSON.
    pub(crate) async fn requests(&self, table: &str) -> Answer {
        self.requests_below("", table).await
    }

    async fn requests_below(&self, base: &str, table: &str) -> Answer {
        let mut last = None;
        for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (asked, expected) = row.split_once(" → ").unwrap_or_else(|| panic!("no arrow: {row}"));
            let answer = self.asked(base, asked).await;
            is_expected(row, &answer, expected);
            last = Some(answer);
        }
        last.expect("a request")
    }

    async fn asked(&self, base: &str, asked: &str) -> Answer {
        let (head, body) = match asked.split_once(" < ") {
            Some((head, body)) => (head, Some(body)),
            None => (asked, None),
        };
        let mut head = head.split(" | ");
        let (method, path) = head.next().and_then(|line| line.split_once(' ')).unwrap();
        let base = if path.starts_with('/') { "" } else { base };
        let mut request = self.request(method.parse::<Method>().unwrap(), &format!("{base}{path}"));
        let mut is_typed = false;
        for (name, value) in head.filter_map(|header| header.split_once(": ")) {
            is_typed |= name == "Content-Type";
            request = request.header(name, value);
        }
        let request = match body {
            None => request,
            Some(body) if is_typed => request.body(plain(body)),
            Some(body) if body.starts_with(['{', '[']) => {
                request.json(&serde_json::from_str::<Value>(body).unwrap())
            }
            Some(body) => request.header("Content-Type", "text/plain").body(plain(body)),
        };
        Answer::to(request).await
    }
}

impl Memory {
    /// The same below this memory, as `METHOD path`.
    pub(crate) async fn requests(&self, table: &str) -> Answer {
        self.service().requests_below(&self.path(""), table).await
    }
}

/// A text of a table with what its escapes name.
fn plain(text: &str) -> String {
    let text = text.replace("\\n", "\n").replace("\\r", "\r");
    text.replace("\\t", "\t").replace("\\0", "\0")
}

#[track_caller]
fn is_expected(row: &str, answer: &Answer, expected: &str) {
    let (status, rest) = expected.split_once(' ').unwrap_or((expected, ""));
    assert_eq!(answer.status.to_string(), status, "{row}: {}", answer.text());
    if let Some(text) = rest.strip_prefix('=') {
        assert_eq!(answer.text(), plain(text), "{row}");
    } else if let Some(part) = rest.strip_prefix('~') {
        holds(answer.text(), &[&plain(part)]);
    } else {
        let (words, members) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        let mut words = words.split_ascii_whitespace();
        let body = match words.next() {
            Some(name) => answer.clone().problem(answer.status, name, words.next()),
            None => serde_json::from_slice(&answer.body).unwrap_or_default(),
        };
        if !members.is_empty() {
            has(
                &body,
                serde_json::from_str(members).unwrap_or_else(|error| panic!("{error}: {row}")),
            );
        }
    }
}
