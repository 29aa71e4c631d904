//! The commands that list what a route returns, as a table: the route, its parameters, and how an entry is printed.

use super::client::{
    Column, Failure, Feed, FeedEvent, Look, Method, Output, PageArgs, Service, ServiceArgs, ServiceResponse,
    note, number, text, time, when, write_table,
};
use crate::domain::text::single_blanks;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches, Subcommand};
use serde_json::Value;

/// A list.
pub(super) struct List {
    name: &'static str,
    about: &'static str,
    of: Of,
    /// The path below that.
    path: &'static [&'static str],
    parameters: &'static [Parameter],
    show: Show,
    /// What is said on standard error if there are no entries.
    none: &'static str,
}

/// What a list is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Service,
    Vault,
    /// The vault, or with `--memory` one memory of it, which the route below the memory or the parameter `memory_id` names.
    VaultOrMemory,
    VaultOrMemoryId,
    Memory,
}

/// An option of a list, and the parameter of the route that it sets.
struct Parameter {
    option: &'static str,
    query: &'static str,
    /// The name of its value; a switch has none. In capitals of the command's first argument if `option` is empty.
    value: &'static str,
    help: &'static str,
    /// The allowed values, if they are few.
    values: &'static [&'static str],
}

/// How entries are printed.
pub(super) enum Show {
    Table(&'static [Column]),
    Entries(fn(&mut Output, &Value)),
    /// A text above the table of the days.
    Usage,
}

const fn option(option: &'static str, value: &'static str, help: &'static str) -> Parameter {
    Parameter {
        option,
        query: option,
        value,
        help,
        values: &[],
    }
}

static LISTS: [List; 10] = [
    List {
        name: "vaults",
        about: "List the vaults",
        of: Of::Service,
        path: &["vaults"],
        parameters: &[],
        show: Show::Table(VAULTS),
        none: "no vault has a memory yet",
    },
    List {
        name: "memories",
        about: "List the memories of a vault",
        of: Of::Vault,
        path: &["memories"],
        parameters: &[option("prefix", "PREFIX", "Only those whose id begins with this")],
        show: Show::Table(MEMORIES),
        none: "the vault has no memories",
    },
    List {
        name: "versions",
        about: "List the versions of a memory",
        of: Of::Memory,
        path: &["contexts"],
        parameters: &[],
        show: Show::Table(VERSIONS),
        none: "no versions",
    },
    List {
        name: "log",
        about: "Print what changed, newest first",
        of: Of::Memory,
        path: &["log"],
        parameters: &[],
        show: Show::Entries(log),
        none: "no changes",
    },
    List {
        name: "records",
        about: "List key learnings, verbatim context, tasks and decisions",
        of: Of::Memory,
        path: &["records"],
        parameters: &[KIND, STATUS],
        show: Show::Entries(record),
        none: "no records",
    },
    List {
        name: "sections",
        about: "List the sections of a document",
        of: Of::Memory,
        path: &["sections"],
        parameters: &[],
        show: Show::Entries(section),
        none: "no sections",
    },
    List {
        name: "search",
        about: "Search the memories of a vault; with --memory the records of that one",
        of: Of::VaultOrMemory,
        path: &["search"],
        parameters: &[
            Parameter {
                query: "q",
                ..option(
                    "",
                    "QUERY",
                    "Required words; -word: excluded; \"two words\": next to each other",
                )
            },
            option(
                "consistent",
                "",
                "Index pending versions first, so that recent writes are found too",
            ),
            Parameter {
                values: &["text", "semantic", "hybrid"],
                ..option(
                    "mode",
                    "MODE",
                    "By words, by meaning, or by both; what the service can do without it",
                )
            },
            KIND,
            Parameter {
                help: "Which records; active without it",
                ..STATUS
            },
        ],
        show: Show::Entries(found),
        none: "nothing was found",
    },
    List {
        name: "updates",
        about: "List the updates of a vault, such as proposals that wait for approval",
        of: Of::Vault,
        path: &["updates"],
        parameters: &[option(
            "status",
            "STATUS",
            "Only those with this status, such as proposed, invalid or failed",
        )],
        show: Show::Entries(run),
        none: "no updates",
    },
    List {
        name: "events",
        about: "Print the events of a vault",
        of: Of::VaultOrMemoryId,
        path: &["events"],
        parameters: &[
            option(
                "kinds",
                "KINDS",
                "Only these kinds, such as version,update,redacted",
            ),
            Parameter {
                query: "",
                ..option(
                    "follow",
                    "",
                    "Print new events until interrupted, and reconnect after lost connections",
                )
            },
        ],
        show: Show::Entries(event),
        none: "no events",
    },
    List {
        name: "usage",
        about: "Print a vault's storage with its limits, and what its models cost",
        of: Of::Vault,
        path: &["usage"],
        parameters: &[
            option(
                "from",
                "DAY",
                "The first day, such as 2026-11-01 (UTC); thirty days without it",
            ),
            option("to", "DAY", "The last day, included; today without it"),
        ],
        show: Show::Usage,
        none: "no model was called",
    },
];

const VAULTS: &[Column] = &[
    Column::id("VAULT", |entry| text(entry, "vault_id")),
    Column::number("MEMORIES", |entry| number(entry, "memories")),
    Column::text("CHANGED", |entry| time(entry, "changed_at")),
];

const MEMORIES: &[Column] = &[
    Column::id("MEMORY", |entry| text(entry, "memory_id")),
    Column::number("VERSION", |entry| number(entry, "version")),
    Column::number("BYTES", |entry| number(entry, "bytes")),
    Column::text("CHANGED", |entry| time(entry, "changed_at")),
];

const VERSIONS: &[Column] = &[
    Column::number("VERSION", |entry| number(entry, "version")),
    Column::id("CONTEXT_ID", |entry| text(entry, "context_id")),
    Column::text("ACTOR", |entry| text(entry, "actor_id")),
    Column::text("SOURCE", |entry| match entry["redacted"].as_bool() {
        Some(true) => format!("{}, redacted", text(entry, "source")),
        _ => text(entry, "source"),
    }),
    Column::number("BYTES", |entry| number(entry, "bytes")),
    Column::text("MADE", |entry| time(entry, "creation_time")),
];

const KIND: Parameter = Parameter {
    values: &["KL", "VC", "T", "D"],
    ..option(
        "kind",
        "KIND",
        "Only this kind: key learnings, verbatim context, tasks, decisions",
    )
};

const STATUS: Parameter = Parameter {
    values: &["active", "archived", "all"],
    ..option("status", "STATUS", "Which ones; active without it")
};

/// A list command as it was typed.
#[derive(Debug)]
pub struct Listing {
    name: &'static str,
    /// The parameters of the route.
    parameters: Vec<(&'static str, String)>,
    follow: bool,
    page: PageArgs,
    service: ServiceArgs,
}

impl Parameter {
    fn argument(&self) -> Arg {
        let argument = match self.option {
            "" => Arg::new(self.query).required(true).allow_hyphen_values(true),
            option => Arg::new(option).long(option),
        };
        let argument = argument.help(self.help);
        let argument = match (self.value, self.values) {
            ("", _) => return argument.action(ArgAction::SetTrue),
            (_, []) => argument,
            (_, values) => argument
                .value_parser(PossibleValuesParser::new(values.iter().copied()))
                .ignore_case(true),
        };
        argument.value_name(self.value)
    }

    /// What was typed.
    fn typed(&self, matches: &ArgMatches) -> Option<String> {
        let id = if self.option.is_empty() {
            self.query
        } else {
            self.option
        };
        if self.value.is_empty() {
            return matches.get_flag(id).then(|| "true".to_owned());
        }
        let typed = matches.get_one::<String>(id)?;
        let listed = self.values.iter().find(|value| value.eq_ignore_ascii_case(typed));
        Some(listed.map_or_else(|| typed.clone(), |value| (*value).to_owned()))
    }
}

impl FromArgMatches for Listing {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let unknown = || clap::Error::new(clap::error::ErrorKind::InvalidSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(unknown)?;
        let list = LISTS.iter().find(|list| list.name == name).ok_or_else(unknown)?;
        let typed = list.parameters.iter();
        let typed = typed.filter_map(|parameter| Some((parameter.query, parameter.typed(matches)?)));
        let (parameters, switches): (Vec<_>, Vec<_>) = typed.partition(|(query, _)| !query.is_empty());
        Ok(Self {
            name: list.name,
            parameters,
            follow: !switches.is_empty(),
            page: PageArgs::from_arg_matches(matches)?,
            service: ServiceArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Listing {
    fn augment_subcommands(command: Command) -> Command {
        let lists = LISTS.iter().map(|list| {
            let command = Command::new(list.name).args(list.parameters.iter().map(Parameter::argument));
            let command = match list.name {
                "events" => command.mut_arg("follow", |follow| follow.short('f')),
                _ => command,
            };
            // The flattened options bring a description of their own.
            ServiceArgs::augment_args(PageArgs::augment_args(command)).about(list.about)
        });
        command.subcommands(lists)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        LISTS.iter().any(|list| list.name == name)
    }
}

impl Listing {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let Some(list) = LISTS.iter().find(|list| list.name == self.name) else {
            return Err(Failure::usage("there is no such list"));
        };
        let service = Service::of(&self.service)?;
        let (vault, memory) = self.service.options();
        let ignored = match list.of {
            Of::Service if vault.is_some() => Some("--vault"),
            Of::Service | Of::Vault if memory.is_some() => Some("--memory"),
            _ => None,
        };
        if let Some(ignored) = ignored {
            let name = list.name;
            return Err(Failure::usage(format!(
                "{name} takes no {ignored}: it lists all of them"
            )));
        }
        if self.follow {
            let kinds = self.parameters.into_iter().map(|(_, value)| value).next();
            let memory = memory.map(ToString::to_string);
            return follow(Feed::of_vault(&service, memory, kinds), self.service.is_json()).await;
        }
        let mut call = match (list.of, memory) {
            (Of::Service, _) => service.call(Method::GET, &[&["v1"], list.path].concat())?,
            (Of::Memory, _) | (Of::VaultOrMemory, Some(_)) => service.of_memory(Method::GET, list.path)?,
            (Of::VaultOrMemoryId, memory) => service
                .of_vault(Method::GET, list.path)?
                .query("order", "newest")
                .maybe("memory_id", memory),
            (Of::Vault | Of::VaultOrMemory, _) => service.of_vault(Method::GET, list.path)?,
        };
        for (name, value) in &self.parameters {
            call = call.query(name, value);
        }
        let answer = self.page.of(call).send().await?;
        print(&answer, self.service.is_json(), &list.show, list.none)
    }
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

const DAYS: [Column; 7] = [
    Column::text("DAY", |day| text(day, "day")),
    Column::id("MODEL", |day| text(day, "model")),
    Column::number("CALLS", |day| number(day, "calls")),
    Column::number("FAILED", |day| number(day, "failures")),
    Column::number("READ", |day| number(day, "input_tokens")),
    Column::number("WRITTEN", |day| number(day, "output_tokens")),
    Column::number("COST", |day| {
        let cost = day["cost"].as_f64();
        cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}"))
    }),
];

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
        write_table(out, &DAYS, days);
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
