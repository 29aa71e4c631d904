//! `POST /v1/vaults/{vault_id}/memory-tool`: the files of Anthropic's memory tool.

mod access;
mod concurrent;
mod contract;
mod files;
mod memories;
mod paths;
mod transfer;

use crate::harness::{Answer, Memory, Service};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// A tree of files of the vault `acme`.
pub(super) struct Files<'s> {
    service: &'s Service,
    root: &'static str,
}

impl<'s> Files<'s> {
    pub(super) fn of(service: &'s Service, root: &'static str) -> Self {
        Self { service, root }
    }

    /// A request with a command, to be refined.
    pub(super) fn asking(&self, command: &Value) -> RequestBuilder {
        let path = format!("/v1/vaults/acme/memory-tool?root={}", self.root);
        self.service.request(Method::POST, &path).json(command)
    }

    /// The answer to a command, which is always 200.
    pub(super) async fn run(&self, command: Value) -> Value {
        Answer::to(self.asking(&command)).await.is(200).json()
    }

    /// What the model is told of a command that is carried out.
    pub(super) async fn told(&self, command: Value) -> String {
        let answer = self.run(command).await;
        assert_eq!(answer["is_error"], false, "{answer}");
        answer["content"].as_str().unwrap().to_owned()
    }

    /// What the model is told of a command that is refused.
    pub(super) async fn refused(&self, command: Value) -> String {
        let answer = self.run(command.clone()).await;
        assert_eq!(answer["is_error"], true, "{command}: {answer}");
        assert!(answer.get("memory_id").is_none() && answer.get("version").is_none());
        answer["content"].as_str().unwrap().to_owned()
    }

    /// Makes a file; returns the id of its memory.
    pub(super) async fn create(&self, path: &str, text: &str) -> String {
        let answer = self
            .run(json!({"command": "create", "path": path, "file_text": text}))
            .await;
        assert_eq!(answer["is_error"], false, "{answer}");
        assert_eq!(answer["version"], 1, "{answer}");
        answer["memory_id"].as_str().unwrap().to_owned()
    }

    /// What a file or directory shows.
    pub(super) async fn view(&self, path: &str) -> String {
        self.told(json!({"command": "view", "path": path})).await
    }
}

/// The text of a memory.
pub(super) async fn text_of(memory: &Memory<'_>) -> String {
    memory.get("context").await.is(200).text().to_owned()
}
