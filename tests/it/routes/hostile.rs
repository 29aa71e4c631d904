//! Malicious input against every route: the response is always a problem that names the error, never an internal error, and
//! nothing is stored.

use crate::harness::{Answer, Service};
use reqwest::Method;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Method, path below `/v1/vaults/{vault}/memories/{memory}/`, media type of the body.
const ROUTES: &[(&str, &str, Option<&str>)] = &[
    ("PUT", "context", Some("text/plain")),
    ("GET", "context", None),
    ("GET", "contexts", None),
    ("GET", "contexts/1", None),
    ("POST", "contexts/1/restore", None),
    ("POST", "contexts/1/redact", Some("application/json")),
    ("GET", "contexts/1/diff", None),
    ("GET", "log", None),
    ("GET", "blame", None),
    ("GET", "sections", None),
    ("GET", "records", None),
    ("GET", "records/KL-1", None),
    ("GET", "updates", None),
    ("GET", "updates/x", None),
    ("POST", "update", Some("application/json")),
    ("POST", "operations", Some("text/plain")),
    ("GET", "handoff", None),
    ("GET", "handoff/status", None),
    ("GET", "handoffs", None),
    ("GET", "handoffs/x", None),
];

/// A body that the route would accept.
fn good_body(media_type: Option<&str>) -> &'static str {
    match media_type {
        Some("application/json") => r#"{"task":"x"}"#,
        Some(_) => "KEY_LEARNINGS:\n",
        None => "",
    }
}

struct Hostile {
    service: Service,
}

impl Hostile {
    async fn start() -> Self {
        Self {
            service: Service::start().await,
        }
    }

    async fn send(
        &self,
        route: &(&str, &str, Option<&str>),
        path: &str,
        headers: &[(&str, &[u8])],
    ) -> Answer {
        let (method, _, media_type) = *route;
        let mut request = self
            .service
            .request(Method::from_bytes(method.as_bytes()).unwrap(), path);
        let types = headers.iter().any(|(name, _)| *name == "Content-Type");
        if let (Some(media_type), false) = (media_type, types) {
            request = request.header("Content-Type", media_type);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::to(request.body(good_body(media_type))).await
    }

    async fn stored_nothing(&self) {
        for table in ["memories", "memory_contexts", "records", "updates"] {
            assert_eq!(self.service.count(table).await, 0, "{table}");
        }
    }
}

#[tokio::test]
async fn bad_ids_are_named_on_every_route() {
    let hostile = Hostile::start().await;
    let long = "x".repeat(129);
    let bad = [
        "%20",
        ".a",
        "-a",
        "a%2Fb",
        "a%00",
        "%C3%A4",
        "a%27%20OR%201=1--",
        "%zz",
        "a;b",
        &long,
    ];
    for route in ROUTES {
        for id in bad {
            let (below, name) = (route.1, "invalid");
            let vault = hostile
                .send(route, &format!("/v1/vaults/{id}/memories/m/{below}"), &[])
                .await;
            vault.problem(422, name, Some("vault_id"));
            let memory = hostile
                .send(route, &format!("/v1/vaults/v/memories/{id}/{below}"), &[])
                .await;
            memory.problem(422, name, Some("memory_id"));
        }
        let binary = hostile
            .send(route, &format!("/v1/vaults/%FF%FE/memories/m/{}", route.1), &[])
            .await;
        binary.malformed("path");
    }
    hostile.stored_nothing().await;
}

#[tokio::test]
async fn unknown_and_undecodable_parameters_are_named_on_every_route() {
    let hostile = Hostile::start().await;
    for route in ROUTES {
        let path = format!("/v1/vaults/v/memories/m/{}", route.1);
        hostile
            .send(route, &format!("{path}?bogus=1"), &[])
            .await
            .invalid("bogus");
        for undecodable in ["%FF", "%", "%f", "%zz", "%+1"] {
            hostile
                .send(route, &format!("{path}?bogus={undecodable}"), &[])
                .await
                .malformed("bogus");
        }
    }
    hostile.stored_nothing().await;
}

#[tokio::test]
async fn bad_headers_are_named_where_they_are_read() {
    let hostile = Hostile::start().await;
    let long = [b'a'; 129];
    for route in ROUTES {
        let path = format!("/v1/vaults/v/memories/m/{}", route.1);
        if route.0 != "GET" {
            for actor in [&b""[..], b" ", b"a b", b"a\"b", &long] {
                let answer = hostile.send(route, &path, &[("X-Actor-Id", actor)]).await;
                answer.invalid("X-Actor-Id");
            }
            let answer = hostile.send(route, &path, &[("X-Actor-Id", b"\xff")]).await;
            answer.malformed("X-Actor-Id");
            let twice = hostile
                .send(route, &path, &[("X-Actor-Id", b"a"), ("X-Actor-Id", b"b")])
                .await;
            twice.malformed("X-Actor-Id");
            for tag in [&b"x"[..], b"\"x", b"*, \"x\"", b"\"a\" \"b\"", b"\xff", b""] {
                let answer = hostile.send(route, &path, &[("If-Match", tag)]).await;
                answer.malformed("If-Match");
            }
        }
    }
    hostile.stored_nothing().await;
}

#[tokio::test]
async fn bad_bodies_are_rejected_on_every_route_that_accepts_one() {
    let hostile = Hostile::start().await;
    for route in ROUTES.iter().filter(|route| route.2.is_some()) {
        let path = format!("/v1/vaults/v/memories/m/{}", route.1);
        let all = "image/png|text/html|text/plain; charset=utf-16|application/json; charset=latin1|\
                application/jsonx||x";
        for media_type in all.split('|') {
            let answer = hostile
                .send(route, &path, &[("Content-Type", media_type.as_bytes())])
                .await;
            answer.problem(415, "unsupported-media-type", Some("Content-Type"));
        }
        let packed = hostile.send(route, &path, &[("Content-Encoding", b"gzip")]).await;
        packed.problem(415, "unsupported-media-type", Some("Content-Type"));
        let method = Method::from_bytes(route.0.as_bytes()).unwrap();
        let send = |body: Vec<u8>| {
            let request = hostile.service.request(method.clone(), &path);
            Answer::to(request.header("Content-Type", route.2.unwrap()).body(body))
        };
        send(b"\xff\xfe".to_vec()).await.malformed("body");
        send(vec![b'x'; 2 << 20])
            .await
            .problem(413, "too-large", Some("body"));
        let empty = send(Vec::new()).await;
        assert!(matches!(empty.status, 400 | 422), "{route:?}");
        let untyped = Answer::to(hostile.service.request(method.clone(), &path).body("x")).await;
        untyped.problem(415, "unsupported-media-type", Some("Content-Type"));
    }
    hostile.stored_nothing().await;
}

#[tokio::test]
async fn wrong_methods_name_the_right_ones_on_every_route() {
    let hostile = Hostile::start().await;
    for (_, below, _) in ROUTES {
        let path = format!("/v1/vaults/v/memories/m/{below}");
        for method in ["DELETE", "PATCH", "OPTIONS", "TRACE", "MADEUP"] {
            // An update can be cancelled.
            if (method, *below) == ("DELETE", "updates/x") {
                continue;
            }
            let request = hostile
                .service
                .request(Method::from_bytes(method.as_bytes()).unwrap(), &path);
            let answer = Answer::to(request).await;
            let allowed = answer.header("allow").to_owned();
            answer.problem(405, "method-not-allowed", None);
            let here = ROUTES.iter().filter(|route| route.1 == *below);
            assert!(
                here.clone().count() > 0 && here.into_iter().all(|route| allowed.contains(route.0)),
                "{allowed}"
            );
        }
    }
    for path in ["/v1", "/v1/", "/v1/vaults/v/memories/m/nothing", "//", "/%FF"] {
        hostile.service.get(path).await.missing();
    }
}

/// Sends raw bytes and reads until the service closes the connection.
async fn raw(service: &Service, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
    // The service may close it before it has read all.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer))
        .await
        .unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn broken_requests_leave_the_service_working() {
    let hostile = Hostile::start().await;
    let put =
        "PUT /v1/vaults/v/memories/m/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
    for request in [
        format!("{put}Content-Length: 100\r\n\r\ncut off"),
        format!("{put}Transfer-Encoding: chunked\r\n\r\n5\r\ncut"),
        format!("{put}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        format!("{put}Content-Length: -1\r\n\r\n"),
        format!("{put}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        "\0\0\0\0".to_owned(),
        "GET /v1 HTTP/9.9\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(100_000)),
        format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20)),
        format!(
            "GET /v1 HTTP/1.1\r\nHost: localhost\r\nX-Big: {}\r\n\r\n",
            "x".repeat(100_000)
        ),
    ] {
        let answer = raw(&hostile.service, request.as_bytes()).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{request:.60}: {answer}"
        );
    }
    // A client that waits for `100 Continue` is refused without it, before it sends the body.
    let waiting = format!("{put}Content-Length: 102401\r\nExpect: 100-continue\r\n\r\n");
    let refused = raw(&hostile.service, waiting.as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    hostile.service.get("/readyz").await.is(200);
    hostile.stored_nothing().await;
}
