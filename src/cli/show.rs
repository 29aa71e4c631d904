//! How the answers of the [routes](super::routes) are shown to people; with `--json` they are printed unchanged.

use super::client::{
    Cell, Column, Exit, Failure, Look, Output, ServiceResponse, note, text, write_entry, write_table,
};
use serde_json::Value;

/// The form of an answer.
pub(super) enum Show {
    /// A list: a table or, with a body, entries one below the other.
    List(&'static [Column], Option<Cell>),
    /// A text above the table of the days.
    Usage,
    /// A text as it is.
    Text,
    Blame,
    Diff,
    Prompt,
    /// What an update, operations or an approval did.
    Applied,
    /// What another write did, such as `recorded`, unless the answer says that it changed nothing.
    Done(String),
}

impl Show {
    /// What a write did.
    pub(super) fn done(what: &str) -> Self {
        Self::Done(what.to_owned())
    }

    /// Whether the answer is requested as text.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Text | Self::Blame | Self::Diff)
    }

    /// Prints an answer.
    pub(super) fn print(&self, answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
        match self {
            Self::Applied => applied(answer, json),
            _ if json => answer.print_json(),
            Self::List(columns, body) => list(answer, |out, _, items| match body {
                None => write_table(out, columns, items),
                Some(body) => items
                    .iter()
                    .for_each(|item| write_entry(out, columns, *body, item)),
            }),
            Self::Usage => list(answer, usage),
            Self::Text => Output::of_document().text(answer.text()?).write(),
            Self::Diff => Output::new().diff(answer.text()?).write(),
            Self::Blame => {
                let mut out = Output::new();
                for line in answer.text()?.split_inclusive('\n') {
                    match line.split_once(" | ") {
                        Some((origin, text)) => out.styled(Look::Dim, origin).text(" | ").text(text),
                        None => out.text(line),
                    };
                }
                out.write()
            }
            Self::Prompt => prompt(&answer.json()?),
            Self::Done(what) => done(what, answer),
        }
    }
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

pub(super) const SECTIONS: &[Column] = &[
    ("SECTION", Cell::Id("path")),
    ("BEGINS", Cell::Number("start")),
    ("ENDS", Cell::Number("end")),
    ("MANAGED", Cell::Text("section")),
];

pub(super) const LOG: &[Column] = &[
    ("version", Cell::Number("version")),
    ("", Cell::Time("creation_time")),
    ("", Cell::Text("actor_id")),
    ("", Cell::Text("source")),
];

pub(super) const RECORDS: &[Column] = &[
    ("", Cell::Id("record_id")),
    ("", Cell::Time("created_at")),
    ("because", Cell::Text("reason")),
    ("label", Cell::Text("label")),
    ("archived in version", Cell::Number("ended_version")),
    ("because", Cell::Text("archive_reason")),
    ("superseded by", Cell::Id("superseded_by")),
];

pub(super) const HITS: &[Column] = &[
    ("", Cell::Id("memory_id")),
    ("version", Cell::Number("version")),
    ("", Cell::Id("record_id")),
    ("", Cell::Text("status")),
];

/// An extract is HTML that contains only `<mark>` and five entities.
pub(super) const EXTRACT: Cell = Cell::Made(|hit| {
    let extract = text(hit, "extract");
    unescaped(&extract.replace("<mark>", "").replace("</mark>", ""))
});

pub(super) const UPDATES: &[Column] = &[
    ("", Cell::Id("update_id")),
    ("", Cell::Text("status")),
    ("in", Cell::Id("memory_id")),
    ("", Cell::Time("created_at")),
    ("by", Cell::Text("actor_id")),
];

pub(super) const OUTCOME: Cell = Cell::Made(|run| {
    let outcome = &run["outcome"];
    let outcome = outcome["log"].as_str().or_else(|| outcome["problem"].as_str());
    outcome.unwrap_or_default().to_owned()
});

pub(super) const EVENTS: &[Column] = &[
    ("", Cell::Time("time")),
    ("", Cell::Text("kind")),
    ("", Cell::Id("memory_id")),
    ("version", Cell::Number("version")),
    ("by", Cell::Text("actor")),
    ("through", Cell::Text("source")),
    ("run", Cell::Id("update_id")),
];

pub(super) const DETAILS: Cell = Cell::Made(|event| match &event["details"] {
    Value::Null => String::new(),
    details => details.to_string(),
});

pub(super) const ITEMS: &[Column] = &[
    ("", Cell::Id("item_id")),
    ("", Cell::Text("category")),
    ("until", Cell::Time("expires_at")),
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
fn list(answer: &ServiceResponse, print: impl Fn(&mut Output, &Value, &[Value])) -> Result<(), Failure> {
    let page: Value = answer.json()?;
    let items = page["items"].as_array();
    let items = items.ok_or_else(|| Failure::failed("the answer cannot be read: it has no items"))?;
    let mut out = Output::new();
    print(&mut out, &page, items);
    out.write()?;
    match page["next_cursor"].as_str() {
        Some(cursor) => note(&format!("there are more: --cursor {cursor}")),
        None if items.is_empty() => note("the list is empty"),
        None => {}
    }
    Ok(())
}

/// `&amp;` is replaced last: the result is text, not another entity.
fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Prints an event as it arrives: one line, with `--json` its JSON. Returns whether there is still a reader.
pub(super) fn followed(data: &str, json: bool) -> Result<bool, Failure> {
    let mut out = Output::new();
    match serde_json::from_str::<Value>(data) {
        // One without a kind is not of the service: for example, that events may be missing.
        Ok(event) if !json && event["kind"].is_string() => write_entry(&mut out, EVENTS, DETAILS, &event),
        _ => drop(out.text(data).end()),
    }
    out.is_read()
}

/// The members of the answer and of its totals, a line each, above the table of the days.
fn usage(out: &mut Output, body: &Value, days: &[Value]) {
    let members = [body, &body["totals"]].into_iter().filter_map(Value::as_object);
    for (name, value) in members.flatten() {
        if matches!(name.as_str(), "totals" | "items" | "next_cursor") {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.styled(Look::Dim, &format!("{name:<20}")).text(&value).end();
    }
    if !days.is_empty() {
        out.end();
        write_table(out, DAYS, days);
    }
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
    if ids.is_empty() {
        return format!("{name} (bullets without an id)");
    }
    format!("{name} ({})", ids.join(" "))
}

/// Prints what a write did, the ids and the version that its answer names, and its warnings.
fn done(what: &str, answer: &ServiceResponse) -> Result<(), Failure> {
    let body: Value = match answer.status {
        204 => Value::Null,
        _ => answer.json()?,
    };
    let mut out = Output::new();
    let is_unchanged = body["unchanged"] == true;
    out.text(if is_unchanged { "unchanged" } else { what });
    for name in ["record_id", "item_id", "update_id", "category"] {
        if let Some(id) = body[name].as_str() {
            out.text(" ").styled(Look::Id, id);
        }
    }
    for (name, before) in [("version", " version "), ("removed", " items: ")] {
        if let Some(number) = body[name].as_i64() {
            out.text(before).styled(Look::Id, &number.to_string());
        }
    }
    if let Some(id) = body["context_id"].as_str() {
        out.styled(Look::Dim, &format!(" ({id})"));
    }
    if let Some(sha256) = body["redacted_sha256"].as_str() {
        out.text(&format!(" (its SHA-256 was {sha256})"));
    }
    out.end().write()?;
    for warning in entries(&body, "warnings") {
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
