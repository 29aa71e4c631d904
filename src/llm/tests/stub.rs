//! A model server for tests that sends exact bytes, including invalid responses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::config::llm::{Constrain, Provider, RoleSettings};
use crate::domain::operation::Role;
use crate::llm::endpoint::Client;
use crate::llm::{ChatMessage, ChatRole, Request};

/// How the server handles a request.
pub(in crate::llm) enum Reply {
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Never answers.
    Hang,
    /// Closes the connection without a response.
    Close,
}

/// A complete response.
pub(in crate::llm) fn reply(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
    Reply::Bytes([head.as_bytes(), body].concat())
}

/// A successful response with this JSON.
pub(in crate::llm) fn ok(body: &serde_json::Value) -> Reply {
    reply(200, "content-type: application/json\r\n", body.to_string())
}

pub(in crate::llm) struct Stub {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    /// Handles requests in order with these replies, and then accepts no more.
    pub(in crate::llm) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read_request(&mut stream).await;
                seen.lock().expect("unpoisoned").push(request);
                let reply = replies.pop_front().unwrap_or(Reply::Close);
                tokio::spawn(answer(stream, reply));
            }
        });
        Self { port, requests }
    }

    /// The server's URL with this path.
    pub(in crate::llm) fn url(&self, path: &str) -> Url {
        format!("http://127.0.0.1:{}{path}", self.port)
            .parse()
            .expect("a URL")
    }

    /// All requests so far: head, an empty line, body.
    pub(in crate::llm) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("unpoisoned").clone()
    }

    /// The JSON body of a request.
    pub(in crate::llm) fn json(&self, index: usize) -> serde_json::Value {
        let requests = self.requests();
        let (_, body) = requests[index].split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).expect("JSON")
    }
}

/// Settings of a model.
pub(in crate::llm) fn settings() -> RoleSettings {
    RoleSettings {
        provider: Provider::Openai,
        base_url: None,
        api_key: Some(SecretString::from("sk-secret")),
        model: "m".to_owned(),
        temperature: None,
        timeout: Duration::from_secs(1),
        max_retries: 0,
        max_output_tokens: 64,
        constrain: Constrain::Off,
    }
}

/// A minimal request of a role.
pub(in crate::llm) fn request(role: Role) -> Request {
    Request {
        role: Some(role),
        system: Arc::from("the instructions"),
        messages: vec![ChatMessage {
            speaker: ChatRole::User,
            text: "the question".to_owned(),
        }],
        schema: None,
    }
}

/// A client for servers without TLS.
pub(in crate::llm) fn client() -> Client {
    Client::new(false).expect("a client")
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.unwrap_or(0);
        read.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        if count == 0 || body.len() >= length.unwrap_or(0) {
            return text;
        }
    }
}

async fn answer(mut stream: TcpStream, reply: Reply) {
    match reply {
        Reply::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Reply::Hang => std::future::pending().await,
        Reply::Close => {}
    }
}
