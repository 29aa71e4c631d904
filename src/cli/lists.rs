//! The commands that list what a route returns: the options and the request of each, and how an entry is printed.

use super::client::{
    Call, Cell, Column, Failure, Feed, FeedEvent, Look, Method, Output, PageArgs, Service, ServiceArgs,
    ServiceResponse, note, text, time, when, write_table,
};
use crate::domain::text::single_blanks;
use clap::{Args, Subcommand};
use serde_json::Value;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Listing {
    /// List the vaults.
    Vaults(ListArgs),
    /// List the memories of a vault.
    Memories {
        /// Only those whose id begins with this.
        #[arg(long, value_name = "PREFIX")]
        prefix: Option<String>,
        #[command(flatten)]
        args: ListArgs,
    },
    /// List the versions of a memory.
    Versions(ListArgs),
    /// Print what changed, newest first.
    Log(ListArgs),
    /// List key learnings, verbatim context, tasks and decisions.
    Records {
        #[command(flatten)]
        which: RecordArgs,
        #[command(flatten)]
        args: ListArgs,
    },
    /// List the sections of a document.
    Sections(ListArgs),
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
        #[command(flatten)]
        args: ListArgs,
    },
    /// List the updates of a vault, such as proposals that wait for approval.
    Updates {
        /// Only those with this status, such as proposed, invalid or failed.
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        #[command(flatten)]
        args: ListArgs,
    },
    /// Print the events of a vault.
    Events {
        /// Only these kinds, such as version,update,redacted.
        #[arg(long, value_name = "KINDS")]
        kinds: Option<String>,
        /// Print new events until interrupted, and reconnect after lost connections.
        #[arg(short, long)]
        follow: bool,
        #[command(flatten)]
        args: ListArgs,
    },
    /// Print a vault's storage with its limits, and what its models cost.
    Usage {
        /// The first day, such as 2026-11-01 (UTC); thirty days without it.
        #[arg(long, value_name = "DAY")]
        from: Option<String>,
        /// The last day, included; today without it.
        #[arg(long, value_name = "DAY")]
        to: Option<String>,
        #[command(flatten)]
        args: ListArgs,
    },
}

/// Options of every list.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Which records.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Only this kind: key learnings, verbatim context, tasks, decisions.
    #[arg(long, value_name = "KIND", value_parser = ["KL", "VC", "T", "D"], ignore_case = true)]
    kind: Option<String>,
    /// Which ones; active without it.
    #[arg(long, value_name = "STATUS", value_parser = ["active", "archived", "all"], ignore_case = true)]
    status: Option<String>,
}

impl RecordArgs {
    fn of<'s>(&self, call: Call<'s>) -> Call<'s> {
        call.maybe("kind", self.kind.as_ref().map(|kind| kind.to_uppercase()))
            .maybe("status", lower(self.status.as_ref()))
    }
}

fn lower(value: Option<&String>) -> Option<String> {
    value.map(|value| value.to_lowercase())
}

const VAULTS: &[Column] = &[
    ("VAULT", Cell::Id("vault_id")),
    ("MEMORIES", Cell::Number("memories")),
    ("CHANGED", Cell::Time("changed_at")),
];

const MEMORIES: &[Column] = &[
    ("MEMORY", Cell::Id("memory_id")),
    ("VERSION", Cell::Number("version")),
    ("BYTES", Cell::Number("bytes")),
    ("CHANGED", Cell::Time("changed_at")),
];

const VERSIONS: &[Column] = &[
    ("VERSION", Cell::Number("version")),
    ("CONTEXT_ID", Cell::Id("context_id")),
    ("ACTOR", Cell::Text("actor_id")),
    (
        "SOURCE",
        Cell::Made(|entry| match entry["redacted"].as_bool() {
            Some(true) => format!("{}, redacted", text(entry, "source")),
            _ => text(entry, "source"),
        }),
    ),
    ("BYTES", Cell::Number("bytes")),
    ("MADE", Cell::Time("creation_time")),
];

const DAYS: &[Column] = &[
    ("DAY", Cell::Text("day")),
    ("MODEL", Cell::Id("model")),
    ("CALLS", Cell::Number("calls")),
    ("FAILED", Cell::Number("failures")),
    ("READ", Cell::Number("input_tokens")),
    ("WRITTEN", Cell::Number("output_tokens")),
    ("COST", Cell::Number("cost")),
];

/// How entries are printed.
pub(super) enum Show {
    Table(&'static [Column]),
    Entries(fn(&mut Output, &Value)),
    /// A text above the table of the days.
    Usage,
}

impl Listing {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let args = self.args();
        let service = Service::of(&args.service)?;
        if let Self::Events {
            kinds, follow: true, ..
        } = &self
        {
            let memory = args.service.options().1.map(ToString::to_string);
            let feed = Feed::new(&service, memory, kinds.clone());
            return follow(feed, args.service.is_json()).await;
        }
        let (call, show, none) = self.request(&service)?;
        let answer = args.page.of(call).send().await?;
        print(&answer, args.service.is_json(), &show, none)
    }

    fn args(&self) -> &ListArgs {
        match self {
            Self::Vaults(args)
            | Self::Memories { args, .. }
            | Self::Versions(args)
            | Self::Log(args)
            | Self::Records { args, .. }
            | Self::Sections(args)
            | Self::Search { args, .. }
            | Self::Updates { args, .. }
            | Self::Events { args, .. }
            | Self::Usage { args, .. } => args,
        }
    }

    /// The request without the page, how its entries are printed, and what is said on standard error if there are none.
    fn request<'s>(&self, service: &'s Service) -> Result<(Call<'s>, Show, &'static str), Failure> {
        let (vault, memory) = self.args().service.options();
        let of_memory = |path| service.of_memory(Method::GET, &[path]);
        let of_vault = |path| service.of_vault(Method::GET, &[path]);
        let all_of_vault = |path| match memory {
            Some(_) => Err(ignored(path, "--memory")),
            None => of_vault(path),
        };
        Ok(match self {
            Self::Vaults(_) => {
                for (option, is_given) in [("--vault", vault.is_some()), ("--memory", memory.is_some())] {
                    if is_given {
                        return Err(ignored("vaults", option));
                    }
                }
                let call = service.call(Method::GET, &["v1", "vaults"])?;
                (call, Show::Table(VAULTS), "no vault has a memory yet")
            }
            Self::Memories { prefix, .. } => {
                let call = all_of_vault("memories")?.maybe("prefix", prefix.as_ref());
                (call, Show::Table(MEMORIES), "the vault has no memories")
            }
            Self::Versions(_) => (of_memory("contexts")?, Show::Table(VERSIONS), "no versions"),
            Self::Log(_) => (of_memory("log")?, Show::Entries(log), "no changes"),
            Self::Records { which, .. } => {
                let call = which.of(of_memory("records")?);
                (call, Show::Entries(record), "no records")
            }
            Self::Sections(_) => (of_memory("sections")?, Show::Entries(section), "no sections"),
            Self::Search {
                query,
                consistent,
                mode,
                which,
                ..
            } => {
                let call = match memory {
                    Some(_) => of_memory("search")?,
                    None => of_vault("search")?,
                };
                let call = call.query("q", query).flag("consistent", *consistent);
                let call = which.of(call.maybe("mode", lower(mode.as_ref())));
                (call, Show::Entries(found), "nothing was found")
            }
            Self::Updates { status, .. } => {
                let call = all_of_vault("updates")?.maybe("status", status.as_ref());
                (call, Show::Entries(run), "no updates")
            }
            Self::Events { kinds, .. } => {
                let call = of_vault("events")?.query("order", "newest");
                let call = call.maybe("memory_id", memory).maybe("kinds", kinds.as_ref());
                (call, Show::Entries(event), "no events")
            }
            Self::Usage { from, to, .. } => {
                let call = all_of_vault("usage")?.maybe("from", from.as_ref());
                (call.maybe("to", to.as_ref()), Show::Usage, "no model was called")
            }
        })
    }
}

fn ignored(list: &str, option: &str) -> Failure {
    Failure::usage(format!("{list} takes no {option}: it lists all of them"))
}

/// Prints a page of a list, and on standard error how to continue it, or that it is empty.
pub(super) fn print(answer: &ServiceResponse, json: bool, show: &Show, none: &str) -> Result<(), Failure> {
    if json {
        return answer.print_json();
    }
    let page: Value = answer.json()?;
    let items = page["items"].as_array().map(Vec::as_slice);
    let items = items.ok_or_else(|| Failure::failed("the answer cannot be read: it has no items"))?;
    let mut out = Output::new();
    match show {
        Show::Table(columns) => write_table(&mut out, columns, items),
        Show::Entries(print) => items.iter().for_each(|item| print(&mut out, item)),
        Show::Usage => usage(&mut out, &page, items),
    }
    out.write()?;
    match page["next_cursor"].as_str() {
        Some(cursor) => note(&format!("there are more: --cursor {cursor}")),
        None if items.is_empty() => note(none),
        None => {}
    }
    Ok(())
}

fn log(out: &mut Output, entry: &Value) {
    let [actor, source] = ["actor_id", "source"].map(|name| text(entry, name));
    out.paragraph()
        .styled(Look::Id, &format!("version {}", entry["version"]))
        .styled(
            Look::Dim,
            &format!(" {} {actor} {source}", time(entry, "creation_time")),
        )
        .end()
        .indented("  ", &text(entry, "log"));
}

fn record(out: &mut Output, record: &Value) {
    let member = |name: &str| record[name].as_str();
    out.styled(Look::Id, &text(record, "record_id"))
        .styled(Look::Dim, &format!(" [{}]", text(record, "created_at")));
    if let Some(reason) = member("reason") {
        out.text(" because ").text(reason).text(":");
    }
    let content = text(record, "content");
    match member("label") {
        Some(label) => out.text(&format!(" {label} =>")).end().indented("  ", &content),
        None => out.text(" ").text(&content).end(),
    };
    if let Some(version) = record["ended_version"].as_i64() {
        out.styled(Look::Removed, &format!("  archived in version {version}"));
        if let Some(reason) = member("archive_reason") {
            out.text(" because ").text(reason);
        }
        if let Some(id) = member("superseded_by") {
            out.text(", superseded by ").text(id);
        }
        out.end();
    }
}

fn section(out: &mut Output, section: &Value) {
    let count = |name: &str| section[name].as_u64().unwrap_or_default();
    // A level is one of six; larger values in a response are clamped.
    let level = usize::try_from(count("level")).unwrap_or(6).clamp(1, 6);
    let bytes = count("end").saturating_sub(count("start"));
    out.text(&"  ".repeat(level - 1))
        .styled(Look::Strong, &text(section, "title"))
        .styled(Look::Dim, &format!(" {bytes} bytes"));
    if let Some(name) = section["section"].as_str() {
        out.text(" managed: ").styled(Look::Id, name);
    }
    out.end();
}

fn run(out: &mut Output, run: &Value) {
    let [status, memory, actor] = ["status", "memory_id", "actor_id"].map(|name| text(run, name));
    let outcome = &run["outcome"];
    let outcome = outcome["log"].as_str().or_else(|| outcome["problem"].as_str());
    out.paragraph()
        .styled(Look::Id, &text(run, "update_id"))
        .text(&format!(" {status} in {memory}"))
        .styled(Look::Dim, &format!(" {} {actor}", time(run, "created_at")))
        .end()
        .indented("  ", outcome.unwrap_or_default());
}

fn found(out: &mut Output, hit: &Value) {
    out.styled(Look::Id, &text(hit, "memory_id"))
        .styled(Look::Dim, &format!(" version {}", hit["version"]));
    if let Some(id) = hit["record_id"].as_str() {
        out.text(" ").styled(Look::Id, id);
    }
    if hit["status"] == "archived" {
        out.styled(Look::Removed, " archived");
    }
    out.end().text("  ");
    // An extract is HTML that contains only `<mark>` and five entities.
    let extract = single_blanks(&text(hit, "extract"));
    for (index, piece) in extract.split("<mark>").enumerate() {
        let (inside, after) = match piece.split_once("</mark>") {
            Some(pair) if index > 0 => pair,
            _ => ("", piece),
        };
        out.styled(Look::Strong, &unescaped(inside))
            .text(&unescaped(after));
    }
    out.end();
}

/// `&amp;` is replaced last: the result is text, not another entity.
fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

fn event(out: &mut Output, event: &Value) {
    let member = |name: &str| event[name].as_str().unwrap_or_default();
    if member("kind").is_empty() {
        // For example, that events may be missing.
        out.text(&event.to_string()).end();
        return;
    }
    out.styled(Look::Dim, &when(member("time")))
        .text(" ")
        .styled(Look::Strong, member("kind"))
        .text(" ")
        .styled(Look::Id, member("memory_id"));
    if let Some(version) = event["version"].as_i64() {
        out.text(&format!(" version {version}"));
    }
    for (word, name) in [("by", "actor"), ("through", "source"), ("run", "update_id")] {
        if !member(name).is_empty() {
            out.text(&format!(" {word} {}", member(name)));
        }
    }
    for name in ["step", "role", "status"] {
        if let Some(detail) = event["details"][name].as_str() {
            out.text(&format!(" {name} {detail}"));
        }
    }
    out.end();
}

/// Prints events as they arrive: one line each, with `--json` its JSON.
async fn follow(mut feed: Feed<'_>, json: bool) -> Result<(), Failure> {
    let mut was_open = false;
    loop {
        match feed.next().await {
            FeedEvent::Opened => {
                if was_open {
                    note("the stream is open again and resumes after the last event");
                }
                was_open = true;
            }
            FeedEvent::Happened(data) => {
                let mut out = Output::new();
                match serde_json::from_str::<Value>(&data) {
                    Ok(value) if !json => event(&mut out, &value),
                    _ => drop(out.text(&data).end()),
                }
                out.write()?;
            }
            FeedEvent::Broken(failure) if !was_open => return Err(failure),
            FeedEvent::Broken(failure) => note(&format!("{}; trying again", failure.sentence)),
        }
    }
}

fn usage(out: &mut Output, body: &Value, days: &[Value]) {
    let of_limit = |name: &str, limit: &str| match body[limit].as_u64() {
        Some(limit) => format!("{} of {limit}", body[name]),
        None => format!("{}, no limit", body[name]),
    };
    let mut line = |name: &str, value: &str| {
        out.styled(Look::Dim, &format!("{name:<14}")).text(value).end();
    };
    line("memories", &of_limit("memories", "memories_limit"));
    line("bytes", &of_limit("bytes", "bytes_limit"));
    line("tokens today", &of_limit("tokens_today", "tokens_per_day"));
    let totals = &body["totals"];
    let cost = totals["cost"].as_f64();
    let cost = cost.map(|cost| format!(", {cost:.4} {}", text(body, "currency")));
    let spent = format!(
        "{} calls ({} failed), {} tokens read, {} written{}",
        totals["calls"],
        totals["failures"],
        totals["input_tokens"],
        totals["output_tokens"],
        cost.unwrap_or_default()
    );
    line(&format!("since {}", text(body, "from")), "");
    line(&format!("to {}", text(body, "to")), &spent);
    let without_price = body["without_price"].as_array().into_iter().flatten();
    let without_price: Vec<&str> = without_price.filter_map(Value::as_str).collect();
    if !without_price.is_empty() {
        line("no price of", &without_price.join(", "));
    }
    if !days.is_empty() {
        out.end();
        write_table(out, DAYS, days);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_extract_becomes_text_with_its_marks() {
        let extract = "the <mark>parser</mark> &amp;lt; <mark>a&#39;b</mark> &lt;mark&gt;";
        let mut out = Output::new();
        found(
            &mut out,
            &json!({"memory_id": "m", "version": 3, "extract": extract}),
        );
        assert_eq!(out.as_str(), "m version 3\n  the parser &lt; a'b <mark>\n");
    }
}
