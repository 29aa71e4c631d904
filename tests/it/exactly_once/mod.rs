//! What a request with an `Idempotency-Key` saves is saved once, also if its process dies between the commit and the response:
//! for every operation that writes.

pub(crate) mod died;

use crate::harness::{Answer, Service};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const KEY: &str = "Idempotency-Key";
const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n    - because a: one\n";
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
    ("RefreshHandoff", Again::Kept),
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
    /// Of JSON if it begins with a bracket.
    body: String,
}

impl Saving {
    fn json(operation: &'static str, method: Method, path: &str, body: Value) -> Self {
        Self {
            operation,
            method,
            path: path.to_owned(),
            body: body.to_string(),
        }
    }

    fn tool(command: Value) -> Self {
        Self::json("RunMemoryTool", Method::POST, "memory-tool?root=agent", command)
    }

    /// A row of the table.
    fn of(row: &str) -> Self {
        let (request, body) = row.split_once(" →").unwrap();
        let [operation, method, path] = request.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let (operation, _) = OPERATIONS.iter().find(|(name, _)| *name == operation).unwrap();
        Self {
            operation,
            method: method.parse().unwrap(),
            path: path.to_owned(),
            body: body.trim_start().replace("\\n", "\n"),
        }
    }

    fn asking(&self, service: &Service) -> RequestBuilder {
        let request = service.request(self.method.clone(), &format!("/v1/vaults/acme/{}", self.path));
        let media_type = match self.body.chars().next() {
            None => return request,
            Some('{' | '[') => "application/json",
            Some(_) => "text/plain",
        };
        request.header("Content-Type", media_type).body(self.body.clone())
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

/// Requests that each save something: operation, method, path below the vault, and a body of JSON or text.
const SAVINGS: &str = r#"
    PutContext PUT memories/put/context → # Facts\n
    ApplyOperations POST memories/applied/operations → KEY_LEARNINGS:\n  ADD:\n    - because a: one\n
    ApplyOperations POST memories/applied/operations?mode=propose → KEY_LEARNINGS:\n  ADD:\n    - because b: two\n
    ApplyOperations POST memories/applied/operations?dry_run=true → KEY_LEARNINGS:\n  ADD:\n    - because b: two\n
    ConsolidateMemory POST memories/consolidated/consolidate → {"mode": "apply"}
    RedactContext POST memories/redacted/contexts/1/redact → {"reason": "r"}
    RecordTask POST memories/m/tasks → {"intent": "i", "summary": "s"}
    RecordDecision POST memories/m/decisions → {"decision": "d", "reason": "r"}
    SetStatus PUT memories/m/status → {"goal": "g"}
    AddItem POST memories/m/items → {"content": "c", "category": "notes"}
    AddVaultItem POST items → {"content": "c", "category": "notes"}
    PutItems PUT memories/m/items/notes → ITEMS
    PutItems PUT memories/items-only/items/notes → {"items": ITEMS}
    PutVaultItems PUT items/notes → ITEMS
    PutVaultItems PUT items/notes → a text
    UpdateContext POST memories/m/update → {"task": "x", "roles": ["learnings"]}
    RefreshHandoff POST memories/handed/handoff/refresh?force=true → {}
    ImportWindow POST memories/imported/window/import → {"status": {"goal": "ship"}, "tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."}], "history": [{"time": "2026-09-02T00:00:00Z", "intent": "Zero"}]}
    ApproveUpdate POST memories/reviewed/updates/PROPOSAL_0/approve → {"operations": [1], "comment": "good"}
    ApproveUpdate POST memories/reviewed/updates/PROPOSAL_1/approve → {}
    RejectUpdate POST memories/reviewed/updates/PROPOSAL_2/reject → {"reason": "not now"}
    PutMemoryFile PUT memory-tool/files?root=agent&path=/memories/put → one\n
    PutMemoryFile PUT memory-tool/files?root=agent&path=/memories/put → two\n
    RestoreContext POST memories/restored/contexts/1/restore →"#;

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
        let proposed = reviewed.proposed(text).await;
        proposals.push(proposed["update_id"].as_str().unwrap().to_owned());
    }
    // The operations of the second proposal no longer apply: its approval creates no version.
    reviewed.archives("KL-1 because somebody was faster").await;
    let row = |row: &'static str| {
        let mut row = row.trim().to_owned();
        for (number, id) in proposals.iter().enumerate() {
            row = row.replace(&format!("PROPOSAL_{number}"), id);
        }
        Saving::of(&row.replace(
            "ITEMS",
            r#"[{"content": "c", "metadata": {"n": 1}}, {"content": "d"}]"#,
        ))
    };
    let mut all: Vec<Saving> = SAVINGS.trim().lines().map(row).collect();
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
