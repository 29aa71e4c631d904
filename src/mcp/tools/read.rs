//! `memory_read`, `memory_prompt`, `memory_history`, `memory_search` and `memory_list`.

use super::{Call, Outcome, with_text};
use crate::mcp::backend::{Backend, Place, RouteRequest, read_arguments};
use crate::mcp::failure::Failure;
use http::Method;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use std::fmt::{self, Display};
use strum::IntoStaticStr;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// Only this section: its title, such as Key Learnings, or progress, learnings, verbatim, status, tasks, decisions.
    section: Option<String>,
    /// This version instead of the newest.
    #[schemars(range(min = 1))]
    version: Option<u64>,
    /// The version that was the newest at this time, such as 2026-11-22T08:00:00Z. Not together with version.
    as_of: Option<String>,
}

pub(super) async fn call_document<B: Backend>(call: Call<'_, B>, arguments: JsonObject) -> Outcome {
    let (place, arguments) = call.read::<Document>(arguments)?;
    let ask = match arguments.version {
        Some(_) if arguments.as_of.is_some() => {
            return Err(Failure::argument(
                "version or as_of",
                "version and as_of cannot be given together: each names a version",
            ));
        }
        Some(version) => place.ask(Method::GET, &["contexts", &version.to_string()]),
        None => place
            .ask(Method::GET, &["context"])
            .maybe("as_of", arguments.as_of),
    };
    let ask = ask.maybe("section", arguments.section);
    Ok(with_text(call.json(ask).await?, "context"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    /// Only these parts, separated by commas.
    #[schemars(with = "Option<String>")]
    include: Option<Text>,
    /// None of these parts, separated by commas.
    #[schemars(with = "Option<String>")]
    exclude: Option<Text>,
    /// How many tokens it may have; what matters least is left out.
    #[schemars(range(min = 1))]
    max_tokens: Option<u64>,
    /// The IANA time zone of the date and time, such as Europe/Berlin; UTC without it.
    timezone: Option<String>,
    /// What the prompt is for: under a budget, records that matter to it are kept before others.
    query: Option<String>,
}

/// A text that some models write as a number, or as a list instead of with commas.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Words(String),
    Number(u64),
    List(Vec<String>),
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::List(names) => f.write_str(&names.join(",")),
        }
    }
}

pub(super) async fn call_prompt<B: Backend>(call: Call<'_, B>, arguments: JsonObject) -> Outcome {
    let (place, arguments) = call.read::<Prompt>(arguments)?;
    let ask = place
        .ask(Method::GET, &["prompt"])
        .maybe("include", arguments.include)
        .maybe("exclude", arguments.exclude)
        .maybe("max_tokens", arguments.max_tokens)
        .maybe("timezone", arguments.timezone)
        .maybe("query", arguments.query);
    Ok(with_text(call.json(ask).await?, "text"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct History {
    /// What to show.
    view: View,
    /// diff, blame: the version, by number or context_id; the newest without it.
    #[serde(rename = "ref")]
    #[schemars(with = "Option<String>")]
    reference: Option<Text>,
    /// diff: the version to compare with; the one before without it.
    #[schemars(with = "Option<String>")]
    base: Option<Text>,
    /// records: which; active without it.
    status: Option<RecordStatus>,
    /// log, records: next_cursor of the page before, to get the page behind it; leave out for the first.
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum View {
    Log,
    Diff,
    Blame,
    Records,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum RecordStatus {
    Active,
    Archived,
    All,
}

pub(super) async fn call_history<B: Backend>(call: Call<'_, B>, arguments: JsonObject) -> Outcome {
    let (place, arguments) = call.read::<History>(arguments)?;
    arguments.check()?;
    let view = arguments.view;
    let ask = match view {
        View::Log => place.ask(Method::GET, &["log"]),
        View::Records => place
            .ask(Method::GET, &["records"])
            .maybe("status", arguments.status),
        View::Blame => place
            .ask(Method::GET, &["blame"])
            .maybe("ref", arguments.reference),
        View::Diff => {
            let reference = match arguments.reference {
                Some(reference) => reference.to_string(),
                None => newest(&call, &place).await?,
            };
            place
                .ask(Method::GET, &["contexts", &reference, "diff"])
                .maybe("base", arguments.base)
        }
    };
    let mut structured = call.json(ask.maybe("cursor", arguments.cursor)).await?;
    if let Some(members) = structured.as_object_mut() {
        members.insert("view".to_owned(), <&str>::from(view).into());
    }
    Ok(CallToolResult::structured(structured))
}

/// The number of the newest version.
async fn newest<B: Backend>(call: &Call<'_, B>, place: &Place) -> Result<String, Failure> {
    let ask = place.ask(Method::GET, &["contexts"]).query("limit", 1);
    let list = call.json(ask).await?;
    Ok(list["items"][0]["version"].to_string())
}

impl History {
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
                let views: Vec<&str> = views.iter().map(|view| (*view).into()).collect();
                let own: &str = self.view.into();
                let detail = format!("{name} goes with view {}, not with {own}", views.join(" or "));
                return Err(Failure::argument(name, detail));
            }
        }
        Ok(())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// The words to search for; at most 1,000 bytes.
    query: String,
    /// Look inside this memory only; all memories of the vault without it.
    #[expect(dead_code, reason = "is taken out of the arguments with the vault")]
    memory: Option<String>,
    /// text, semantic or hybrid: by words, by meaning, or by both; what the service can do without it.
    mode: Option<String>,
    /// Only records of this kind: KL, VC, T or D (learnings, snippets, tasks or decisions).
    kind: Option<String>,
    /// Which records: active, archived or all; active without it. Archived ones of a whole vault are found by meaning only.
    status: Option<RecordStatus>,
    /// How many to show at once; 50 without it.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u64>,
    /// next_cursor of the page before, to get the page behind it; leave out for the first.
    cursor: Option<String>,
}

pub(super) async fn call_search<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Outcome {
    let ask = match arguments.contains_key("memory") {
        true => call.fixed.place(&mut arguments)?.ask(Method::GET, &["search"]),
        false => {
            let vault = call.vault(&mut arguments)?;
            RouteRequest::new(Method::GET, &["vaults", vault.as_str(), "search"])
        }
    };
    let arguments: Search = read_arguments(arguments)?;
    let ask = ask
        .query("q", arguments.query)
        .maybe("mode", arguments.mode)
        .maybe("kind", arguments.kind)
        .maybe("status", arguments.status)
        .maybe("limit", arguments.limit)
        .maybe("cursor", arguments.cursor)
        // So that the agent's own latest writes are found.
        .query("consistent", true);
    Ok(CallToolResult::structured(call.json(ask).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Only memories whose name begins like this.
    prefix: Option<String>,
    /// next_cursor of the page before, to get the page behind it; leave out for the first.
    cursor: Option<String>,
}

pub(super) async fn call_list<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Outcome {
    let vault = call.vault(&mut arguments)?;
    let List { prefix, cursor } = read_arguments(arguments)?;
    let ask = RouteRequest::new(Method::GET, &["vaults", vault.as_str(), "memories"])
        .maybe("prefix", prefix.filter(|prefix| !prefix.is_empty()))
        .maybe("cursor", cursor);
    Ok(CallToolResult::structured(call.json(ask).await?))
}
