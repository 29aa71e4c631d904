//! What a request with an `Idempotency-Key` saves is saved once, also if its process dies between the commit and the response:
//! for every operation that writes.

pub(crate) mod died;

use crate::harness::{Answer, Service};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const KEY: &str = "Idempotency-Key";
const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n    - because a: one\n";
const LEARN: &str = "KEY_LEARNINGS:\n  ADD:\n    - because b: two\n";
const LEARNING: &str = "# Key Learnings\n- KL-1 because x: old\n";

/// The result of a request that is retried after its process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// The same response, which was stored in the same transaction.
    Kept,
    /// It is executed again, which changes nothing.
    Harmless,
    /// It supports no key: its response contains a secret, or it belongs to no vault.
    NoKey,
}

/// Every operation that is a PUT or a POST. A new one needs a row here, and a request of it in the test below.
const OPERATIONS: &[(&str, Again)] = &[
    ("SpeakMcp", Again::NoKey),
    ("CreateKey", Again::NoKey),
    ("RotateKey", Again::NoKey),
    ("AddVaultItem", Again::Kept),
    ("PutVaultItems", Again::Kept),
    ("PutContext", Again::Kept),
    // A redacted version stays as it is, and the response says so.
    ("RedactContext", Again::Harmless),
    ("RestoreContext", Again::Kept),
    ("RecordDecision", Again::Kept),
    // A fresh handoff is returned; with `force` another one is compiled from the same memory.
    ("RefreshHandoff", Again::Harmless),
    ("AddItem", Again::Kept),
    ("PutItems", Again::Kept),
    ("ApplyOperations", Again::Kept),
    ("ConsolidateMemory", Again::Kept),
    ("SetStatus", Again::Kept),
    ("RecordTask", Again::Kept),
    ("UpdateContext", Again::Kept),
    ("ApproveUpdate", Again::Kept),
    ("RejectUpdate", Again::Kept),
    ("ImportWindow", Again::Kept),
    ("RunMemoryTool", Again::Kept),
    ("PutMemoryFile", Again::Kept),
];

/// A request that saves something: its operation, method, path below the vault and body.
struct Saving {
    operation: &'static str,
    method: Method,
    path: String,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Nothing,
    Text(&'static str),
    Json(Value),
}

impl Saving {
    fn json(operation: &'static str, method: Method, path: &str, body: Value) -> Self {
        Self {
            operation,
            method,
            path: path.to_owned(),
            body: Body::Json(body),
        }
    }

    fn text(operation: &'static str, method: Method, path: &str, body: &'static str) -> Self {
        Self {
            operation,
            method,
            path: path.to_owned(),
            body: Body::Text(body),
        }
    }

    fn tool(command: Value) -> Self {
        Self::json("RunMemoryTool", Method::POST, "memory-tool?root=agent", command)
    }

    fn asking(&self, service: &Service) -> RequestBuilder {
        let request = service.request(self.method.clone(), &format!("/v1/vaults/acme/{}", self.path));
        match &self.body {
            Body::Nothing => request,
            Body::Text(text) => request.header("Content-Type", "text/plain").body(*text),
            Body::Json(body) => request.json(body),
        }
    }

    async fn ask(&self, service: &Service, key: &str) -> Answer {
        Answer::to(self.asking(service).header(KEY, key)).await
    }

    fn again(&self) -> Again {
        let found = OPERATIONS
            .iter()
            .find(|(operation, _)| *operation == self.operation);
        found.unwrap().1
    }
}

/// Requests that each save something, in an order in which they succeed, and the state that they need.
async fn savings(service: &Service) -> Vec<Saving> {
    for memory in ["put", "redacted", "restored", "applied", "handed"] {
        let memory = service.memory(memory);
        memory.write("# Facts\nfirst\n").await;
        memory.write("# Facts\nsecond\n").await;
    }
    let twice = "# Key Learnings\n- KL-1 said twice\n- KL-2 said twice\n";
    service.memory("consolidated").write(twice).await;
    let reviewed = service.memory("reviewed");
    reviewed.write(LEARNING).await;
    let mut proposals = Vec::new();
    for text in [
        "KEY_LEARNINGS:\n  ADD:\n    - because a: one\n    - because b: two\n",
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is wrong\n",
        "KEY_LEARNINGS:\n  ADD:\n    - because c: three\n",
    ] {
        let proposed = Answer::to(reviewed.applying("?mode=propose", text)).await.is(200);
        proposals.push(proposed.json()["update_id"].as_str().unwrap().to_owned());
    }
    // The operations of the second proposal no longer apply: its approval creates no version.
    reviewed.archives("KL-1 because somebody was faster").await;
    let decide = |number: usize, what| format!("memories/reviewed/updates/{}/{what}", proposals[number]);
    let post = |operation, path: &str, body| Saving::json(operation, Method::POST, path, body);
    let items = json!([{"content": "c", "metadata": {"n": 1}}, {"content": "d"}]);
    let window = json!({
        "status": {"goal": "ship"},
        "tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."}],
        "history": [{"time": "2026-09-02T00:00:00Z", "intent": "Zero"}],
    });
    let file = |path: &str| format!("memory-tool/files?root=agent&path={path}");
    let mut all = vec![
        Saving::text("PutContext", Method::PUT, "memories/put/context", "# Facts\n"),
        Saving::text(
            "ApplyOperations",
            Method::POST,
            "memories/applied/operations",
            ADD,
        ),
        Saving::text(
            "ApplyOperations",
            Method::POST,
            "memories/applied/operations?mode=propose",
            LEARN,
        ),
        Saving::text(
            "ApplyOperations",
            Method::POST,
            "memories/applied/operations?dry_run=true",
            LEARN,
        ),
        post(
            "ConsolidateMemory",
            "memories/consolidated/consolidate",
            json!({"mode": "apply"}),
        ),
        post(
            "RedactContext",
            "memories/redacted/contexts/1/redact",
            json!({"reason": "r"}),
        ),
        post(
            "RecordTask",
            "memories/m/tasks",
            json!({"intent": "i", "summary": "s"}),
        ),
        post(
            "RecordDecision",
            "memories/m/decisions",
            json!({"decision": "d", "reason": "r"}),
        ),
        Saving::json(
            "SetStatus",
            Method::PUT,
            "memories/m/status",
            json!({"goal": "g"}),
        ),
        post(
            "AddItem",
            "memories/m/items",
            json!({"content": "c", "category": "notes"}),
        ),
        post(
            "AddVaultItem",
            "items",
            json!({"content": "c", "category": "notes"}),
        ),
        Saving::json("PutItems", Method::PUT, "memories/m/items/notes", items.clone()),
        Saving::json(
            "PutItems",
            Method::PUT,
            "memories/items-only/items/notes",
            json!({"items": items}),
        ),
        Saving::json("PutVaultItems", Method::PUT, "items/notes", items),
        Saving::text("PutVaultItems", Method::PUT, "items/notes", "a text"),
        post(
            "UpdateContext",
            "memories/m/update",
            json!({"task": "x", "roles": ["learnings"]}),
        ),
        post("RefreshHandoff", "memories/handed/handoff/refresh", json!({})),
        post("ImportWindow", "memories/imported/window/import", window),
        post(
            "ApproveUpdate",
            &decide(0, "approve"),
            json!({"operations": [1], "comment": "good"}),
        ),
        post("ApproveUpdate", &decide(1, "approve"), json!({})),
        post("RejectUpdate", &decide(2, "reject"), json!({"reason": "not now"})),
        Saving::text("PutMemoryFile", Method::PUT, &file("/memories/put"), "one\n"),
        Saving::text("PutMemoryFile", Method::PUT, &file("/memories/put"), "two\n"),
    ];
    all.push(Saving {
        operation: "RestoreContext",
        method: Method::POST,
        path: "memories/restored/contexts/1/restore".to_owned(),
        body: Body::Nothing,
    });
    let commands = [
        json!({"command": "create", "path": "/memories/a/x", "file_text": "one\ntwo\n"}),
        json!({"command": "create", "path": "/memories/a/y", "file_text": ""}),
        json!({"command": "str_replace", "path": "/memories/a/x", "old_str": "two", "new_str": "two\nthree"}),
        json!({"command": "insert", "path": "/memories/a/x", "insert_line": 0, "insert_text": "zero"}),
        json!({"command": "rename", "old_path": "/memories/a/x", "new_path": "/memories/a/z"}),
        json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}),
        json!({"command": "delete", "path": "/memories/b/y"}),
        json!({"command": "delete", "path": "/memories/b"}),
    ];
    all.extend(commands.map(Saving::tool));
    all
}

/// Where the document describes the header.
const KEY_PARAMETER: &str = "#/components/parameters/IdempotencyKey";

fn documented() -> Vec<(String, bool)> {
    let document: Value = yaml_serde::from_str(&working_memory::http::openapi_yaml()).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|path| ["put", "post"].map(|method| &path[method]));
    operations
        .filter(|operation| !operation.is_null())
        .map(|operation| {
            let parameters = operation["parameters"].as_array();
            let mut parameters = parameters.into_iter().flatten();
            let has_key = parameters.any(|parameter| parameter["$ref"] == KEY_PARAMETER);
            (operation["operationId"].as_str().unwrap().to_owned(), has_key)
        })
        .collect()
}

#[test]
fn every_write_operation_documents_the_result_of_a_retry() {
    let documented = documented();
    let operations: BTreeSet<&str> = documented.iter().map(|(operation, _)| &**operation).collect();
    let listed: BTreeSet<&str> = OPERATIONS.iter().map(|(operation, _)| *operation).collect();
    assert_eq!(operations, listed);
    for (operation, has_key) in &documented {
        let (_, again) = OPERATIONS.iter().find(|(listed, _)| listed == operation).unwrap();
        assert_eq!(*has_key, *again != Again::NoKey, "{operation}");
    }
}
