//! The commands that send one request and print its answer: the options of each, its request, and how the answer is shown.

use super::client::{
    Call, Failure, MemoryRef, Method, PageArgs, Service, ServiceArgs, confirm, follow, members, read,
    read_json, read_text,
};
use super::show::{self, Show};
use crate::domain::ids::{ContextId, RecordId, UpdateId};
use chrono::{DateTime, Utc};
use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// The timeout of an answer, and of one that models write.
const ANSWER_TIME: Duration = Duration::from_secs(60);
const MODELS_TIME: Duration = Duration::from_secs(900);

/// The commands with the options of a page; of `items` it is `list`.
const LISTS: [&str; 11] = [
    "vaults", "memories", "versions", "log", "records", "sections", "search", "updates", "events", "usage",
    "list",
];

/// A command with the options that all of them have.
#[derive(Debug)]
pub struct RouteCommand {
    request: Request,
    page: Option<PageArgs>,
    service: ServiceArgs,
}

#[derive(Debug, Subcommand)]
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
        query: String,
        /// Index pending versions first, so that recent writes are found too.
        #[arg(long)]
        consistent: bool,
        /// By words, by meaning, or by both; what the service can do without it.
        #[arg(long, value_name = "MODE", value_parser = ["text", "semantic", "hybrid"], ignore_case = true)]
        mode: Option<String>,
        #[command(flatten)]
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
        version: Option<ContextId>,
    },
    /// Print which version added each line.
    Blame {
        /// The version: its number or its context_id; the newest without it.
        #[arg(value_name = "REF")]
        version: Option<ContextId>,
    },
    /// Print what a version changed.
    Diff {
        /// The version: its number or its context_id; the newest without it.
        #[arg(value_name = "REF")]
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
        file: PathBuf,
        /// Put it also if it drops most of the document, which the service would otherwise reject.
        #[arg(long)]
        confirm_collapse: bool,
        #[command(flatten)]
        on: IfMatch,
    },
    /// Make an old version the newest again.
    Restore {
        /// The version: its number or its context_id.
        #[arg(value_name = "REF")]
        version: ContextId,
        #[command(flatten)]
        on: IfMatch,
    },
    /// Remove the text of an old version permanently.
    Redact {
        /// The version: its number or its context_id. The newest cannot be redacted.
        #[arg(value_name = "REF")]
        version: ContextId,
        /// The reason; it is shown in place of the text, so it must not repeat the redacted text.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
        #[command(flatten)]
        on: IfMatch,
    },
    /// Delete a memory permanently.
    Delete {
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
        #[command(flatten)]
        on: IfMatch,
    },
    /// Send what was done, and let the models update the memory.
    Update(Update),
    /// Apply operations: text or JSON that adds and archives records.
    Operations {
        /// The operations: text (docs/dsl.md), or JSON {"operations": [{"op": …}]} as the route takes it; standard input
        /// for `-`.
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
        /// Dry run: save nothing.
        #[arg(long)]
        dry_run: bool,
        /// Save a proposal that waits for approval.
        #[arg(long, conflicts_with = "update_id")]
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
        #[command(flatten)]
        on: IfMatch,
    },
    /// Archive records that have expired or say no more than another one.
    Consolidate {
        /// Archive at once what can go. Without it a proposal waits for approval.
        #[arg(long)]
        apply: bool,
        /// What the model is told besides its instructions, such as what to look at.
        #[arg(long, value_name = "TEXT")]
        instructions: Option<String>,
    },
    /// Approve a proposal.
    Approve(Approve),
    /// Reject a proposal.
    Reject {
        /// The proposal, as `updates --status proposed` lists it.
        #[arg(value_name = "UPDATE_ID")]
        update_id: UpdateId,
        /// The reason, for the author of the proposal.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Record a completed task.
    Task(Task),
    /// Record a decision.
    Decision(Decision),
    /// Write the goal and the blocker.
    SetStatus(SetStatus),
    /// Parts of system prompts that components own.
    #[command(subcommand)]
    Items(Items),
}

#[derive(Debug, Subcommand)]
enum Items {
    /// Add one item at the end of its category.
    Add {
        #[command(flatten)]
        text: ItemText,
        /// Metadata of its component, a JSON object.
        #[arg(long, value_name = "JSON")]
        metadata: Option<String>,
        /// The time from which it is no longer shown, such as 2026-12-31T00:00:00Z.
        #[arg(long, value_name = "TIME")]
        expires_at: Option<DateTime<Utc>>,
        #[command(flatten)]
        scope: Scope,
    },
    /// Replace a whole category with one text.
    Put {
        #[command(flatten)]
        text: ItemText,
        #[command(flatten)]
        scope: Scope,
    },
    /// List items.
    List {
        /// Only this category.
        #[arg(long, value_name = "CATEGORY")]
        category: Option<String>,
        #[command(flatten)]
        scope: Scope,
    },
    /// Remove an item, or a whole category.
    Remove {
        /// The item.
        #[arg(
            value_name = "ITEM_ID",
            required_unless_present = "category",
            conflicts_with = "category"
        )]
        item_id: Option<String>,
        /// All items of this category.
        #[arg(long, value_name = "CATEGORY")]
        category: Option<String>,
        #[command(flatten)]
        scope: Scope,
    },
}

/// A text for a category.
#[derive(Debug, Args)]
struct ItemText {
    /// The category.
    #[arg(long, value_name = "CATEGORY")]
    category: String,
    /// The text; standard input for `-`.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

/// The owner of items.
#[derive(Debug, Args)]
struct Scope {
    /// The items of the vault, which apply to all its memories, instead of the memory's own.
    #[arg(long)]
    vault_wide: bool,
}

/// Which records.
#[derive(Debug, Args)]
struct RecordArgs {
    /// Only this kind: key learnings, verbatim context, tasks, decisions.
    #[arg(long, value_name = "KIND", value_parser = ["KL", "VC", "T", "D"], ignore_case = true)]
    kind: Option<String>,
    /// Which ones; active without it.
    #[arg(long, value_name = "STATUS", value_parser = ["active", "archived", "all"], ignore_case = true)]
    status: Option<String>,
}

/// The version that a write is made on.
#[derive(Debug, Args)]
struct IfMatch {
    /// Only if the newest version is still this one (its context_id; `*`: any, but there must be one).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
}

#[derive(Debug, Args, Serialize)]
struct Update {
    /// What was just done or is being done.
    #[arg(value_name = "TASK")]
    task: String,
    /// The messages around it, oldest first: a line {"role": …, "content": …} each, in the format of OpenAI's or
    /// Anthropic's messages; standard input for `-`.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    messages: Option<PathBuf>,
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
    #[serde(skip)]
    propose: bool,
    /// A task record and status to save in the same version: a file with {"intent": …, "summary": …} and, optionally,
    /// task_id, outcome, epic, goal, blocker.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    record: Option<PathBuf>,
    /// Only these sections: progress, learnings, verbatim.
    #[arg(long, value_name = "ROLE", value_delimiter = ',')]
    roles: Option<Vec<String>>,
    #[command(flatten)]
    #[serde(skip)]
    on: IfMatch,
}

#[derive(Debug, Args, Serialize)]
struct Approve {
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
    #[command(flatten)]
    #[serde(skip)]
    on: IfMatch,
}

#[derive(Debug, Args, Serialize)]
struct Task {
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
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    outcome: Option<PathBuf>,
}

#[derive(Debug, Args, Serialize)]
struct Decision {
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
}

#[derive(Debug, Args, Serialize)]
struct SetStatus {
    /// The goal; `none` clears it. Unchanged without this option.
    #[arg(long, value_name = "TEXT", required_unless_present = "blocker")]
    goal: Option<String>,
    /// The blocker; `none` clears it. Unchanged without this option.
    #[arg(long, value_name = "TEXT")]
    blocker: Option<String>,
}

/// Gives a command, or those below it, the options that all have.
fn with_common_options(command: Command) -> Command {
    if command.has_subcommands() {
        return command.mut_subcommands(with_common_options);
    }
    // Clap describes a command by what it was given last, also by what describes a group of options.
    let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = match LISTS.contains(&command.get_name()) {
        true => PageArgs::augment_args(command),
        false => command,
    };
    let command = ServiceArgs::augment_args(command);
    command
        .about(Resettable::from(about))
        .long_about(Resettable::from(long))
}

impl Subcommand for RouteCommand {
    fn augment_subcommands(program: Command) -> Command {
        let own = Request::augment_subcommands(Command::new("routes"));
        program.subcommands(own.get_subcommands().cloned().map(with_common_options))
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
        let (mut name, mut innermost) = ("", matches);
        while let Some(below) = innermost.subcommand() {
            (name, innermost) = below;
        }
        let page = LISTS
            .contains(&name)
            .then(|| PageArgs::from_arg_matches(innermost));
        Ok(Self {
            request: Request::from_arg_matches(matches)?,
            page: page.transpose()?,
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
        let time = match &self.request {
            Request::Update(_) | Request::Consolidate { .. } => MODELS_TIME,
            _ => ANSWER_TIME,
        };
        let service = Service::with_timeout(&self.service, time)?;
        let json = self.service.is_json();
        if let Request::Events {
            kinds, follow: true, ..
        } = &self.request
        {
            let memory = self.service.memory_ref.options().1.map(ToString::to_string);
            let happened = |data: &str| show::followed(data, json);
            return follow(&service, memory.as_deref(), kinds.as_deref(), happened).await;
        }
        let (call, shown) = self.request.call(&service, &self.service).await?;
        let call = match &self.page {
            Some(page) => page.of(call),
            None => call,
        };
        let call = match shown.is_plain() && !json {
            true => call.accept("text/plain"),
            false => call,
        };
        shown.print(&call.send().await?, json)
    }
}

impl Request {
    /// The request, and how its answer is shown.
    async fn call<'s>(&self, to: &'s Service, args: &ServiceArgs) -> Result<(Call<'s>, Show), Failure> {
        let get = |path: &str| to.of_memory(Method::GET, &[path]);
        let post = |path: &str| to.of_memory(Method::POST, &[path]);
        let (vault, memory) = args.memory_ref.options();
        let of_vault = |path: &str| to.of_vault(Method::GET, &[path]);
        let all_of_vault = |path: &str| match memory {
            Some(_) => Err(ignored(path, "--memory")),
            None => of_vault(path),
        };
        Ok(match self {
            Self::Vaults => {
                for (option, is_given) in [("--vault", vault.is_some()), ("--memory", memory.is_some())] {
                    if is_given {
                        return Err(ignored("vaults", option));
                    }
                }
                let call = to.call(Method::GET, &["v1", "vaults"])?;
                (call, Show::Table(show::VAULTS, "no vault has a memory yet"))
            }
            Self::Memories { prefix } => {
                let call = all_of_vault("memories")?.maybe("prefix", prefix.as_ref());
                (call, Show::Table(show::MEMORIES, "the vault has no memories"))
            }
            Self::Versions => (get("contexts")?, Show::Table(show::VERSIONS, "no versions")),
            Self::Log => (get("log")?, Show::Entries(show::log, "no changes")),
            Self::Records(which) => {
                let call = which.of(get("records")?);
                (call, Show::Entries(show::record, "no records"))
            }
            Self::Sections => (get("sections")?, Show::Entries(show::section, "no sections")),
            Self::Search {
                query,
                consistent,
                mode,
                which,
            } => {
                let call = match memory {
                    Some(_) => get("search")?,
                    None => of_vault("search")?,
                };
                let call = call.query("q", query).flag("consistent", *consistent);
                let call = which.of(call.maybe("mode", mode.as_ref().map(|mode| mode.to_lowercase())));
                (call, Show::Entries(show::hit, "nothing was found"))
            }
            Self::Updates { status } => {
                let call = all_of_vault("updates")?.maybe("status", status.as_ref());
                (call, Show::Entries(show::run, "no updates"))
            }
            Self::Events { kinds, .. } => {
                let call = of_vault("events")?.query("order", "newest");
                let call = call.maybe("memory_id", memory).maybe("kinds", kinds.as_ref());
                (call, Show::Entries(show::event, "no events"))
            }
            Self::Usage { from, to: last } => {
                let call = all_of_vault("usage")?.maybe("from", from.as_ref());
                (call.maybe("to", last.as_ref()), Show::Usage)
            }
            Self::Get {
                section,
                as_of,
                version,
            } => {
                let call = match version {
                    Some(version) => to.of_memory(Method::GET, &["contexts", version.as_str()])?,
                    None => get("context")?,
                };
                let call = call.maybe("section", section.as_ref());
                (call.maybe("as_of", as_of.as_ref()), Show::Text)
            }
            Self::Blame { version } => (get("blame")?.maybe("ref", version.as_ref()), Show::Blame),
            Self::Diff { version, base } => {
                let version = match version {
                    Some(version) => version.clone(),
                    None => newest(to).await?,
                };
                let call = to.of_memory(Method::GET, &["contexts", version.as_str(), "diff"])?;
                (call.maybe("base", base.as_ref()), Show::Diff)
            }
            Self::Prompt {
                max_tokens,
                include,
                exclude,
                timezone,
            } => {
                let call = get("prompt")?.maybe("max_tokens", *max_tokens);
                let call = call
                    .maybe("include", include.as_ref())
                    .maybe("exclude", exclude.as_ref());
                (call.maybe("timezone", timezone.as_ref()), Show::Prompt)
            }
            Self::Put {
                file,
                confirm_collapse,
                on,
            } => {
                let call = to.of_memory(Method::PUT, &["context"])?.text(read(file)?);
                let call = call.maybe("confirm", confirm_collapse.then_some("collapse"));
                (on.of(call)?, Show::Version)
            }
            Self::Restore { version, on } => {
                let call = to.of_memory(Method::POST, &["contexts", version.as_str(), "restore"])?;
                (on.of(call)?, Show::Version)
            }
            Self::Redact {
                version,
                reason,
                yes,
                on,
            } => {
                let MemoryRef { vault, memory } = to.memory_ref()?;
                let question = format!(
                    "Remove the text of version {version} of memory {memory} of vault {vault} permanently, with everything \
                     that quotes it?"
                );
                confirm(&question, *yes)?;
                let call = to.of_memory(Method::POST, &["contexts", version.as_str(), "redact"])?;
                let call = call.json(&json!({ "reason": reason }));
                (on.of(call)?, Show::line(show::redacted))
            }
            Self::Delete { yes, on } => {
                let MemoryRef { vault, memory } = to.memory_ref()?;
                // A memory that does not exist needs no confirmation.
                let head: Value = to.of_memory(Method::GET, &[])?.send().await?.json()?;
                let goes = match head["version"].as_i64().unwrap_or_default() {
                    0 => "its prompt items (it has no document)".to_owned(),
                    versions => format!("its versions up to {versions}"),
                };
                let question = format!("Delete memory {memory} of vault {vault} with {goes} permanently?");
                confirm(&question, *yes)?;
                let done = json!({ "deleted": memory.as_str(), "vault_id": vault.as_str() });
                let call = on.of(to.of_memory(Method::DELETE, &[])?)?;
                (call, Show::Gone("deleted", memory.to_string(), done))
            }
            Self::Update(update) => (update.of(post("update")?)?, Show::Applied),
            Self::Operations {
                file,
                dry_run,
                propose,
                on_invalid,
                max_additions,
                update_id,
                on,
            } => {
                let call = post("operations")?
                    .flag("dry_run", *dry_run)
                    .maybe("mode", propose.then_some("propose"))
                    .maybe("on_invalid", on_invalid.as_ref())
                    .maybe("max_additions", *max_additions)
                    .maybe("update_id", update_id.as_ref());
                let operations = read(file)?;
                // No text of operations is a JSON object.
                let call = match serde_json::from_slice::<Map<String, Value>>(&operations) {
                    Ok(_) => call.raw_json(operations),
                    Err(_) => call.text(operations),
                };
                (on.of(call)?, Show::Applied)
            }
            Self::Consolidate { apply, instructions } => {
                let mode = if *apply { "apply" } else { "propose" };
                let body = members(json!({ "mode": mode, "instructions": instructions }));
                (post("consolidate")?.json(&body), Show::Applied)
            }
            Self::Approve(approve) => {
                let below = ["updates", approve.update_id.as_str(), "approve"];
                let call = to.of_memory(Method::POST, &below)?;
                (approve.on.of(call.json(&members(json!(approve))))?, Show::Applied)
            }
            Self::Reject { update_id, reason } => {
                let call = to.of_memory(Method::POST, &["updates", update_id.as_str(), "reject"])?;
                (
                    call.json(&json!({ "reason": reason })),
                    Show::line(show::rejected),
                )
            }
            Self::Task(task) => {
                let body = WithFile {
                    options: members(json!(task)),
                    outcome: task.outcome.as_deref().map(read_json).transpose()?,
                    record: None,
                };
                let recorded = Show::line(|out, body| show::done(out, body, "recorded"));
                (post("tasks")?.json(&body), recorded)
            }
            Self::Decision(decision) => {
                let call = post("decisions")?.json(&members(json!(decision)));
                let recorded = Show::line(|out, body| show::done(out, body, "recorded"));
                (call, recorded)
            }
            Self::SetStatus(status) => {
                let call = to.of_memory(Method::PUT, &["status"])?;
                let set = Show::line(|out, body| show::done(out, body, "status set"));
                (call.json(&members(json!(status))), set)
            }
            Self::Items(items) => items.call(to)?,
        })
    }
}

fn ignored(list: &str, option: &str) -> Failure {
    Failure::usage(format!("{list} takes no {option}: it lists all of them"))
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
        let of = |scope: &Scope, method, below: &[&str]| {
            let path = [&["items"], below].concat();
            match scope.vault_wide {
                true => to.of_vault(method, &path),
                false => to.of_memory(method, &path),
            }
        };
        Ok(match self {
            Self::Add {
                text: ItemText { category, file },
                metadata,
                expires_at,
                scope,
            } => {
                let wrong = |error| Failure::usage(format!("--metadata is not JSON: {error}"));
                // It is sent as it was written, with all digits of its numbers.
                let metadata: Option<&RawValue> = metadata
                    .as_deref()
                    .map(serde_json::from_str)
                    .transpose()
                    .map_err(wrong)?;
                let item = NewItem {
                    category,
                    content: &read_text(file)?,
                    metadata,
                    expires_at: *expires_at,
                };
                (of(scope, Method::POST, &[])?.json(&item), Show::line(show::added))
            }
            Self::Put {
                text: ItemText { category, file },
                scope,
            } => {
                let call = of(scope, Method::PUT, &[category])?.text(read(file)?);
                let category = category.clone();
                let replaced = Show::line(move |out, body| show::replaced(out, body, &category));
                (call, replaced)
            }
            Self::List { category, scope } => {
                let call = of(scope, Method::GET, &[])?.maybe("category", category.as_ref());
                (call, Show::Entries(show::item, "no items"))
            }
            Self::Remove {
                item_id: Some(id),
                scope,
                ..
            } => {
                let call = of(scope, Method::DELETE, &[id])?;
                (call, Show::Gone("removed", id.clone(), json!({})))
            }
            Self::Remove { category, scope, .. } => {
                let call = of(scope, Method::DELETE, &[])?.maybe("category", category.as_ref());
                let category = category.clone().unwrap_or_default();
                let removed = Show::line(move |out, body| show::removed(out, body, &category));
                (call, removed)
            }
        })
    }
}

/// A body with the JSON of a file.
#[derive(Serialize)]
struct WithFile {
    #[serde(flatten)]
    options: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Box<RawValue>>,
}

/// The body of `items add`.
#[derive(Serialize)]
struct NewItem<'n> {
    category: &'n str,
    content: &'n str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'n RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<DateTime<Utc>>,
}

impl IfMatch {
    fn of<'s>(&self, call: Call<'s>) -> Result<Call<'s>, Failure> {
        call.if_match(self.if_match.as_deref())
    }
}

impl RecordArgs {
    fn of<'s>(&self, call: Call<'s>) -> Call<'s> {
        call.maybe("kind", self.kind.as_ref().map(|kind| kind.to_uppercase()))
            .maybe("status", self.status.as_ref().map(|status| status.to_lowercase()))
    }
}

impl Update {
    fn of<'s>(&self, call: Call<'s>) -> Result<Call<'s>, Failure> {
        let mut messages: Vec<Map<String, Value>> = Vec::new();
        if let Some(path) = &self.messages {
            let lines = read_text(path)?;
            let lines = serde_json::Deserializer::from_str(&lines).into_iter();
            let read: Result<_, _> = lines.collect();
            messages = read.map_err(|wrong| Failure::usage(format!("{}: {wrong}", path.display())))?;
        }
        let mut body = json!(self);
        body["messages"] = json!(messages);
        body["mode"] = json!(self.propose.then_some("propose"));
        let body = WithFile {
            options: members(body),
            outcome: None,
            record: self.record.as_deref().map(read_json).transpose()?,
        };
        self.on.of(call.json(&body))
    }
}
