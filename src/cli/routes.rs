//! The commands that send one request and print its answer: the options of each, its request, and how the answer is shown.

use super::client::{
    Call, Cell, Failure, MemoryRef, Method, PageArgs, Service, ServiceArgs, confirm, follow, read, read_json,
    read_text,
};
use super::show::{self, Show};
use crate::domain::ids::{ContextId, MemoryId, RecordId, UpdateId};
use chrono::{DateTime, Utc};
use clap::builder::{PathBufValueParser, PossibleValuesParser, Resettable, TypedValueParser as _};
use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde::de::IgnoredAny;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// The timeout of an answer that models write.
const MODELS_TIME: Duration = Duration::from_secs(900);

/// The commands with the options of a page; of `items` it is `list`.
const LISTS: [&str; 11] = [
    "vaults", "memories", "versions", "log", "records", "sections", "search", "updates", "events", "usage",
    "list",
];

/// The commands that write on a version; none of `items`.
const WRITES: [&str; 7] = [
    "put",
    "restore",
    "redact",
    "delete",
    "update",
    "operations",
    "approve",
];

/// A command with the options that all of them have.
#[derive(Debug)]
pub struct RouteCommand {
    request: Request,
    page: Option<PageArgs>,
    on: Option<IfMatch>,
    service: ServiceArgs,
}

/// The options of a command are parameters of its route or members of its body, by their names.
#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
enum Request {
    /// List the vaults.
    Vaults,
    /// List the memories of a vault.
    Memories {
        /// Only those whose id begins with this.
        #[arg(long, value_name = "PREFIX")]
        prefix: Option<String>,
    },
    /// List the versions of a memory.
    Versions,
    /// Print what changed, newest first.
    Log,
    /// List key learnings, verbatim context, tasks and decisions.
    Records(RecordArgs),
    /// List the sections of a document.
    Sections,
    /// Search the memories of a vault; with --memory the records of that one.
    Search {
        /// Required words; -word: excluded; "two words": next to each other.
        #[arg(value_name = "QUERY", allow_hyphen_values = true)]
        #[serde(rename = "q")]
        query: String,
        /// Index pending versions first, so that recent writes are found too.
        #[arg(long)]
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        consistent: bool,
        /// By words, by meaning, or by both; what the service can do without it.
        #[arg(long, value_name = "MODE", ignore_case = true,
            value_parser = PossibleValuesParser::new(["text", "semantic", "hybrid"]).map(|mode| mode.to_lowercase()))]
        mode: Option<String>,
        #[command(flatten)]
        #[serde(flatten)]
        which: RecordArgs,
    },
    /// List the updates of a vault, such as proposals that wait for approval.
    Updates {
        /// Only those with this status, such as proposed, invalid or failed.
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
    },
    /// Print the events of a vault.
    Events {
        /// Only these kinds, such as version,update,redacted.
        #[arg(long, value_name = "KINDS")]
        kinds: Option<String>,
        /// Print new events until interrupted, and reconnect after lost connections.
        #[arg(short, long, conflicts_with_all = ["limit", "cursor"])]
        #[serde(skip)]
        follow: bool,
    },
    /// Print a vault's storage with its limits, and what its models cost.
    Usage {
        /// The first day, such as 2026-11-01 (UTC); thirty days without it.
        #[arg(long, value_name = "DAY")]
        from: Option<String>,
        /// The last day, included; today without it.
        #[arg(long, value_name = "DAY")]
        to: Option<String>,
    },
    /// Print the document of a memory.
    Get {
        /// Only this section: `progress`, `learnings`, … or the title of a heading.
        #[arg(long, value_name = "SECTION")]
        section: Option<String>,
        /// The version that was the newest at this time (RFC 3339).
        #[arg(long, value_name = "TIME", conflicts_with = "version")]
        as_of: Option<String>,
        /// This version: its number or its context_id.
        #[arg(long, value_name = "REF")]
        #[serde(skip)]
        version: Option<ContextId>,
    },
    /// Print which version added each line.
    Blame {
        /// The version: its number or its context_id; the newest without it.
        #[arg(value_name = "REF")]
        #[serde(rename = "ref")]
        version: Option<ContextId>,
    },
    /// Print what a version changed.
    Diff {
        /// The version: its number or its context_id; the newest without it.
        #[arg(value_name = "REF")]
        #[serde(skip)]
        version: Option<ContextId>,
        /// Compare with this version instead of the one before.
        #[arg(long, value_name = "REF")]
        base: Option<ContextId>,
    },
    /// Print the assembled prompt.
    Prompt {
        /// The maximum number of tokens; whole parts and the oldest records are dropped beyond it.
        #[arg(long, value_name = "N", allow_negative_numbers = true,
            value_parser = clap::value_parser!(u32).range(1..))]
        max_tokens: Option<u32>,
        /// Only these parts, separated by commas.
        #[arg(long, value_name = "PARTS")]
        include: Option<String>,
        /// Without these parts, separated by commas.
        #[arg(long, value_name = "PARTS")]
        exclude: Option<String>,
        /// The time zone of the date and time, such as Europe/Berlin.
        #[arg(long, value_name = "ZONE")]
        timezone: Option<String>,
    },
    /// Put a document: a new version of a memory.
    Put {
        /// The document; standard input for `-`.
        #[arg(value_name = "FILE", default_value = "-")]
        #[serde(skip)]
        file: PathBuf,
        /// Put it also if it drops most of the document, which the service would otherwise reject.
        #[arg(long)]
        #[serde(rename = "confirm", serialize_with = "collapse")]
        confirm_collapse: bool,
    },
    /// Make an old version the newest again.
    Restore {
        /// The version: its number or its context_id.
        #[arg(value_name = "REF")]
        #[serde(skip)]
        version: ContextId,
    },
    /// Remove the text of an old version permanently.
    Redact {
        /// The version: its number or its context_id. The newest cannot be redacted.
        #[arg(value_name = "REF")]
        #[serde(skip)]
        version: ContextId,
        /// The reason; it is shown in place of the text, so it must not repeat the redacted text.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Do not ask.
        #[arg(short, long)]
        #[serde(skip)]
        yes: bool,
    },
    /// Delete a memory permanently.
    Delete {
        /// Do not ask.
        #[arg(short, long)]
        #[serde(skip)]
        yes: bool,
    },
    /// Send what was done, and let the models update the memory.
    Update {
        /// What was just done or is being done.
        #[arg(value_name = "TASK")]
        task: String,
        /// The messages around it, oldest first: a line {"role": …, "content": …} each, in the format of OpenAI's or
        /// Anthropic's messages; standard input for `-`.
        #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(JsonLines))]
        messages: Option<JsonLines>,
        /// Dry run: save nothing.
        #[arg(long)]
        dry_run: bool,
        /// Save the other roles' operations if the model of one role fails.
        #[arg(long)]
        allow_partial: bool,
        /// What to do with items that stay faulty: drop them and save the rest, or fail: save nothing, and store the run.
        #[arg(long, value_name = "WHAT", value_parser = ["drop", "fail"])]
        on_invalid: Option<String>,
        /// What to do with items that neither the task nor the messages support: reject them, save them with a warning, or
        /// look for no support. Only what is at least as strict as the service's own setting is accepted.
        #[arg(long, value_name = "WHAT", value_parser = ["reject", "warn", "off"])]
        evidence: Option<String>,
        /// Save a proposal that waits for approval.
        #[arg(long)]
        #[serde(rename = "mode", serialize_with = "mode")]
        propose: bool,
        /// A task record and status to save in the same version: a file with {"intent": …, "summary": …} and, optionally,
        /// task_id, outcome, epic, goal, blocker.
        #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(JsonFile))]
        record: Option<JsonFile>,
        /// Only these sections: progress, learnings, verbatim.
        #[arg(long, value_name = "ROLE", value_delimiter = ',')]
        roles: Option<Vec<String>>,
    },
    /// Apply operations: text or JSON that adds and archives records.
    Operations {
        /// The operations: text (docs/dsl.md), or JSON {"operations": [{"op": …}]} as the route takes it; standard input
        /// for `-`.
        #[arg(value_name = "FILE", default_value = "-")]
        #[serde(skip)]
        file: PathBuf,
        /// Dry run: save nothing.
        #[arg(long)]
        dry_run: bool,
        /// Save a proposal that waits for approval.
        #[arg(long, conflicts_with = "update_id")]
        #[serde(rename = "mode", serialize_with = "mode")]
        propose: bool,
        /// What to do with faulty items: drop them and save the rest, or fail: save nothing, and store the run.
        #[arg(long, value_name = "WHAT", value_parser = ["drop", "fail"])]
        on_invalid: Option<String>,
        /// The maximum number of additions in each section.
        #[arg(long, value_name = "N", allow_negative_numbers = true,
            value_parser = clap::value_parser!(u8).range(1..=100))]
        max_additions: Option<u8>,
        /// The saved run that this finishes.
        #[arg(long, value_name = "UPDATE_ID")]
        update_id: Option<UpdateId>,
    },
    /// Archive records that have expired or say no more than another one.
    Consolidate {
        /// Archive at once what can go. Without it a proposal waits for approval.
        #[arg(long = "apply", action = clap::ArgAction::SetFalse)]
        #[serde(rename = "mode", serialize_with = "mode")]
        propose: bool,
        /// What the model is told besides its instructions, such as what to look at.
        #[arg(long, value_name = "TEXT")]
        instructions: Option<String>,
    },
    /// Approve a proposal.
    Approve {
        /// The proposal, as `updates --status proposed` lists it.
        #[arg(value_name = "UPDATE_ID")]
        #[serde(skip)]
        update_id: UpdateId,
        /// Only the operations with these numbers, such as 0,2. All of them without it.
        #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
        operations: Option<Vec<u32>>,
        /// A comment for the log.
        #[arg(long, value_name = "TEXT")]
        comment: Option<String>,
    },
    /// Reject a proposal.
    Reject {
        /// The proposal, as `updates --status proposed` lists it.
        #[arg(value_name = "UPDATE_ID")]
        #[serde(skip)]
        update_id: UpdateId,
        /// The reason, for the author of the proposal.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Record a completed task.
    Task {
        /// What was to be done.
        #[arg(value_name = "INTENT")]
        intent: String,
        /// What was done.
        #[arg(long, value_name = "TEXT")]
        summary: String,
        /// An id of the caller, such as a commit: a task is recorded once per id.
        #[arg(long, value_name = "ID")]
        task_id: Option<String>,
        /// The epic that it belongs to.
        #[arg(long, value_name = "EPIC")]
        epic: Option<String>,
        /// A report to save with the task, as JSON; standard input for `-`.
        #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(JsonFile))]
        outcome: Option<JsonFile>,
    },
    /// Record a decision.
    Decision {
        /// What was decided.
        #[arg(value_name = "DECISION")]
        decision: String,
        /// The reason; recommended.
        #[arg(long, value_name = "REASON")]
        #[serde(rename = "reason")]
        because: Option<String>,
        /// The decision that this one replaces, such as D-3.
        #[arg(long, value_name = "ID")]
        supersedes: Option<RecordId>,
    },
    /// Write the goal and the blocker.
    #[command(group(ArgGroup::new("aim").args(["goal", "blocker"]).required(true).multiple(true)))]
    SetStatus {
        /// The goal; `none` clears it. Unchanged without this option.
        #[arg(long, value_name = "TEXT")]
        goal: Option<String>,
        /// The blocker; `none` clears it. Unchanged without this option.
        #[arg(long, value_name = "TEXT")]
        blocker: Option<String>,
    },
    /// Parts of system prompts that components own.
    Items(Items),
}

#[derive(Debug, Args, Serialize)]
#[serde(transparent)]
struct Items {
    #[command(subcommand)]
    command: ItemsCommand,
    /// The items of the vault, which apply to all its memories, instead of the memory's own.
    #[arg(long, global = true)]
    #[serde(skip)]
    vault_wide: bool,
}

#[derive(Debug, Subcommand, Serialize)]
#[serde(untagged)]
enum ItemsCommand {
    /// Add one item at the end of its category.
    Add {
        /// The category.
        #[arg(long, value_name = "CATEGORY")]
        category: String,
        /// The text; standard input for `-`.
        #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(TextFile))]
        #[serde(rename = "content")]
        file: TextFile,
        /// Metadata of its component, a JSON object.
        #[arg(long, value_name = "JSON", value_parser = raw)]
        metadata: Option<Box<RawValue>>,
        /// The time from which it is no longer shown, such as 2026-12-31T00:00:00Z.
        #[arg(long, value_name = "TIME")]
        expires_at: Option<DateTime<Utc>>,
    },
    /// Replace a whole category with one text.
    Put {
        /// The category.
        #[arg(long, value_name = "CATEGORY")]
        #[serde(skip)]
        category: String,
        /// The text; standard input for `-`.
        #[arg(long, value_name = "FILE")]
        #[serde(skip)]
        file: PathBuf,
    },
    /// List items.
    List {
        /// Only this category.
        #[arg(long, value_name = "CATEGORY")]
        category: Option<String>,
    },
    /// Remove an item, or a whole category.
    #[command(group(ArgGroup::new("which").args(["item_id", "category"]).required(true)))]
    Remove {
        /// The item.
        #[arg(value_name = "ITEM_ID")]
        #[serde(skip)]
        item_id: Option<String>,
        /// All items of this category.
        #[arg(long, value_name = "CATEGORY")]
        category: Option<String>,
    },
}

/// Which records.
#[derive(Debug, Args, Serialize)]
struct RecordArgs {
    /// Only this kind: key learnings, verbatim context, tasks, decisions.
    #[arg(long, value_name = "KIND", ignore_case = true,
        value_parser = PossibleValuesParser::new(["KL", "VC", "T", "D"]).map(|kind| kind.to_uppercase()))]
    kind: Option<String>,
    /// Which ones; active without it.
    #[arg(long, value_name = "STATUS", ignore_case = true,
        value_parser = PossibleValuesParser::new(["active", "archived", "all"]).map(|status| status.to_lowercase()))]
    status: Option<String>,
}

/// The version that a write is made on.
#[derive(Debug, Args)]
struct IfMatch {
    /// Only if the newest version is still this one (its context_id; `*`: any, but there must be one).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
}

/// A file whose text is the value of a member.
#[derive(Debug, Clone)]
struct TextFile(PathBuf);

impl Serialize for TextFile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        read_text(&self.0).map_err(S::Error::custom)?.serialize(to)
    }
}

/// A file whose JSON is the value of a member, as it was written.
#[derive(Debug, Clone)]
struct JsonFile(PathBuf);

impl Serialize for JsonFile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        read_json(&self.0).map_err(S::Error::custom)?.serialize(to)
    }
}

/// A file whose lines are objects of JSON, a list of which is the value of a member.
#[derive(Debug, Clone)]
struct JsonLines(PathBuf);

impl Serialize for JsonLines {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let text = read_text(&self.0).map_err(S::Error::custom)?;
        let lines = serde_json::Deserializer::from_str(&text).into_iter();
        let lines: Result<Vec<Map<String, Value>>, _> = lines.collect();
        let wrong = |error| S::Error::custom(format!("{}: {error}", self.0.display()));
        lines.map_err(wrong)?.serialize(to)
    }
}

/// JSON as it was written.
fn raw(json: &str) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string(json.to_owned())
}

fn mode<S: Serializer>(propose: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(if *propose { "propose" } else { "apply" })
}

fn collapse<S: Serializer>(confirmed: &bool, to: S) -> Result<S::Ok, S::Error> {
    confirmed.then_some("collapse").serialize(to)
}

/// Gives a command, or those below it, the options that all have, or all lists or writes.
fn with_common_options(command: Command, is_of_items: bool) -> Command {
    if command.has_subcommands() {
        return command.mut_subcommands(|command| with_common_options(command, true));
    }
    // Clap describes a command by what it was given last, also by what describes a group of options.
    let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = match command.get_name() {
        name if LISTS.contains(&name) => PageArgs::augment_args(command),
        name if WRITES.contains(&name) && !is_of_items => IfMatch::augment_args(command),
        _ => command,
    };
    let command = ServiceArgs::augment_args(command);
    command
        .about(Resettable::from(about))
        .long_about(Resettable::from(long))
}

impl Subcommand for RouteCommand {
    fn augment_subcommands(program: Command) -> Command {
        let own = Request::augment_subcommands(Command::new("routes"));
        let commands = own.get_subcommands().cloned();
        program.subcommands(commands.map(|command| with_common_options(command, false)))
    }

    fn augment_subcommands_for_update(program: Command) -> Command {
        Self::augment_subcommands(program)
    }

    fn has_subcommand(name: &str) -> bool {
        Request::has_subcommand(name)
    }
}

impl FromArgMatches for RouteCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut innermost = matches;
        while let Some((_, below)) = innermost.subcommand() {
            innermost = below;
        }
        // An option that a command does not have is an error or none.
        let has = |option: &str| innermost.try_contains_id(option).unwrap_or(false);
        let page = has("limit").then(|| PageArgs::from_arg_matches(innermost));
        let on = has("if_match").then(|| IfMatch::from_arg_matches(innermost));
        Ok(Self {
            request: Request::from_arg_matches(matches)?,
            page: page.transpose()?,
            on: on.transpose()?,
            service: ServiceArgs::from_arg_matches(innermost)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl RouteCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = match &self.request {
            Request::Update { .. } | Request::Consolidate { .. } => {
                Service::with_timeout(&self.service, MODELS_TIME)?
            }
            _ => Service::of(&self.service)?,
        };
        let json = self.service.is_json();
        let memory = self.service.memory_ref.memory.as_ref();
        if let Request::Events { kinds, follow: true } = &self.request {
            let call = || {
                let call = service.of_vault(Method::GET, &["events"])?;
                Ok(call.maybe("memory_id", memory).maybe("kinds", kinds.as_ref()))
            };
            return follow(call, |data| show::followed(data, json)).await;
        }
        self.refuse_ignored_options()?;
        let (call, shown) = self.request.call(&service, memory).await?;
        let call = call
            .options(&self.request)
            .and_then(|call| call.options(&self.page))
            .map_err(|error| Failure::usage(error.to_string()))?;
        let call = call.if_match(self.on.and_then(|on| on.if_match).as_deref())?;
        let call = match shown.is_plain() && !json {
            true => call.accept("text/plain"),
            false => call,
        };
        shown.print(&call.send().await?, json)
    }

    /// Lists of all vaults or of all memories take no option that names one.
    fn refuse_ignored_options(&self) -> Result<(), Failure> {
        let of = &self.service.memory_ref;
        let ignored = match self.request {
            Request::Vaults if of.vault.is_some() => "--vault",
            Request::Vaults | Request::Memories { .. } | Request::Usage { .. } | Request::Updates { .. }
                if of.memory.is_some() =>
            {
                "--memory"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(format!(
            "this command takes no {ignored}: it lists all of them"
        )))
    }
}

impl Request {
    /// The request without its options, and how its answer is shown.
    async fn call<'s>(
        &self,
        to: &'s Service,
        memory: Option<&MemoryId>,
    ) -> Result<(Call<'s>, Show), Failure> {
        let get = |path: &str| to.of_memory(Method::GET, &[path]);
        let post = |below: &[&str]| to.of_memory(Method::POST, below);
        let of_vault = |path: &str| to.of_vault(Method::GET, &[path]);
        Ok(match self {
            Self::Vaults => (
                to.call(Method::GET, &["v1", "vaults"])?,
                Show::List(show::VAULTS, None),
            ),
            Self::Memories { .. } => (of_vault("memories")?, Show::List(show::MEMORIES, None)),
            Self::Versions => (get("contexts")?, Show::List(show::VERSIONS, None)),
            Self::Log => (get("log")?, Show::List(show::LOG, Some(Cell::Text("log")))),
            Self::Records(_) => (
                get("records")?,
                Show::List(show::RECORDS, Some(Cell::Text("content"))),
            ),
            Self::Sections => (get("sections")?, Show::List(show::SECTIONS, None)),
            Self::Search { .. } => {
                let call = match memory {
                    Some(_) => get("search")?,
                    None => of_vault("search")?,
                };
                (call, Show::List(show::HITS, Some(show::EXTRACT)))
            }
            Self::Updates { .. } => (
                of_vault("updates")?,
                Show::List(show::UPDATES, Some(show::OUTCOME)),
            ),
            Self::Events { .. } => {
                let call = of_vault("events")?.query("order", "newest");
                let call = call.maybe("memory_id", memory);
                (call, Show::List(show::EVENTS, Some(show::DETAILS)))
            }
            Self::Usage { .. } => (of_vault("usage")?, Show::Usage),
            Self::Get {
                version: Some(version),
                ..
            } => {
                let call = to.of_memory(Method::GET, &["contexts", version.as_str()])?;
                (call, Show::Text)
            }
            Self::Get { .. } => (get("context")?, Show::Text),
            Self::Blame { .. } => (get("blame")?, Show::Blame),
            Self::Diff { version, .. } => {
                let version = match version {
                    Some(version) => version.clone(),
                    None => newest(to).await?,
                };
                let call = to.of_memory(Method::GET, &["contexts", version.as_str(), "diff"])?;
                (call, Show::Diff)
            }
            Self::Prompt { .. } => (get("prompt")?, Show::Prompt),
            Self::Put { file, .. } => {
                let call = to.of_memory(Method::PUT, &["context"])?.text(read(file)?);
                (call, Show::done("saved"))
            }
            Self::Restore { version } => (
                post(&["contexts", version.as_str(), "restore"])?,
                Show::done("saved"),
            ),
            Self::Redact { version, yes, .. } => {
                let MemoryRef { vault, memory } = to.memory_ref()?;
                let question = format!(
                    "Remove the text of version {version} of memory {memory} of vault {vault} permanently, with everything \
                     that quotes it?"
                );
                confirm(&question, *yes)?;
                (
                    post(&["contexts", version.as_str(), "redact"])?,
                    Show::done("redacted"),
                )
            }
            Self::Delete { yes } => {
                let MemoryRef { vault, memory } = to.memory_ref()?;
                // A memory that does not exist needs no confirmation.
                let head: Value = to.of_memory(Method::GET, &[])?.send().await?.json()?;
                let goes = match head["version"].as_i64().unwrap_or_default() {
                    0 => "its prompt items (it has no document)".to_owned(),
                    versions => format!("its versions up to {versions}"),
                };
                let question = format!("Delete memory {memory} of vault {vault} with {goes} permanently?");
                confirm(&question, *yes)?;
                let done = Show::Done(format!("deleted {memory}"));
                (to.of_memory(Method::DELETE, &[])?, done)
            }
            Self::Update { .. } => (post(&["update"])?, Show::Applied),
            Self::Operations { file, .. } => {
                let mut body = read(file)?;
                let json = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body);
                if json.trim_ascii_start().starts_with(b"{") {
                    serde_json::from_slice::<IgnoredAny>(json).map_err(|error| {
                        Failure::usage(format!("the operations are damaged JSON: {error}"))
                    })?;
                    body = json.to_vec();
                }
                (post(&["operations"])?.json_or_text(body), Show::Applied)
            }
            Self::Consolidate { .. } => (post(&["consolidate"])?, Show::Applied),
            Self::Approve { update_id, .. } => {
                (post(&["updates", update_id.as_str(), "approve"])?, Show::Applied)
            }
            Self::Reject { update_id, .. } => (
                post(&["updates", update_id.as_str(), "reject"])?,
                Show::done("rejected"),
            ),
            Self::Task { .. } => (post(&["tasks"])?, Show::done("recorded")),
            Self::Decision { .. } => (post(&["decisions"])?, Show::done("recorded")),
            Self::SetStatus { .. } => (to.of_memory(Method::PUT, &["status"])?, Show::done("status set")),
            Self::Items(items) => items.call(to)?,
        })
    }
}

async fn newest(service: &Service) -> Result<ContextId, Failure> {
    let call = service.of_memory(Method::GET, &["contexts"])?.query("limit", "1");
    let list: Value = call.send().await?.json()?;
    let newest = list["items"][0]["context_id"].as_str();
    newest
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Failure::not_found("the memory has no version"))
}

impl Items {
    fn call<'s>(&self, to: &'s Service) -> Result<(Call<'s>, Show), Failure> {
        let items = |method, below: &[&str]| {
            let path = [&["items"], below].concat();
            match self.vault_wide {
                true => to.of_vault(method, &path),
                false => to.of_memory(method, &path),
            }
        };
        Ok(match &self.command {
            ItemsCommand::Add { .. } => (items(Method::POST, &[])?, Show::done("added")),
            ItemsCommand::Put { category, file } => {
                let call = items(Method::PUT, &[category])?.text(read(file)?);
                (call, Show::Done(format!("replaced {category}")))
            }
            ItemsCommand::List { .. } => {
                let list = Show::List(show::ITEMS, Some(Cell::Text("content")));
                (items(Method::GET, &[])?, list)
            }
            ItemsCommand::Remove {
                item_id: Some(id), ..
            } => (items(Method::DELETE, &[id])?, Show::Done(format!("removed {id}"))),
            ItemsCommand::Remove { .. } => (items(Method::DELETE, &[])?, Show::done("removed")),
        })
    }
}
