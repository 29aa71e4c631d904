//! The DSL as JSON, for model servers that support a JSON schema: the schema of a role's answer, and the reading of
//! such an answer, by the rules of [`requests`].

use super::parsed::Parsed;
use super::requests::{self, OperationRequest, RecordSection};
use crate::domain::ids::RecordId;
use crate::domain::operation::Role;
use serde::Deserialize;
use serde_json::{Value, json};

/// Appended to the instructions, which describe the text form.
pub const INSTRUCTION: &str = "The form above is written as JSON here: one object of the schema that you are given. \
Its lists are those of the form, empty where the form would say NO CHANGE; reason, label, content and snippet are the \
same texts, without \"because\", and a snippet without added indentation. Answer with that JSON only.";

/// Maximum number of ids in a schema; the largest numbers are kept. This bounds the server's work.
const MAX_IDS: usize = 1_000;

/// Maximum number of archivings in one answer, and of bullets in one list.
const MAX_ITEMS: usize = 20;

/// Returns the schema of a role's answer. `ids` are the records that may be archived; ids of other kinds are
/// ignored. At most `max_additions` additions are allowed.
#[must_use]
pub fn schema(role: Role, ids: &[RecordId], max_additions: usize) -> Value {
    let text = || json!({ "type": "string" });
    let list = |items: Value, most: usize| json!({ "type": "array", "items": items, "maxItems": most });
    if role == Role::Progress {
        let bullets = || list(text(), MAX_ITEMS);
        return object(&[
            ("completed", bullets()),
            ("in_progress", bullets()),
            ("remaining", bullets()),
        ]);
    }
    let item = match role {
        Role::Verbatim => object(&[("reason", text()), ("label", text()), ("snippet", text())]),
        _ => object(&[("reason", text()), ("content", text())]),
    };
    let mut own: Vec<RecordId> = ids
        .iter()
        .copied()
        .filter(|id| Some(id.kind) == role.record_kind())
        .collect();
    own.sort_unstable_by_key(|id| id.number);
    own.dedup();
    let names: Vec<String> = own[own.len().saturating_sub(MAX_IDS)..]
        .iter()
        .map(ToString::to_string)
        .collect();
    let add = list(item, max_additions);
    if names.is_empty() {
        // An empty `enum` is not a valid schema.
        return object(&[("add", add)]);
    }
    let most = names.len().min(MAX_ITEMS);
    let archived = object(&[
        ("id", json!({ "type": "string", "enum": names })),
        ("reason", text()),
    ]);
    object(&[("add", add), ("archive", list(archived, most))])
}

/// Returns the schema of the answer to a consolidation. `ids` are the active records.
#[must_use]
pub fn consolidation_schema(ids: &[RecordId]) -> Value {
    let names: Vec<String> = ids.iter().rev().take(MAX_IDS).map(ToString::to_string).collect();
    let (text, list) = (
        json!({ "type": "string" }),
        |items: Value| json!({ "type": "array", "items": items }),
    );
    let id = match names.is_empty() {
        // An empty `enum` is not a valid schema.
        true => text.clone(),
        false => json!({ "type": "string", "enum": names }),
    };
    let archived = object(&[
        ("id", id.clone()),
        (
            "ground",
            json!({ "type": "string", "enum": ["duplicate_of", "superseded_by", "expired"] }),
        ),
        ("kept", json!({ "anyOf": [id, { "type": "null" }] })),
        ("reason", text.clone()),
    ]);
    let merged = object(&[("ids", list(id)), ("reason", text.clone()), ("content", text)]);
    object(&[("archive", list(archived)), ("merge", list(merged))])
}

/// What an archiving of a consolidation is based on, in its schema.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JsonGround {
    DuplicateOf,
    SupersededBy,
    Expired,
}

#[derive(Debug, Deserialize)]
struct JsonStep {
    id: String,
    ground: JsonGround,
    #[serde(default)]
    kept: Option<String>,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize)]
struct JsonMerge {
    ids: Vec<String>,
    #[serde(default)]
    reason: String,
    content: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonConsolidation {
    archive: Vec<JsonStep>,
    merge: Vec<JsonMerge>,
}

/// Reads the JSON answer to a consolidation as [`read`] does that of a role.
#[must_use]
pub fn read_consolidation(answer: &str) -> Option<(Parsed, Vec<String>)> {
    let JsonConsolidation { archive, merge } = serde_json::from_str(answer).ok()?;
    let archivings = archive.into_iter().map(|step| {
        let kept = |ground: bool| ground.then(|| step.kept.clone().unwrap_or_default());
        OperationRequest::Archive {
            duplicate_of: kept(matches!(step.ground, JsonGround::DuplicateOf)),
            superseded_by: kept(matches!(step.ground, JsonGround::SupersededBy)),
            expired: matches!(step.ground, JsonGround::Expired),
            id: step.id,
            reason: step.reason,
        }
    });
    let merges = merge
        .into_iter()
        .map(|JsonMerge { ids, reason, content }| OperationRequest::Merge { ids, reason, content });
    Some(parsed(&archivings.chain(merges).collect::<Vec<_>>()))
}

/// Requests as a parser returns them, and each as it was written.
fn parsed(requests: &[OperationRequest]) -> (Parsed, Vec<String>) {
    let written = requests
        .iter()
        .map(|request| serde_json::to_string(request).unwrap_or_default());
    (requests::read(requests), written.collect())
}

/// A schema for an object with exactly these members.
fn object(members: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonAnswer {
    completed: Vec<String>,
    in_progress: Vec<String>,
    remaining: Vec<String>,
    add: Vec<JsonAddition>,
    archive: Vec<JsonArchiving>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonAddition {
    reason: String,
    content: String,
    label: String,
    snippet: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonArchiving {
    id: String,
    reason: String,
}

/// Reads a JSON answer as operations, and returns each as it was written, by its position; `None` if the answer does not
/// match the schema.
#[must_use]
pub fn read(role: Role, answer: &str) -> Option<(Parsed, Vec<String>)> {
    let JsonAnswer {
        completed,
        in_progress,
        remaining,
        add,
        archive,
    } = serde_json::from_str(answer).ok()?;
    let mut requests = Vec::new();
    if role == Role::Progress {
        if [&completed, &in_progress, &remaining]
            .iter()
            .any(|list| !list.is_empty())
        {
            requests.push(OperationRequest::RewriteProgress {
                completed,
                in_progress,
                remaining,
            });
        }
    } else {
        requests.extend(add.into_iter().map(|added| match role {
            Role::Verbatim => OperationRequest::Add {
                section: RecordSection::Verbatim,
                reason: added.reason,
                label: Some(added.label),
                content: added.snippet,
                replaces: None,
                pinned: false,
                until: None,
            },
            _ => OperationRequest::Add {
                section: RecordSection::Learnings,
                reason: added.reason,
                label: None,
                content: added.content,
                replaces: None,
                pinned: false,
                until: None,
            },
        }));
        requests.extend(
            archive
                .into_iter()
                .map(|JsonArchiving { id, reason }| OperationRequest::Archive {
                    id,
                    reason,
                    duplicate_of: None,
                    superseded_by: None,
                    expired: false,
                }),
        );
    }
    let (mut parsed, written) = parsed(&requests);
    parsed.sections = vec![role];
    Some((parsed, written))
}
