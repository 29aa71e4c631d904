//! How the answers of the [routes](super::routes) are shown to people; with `--json` they are printed unchanged.

use super::client::{
    Cell, Column, Exit, Failure, Look, Output, ServiceResponse, note, text, time, when, write_table,
};
use crate::domain::text::single_blanks;
use serde_json::Value;

/// The form of an answer. Lists come with what is said on standard error if they are empty.
pub(super) enum Show {
    Table(&'static [Column], &'static str),
    Entries(fn(&mut Output, &Value), &'static str),
    /// A text above the table of the days.
    Usage,
    /// A text as it is.
    Text,
    Blame,
    Diff,
    Prompt,
    /// The version that was made.
    Version,
    /// What an update, operations or an approval did.
    Applied,
    /// One line that says what a write did.
    Line(Line),
    /// An answer without a body: what was done to what, and the same as JSON.
    Gone(&'static str, String, Value),
}

/// Adds the line of an answer.
type Line = Box<dyn Fn(&mut Output, &Value)>;

impl Show {
    /// One line that says what a write did.
    pub(super) fn line(line: impl Fn(&mut Output, &Value) + 'static) -> Self {
        Self::Line(Box::new(line))
    }

    /// Whether the answer is requested as text.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Text | Self::Blame | Self::Diff)
    }

    /// Prints an answer.
    pub(super) fn print(&self, answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
        let mut out = Output::new();
        match self {
            Self::Gone(done, what, as_json) => {
                match json {
                    true => out.text(&as_json.to_string()),
                    false => out.text(done).text(" ").styled(Look::Id, what),
                };
                return out.end().write();
            }
            Self::Applied => return applied(answer, json),
            _ if json => return answer.print_json(),
            Self::Table(columns, none) => {
                return list(answer, none, |out, _, items| write_table(out, columns, items));
            }
            Self::Entries(entry, none) => {
                return list(answer, none, |out, _, items| {
                    items.iter().for_each(|item| entry(out, item))
                });
            }
            Self::Usage => return list(answer, "no model was called", usage),
            Self::Text => return Output::of_document().text(answer.text()?).write(),
            Self::Diff => return out.diff(answer.text()?).write(),
            Self::Blame => {
                for line in answer.text()?.split_inclusive('\n') {
                    match line.split_once(" | ") {
                        Some((origin, text)) => out.styled(Look::Dim, origin).text(" | ").text(text),
                        None => out.text(line),
                    };
                }
                return out.write();
            }
            Self::Prompt => return prompt(&answer.json()?),
            Self::Version => return version(&answer.json()?),
            Self::Line(line) => line(&mut out, &answer.json()?),
        }
        out.end().write()
    }
}

pub(super) fn redacted(out: &mut Output, body: &Value) {
    out.text("redacted version ")
        .styled(Look::Id, &body["version"].to_string());
    if let Some(sha256) = body["redacted_sha256"].as_str() {
        out.styled(Look::Dim, &format!(" (its SHA-256 was {sha256})"));
    }
}

pub(super) fn rejected(out: &mut Output, body: &Value) {
    out.styled(Look::Id, &text(body, "update_id"))
        .text(&format!(" is {}", text(body, "status")));
}

pub(super) fn added(out: &mut Output, body: &Value) {
    out.text("added ").styled(Look::Id, &text(body, "item_id"));
}

/// A write into the window: what it did, unless it was done before.
pub(super) fn done(out: &mut Output, body: &Value, done: &str) {
    let is_unchanged = body["unchanged"] == true;
    out.text(if is_unchanged { "unchanged" } else { done });
    if let Some(id) = body["record_id"].as_str() {
        out.text(" ").styled(Look::Id, id);
    }
    if let Some(version) = body["version"].as_i64() {
        out.text(&format!(", version {version}"));
    }
}

pub(super) fn replaced(out: &mut Output, body: &Value, category: &str) {
    let is_unchanged = body["unchanged"] == true;
    out.styled(Look::Id, category).text(match is_unchanged {
        true => " unchanged",
        false => " replaced",
    });
}

pub(super) fn removed(out: &mut Output, body: &Value, category: &str) {
    out.text(&format!("removed {} of ", body["removed"]))
        .styled(Look::Id, category);
}

pub(super) const VAULTS: &[Column] = &[
    ("VAULT", Cell::Id("vault_id")),
    ("MEMORIES", Cell::Number("memories")),
    ("CHANGED", Cell::Time("changed_at")),
];

pub(super) const MEMORIES: &[Column] = &[
    ("MEMORY", Cell::Id("memory_id")),
    ("VERSION", Cell::Number("version")),
    ("BYTES", Cell::Number("bytes")),
    ("CHANGED", Cell::Time("changed_at")),
];

pub(super) const VERSIONS: &[Column] = &[
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

/// The entries of a member that is a list.
fn entries<'v>(body: &'v Value, name: &str) -> &'v [Value] {
    body[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The texts in a member that is a list.
fn texts<'v>(body: &'v Value, name: &str) -> Vec<&'v str> {
    entries(body, name).iter().filter_map(Value::as_str).collect()
}

/// Prints a page of a list, and on standard error how to continue it, or that it is empty.
fn list(
    answer: &ServiceResponse,
    none: &str,
    print: impl Fn(&mut Output, &Value, &[Value]),
) -> Result<(), Failure> {
    let page: Value = answer.json()?;
    let items = page["items"].as_array();
    let items = items.ok_or_else(|| Failure::failed("the answer cannot be read: it has no items"))?;
    let mut out = Output::new();
    print(&mut out, &page, items);
    out.write()?;
    match page["next_cursor"].as_str() {
        Some(cursor) => note(&format!("there are more: --cursor {cursor}")),
        None if items.is_empty() => note(none),
        None => {}
    }
    Ok(())
}

pub(super) fn log(out: &mut Output, entry: &Value) {
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

pub(super) fn record(out: &mut Output, record: &Value) {
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

pub(super) fn section(out: &mut Output, section: &Value) {
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

pub(super) fn run(out: &mut Output, run: &Value) {
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

pub(super) fn hit(out: &mut Output, hit: &Value) {
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

pub(super) fn event(out: &mut Output, event: &Value) {
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

/// Prints an event as it arrives: one line, with `--json` its JSON. Returns whether there is still a reader.
pub(super) fn followed(data: &str, json: bool) -> Result<bool, Failure> {
    let mut out = Output::new();
    match serde_json::from_str::<Value>(data) {
        Ok(value) if !json => event(&mut out, &value),
        _ => drop(out.text(data).end()),
    }
    out.is_read()
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
    let without_price = texts(body, "without_price");
    if !without_price.is_empty() {
        line("no price of", &without_price.join(", "));
    }
    if !days.is_empty() {
        out.end();
        write_table(out, DAYS, days);
    }
}

pub(super) fn item(out: &mut Output, item: &Value) {
    out.styled(Look::Id, &text(item, "item_id"))
        .text(" ")
        .styled(Look::Strong, &text(item, "category"));
    if let Some(time) = item["expires_at"].as_str() {
        out.styled(Look::Dim, &format!(" until {time}"));
    }
    out.text(": ").text(&single_blanks(&text(item, "content"))).end();
}

fn prompt(prompt: &Value) -> Result<(), Failure> {
    Output::of_document().text(&text(prompt, "text")).write()?;
    let dropped: Vec<String> = entries(prompt, "dropped").iter().map(dropped_part).collect();
    if !dropped.is_empty() {
        note(&format!("left out for --max-tokens: {}", dropped.join(", ")));
    }
    Ok(())
}

/// A part that the budget left out: its name, and which of its items and records if it is not left out as a whole.
fn dropped_part(part: &Value) -> String {
    let name = text(part, "name");
    if part["whole"] == true {
        return name;
    }
    let ids = [texts(part, "items"), texts(part, "records")].concat();
    format!("{name} ({})", ids.join(" "))
}

/// Prints the response of a request that put a text as the newest version.
fn version(made: &Value) -> Result<(), Failure> {
    let Some(number) = made["version"].as_i64() else {
        return Err(Failure::failed("the answer cannot be read: it has no version"));
    };
    let unchanged = made["unchanged"].as_bool().unwrap_or_default();
    let mut out = Output::new();
    out.text("version ").styled(Look::Id, &number.to_string());
    out.text(if unchanged { ", unchanged" } else { "" })
        .styled(Look::Dim, &format!(" ({})", text(made, "context_id")))
        .end()
        .write()?;
    for warning in entries(made, "warnings") {
        let (mut line, records) = (text(warning, "detail"), texts(warning, "records"));
        if !records.is_empty() {
            line += &format!(": {}", records.join(", "));
        }
        note(&format!("warning: {line}"));
    }
    Ok(())
}

/// Prints the response to `update`, `operations` and `approve`. It is a failure if there were items and none of them could
/// be applied.
fn applied(answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
    let updated: Value = answer.json()?;
    match json {
        true => answer.print_json()?,
        false => applied_text(&updated)?,
    }
    if entries(&updated, "operations").is_empty() && !entries(&updated, "rejected").is_empty() {
        return Err(Failure::new(
            Exit::NoneApplied,
            "none of the items could be applied, and nothing was changed",
        ));
    }
    Ok(())
}

fn applied_text(updated: &Value) -> Result<(), Failure> {
    let mut out = Output::new();
    let status = text(updated, "status");
    let is_proposed = status == "proposed";
    out.styled(Look::Strong, &status.replace('_', " "))
        .text(": version ")
        .styled(Look::Id, &updated["version"].to_string());
    if updated["version"] != updated["base_version"] {
        out.text(&format!(", before {}", updated["base_version"]));
    }
    out.end().whole_lines(&text(updated, "log"));
    if is_proposed {
        out.text("proposal ")
            .styled(Look::Id, &text(updated, "update_id"))
            .end();
        for operation in entries(updated, "operations") {
            if let Some(number) = operation["number"].as_u64() {
                out.styled(Look::Id, &format!("{number:>3}"))
                    .text(&format!(" {} {}", text(operation, "op"), text(operation, "id")))
                    .end();
            }
        }
    }
    if is_proposed || status == "dry_run" {
        out.diff(&text(updated, "diff"));
    }
    for (name, what, look) in [
        ("rejected", "rejected", Look::Removed),
        ("warnings", "warning", Look::Id),
    ] {
        for item in entries(updated, name) {
            out.styled(look, what).text(" ").text(&text(item, "kind"));
            if let Some(section) = item["section"].as_str() {
                out.text(" in ").text(section);
            }
            out.text(": ")
                .text(&text(item, "detail"))
                .end()
                .indented("    ", &text(item, "text"));
        }
    }
    out.write()
}
