//! The DSL as JSON, for model servers that support a JSON schema: the schema of a role's answer, and the reading of
//! such an answer, by the rules of [`requests`].

use super::Parsed;
use super::items;
use super::lines::is_no_change;
use super::requests::{self, OperationRequest, RecordSection};
use crate::domain::ids::RecordId;
use crate::domain::operation::{Fault, FaultKind, Item, Role};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Appended to the instructions, which describe the text form.
pub const INSTRUCTION: &str = "The form above is written as JSON here: one object of the schema that you are given. \
Its lists are those of the form, empty where the form would say NO CHANGE; reason, label, content and snippet are the \
same texts, without \"because\", and a snippet without added indentation. Answer with that JSON only.";

/// Maximum number of ids in a schema; the largest numbers are kept. This bounds the server's work.
const MAX_IDS: usize = 990;

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
    let own = ids.iter().filter(|id| Some(id.kind) == role.record_kind());
    let own: BTreeSet<&RecordId> = own.collect();
    let newest = own.iter().skip(own.len().saturating_sub(MAX_IDS));
    let names: Vec<String> = newest.map(ToString::to_string).collect();
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

/// Returns the schema of the answer to a consolidation. `ids` are the active records, of which there is at least one. They are
/// listed once: OpenAI accepts 1,000 values of all enums of a schema together.
#[must_use]
pub fn consolidation_schema(ids: &[RecordId]) -> Value {
    let names: Vec<String> = ids.iter().rev().take(MAX_IDS).map(ToString::to_string).collect();
    let text = json!({ "type": "string" });
    let list = |items: Value| json!({ "type": "array", "items": items });
    let id = json!({ "$ref": "#/$defs/id" });
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
    let mut schema = object(&[("archive", list(archived)), ("merge", list(merged))]);
    schema["$defs"] = json!({ "id": { "type": "string", "enum": names } });
    schema
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

/// An answer of any role, or to a consolidation: each has some of the members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonAnswer {
    completed: Option<Vec<String>>,
    in_progress: Option<Vec<String>>,
    remaining: Option<Vec<String>>,
    add: Option<Vec<JsonItem>>,
    archive: Option<Vec<JsonItem>>,
    merge: Option<Vec<JsonItem>>,
}

/// The members of an answer.
const LISTS: [&str; 6] = ["completed", "in_progress", "remaining", "add", "archive", "merge"];

/// An item of any of the lists: each has some of the members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonItem {
    reason: String,
    content: String,
    label: String,
    snippet: String,
    id: String,
    ids: Vec<String>,
    ground: Option<JsonGround>,
    kept: Option<String>,
}

/// What an archiving of a consolidation is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JsonGround {
    DuplicateOf,
    SupersededBy,
    Expired,
}

/// An answer without the code fence around it, which servers that do not enforce the schema let through; one that ends early
/// has no closing fence.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer
        .strip_prefix("```")
        .and_then(|inner| inner.split_once('\n'));
    inner.map_or(answer, |(_, json)| json.strip_suffix("```").unwrap_or(json))
}

/// Reads an answer of the schema.
fn answer_of(json: &str) -> Option<JsonAnswer> {
    let members: Map<String, Value> = serde_json::from_str(json).ok()?;
    let is_known = members.is_empty() || LISTS.iter().any(|list| members.contains_key(*list));
    is_known.then(|| serde_json::from_str(json).ok()).flatten()
}

/// Where the whole items of the lists of an answer end.
fn ends_of_items(answer: &str) -> Vec<usize> {
    let (mut depth, mut in_text, mut is_escaped, mut ends) = (0_usize, false, false, Vec::new());
    for (at, byte) in answer.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                // The object of the answer and the list are open.
                ends.extend((byte == b'}' && depth == 2).then_some(at + 1));
            }
            _ => {}
        }
    }
    ends
}

/// Reads the JSON answer of a role, or to a consolidation, as operations, and returns each as it was written, by its position;
/// `None` if the answer does not match the schema. Of one that ends early its whole items are read, but no progress: without
/// its last bullets it would say something else. If a token limit or a filter ended it, the last item is not trusted, even if it
/// is whole. A role takes out no records of other roles, whatever their ground.
#[must_use]
pub fn read(
    author: impl Into<Option<Role>>,
    answer: &str,
    is_cut_off: bool,
) -> Option<(Parsed, Vec<String>)> {
    let author: Option<Role> = author.into();
    let (mut parsed, written) = read_items(author, answer, is_cut_off)?;
    if let Some(own) = author.filter(|role| role.record_kind().is_some()) {
        // Faults of its lists are its own, whatever ids they name.
        let lists = parsed.faults.iter_mut();
        let lists = lists.filter(|fault| fault.section != Some(Role::Progress));
        lists.for_each(|fault| fault.section = Some(own));
        let foreign = |item: &Item| {
            let fault = items::foreign(own, &item.operation)?;
            Some(fault.at(Some(own), item.range.clone()))
        };
        let faults: Vec<Fault> = parsed.items.iter().filter_map(foreign).collect();
        parsed.items.retain(|item| foreign(item).is_none());
        faults.into_iter().for_each(|fault| parsed.fault(fault));
    }
    Some((parsed, written))
}

fn read_items(role: Option<Role>, answer: &str, is_cut_off: bool) -> Option<(Parsed, Vec<String>)> {
    let text = unfenced(answer);
    let is_progress = role == Some(Role::Progress);
    let (answer, lost) = match answer_of(text) {
        Some(answer) if !is_cut_off => (answer, None),
        None if is_progress || !text.starts_with('{') => return None,
        complete => {
            let mut ends = ends_of_items(text);
            let behind = ends.last().map_or(text, |end| &text[*end..]);
            // Otherwise the last item is what begins there.
            if is_cut_off && !behind.contains('{') {
                ends.pop();
            }
            match ends.last().filter(|_| !is_progress) {
                // What follows it is no JSON, or not trusted.
                Some(end) => {
                    let (whole, lost) = text.split_at(*end);
                    (answer_of(&format!("{whole}]}}"))?, Some(lost))
                }
                None => complete.map(|_| (JsonAnswer::default(), Some(text)))?,
            }
        }
    };
    let mut requests = Vec::new();
    let lists = [answer.completed, answer.in_progress, answer.remaining].map(Option::unwrap_or_default);
    if lists.iter().flatten().any(|bullet| !is_no_change(bullet)) {
        let [completed, in_progress, remaining] = lists;
        requests.push(OperationRequest::RewriteProgress {
            completed,
            in_progress,
            remaining,
        });
    }
    requests.extend(answer.add.into_iter().flatten().map(|added| {
        let (section, label, content) = match role {
            Some(Role::Verbatim) => {
                // JSON can escape NUL, which cannot be stored. The other texts become one line without it.
                let snippet = added.snippet.replace('\0', "\u{fffd}");
                (RecordSection::Verbatim, Some(added.label), snippet)
            }
            _ => (RecordSection::Learnings, None, added.content),
        };
        OperationRequest::Add {
            section,
            reason: added.reason,
            label,
            content,
            replaces: None,
            pinned: false,
            until: None,
        }
    }));
    requests.extend(answer.archive.into_iter().flatten().map(|archived| {
        let kept = archived.kept.unwrap_or_default();
        let kept = |ground| (archived.ground == Some(ground)).then(|| kept.clone());
        OperationRequest::Archive {
            id: archived.id,
            reason: archived.reason,
            duplicate_of: kept(JsonGround::DuplicateOf),
            superseded_by: kept(JsonGround::SupersededBy),
            expired: archived.ground == Some(JsonGround::Expired),
        }
    }));
    let merges = answer.merge.into_iter().flatten();
    requests.extend(merges.map(|merged| OperationRequest::Merge {
        ids: merged.ids,
        reason: merged.reason,
        content: merged.content,
    }));
    let written = requests.iter().map(serde_json::to_string);
    let mut written: Vec<String> = written.map(Result::unwrap_or_default).collect();
    let mut parsed = requests::read(&requests);
    if let Some(lost) = lost {
        let detail = match is_cut_off {
            true => "a token limit or a filter ended the answer, so its last item was not taken",
            false => "the JSON ends early or is none from here on, so the rest of the answer was not taken",
        };
        let place = written.len()..written.len();
        parsed
            .faults
            .push(Fault::new(FaultKind::Truncated, detail).at(role, place));
        written.push(lost.to_owned());
    }
    Some((parsed, written))
}
