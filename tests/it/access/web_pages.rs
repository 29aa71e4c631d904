//! Cross-site requests to a service without keys, as a browser sends them.

use super::walk::{filled, operations};
use super::{first_admin, with_admin};
use crate::harness::{Answer, Service, holds, lacks};
use reqwest::{Method, RequestBuilder};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use working_memory::config::Config;

const CONTEXT: &str = "/v1/vaults/acme/memories/agent/context";

/// Sends only the head of a request, and reads the response.
async fn answer_to(service: &Service, head: &str) -> String {
    let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_string(&mut answer));
    read.await.expect("an answer before the body").unwrap();
    answer
}

fn put(service: &Service) -> RequestBuilder {
    let request = service.request(Method::PUT, CONTEXT);
    request
        .header("Content-Type", "text/plain")
        .body("# Facts\nmine\n")
}

#[tokio::test]
async fn cross_site_requests_and_unknown_hosts_are_rejected_and_nothing_is_stored() {
    let service = Service::start().await;
    for (header, value) in [
        ("Host", "attacker.example"),
        ("Host", "attacker.example:8080"),
        ("Origin", "http://attacker.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost:3000"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let refused = Answer::to(put(&service).header(header, value)).await;
        let problem = refused.problem(403, "foreign-site", Some(header));
        assert_eq!(problem["setting"], "http.allowed_hosts");
        let detail = problem["detail"].as_str().unwrap();
        holds(detail, &[header, "http.allowed_hosts"]);
        lacks(detail, &["attacker"]);
    }
    // Form posts without a preflight, a preflight, and the creation of a key that would lock the owner out.
    for (method, path) in [
        (Method::POST, "/v1/vaults/acme/memories/agent/operations"),
        (Method::OPTIONS, CONTEXT),
        (Method::POST, "/v1/keys"),
        (Method::GET, "/no/such/route"),
    ] {
        let request = service
            .request(method, path)
            .header("Origin", "http://attacker.example");
        let refused = Answer::to(request.body("{}")).await;
        refused.problem(403, "foreign-site", Some("Origin"));
    }
    assert_eq!(service.counts(["memories", "updates", "api_keys"]).await, [0; 3]);
}

#[tokio::test]
async fn every_route_rejects_an_unknown_host() {
    let service = Service::start().await;
    for (path, methods) in operations() {
        for method in methods {
            let request = service.request(method.clone(), &filled(&path, "acme"));
            let answer = Answer::to(request.header("Host", "attacker.example")).await;
            assert_eq!(answer.status, 403, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_rejection_does_not_wait_for_the_body() {
    let service = Service::start().await;
    let address = service.socket_address();
    let head = format!(
        "PUT {CONTEXT} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://attacker.example\r\nContent-Length: 99\r\n\
         Connection: close\r\n\r\n"
    );
    let answer = answer_to(&service, &head).await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn programs_and_same_origin_pages_are_not_affected() {
    let named = |config: &mut Config| {
        config.http.allowed_hosts = vec!["memory.example.org".parse().unwrap()];
    };
    let service = Service::configured(named).await;
    put(&service).send().await.unwrap().error_for_status().unwrap();
    let get = async |headers: &[(&str, &str)]| {
        let request = service.request(Method::GET, CONTEXT);
        let add = |request: RequestBuilder, (name, value): &(&str, &str)| request.header(*name, *value);
        Answer::to(headers.iter().fold(request, add)).await.is(200);
    };
    let port = service.socket_address().rsplit(':').next().unwrap().to_owned();
    for host in ["localhost", "LOCALHOST:PORT", "[::1]:PORT", "127.0.0.1:PORT"] {
        let host = host.replace("PORT", &port);
        let own = format!("http://{host}");
        get(&[
            ("Host", &host),
            ("Origin", &own),
            ("Sec-Fetch-Site", "same-origin"),
        ])
        .await;
    }
    // Through a proxy, and typed.
    get(&[
        ("Host", "memory.example.org"),
        ("Origin", "https://memory.example.org"),
    ])
    .await;
    get(&[("Sec-Fetch-Site", "none")]).await;
}

#[tokio::test]
async fn with_keys_any_host_and_origin_may_use_one() {
    let (service, admin) = with_admin().await;
    let foreign = |request: RequestBuilder| {
        let request = request
            .header("Host", "memory.example.org")
            .header("Origin", "https://app.example.org");
        request.header("Sec-Fetch-Site", "cross-site")
    };
    let with_key = foreign(admin.putting("acme", "# Facts\n"));
    Answer::to(with_key).await.is(201);
    let without = foreign(service.request(Method::GET, CONTEXT));
    Answer::to(without).await.unauthorized();
    let public = foreign(service.request(Method::GET, "/healthz"));
    Answer::to(public).await.is(200);
}

#[tokio::test]
async fn a_request_must_have_exactly_one_host_with_keys_too() {
    let open = Service::start().await;
    let closed = Service::start().await;
    let admin = first_admin(&closed).await;
    let key = format!("Authorization: Bearer {}\r\n", admin.token);
    for (service, key) in [(&open, ""), (&closed, &*key)] {
        for path in ["/v1/vaults", "/healthz", "/nothing"] {
            for hosts in [
                "",
                "Host: localhost\r\nHost: localhost\r\n",
                "Host: localhost\r\nHost: attacker.example\r\n",
                "Host:\r\n",
                "Host: a b\r\n",
                "Host: user@localhost\r\n",
            ] {
                let head = format!("GET {path} HTTP/1.1\r\n{hosts}{key}Connection: close\r\n\r\n");
                let answer = answer_to(service, &head).await;
                assert!(answer.starts_with("HTTP/1.1 400"), "{path} {hosts}: {answer}");
                assert!(answer.contains(r#""field":"Host""#), "{answer}");
            }
        }
        for (host, status) in [("attacker.example", 400), ("localhost", 200)] {
            let head = format!(
                "GET http://{host}/v1/vaults HTTP/1.1\r\nHost: localhost\r\n{key}Connection: close\r\n\r\n"
            );
            let answer = answer_to(service, &head).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{host}: {answer}"
            );
        }
    }
}
