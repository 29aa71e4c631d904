//! Malicious input against every route: the response is always a problem that names the error, never an internal error, and
//! nothing is stored.

use crate::harness::{Answer, Service};
use reqwest::Method;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Method, path below `/v1/vaults/{vault}/memories/{memory}/`, media type of the body.
type Route = (&'static str, &'static str, Option<&'static str>);

const ROUTES: &[Route] = &[
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

/// A request with a body that the route would accept.
async fn send(service: &Service, route: &Route, path: &str, headers: &[(&str, &[u8])]) -> Answer {
    let (method, _, media_type) = *route;
    let mut request = service.request(method.parse().unwrap(), path);
    let types = headers.iter().any(|(name, _)| *name == "Content-Type");
    if let (Some(media_type), false) = (media_type, types) {
        request = request.header("Content-Type", media_type);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = match media_type {
        Some("application/json") => r#"{"task":"x"}"#,
        Some(_) => "KEY_LEARNINGS:\n",
        None => "",
    };
    Answer::to(request.body(body)).await
}

async fn stored_nothing(service: &Service) {
    let tables = ["memories", "memory_contexts", "records", "updates"];
    assert_eq!(service.counts(tables).await, [0; 4], "{tables:?}");
}

#[tokio::test]
async fn bad_ids_parameters_and_headers_are_named_on_every_route() {
    let service = Service::start().await;
    let long = "x".repeat(129);
    let bad = "%20 .a -a a%2Fb a%00 %C3%A4 a%27%20OR%201=1-- %zz a;b";
    for route in ROUTES {
        let at = async |path: &str| send(&service, route, &format!("/v1/vaults/{path}"), &[]).await;
        let below = route.1;
        for id in bad.split(' ').chain([long.as_str()]) {
            at(&format!("{id}/memories/m/{below}")).await.invalid("vault_id");
            at(&format!("v/memories/{id}/{below}")).await.invalid("memory_id");
        }
        at(&format!("%FF%FE/memories/m/{below}")).await.malformed("path");
        let path = format!("v/memories/m/{below}");
        at(&format!("{path}?bogus=1")).await.invalid("bogus");
        at(&format!("{path}?bogus=%FF")).await.malformed("bogus");
        if route.0 == "GET" {
            continue;
        }
        let path = format!("/v1/vaults/{path}");
        let with = async |headers: &[(&str, &[u8])]| send(&service, route, &path, headers).await;
        for actor in [&b""[..], b" ", b"a b", b"a\"b", &[b'a'; 129]] {
            with(&[("X-Actor-Id", actor)]).await.invalid("X-Actor-Id");
        }
        for headers in [
            &[("X-Actor-Id", &b"\xff"[..])][..],
            &[("X-Actor-Id", b"a"), ("X-Actor-Id", b"b")],
        ] {
            with(headers).await.malformed("X-Actor-Id");
        }
        for tag in [&b"x"[..], b"\"x", b"*, \"x\"", b"\"a\" \"b\"", b"\xff", b""] {
            with(&[("If-Match", tag)]).await.malformed("If-Match");
        }
    }
    stored_nothing(&service).await;
}

#[tokio::test]
async fn bad_bodies_are_rejected_on_every_route_that_accepts_one() {
    let service = Service::start().await;
    for route in ROUTES.iter().filter(|route| route.2.is_some()) {
        let path = format!("/v1/vaults/v/memories/m/{}", route.1);
        let unsupported =
            |answer: Answer| answer.problem(415, "unsupported-media-type", Some("Content-Type"));
        let all = "image/png|text/html|text/plain; charset=utf-16|application/json; charset=latin1|\
                application/jsonx||x";
        for media_type in all.split('|') {
            let headers = [("Content-Type", media_type.as_bytes())];
            unsupported(send(&service, route, &path, &headers).await);
        }
        unsupported(send(&service, route, &path, &[("Content-Encoding", b"gzip")]).await);
        let request = || service.request(route.0.parse().unwrap(), &path);
        unsupported(Answer::to(request().body("x")).await);
        let typed = |body: Vec<u8>| {
            let typed = request().header("Content-Type", route.2.unwrap());
            Answer::to(typed.body(body))
        };
        typed(b"\xff\xfe".to_vec()).await.malformed("body");
        let large = typed(vec![b'x'; 2 << 20]).await;
        large.problem(413, "too-large", Some("body"));
        let empty = typed(Vec::new()).await;
        assert!(matches!(empty.status, 400 | 422), "{route:?}");
    }
    stored_nothing(&service).await;
}

#[tokio::test]
async fn wrong_methods_name_the_right_ones_on_every_route() {
    let service = Service::start().await;
    for (_, below, _) in ROUTES {
        let path = format!("/v1/vaults/v/memories/m/{below}");
        for method in ["DELETE", "PATCH", "OPTIONS", "TRACE", "MADEUP"] {
            // An update can be cancelled.
            if (method, *below) == ("DELETE", "updates/x") {
                continue;
            }
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let answer = Answer::to(service.request(method, &path)).await;
            let allowed = answer.header("allow").to_owned();
            answer.problem(405, "method-not-allowed", None);
            let mut here = ROUTES.iter().filter(|route| route.1 == *below);
            assert!(here.all(|route| allowed.contains(route.0)), "{path}: {allowed}");
        }
    }
    for path in ["/v1", "/v1/", "/v1/vaults/v/memories/m/nothing", "//", "/%FF"] {
        service.get(path).await.missing();
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
    let service = Service::start().await;
    let put =
        "PUT /v1/vaults/v/memories/m/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
    let get = |path: &str, header: &str| format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n");
    for request in [
        format!("{put}Content-Length: 100\r\n\r\ncut off"),
        format!("{put}Transfer-Encoding: chunked\r\n\r\n5\r\ncut"),
        format!("{put}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        format!("{put}Content-Length: -1\r\n\r\n"),
        format!("{put}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        "\0\0\0\0".to_owned(),
        "GET /v1 HTTP/9.9\r\n\r\n".to_owned(),
        get(&"x".repeat(100_000), ""),
        get(&"x".repeat(1 << 20), ""),
        get("v1", &format!("X-Big: {}\r\n", "x".repeat(100_000))),
    ] {
        let answer = raw(&service, request.as_bytes()).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{request:.60}: {answer}"
        );
    }
    // A client that waits for `100 Continue` is refused without it, before it sends the body.
    let waiting = format!("{put}Content-Length: 102401\r\nExpect: 100-continue\r\n\r\n");
    let refused = raw(&service, waiting.as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    service.get("/readyz").await.is(200);
    stored_nothing(&service).await;
}
