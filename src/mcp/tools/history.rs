//! `memory_history`

use super::call::{Call, Done, Place};
use super::definition::{Definition, cursor, reads, string};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use strum::IntoStaticStr;

pub(super) const NAME: &str = "memory_history";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "See what changed",
        description: "See how a memory came to be. view log: the changes in words, newest first. view diff: what \
            version ref (the newest without it) changed against base (the version before without it), also record by \
            record. view blame: who wrote each line of version ref, when, and in which version. view records: the \
            learnings (KL), snippets (VC), tasks (T) and decisions (D) with reason, birth and end; status active, \
            archived or all. Use it to find out why something is there, what happened since a version you know, or \
            what was archived. Do not use it to read the present document (memory_read). log and records come in \
            pages (cursor). Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"view\": \"records\", \"status\": \"archived\"}",
        arguments: json!({
            "view": { "type": "string", "enum": ["log", "diff", "blame", "records"], "description": "What to show." },
            "ref": string("diff, blame: the version, by number or context_id; the newest without it."),
            "base": string("diff: the version to compare with; the one before without it."),
            "status": { "type": "string", "enum": ["active", "archived", "all"], "description": "records: which; active without it." },
            "cursor": cursor(),
        }),
        required: &["view"],
        output: json!({
            "view": { "type": "string", "enum": ["log", "diff", "blame", "records"] },
            "items": { "type": "array", "items": { "type": "object" }, "description": "log, records: the entries." },
            "next_cursor": { "type": ["string", "null"], "description": "log, records: send it as cursor for the next page." },
            "version": { "type": "integer", "description": "diff, blame: the version shown." },
            "base_version": { "type": "integer", "description": "diff: the version compared with." },
            "diff": { "type": "string", "description": "diff: the unified diff." },
            "records": { "type": "object", "description": "diff: records added, changed, archived." },
            "lines": { "type": "array", "items": { "type": "object" }, "description": "blame: the lines." },
        }),
        always: &["view"],
        hints: reads(),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    view: View,
    #[serde(rename = "ref")]
    reference: Option<Reference>,
    base: Option<Reference>,
    status: Option<String>,
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum View {
    Log,
    Diff,
    Blame,
    Records,
}

impl View {
    fn name(self) -> &'static str {
        self.into()
    }
}

/// A version; models write it as a string or a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Reference {
    Number(u64),
    Text(String),
}

impl Reference {
    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let arguments: Arguments = arguments::read(arguments)?;
    arguments.check()?;
    let view = arguments.view;
    let reference = arguments.reference.map(Reference::text);
    let ask = match view {
        View::Log => place.ask(Method::Get, &["log"]).maybe("cursor", arguments.cursor),
        View::Records => place
            .ask(Method::Get, &["records"])
            .maybe("status", arguments.status)
            .maybe("cursor", arguments.cursor),
        View::Blame => place.ask(Method::Get, &["blame"]).maybe("ref", reference),
        View::Diff => {
            let reference = match reference {
                Some(reference) => reference,
                None => newest(&call, &place).await?,
            };
            place
                .ask(Method::Get, &["contexts", &reference, "diff"])
                .maybe("base", arguments.base.map(Reference::text))
        }
    };
    let mut structured = call.json(ask).await?;
    if let Value::Object(members) = &mut structured {
        members.insert("view".to_owned(), json!(view.name()));
    }
    Ok(structured.into())
}

/// The number of the newest version.
async fn newest<B: Backend>(call: &Call<'_, B>, place: &Place) -> Result<String, Failure> {
    let list = call
        .json(place.ask(Method::Get, &["contexts"]).query("limit", 1))
        .await?;
    Ok(list["items"][0]["version"].to_string())
}

impl Arguments {
    /// Arguments of another view are rejected, not ignored.
    fn check(&self) -> Result<(), Failure> {
        let arguments = [
            ("ref", self.reference.is_some(), &[View::Diff, View::Blame][..]),
            ("base", self.base.is_some(), &[View::Diff]),
            ("status", self.status.is_some(), &[View::Records]),
            ("cursor", self.cursor.is_some(), &[View::Log, View::Records]),
        ];
        for (name, is_given, views) in arguments {
            if is_given && !views.contains(&self.view) {
                let views: Vec<_> = views.iter().map(|view| view.name()).collect();
                return Err(Failure::argument(
                    name,
                    format!(
                        "{name} goes with view {}, not with {}",
                        views.join(" or "),
                        self.view.name()
                    ),
                ));
            }
        }
        Ok(())
    }
}
