//! `memory_edit`

use super::call::{Call, Done};
use super::definition::{Definition, string, writes};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const NAME: &str = "memory_edit";

pub(super) fn definition() -> Definition {
    let archive = |id: &str| {
        json!({
            "type": "array",
            "description": "Records that are wrong, replaced or have served their purpose.",
            "items": { "type": "object", "required": ["id", "reason"], "additionalProperties": false,
                "properties": { "id": string(id), "reason": string("Why it goes.") } },
        })
    };
    let bullets = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    Definition {
        name: NAME,
        title: "Edit a memory",
        description: "Change a memory item by item, each with a reason: add and archive learnings and snippets, \
            rewrite the progress. Use it while you work, whenever you found out something that a later session needs. \
            learnings: insights of one line that stay true. snippets: text to keep to the letter (commands, code, \
            errors). progress replaces the whole section, so send all three lists. To correct a record, archive it \
            and add the new one in the same call. Use dry_run to try. Do not use it for completed tasks and \
            decisions (memory_record), for whole texts (memory_write), or for passwords and keys, ever. Items that \
            are not valid come back in rejected; the others are applied. Example: {\"vault\": \"acme\", \"memory\": \
            \"parser-agent\", \"learnings\": {\"add\": [{\"reason\": \"CI has no database\", \"content\": \"Commit the \
            prepared query data\"}], \"archive\": [{\"id\": \"KL-3\", \"reason\": \"replaced\"}]}}",
        arguments: json!({
            "learnings": {
                "type": "object", "additionalProperties": false, "description": "Key Learnings.",
                "properties": {
                    "add": { "type": "array", "description": "New ones; each gets an id.",
                        "items": { "type": "object", "required": ["reason", "content"], "additionalProperties": false,
                            "properties": { "reason": string("Why it is worth keeping."), "content": string("The insight, one line.") } } },
                    "archive": archive("The id, such as KL-3."),
                },
            },
            "snippets": {
                "type": "object", "additionalProperties": false, "description": "Verbatim Context.",
                "properties": {
                    "add": { "type": "array", "description": "New ones; each gets an id.",
                        "items": { "type": "object", "required": ["reason", "label", "content"], "additionalProperties": false,
                            "properties": { "reason": string("Why it is worth keeping."), "label": string("What it is, in a few words."), "content": string("The snippet, kept byte for byte.") } } },
                    "archive": archive("The id, such as VC-2."),
                },
            },
            "progress": {
                "type": "object", "additionalProperties": false, "required": ["in_progress"],
                "description": "Current Progress, replaced as a whole.",
                "properties": {
                    "completed": bullets("What is done."),
                    "in_progress": bullets("What is being done; at least one."),
                    "remaining": bullets("What is left to do."),
                },
            },
            "dry_run": { "type": "boolean", "description": "Do everything but save." },
        }),
        required: &[],
        output: json!({
            "update_id": { "type": "string" },
            "vault_id": { "type": "string" },
            "memory_id": { "type": "string" },
            "status": { "type": "string", "description": "applied, unchanged, dry_run, or proposed where a person has to approve it." },
            "base_version": { "type": "integer" },
            "version": { "type": "integer", "description": "The newest version now." },
            "operations": { "type": "array", "items": { "type": "object" }, "description": "What was applied, with the ids given." },
            "rejected": { "type": "array", "items": { "type": "object" }, "description": "What was not, and why." },
            "warnings": { "type": "array", "items": { "type": "object" } },
            "log": { "type": "string", "description": "The change in words." },
            "document": { "type": "object", "description": "How full the document is." },
        }),
        always: &["update_id", "status", "version", "operations", "rejected"],
        hints: writes(),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    learnings: Option<Learnings>,
    snippets: Option<Snippets>,
    progress: Option<Progress>,
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with add and archive")]
struct Learnings {
    #[serde(default)]
    add: Vec<Learning>,
    #[serde(default)]
    archive: Vec<Archive>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with reason and content")]
struct Learning {
    reason: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with add and archive")]
struct Snippets {
    #[serde(default)]
    add: Vec<Snippet>,
    #[serde(default)]
    archive: Vec<Archive>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with reason, label and content")]
struct Snippet {
    reason: String,
    label: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with id and reason")]
struct Archive {
    id: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with completed, in_progress and remaining"
)]
struct Progress {
    #[serde(default)]
    completed: Vec<String>,
    #[serde(default)]
    in_progress: Vec<String>,
    #[serde(default)]
    remaining: Vec<String>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let arguments: Arguments = arguments::read(arguments)?;
    let dry_run = arguments.dry_run;
    let operations = arguments.operations();
    if operations.is_empty() {
        return Err(Failure::new(
            "the call has nothing to change: it needs learnings, snippets or progress",
            "Call again with at least one item to add or archive, or with progress.",
        ));
    }
    let ask = place
        .ask(Method::Post, &["operations"])
        .query("dry_run", dry_run)
        .json(&json!({ "operations": operations }));
    let mut structured = call.json(ask).await?;
    if let Value::Object(members) = &mut structured {
        // No model was asked, and the log contains what the diff shows.
        members.remove("models");
        members.remove("diff");
    }
    refuse_if_nothing_is_left(&structured)?;
    Ok(structured.into())
}

impl Arguments {
    /// In the route's format, in the order in which faults refer to them.
    fn operations(self) -> Vec<Value> {
        let mut operations = Vec::new();
        if let Some(progress) = self.progress {
            operations.push(json!({ "op": "rewrite_progress", "completed": progress.completed,
                "in_progress": progress.in_progress, "remaining": progress.remaining }));
        }
        let archive =
            |archive: Archive| json!({ "op": "archive", "id": archive.id, "reason": archive.reason });
        if let Some(learnings) = self.learnings {
            operations.extend(learnings.archive.into_iter().map(archive));
            operations.extend(learnings.add.into_iter().map(|Learning { reason, content }| {
                json!({ "op": "add", "section": "learnings", "reason": reason, "content": content })
            }));
        }
        if let Some(snippets) = self.snippets {
            operations.extend(snippets.archive.into_iter().map(archive));
            operations.extend(snippets.add.into_iter().map(|Snippet { reason, label, content }| {
                json!({ "op": "add", "section": "verbatim", "reason": reason, "label": label, "content": content })
            }));
        }
        operations
    }
}

/// An edit whose items were all rejected is a failure; the items contain the reasons.
fn refuse_if_nothing_is_left(answer: &Value) -> Result<(), Failure> {
    let list = |name: &str| {
        answer
            .get(name)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let rejected = list("rejected");
    if rejected.is_empty() || !list("operations").is_empty() {
        return Ok(());
    }
    let mut detail = "nothing was changed, since every item was rejected:".to_owned();
    for item in rejected {
        let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(
            detail,
            "\n- {} ({}): {}",
            text("kind"),
            text("section"),
            text("detail")
        );
    }
    Err(Failure::new(
        detail,
        "Correct the items and call again; memory_read shows the ids that are there. An item that is there already \
         needs no second one.",
    ))
}
