//! One memory, as clients address it.

use super::{Answer, Service};
use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde_json::Value;

pub(crate) struct Memory {
    service: Service,
    path: String,
}

impl Memory {
    pub(crate) fn new(service: &Service, vault: &str, memory: &str) -> Self {
        Self {
            service: service.clone(),
            path: format!("/v1/vaults/{vault}/memories/{memory}"),
        }
    }

    /// The service that has it.
    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// The path of a resource below the memory.
    pub(crate) fn path(&self, below: &str) -> String {
        format!("{}/{below}", self.path)
    }

    /// A request to a resource below the memory, to be extended.
    pub(crate) fn request(&self, method: Method, below: &str) -> RequestBuilder {
        self.service.request(method, &self.path(below))
    }

    /// GET a resource below the memory.
    pub(crate) async fn get(&self, below: &str) -> Answer {
        Answer::to(self.request(Method::GET, below)).await
    }

    /// GET a resource below the memory that exists, as JSON.
    pub(crate) async fn read(&self, below: &str) -> Value {
        self.get(below).await.is(200).json()
    }

    /// GET a resource below the memory that is refused: the problem, of this status and type, about `field` where one is given.
    pub(crate) async fn refuses(&self, below: &str, status: u16, name: &str, field: Option<&str>) -> Value {
        self.get(below).await.problem(status, name, field)
    }

    /// GET a resource below the memory with a header.
    pub(crate) async fn get_with(&self, below: &str, name: &str, value: &str) -> Answer {
        Answer::to(self.request(Method::GET, below).header(name, value)).await
    }

    /// A read of the newest document that may not be answered from a cache.
    pub(crate) fn uncached(&self) -> RequestBuilder {
        let request = self.request(Method::GET, "context");
        request.header("Cache-Control", "no-cache")
    }

    /// GET a resource below the memory as JSON.
    pub(crate) async fn get_json(&self, below: &str) -> Answer {
        self.get_with(below, "Accept", "application/json").await
    }

    /// POST JSON to a resource below the memory.
    pub(crate) async fn post(&self, below: &str, body: impl Serialize) -> Answer {
        Answer::to(self.request(Method::POST, below).json(&body)).await
    }

    /// PUT JSON to a resource below the memory.
    pub(crate) async fn put_json(&self, below: &str, body: impl Serialize) -> Answer {
        Answer::to(self.request(Method::PUT, below).json(&body)).await
    }

    /// DELETE a resource below the memory.
    pub(crate) async fn delete_at(&self, below: &str) -> Answer {
        Answer::to(self.request(Method::DELETE, below)).await
    }

    /// PUT a document that makes a new version.
    pub(crate) async fn write(&self, text: impl Into<String>) -> Value {
        self.put(text).await.is(201).json()
    }

    /// POST operations that are accepted.
    pub(crate) async fn applied(&self, text: &str) -> Value {
        self.apply(text).await.is(200).json()
    }

    /// POST operations as JSON, with a query, that are accepted.
    pub(crate) async fn asked(&self, query: &str, body: Value) -> Value {
        self.ask(query, body).await.is(200).json()
    }

    /// POST an update that is accepted.
    pub(crate) async fn updated(&self, body: Value) -> Value {
        self.update(body).await.is(200).json()
    }

    /// POST a learning, as `reason: content`.
    pub(crate) async fn learns(&self, item: &str) -> Value {
        let text = format!("KEY_LEARNINGS:\n  ADD:\n    - because {item}\n");
        self.applied(&text).await
    }

    /// POST the archiving of a learning, as `id because reason`.
    pub(crate) async fn archives(&self, item: &str) -> Value {
        let text = format!("KEY_LEARNINGS:\n  ARCHIVE:\n    - {item}\n");
        self.applied(&text).await
    }

    /// POST operations that wait for an approval.
    pub(crate) async fn proposed(&self, text: &str) -> Value {
        let answer = Answer::to(self.applying("?mode=propose", text)).await;
        answer.is(200).json()
    }

    /// What is known of the memory, without its document.
    pub(crate) async fn about(&self) -> Value {
        Answer::to(self.itself(Method::GET)).await.is(200).json()
    }

    /// The newest document.
    pub(crate) async fn text(&self) -> String {
        self.get("context").await.is(200).text().to_owned()
    }

    /// GET the run of an answer or of a problem.
    pub(crate) async fn run_of(&self, answer: &Value) -> Value {
        let id = answer["update_id"].as_str().unwrap();
        self.read(&format!("updates/{id}")).await
    }

    /// PUT a document.
    pub(crate) async fn put(&self, text: impl Into<String>) -> Answer {
        Answer::to(self.putting(text)).await
    }

    /// A request to PUT a document, to be extended.
    pub(crate) fn putting(&self, text: impl Into<String>) -> RequestBuilder {
        self.request(Method::PUT, "context")
            .header("Content-Type", "text/plain")
            .body(text.into())
    }

    /// A request to the memory itself, to be extended.
    pub(crate) fn itself(&self, method: Method) -> RequestBuilder {
        self.service.request(method, &self.path)
    }

    /// DELETE the memory.
    pub(crate) async fn delete(&self) -> Answer {
        Answer::to(self.itself(Method::DELETE)).await
    }

    /// POST the restoration of a version.
    pub(crate) async fn restore(&self, reference: &str) -> Answer {
        let below = format!("contexts/{reference}/restore");
        Answer::to(self.request(Method::POST, &below)).await
    }

    /// POST the redaction of a version.
    pub(crate) async fn redact(&self, reference: &str) -> Answer {
        let reason = serde_json::json!({"reason": "it held a key"});
        self.post(&format!("contexts/{reference}/redact"), reason).await
    }

    /// POST operations.
    pub(crate) async fn apply(&self, text: &str) -> Answer {
        Answer::to(self.applying("", text)).await
    }

    /// A request to POST operations with a query, to be extended.
    pub(crate) fn applying(&self, query: &str, text: &str) -> RequestBuilder {
        self.request(Method::POST, &format!("operations{query}"))
            .header("Content-Type", "text/plain")
            .body(text.to_owned())
    }

    /// POST operations as JSON, with a query.
    pub(crate) async fn ask(&self, query: &str, body: Value) -> Answer {
        self.post(&format!("operations{query}"), &body).await
    }

    /// A request to POST an update, to be extended.
    pub(crate) fn updating(&self, body: &Value) -> RequestBuilder {
        self.request(Method::POST, "update").json(body)
    }

    /// POST an update that is executed later; the path of its run.
    pub(crate) async fn queued(&self, body: &Value) -> String {
        let request = self.updating(body).header("Prefer", "respond-async");
        let run = Answer::to(request).await.is(202).json();
        format!("updates/{}", run["update_id"].as_str().unwrap())
    }

    /// POST an update.
    pub(crate) async fn update(&self, body: Value) -> Answer {
        Answer::to(self.updating(&body)).await
    }
}
