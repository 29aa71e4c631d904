//! A server that returns configured responses and records the requests.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// An address, and what answers the first request there with these bytes; the connection is open while the result is kept.
pub(super) async fn fixed(answer: &'static [u8]) -> (String, impl Future<Output = TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        stream.write_all(answer).await.unwrap();
        stream
    };
    (url, served)
}

/// A request as received.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: Method,
    /// Path and query.
    pub(super) uri: String,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Asked {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

type Rule = dyn Fn(&Asked) -> (u16, &'static str, String) + Send + Sync;

#[derive(Clone)]
struct Shared {
    rule: Arc<Rule>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

pub(super) struct Stub {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stub {
    /// Answers with JSON.
    pub(super) async fn json(status: u16, body: Value) -> Self {
        Self::by(move |_| (status, "application/json", body.to_string())).await
    }

    /// Responds by a function: status, media type, body.
    pub(super) async fn by(
        rule: impl Fn(&Asked) -> (u16, &'static str, String) + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared {
            rule: Arc::new(rule),
            asked: Arc::default(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = shared.asked.clone();
        let router = Router::new().fallback(answer).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, asked }
    }

    /// All requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The only request.
    #[track_caller]
    pub(super) fn only(&self) -> Asked {
        let asked = self.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked[0].clone()
    }
}

async fn answer(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = Asked {
        method,
        uri: uri.to_string(),
        headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    let (status, media_type, text) = (shared.rule)(&asked);
    shared.asked.lock().unwrap().push(asked);
    Response::builder()
        .status(status)
        .header("Content-Type", media_type)
        .body(Body::from(text))
        .unwrap()
}
