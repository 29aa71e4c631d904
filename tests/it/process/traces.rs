//! The spans of an update, from the request to the commit, as a collector receives them.

use super::program::{Program, folder};
use crate::harness::{Answer, Database, eventually, has};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// The requests received: from the exporter, and from the client of the models.
#[derive(Default)]
struct Seen {
    spans: Mutex<Vec<Span>>,
    services: Mutex<Vec<String>>,
    parents: Mutex<Vec<String>>,
}

/// A collector and a model server in one.
struct Outside {
    address: String,
    seen: Arc<Seen>,
}

impl Outside {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Seen::default());
        let router = Router::new().fallback(answer).with_state(seen.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen }
    }

    /// A service that uses this server for its models and spans.
    async fn service(&self, folder: &std::path::Path, database: &Database) -> Program {
        let model_url = format!("{}/v1", self.address);
        let url = database.url();
        let environment = [
            ("DATABASE_URL", url.as_str()),
            ("WORKING_MEMORY__LLM__BASE_URL", &model_url),
            ("WORKING_MEMORY__LLM__MODEL", "stub"),
            ("WORKING_MEMORY__TELEMETRY__OTLP_ENDPOINT", &self.address),
            ("OTEL_SERVICE_NAME", "memory-of-tests"),
        ];
        Program::start_with(folder, &environment).await
    }
}

async fn answer(State(seen): State<Arc<Seen>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    if uri.path() == "/v1/traces" {
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        for of_resource in request.resource_spans {
            for attribute in of_resource.resource.unwrap_or_default().attributes {
                if attribute.key == "service.name" {
                    let name = format!("{:?}", attribute.value);
                    seen.services.lock().unwrap().push(name);
                }
            }
            for of_scope in of_resource.scope_spans {
                seen.spans.lock().unwrap().extend(of_scope.spans);
            }
        }
        return Bytes::new().into_response();
    }
    let parent = headers
        .get("traceparent")
        .map_or("", |value| value.to_str().unwrap());
    seen.parents.lock().unwrap().push(parent.to_owned());
    let text = "CURRENT_PROGRESS:\n  In Progress:\n    - Wire it\n";
    let choice = json!({ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" });
    axum::Json(json!({ "choices": [choice] })).into_response()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn an_update_is_one_trace_from_the_callers_span_to_the_commit() {
    let (folder, outside, database) = (folder(), Outside::start().await, Database::create().await);
    let mut program = outside.service(folder.path(), &database).await;

    let update = program.request(Method::POST, "agent", "update");
    let update = update.header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
    let body = json!({"task": "Wire the very-secret-text", "roles": ["progress"]});
    Answer::to(update.json(&body)).await.is(200);
    program.signal(Signal::TERM);
    assert!(program.ended().await.success());

    let spans = outside.seen.spans.lock().unwrap().clone();
    let of_trace: Vec<&Span> = spans.iter().filter(|span| hex(&span.trace_id) == TRACE).collect();
    let names: Vec<&str> = of_trace.iter().map(|span| &*span.name).collect();
    let find = |name: &str| {
        let found = of_trace.iter().find(|span| span.name == name);
        *found.unwrap_or_else(|| panic!("{name} is not among {names:?}"))
    };
    let request = find("POST /v1/vaults/{vault_id}/memories/{memory_id}/update");
    assert_eq!(hex(&request.parent_span_id), CALLER);
    for (child, parent) in [
        ("update.ask", request),
        ("update.save", request),
        ("model.call", find("update.ask")),
        ("db.memories.change", find("update.save")),
        ("db.memory_contexts.save", find("db.memories.change")),
    ] {
        let parent_id = &find(child).parent_span_id;
        assert_eq!(*parent_id, parent.span_id, "{child} of {names:?}");
    }
    let sent_on = outside.seen.parents.lock().unwrap().clone();
    let call = hex(&find("model.call").span_id);
    assert_eq!(sent_on, [format!("00-{TRACE}-{call}-01")]);
    assert!(outside.seen.services.lock().unwrap()[0].contains("memory-of-tests"));
    assert!(!format!("{spans:?}").contains("very-secret-text"));
    let log = std::fs::read_to_string(folder.path().join("service.log")).unwrap();
    let line = log.lines().find(|line| line.contains("/update")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    has(&line, json!({"message": "request", "status": 200}));
    assert_eq!((line.get("span"), line.get("spans")), (None, None), "{line}");
}

#[tokio::test]
async fn a_streamed_update_is_in_the_trace_of_its_request_and_a_queued_one_has_its_own() {
    let (folder, outside, database) = (folder(), Outside::start().await, Database::create().await);
    let mut program = outside.service(folder.path(), &database).await;
    let update = |header: &'static str, value: &'static str| {
        let request = program.request(Method::POST, "agent", "update");
        let request = request.header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
        let request = request.json(&json!({"task": "wire it", "roles": ["progress"]}));
        Answer::to(request.header(header, value))
    };
    let watched = update("Accept", "text/event-stream").await.is(200);
    assert!(watched.text().contains("event: done"), "{}", watched.text());
    let queued = update("Prefer", "respond-async").await.is(202).json();
    let run = format!("updates/{}", queued["update_id"].as_str().unwrap());
    eventually("it has ended", async || {
        !program.read("agent", &run).await.is(200).json()["finished_at"].is_null()
    })
    .await;
    program.signal(Signal::TERM);
    assert!(program.ended().await.success());

    let spans = outside.seen.spans.lock().unwrap().clone();
    let runs: Vec<&Span> = spans.iter().filter(|span| span.name == "update.run").collect();
    let [run] = runs[..] else { panic!("{runs:?}") };
    assert!(run.parent_span_id.is_empty(), "{run:?}");
    let of_trace = |trace: &str, name: &str| {
        let of_trace = spans.iter().filter(|span| hex(&span.trace_id) == trace);
        of_trace.filter(|span| span.name == name).count()
    };
    for name in ["update.ask", "model.call"] {
        assert_eq!(of_trace(TRACE, name), 1, "{name}");
        assert_eq!(of_trace(&hex(&run.trace_id), name), 1, "{name}");
    }
}

#[tokio::test]
async fn a_collector_that_does_not_respond_blocks_nothing() {
    let folder = folder();
    let database = Database::create().await;
    // The port is bound without accepting, then closed.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    drop(silent);
    let url = database.url();
    let environment = [
        ("DATABASE_URL", url.as_str()),
        ("WORKING_MEMORY__TELEMETRY__OTLP_ENDPOINT", endpoint.as_str()),
    ];
    let mut program = Program::start_with(folder.path(), &environment).await;
    program.put("agent", "mine").await.is(201);
    program.signal(Signal::TERM);
    let ended = tokio::time::timeout(Duration::from_secs(20), program.ended()).await;
    assert!(ended.unwrap().success());
    let log = std::fs::read_to_string(folder.path().join("service.log")).unwrap();
    assert_eq!(log.matches("spans cannot be delivered").count(), 1, "{log}");
}
