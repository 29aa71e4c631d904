//! Responses that are not read hold the concurrency permit of their request, and release it.

use super::{get, of, put};
use crate::harness::{Answer, Service, each, eventually, holds};
use reqwest::Method;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A connection that requested the blame of `m` and read the first bytes of the response.
pub(super) async fn asks_and_does_not_read(service: &Service) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let address = service.socket_address().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let request = "GET /v1/vaults/evil/memories/m/blame HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(std::str::from_utf8(&head).unwrap(), "HTTP/1.1 200");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_is_not_read_holds_the_permit_of_its_request() {
    let service = Service::configured(|config| config.http.max_requests = 1).await;
    // Nearly nine megabytes of JSON: more than the socket buffers hold.
    let text = "# D\n".to_owned() + &"a\n".repeat(51_000);
    put(&service, "evil", "m", text).await.is(201);

    let unread = asks_and_does_not_read(&service).await;
    let refused = get(&service, "other", "m").await;
    assert_eq!(refused.problem(503, "unavailable", None)["limit"], 1);

    drop(unread);
    eventually("the place is free again", async || {
        get(&service, "other", "m").await.status == 404
    })
    .await;
}

/// Sends a PUT whose body has so many bytes, and reads the head of the response.
async fn head_of_refused_put(stream: &mut TcpStream, bytes: usize) -> String {
    let head = format!(
        "PUT /v1/vaults/other/memories/m/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
         Content-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The end comes late, as from a client on a slow line.
    stream.write_all(&vec![b'a'; bytes / 2]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(&vec![b'a'; bytes / 2]).await.unwrap();
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).await.unwrap();
        answer.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&answer);
        if read == 0 || text.contains("\r\n\r\n") && text.ends_with('}') {
            return text.into_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_while_the_body_arrives_keeps_the_connection_or_says_that_it_ends() {
    let service = Service::configured(|config| config.http.max_requests = 1).await;
    let text = "# D\n".to_owned() + &"a\n".repeat(51_000);
    put(&service, "evil", "m", text).await.is(201);
    let _unread = asks_and_does_not_read(&service).await;

    let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
    for bytes in [200_000, 200_000, 200_000, 1_200_000] {
        let refused = head_of_refused_put(&mut stream, bytes).await;
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        assert!(!refused.contains("connection: close"), "{refused}");
    }
    let refused = head_of_refused_put(&mut stream, 16_900_000).await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("connection: close"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_was_told_to_continue_is_read_to_its_end() {
    let service = Service::start().await;
    let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
    let head = "PUT /v1/vaults/v/memories/m/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
                Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    let body = format!("493e0\r\n{}\r\n0\r\n\r\n", "a".repeat(300_000));
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = [0; 4_096];
    let read = stream.read(&mut answer).await.unwrap();
    let refused = String::from_utf8_lossy(&answer[..read]);
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    assert!(!refused.contains("connection: close"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blame_is_streamed_completely() {
    let service = Service::start().await;
    let lines: Vec<String> = (0..12_000).map(|n| format!("l{n}")).collect();
    put(&service, "v", "m", lines.join("\n")).await.is(201);
    put(&service, "v", "m", lines.join("\r\n") + "\n").await.is(201);

    let blame = service.read("/v1/vaults/v/memories/m/blame").await;
    assert_eq!(blame["version"], 2);
    assert_eq!(each(&blame["lines"], "text"), lines);
    for (line, number) in blame["lines"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(line["line"], number);
    }
    let plain = of(&service, Method::GET, "v", "m/blame").header("Accept", "text/plain");
    let plain = Answer::to(plain).await.is(200);
    assert_eq!(plain.text().lines().count(), lines.len());
    assert!(plain.text().lines().all(|line| line.contains(" | l")));
}

/// With the default, an eighth of all connections.
#[tokio::test]
async fn the_number_of_connections_without_a_key_is_limited_per_address() {
    let configure = |config: &mut working_memory::config::Config| config.http.max_connections_per_address = 2;
    is_limited_per_address(Service::configured(configure).await, 2).await;
    is_limited_per_address(Service::start().await, 128).await;
}

async fn is_limited_per_address(service: Service, most: usize) {
    let address = service.socket_address();
    let mut idle = Vec::new();
    for _ in 0..most {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    let mut third = TcpStream::connect(address).await.unwrap();
    let head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    third.write_all(head).await.unwrap();
    let mut answer = String::new();
    third.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    holds(&answer, &["http.max_connections_per_address"]);
    holds(answer.to_lowercase(), &["retry-after: 1"]);

    drop(idle);
    eventually("those that ended are not counted", async || {
        let answered = service.request(Method::GET, "/healthz").send().await;
        answered.is_ok_and(|answered| answered.status() == 200)
    })
    .await;
}

#[tokio::test]
async fn a_connection_with_an_accepted_request_does_not_count_for_its_address() {
    let configure = |config: &mut working_memory::config::Config| config.http.max_connections_per_address = 2;
    let service = Service::configured(configure).await;
    let mut accepted = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
        let head = b"GET /v1/vaults HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let mut answer = [0; 4_096];
        let read = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        accepted.push(stream);
    }
}

#[tokio::test]
async fn large_responses_are_compressed_where_the_client_asks() {
    let service = Service::start().await;
    let text = "# D\n".to_owned() + &"the same line\n".repeat(4_000);
    put(&service, "v", "large", text.clone()).await.is(201);
    put(&service, "v", "small", "# D\n").await.is(201);
    let ask = |memory: &str, encoding: &'static str| {
        let request = of(&service, Method::GET, "v", &format!("{memory}/context"));
        Answer::to(request.header("Accept-Encoding", encoding))
    };

    let packed = ask("large", "gzip, br").await.is(200);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < text.len() / 10);
    let plain = ask("large", "identity").await.is(200);
    assert!(!plain.headers.contains_key("content-encoding"));
    assert_eq!(plain.text(), text);
    assert_eq!(plain.header("etag"), packed.header("etag"));

    // A response whose length is not known before, too.
    let blame = of(&service, Method::GET, "v", "large/blame").header("Accept-Encoding", "gzip");
    let blame = Answer::to(blame).await.is(200);
    assert!(blame.body.starts_with(&[0x1f, 0x8b]) && blame.body.len() < text.len());

    let small = ask("small", "gzip").await.is(200);
    assert!(!small.headers.contains_key("content-encoding"));
    assert_eq!(small.text(), "# D\n");

    for (memory, encoding) in [("large", "gzip"), ("large", "identity"), ("small", "gzip")] {
        let head = of(&service, Method::HEAD, "v", &format!("{memory}/context"));
        let head = Answer::to(head.header("Accept-Encoding", encoding)).await.is(200);
        let got = ask(memory, encoding).await.is(200);
        for name in ["content-encoding", "content-length", "etag", "vary"] {
            let (of_head, of_get) = (head.headers.get(name), got.headers.get(name));
            assert_eq!(of_head, of_get, "{memory}, {encoding}, {name}");
        }
        assert!(head.body.is_empty());
    }
}
