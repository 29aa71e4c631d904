//! `memory_read`, `memory_prompt`, `memory_history`, `memory_search` and `memory_list`.

use super::{Outcome, with_text};
use crate::mcp::backend::{Call, Place, RouteRequest, read_arguments};
use crate::mcp::failure::Failure;
use http::Method;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt::{self, Display};
use strum::IntoStaticStr;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
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

pub(super) async fn call_document(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, mut arguments) = call.read::<Document>(arguments)?;
    let version = arguments.version.take().map(|version| version.to_string());
    let ask = match &version {
        Some(_) if arguments.as_of.is_some() => {
            return Err(Failure::argument(
                "version or as_of",
                "version and as_of cannot be given together: each names a version",
            ));
        }
        Some(version) => place.ask(Method::GET, &["contexts", version]),
        None => place.ask(Method::GET, &["context"]),
    };
    let ask = ask.options(&arguments)?;
    Ok(with_text(call.json(ask).await?, "context"))
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
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
#[serde(untagged, expecting = "it must be a text or a list of texts")]
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

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

pub(super) async fn call_prompt(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, arguments) = call.read::<Prompt>(arguments)?;
    let ask = place.ask(Method::GET, &["prompt"]).options(&arguments)?;
    Ok(with_text(call.json(ask).await?, "text"))
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct History {
    /// What to show.
    #[serde(skip_serializing)]
    #[schemars(!skip_serializing)]
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

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RecordStatus {
    Active,
    Archived,
    All,
}

pub(super) async fn call_history(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, mut arguments) = call.read::<History>(arguments)?;
    arguments.check()?;
    let view: &str = arguments.view.into();
    let ask = match arguments.view {
        View::Log | View::Blame | View::Records => place.ask(Method::GET, &[view]),
        View::Diff => {
            let reference = match arguments.reference.take() {
                Some(reference) => reference.to_string(),
                None => newest(&call, &place).await?,
            };
            place.ask(Method::GET, &["contexts", &reference, "diff"])
        }
    };
    let mut structured = call.json(ask.options(&arguments)?).await?;
    if let Some(members) = structured.as_object_mut() {
        members.insert("view".to_owned(), view.into());
    }
    Ok(CallToolResult::structured(structured))
}

/// The number of the newest version.
async fn newest(call: &Call<'_>, place: &Place) -> Result<String, Failure> {
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

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// The words to search for; at most 1,000 bytes.
    #[serde(rename(serialize = "q"))]
    query: String,
    /// Look inside this memory only; all memories of the vault without it.
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

pub(super) async fn call_search(call: Call<'_>, mut arguments: JsonObject) -> Outcome {
    let ask = match arguments.contains_key("memory") {
        true => call.fixed.place(&mut arguments)?.ask(Method::GET, &["search"]),
        false => {
            let vault = call.vault(&mut arguments)?;
            RouteRequest::new(Method::GET, &["vaults", vault.as_str(), "search"])
        }
    };
    let arguments: Search = read_arguments(arguments)?;
    // So that the agent's own latest writes are found.
    let ask = ask.options(&arguments)?.query("consistent", true);
    Ok(CallToolResult::structured(call.json(ask).await?))
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Only memories whose name begins like this.
    prefix: Option<String>,
    /// next_cursor of the page before, to get the page behind it; leave out for the first.
    cursor: Option<String>,
}

pub(super) async fn call_list(call: Call<'_>, mut arguments: JsonObject) -> Outcome {
    let vault = call.vault(&mut arguments)?;
    // An empty prefix is that of every name.
    arguments.retain(|_, value| value != "");
    let arguments: List = read_arguments(arguments)?;
    let ask = RouteRequest::new(Method::GET, &["vaults", vault.as_str(), "memories"]).options(&arguments)?;
    Ok(CallToolResult::structured(call.json(ask).await?))
}
