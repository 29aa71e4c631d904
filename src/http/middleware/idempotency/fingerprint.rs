//! The fingerprint of a request: equal for a retry, different for any other request.

use axum::http::HeaderName;
use axum::http::header::{CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use sha2::{Digest, Sha256};

/// Headers that change the effect of a request.
const HEADERS: [HeaderName; 4] = [
    CONTENT_TYPE,
    IF_MATCH,
    IF_NONE_MATCH,
    HeaderName::from_static("x-actor-id"),
];

/// SHA-256 over everything that identifies a request. Each part is preceded by its length, so different requests never
/// hash the same bytes.
pub(super) fn of(parts: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    add(parts.method.as_str().as_bytes());
    add(parts.uri.path().as_bytes());
    add(parts.uri.query().unwrap_or_default().as_bytes());
    for name in HEADERS {
        let values = parts.headers.get_all(&name);
        add(&(values.iter().count() as u64).to_be_bytes());
        for value in values {
            add(value.as_bytes());
        }
    }
    add(body);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;
    use std::collections::HashSet;

    #[test]
    fn requests_differ_in_whatever_changes_what_they_do_and_in_nothing_else() {
        let print = |method: &str, uri: &str, headers: &[(&str, &str)], body: &str| {
            let mut request = Request::builder().method(method).uri(uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            of(&request.body(()).unwrap().into_parts().0, body.as_bytes())
        };
        let all: HashSet<_> = [
            print("PUT", "/a", &[], "x"),
            print("POST", "/a", &[], "x"),
            print("PUT", "/ax", &[], ""),
            print("PUT", "/a?", &[("if-match", "x")], ""),
            print("PUT", "/a", &[("if-none-match", "x")], ""),
            print("PUT", "/a", &[("if-match", "x"), ("if-match", "y")], ""),
            print("PUT", "/a?q", &[], "x"),
            print("PUT", "/a", &[("content-type", "text/plain")], "x"),
            print("PUT", "/a", &[("x-actor-id", "ann")], "x"),
            print("PUT", "/a", &[], "y"),
        ]
        .into();
        assert_eq!(all.len(), 10);
        assert!(all.contains(&print(
            "PUT",
            "/a",
            &[("x-request-id", "7"), ("accept", "*/*")],
            "x"
        )));
    }
}
