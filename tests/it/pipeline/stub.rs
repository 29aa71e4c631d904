//! A model server on loopback that speaks the APIs of both providers and fails as a test configures.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use working_memory::config::Config;
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

/// A response of the server.
#[derive(Clone)]
pub(crate) enum Reply {
    /// This text, in the form of the requested API.
    Text(String),
    /// A status with an error object, and `Retry-After`.
    Status(u16, Option<&'static str>, &'static str),
    /// A body without any wrapping.
    Raw(Vec<u8>),
    /// The beginning of a body, then the connection closes.
    Broken,
    /// No response.
    Hang,
    /// The response after a delay.
    After(Duration, Box<Reply>),
    /// The response as soon as everybody waits at this barrier.
    Together(Arc<Barrier>, Box<Reply>),
}

impl Reply {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn raw(body: impl AsRef<[u8]>) -> Self {
        Self::Raw(body.as_ref().to_vec())
    }
}

/// One request as received.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The exact body.
    pub(crate) raw: String,
    pub(crate) body: Value,
}

impl Asked {
    /// Whether it is a request in OpenAI's form.
    fn is_openai(&self) -> bool {
        self.path.ends_with("/chat/completions")
    }

    /// The constant instructions.
    pub(crate) fn system(&self) -> &str {
        let place = match self.is_openai() {
            true => "/messages/0/content",
            false => "/system/0/text",
        };
        self.body.pointer(place).unwrap().as_str().unwrap()
    }

    /// The role of the request, as the instructions say.
    pub(crate) fn role(&self) -> Role {
        let titles = ["Current Progress", "Key Learnings", "Verbatim Context"];
        let of = |title: &&str| self.system().contains(&format!("\"{title}\""));
        Role::ALL[titles.iter().position(of).unwrap()]
    }
}

type Rule = Box<dyn Fn(&Asked) -> Reply + Send + Sync>;

struct Shared {
    rule: Rule,
    asked: Mutex<Vec<Asked>>,
}

/// Stopped with the test's runtime.
pub(crate) struct Stub {
    address: String,
    shared: Arc<Shared>,
}

impl Stub {
    /// A server that answers each request by the function.
    pub(crate) async fn start(rule: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            rule: Box::new(rule),
            asked: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    /// Its base URL.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A configuration whose roles all use this server; the timeout of each attempt is one second.
    pub(crate) fn configure(&self, provider: Provider, max_retries: u32) -> impl FnOnce(&mut Config) {
        let address = self.address.clone();
        move |config| {
            config.llm.provider = Some(provider);
            config.llm.base_url = Some(address.parse().unwrap());
            config.llm.model = Some("stub".to_owned());
            config.llm.api_key = Some("sk-secret".into());
            config.llm.timeout_seconds = 1.0;
            config.llm.max_retries = max_retries;
        }
    }

    /// Every request to a role so far.
    pub(crate) fn asked(&self, role: Role) -> Vec<Asked> {
        let asked = self.shared.asked.lock().unwrap();
        let of_role = asked.iter().filter(|asked| asked.role() == role);
        of_role.cloned().collect()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let raw = String::from_utf8(body.to_vec()).unwrap();
    let asked = Asked {
        path: uri.path().to_owned(),
        headers,
        body: serde_json::from_str(&raw).unwrap(),
        raw,
    };
    shared.asked.lock().unwrap().push(asked.clone());
    let mut reply = (shared.rule)(&asked);
    if let Reply::After(time, then) = reply {
        tokio::time::sleep(time).await;
        reply = *then;
    }
    if let Reply::Together(all, then) = reply {
        all.wait().await;
        reply = *then;
    }
    respond(&asked, reply).await
}

async fn respond(asked: &Asked, reply: Reply) -> Response {
    match reply {
        Reply::Text(text) if asked.is_openai() => axum::Json(json!({
            "id": "x", "object": "chat.completion",
            "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }],
            "usage": { "prompt_tokens": 1200, "completion_tokens": 34 },
        }))
        .into_response(),
        Reply::Text(text) => axum::Json(json!({
            "id": "x", "type": "message", "role": "assistant", "content": [{ "type": "text", "text": text }],
            "stop_reason": "end_turn", "usage": { "input_tokens": 1200, "output_tokens": 34 },
        }))
        .into_response(),
        Reply::Status(code, retry_after, message) => {
            let mut headers = HeaderMap::new();
            if let Some(value) = retry_after {
                headers.insert("retry-after", value.parse().unwrap());
            }
            let body = axum::Json(json!({ "error": { "message": message } }));
            (StatusCode::from_u16(code).unwrap(), headers, body).into_response()
        }
        Reply::Raw(bytes) => bytes.into_response(),
        Reply::Broken => {
            let pieces = [Ok(Bytes::from("{\"choices\":[")), Err(io::Error::other("cut"))];
            Body::from_stream(stream::iter(pieces)).into_response()
        }
        Reply::Hang | Reply::Together(..) | Reply::After(..) => std::future::pending().await,
    }
}
