//! The DSL as JSON, for model servers that support a JSON schema but no grammar: the schema of a role's
//! answer, and the conversion of such an answer to DSL text.
//!
//! The text is parsed and validated like any other, so nothing is checked here: a missing value is missing in
//! the text too. Only values that would be misread are changed: a line end inside a line becomes a blank, a
//! colon that would end a reason becomes a semicolon, and an arrow in a label becomes `->`.

use super::grammar::MAX_IDS;
use super::print;
use crate::domain::ids::RecordId;
use crate::domain::operation::{Operation, Progress, Role};
use serde::Deserialize;
use serde_json::{Value, json};

/// Appended to the instructions, which describe the text form.
pub const INSTRUCTION: &str = "The form above is written as JSON here: one object of the schema that you are given. \
Its lists are those of the form, empty where the form would say NO CHANGE; reason, label, content and snippet are the \
same texts, without \"because\", and a snippet without added indentation. Answer with that JSON only.";

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

/// Converts a JSON answer to DSL text; `None` if it does not match the schema.
#[must_use]
pub fn text(role: Role, answer: &str) -> Option<String> {
    let parsed: JsonAnswer = serde_json::from_str(answer).ok()?;
    let mut operations = Vec::new();
    if role == Role::Progress {
        let bullets = |texts: Vec<String>| -> Vec<String> { texts.iter().map(|text| line(text)).collect() };
        let progress = Progress {
            completed: bullets(parsed.completed),
            in_progress: bullets(parsed.in_progress),
            remaining: bullets(parsed.remaining),
        };
        if progress != Progress::default() {
            operations.push(Operation::RewriteProgress(progress));
        }
        return Some(written(role, &operations, ""));
    }
    for added in parsed.add {
        let reason = reason(&added.reason);
        operations.push(match role {
            Role::Verbatim => Operation::AddVerbatim {
                reason,
                label: line(&added.label).replace("=>", "->"),
                snippet: added.snippet,
                replaces: None,
            },
            _ => Operation::AddLearning {
                reason,
                content: line(&added.content),
                replaces: None,
            },
        });
    }
    // Ids are copied unchanged: the parser reports invalid ones.
    let archived: String = parsed
        .archive
        .iter()
        .map(|archived| {
            format!(
                "    - {} because {}\n",
                line(&archived.id),
                line(&archived.reason)
            )
        })
        .collect();
    Some(written(role, &operations, &archived))
}

fn written(role: Role, operations: &[Operation], archived: &str) -> String {
    let mut text = print(operations);
    if text.is_empty() && archived.is_empty() {
        return format!("{}: NO CHANGE\n", role.header());
    }
    if text.is_empty() {
        text = format!("{}:\n", role.header());
    }
    if !archived.is_empty() {
        text.push_str("  ARCHIVE:\n");
        text.push_str(archived);
    }
    text
}

/// Joins a text into one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Normalises a reason to one line, without a colon that would end it and without a leading `because`.
fn reason(text: &str) -> String {
    let text = line(text);
    let bare = super::items::after_because(&text).map_or(text.as_str(), str::trim_start);
    bare.trim_end_matches(':').replace(": ", "; ")
}
