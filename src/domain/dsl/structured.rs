//! The DSL as JSON, for model servers that hold their models to a JSON schema and take no grammar: the schema of a
//! role's answer, and the text that such an answer stands for.
//!
//! The text is read and judged like any other, so nothing is checked here: what is missing is missing in it too. Only
//! what would be read as something else is written otherwise: a line end in a line becomes a blank, a colon that would
//! end a reason a semicolon, and an arrow in a label `->`.

use super::grammar::MAX_IDS;
use super::print;
use crate::domain::ids::RecordId;
use crate::domain::operation::{Operation, Progress, Role};
use serde::Deserialize;
use serde_json::{Value, json};

/// Behind the instructions, which describe the text: what is wanted instead.
pub const INSTRUCTION: &str = "The form above is written as JSON here: one object of the schema that you are given. \
Its lists are those of the form, empty where the form would say NO CHANGE; reason, label, content and snippet are the \
same texts, without \"because\", and a snippet without added indentation. Answer with that JSON only.";

/// The most archivings of one answer, and bullets of one list.
const MAX_ITEMS: usize = 20;

/// The schema of a role's answer. `ids` are the records that it may archive, of which those of another kind than the
/// role's are left out; at most `max_additions` are taken.
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
        // An enumeration of nothing is no schema.
        return object(&[("add", add)]);
    }
    let most = names.len().min(MAX_ITEMS);
    let archived = object(&[
        ("id", json!({ "type": "string", "enum": names })),
        ("reason", text()),
    ]);
    object(&[("add", add), ("archive", list(archived, most))])
}

/// An object of exactly these members.
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
struct Said {
    completed: Vec<String>,
    in_progress: Vec<String>,
    remaining: Vec<String>,
    add: Vec<Added>,
    archive: Vec<Archived>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Added {
    reason: String,
    content: String,
    label: String,
    snippet: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Archived {
    id: String,
    reason: String,
}

/// The text that a JSON answer stands for; `None` if it is no such answer.
#[must_use]
pub fn text(role: Role, answer: &str) -> Option<String> {
    let said: Said = serde_json::from_str(answer).ok()?;
    let mut operations = Vec::new();
    if role == Role::Progress {
        let bullets = |texts: Vec<String>| -> Vec<String> { texts.iter().map(|text| line(text)).collect() };
        let progress = Progress {
            completed: bullets(said.completed),
            in_progress: bullets(said.in_progress),
            remaining: bullets(said.remaining),
        };
        if progress != Progress::default() {
            operations.push(Operation::RewriteProgress(progress));
        }
        return Some(written(role, &operations, ""));
    }
    for added in said.add {
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
    // Ids as they were written: one that is none is the parser's to tell.
    let archived: String = said
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

/// A text on one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A reason on one line, without a colon that would end it and without the word that stands before it anyway.
fn reason(text: &str) -> String {
    let text = line(text);
    let bare = super::items::behind_because(&text).map_or(text.as_str(), str::trim_start);
    bare.trim_end_matches(':').replace(": ", "; ")
}
