//! `POST /v1/vaults/{vault_id}/memory-tool`: the files of Anthropic's memory tool.

mod access;
mod concurrent;
mod contract;
mod files;
mod memories;
mod paths;
mod transfer;

use crate::harness::{Answer, Service, has};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// A file tree of the vault `acme`.
pub(super) struct Files {
    service: Service,
    root: &'static str,
}

impl Files {
    pub(super) fn of(service: &Service, root: &'static str) -> Self {
        Self {
            service: service.clone(),
            root,
        }
    }

    /// A service, and a file tree of it.
    pub(super) async fn start(root: &'static str) -> (Service, Self) {
        let service = Service::start().await;
        let files = Self::of(&service, root);
        (service, files)
    }

    /// A request with a command, to be extended.
    pub(super) fn asking(&self, command: &Value) -> RequestBuilder {
        let path = format!("/v1/vaults/acme/memory-tool?root={}", self.root);
        self.service.request(Method::POST, &path).json(command)
    }

    /// The response to a command, which is always 200.
    pub(super) async fn run(&self, command: Value) -> Value {
        Answer::to(self.asking(&command)).await.is(200).json()
    }

    /// The text for the model of a command that succeeded.
    pub(super) async fn told(&self, command: Value) -> String {
        let answer = self.run(command).await;
        assert_eq!(answer["is_error"], false, "{answer}");
        answer["content"].as_str().unwrap().to_owned()
    }

    /// The text for the model of a command that failed.
    pub(super) async fn refused(&self, command: Value) -> String {
        let answer = self.run(command.clone()).await;
        assert_eq!(answer["is_error"], true, "{command}: {answer}");
        assert!(answer.get("memory_id").is_none() && answer.get("version").is_none());
        answer["content"].as_str().unwrap().to_owned()
    }

    /// Runs a table of commands in their order, each with the text for the model: of one that succeeds, or that fails. `~part` is
    /// looked for in it.
    pub(super) async fn commands(&self, fails: bool, table: &str) {
        for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (command, told) = row.split_once(" → ").unwrap();
            let command = serde_json::from_str(command).unwrap();
            let answer = match fails {
                true => self.refused(command).await,
                false => self.told(command).await,
            };
            match told.strip_prefix('~') {
                Some(part) => assert!(answer.contains(part), "{row}: {answer}"),
                None => assert_eq!(answer, told.replace("\\n", "\n").replace("\\t", "\t"), "{row}"),
            }
        }
    }

    /// Creates a file; returns the id of its memory.
    pub(super) async fn create(&self, path: &str, text: &str) -> String {
        let create = json!({"command": "create", "path": path, "file_text": text});
        let answer = self.run(create).await;
        has(&answer, json!({"is_error": false, "version": 1}));
        answer["memory_id"].as_str().unwrap().to_owned()
    }

    /// The view of a file or directory.
    pub(super) async fn view(&self, path: &str) -> String {
        self.told(json!({"command": "view", "path": path})).await
    }
}
