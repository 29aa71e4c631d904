//! One entry: how it is written, and how it is read from the lines that a person or the service wrote.

use super::items::{Field, Item, Kind, body_text, field};
use crate::domain::document::written_time;
use crate::domain::ids::{RecordId, TaskId};
use crate::domain::text::one_line;
use crate::domain::window::{
    DECISION_BYTES, FAILED, INTENT_BYTES, ImportedDecision, ImportedTask, SUMMARY_BYTES, Task, TaskDetails,
    fits, split_line, task_line, unwritable_at,
};
use chrono::{DateTime, Datelike as _, SubsecRound as _, Utc};
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Delimiters of the comment after a line.
const COMMENT: (&str, &str) = ("<!-- ", " -->");

/// An entry of a list: a task or a decision.
pub(super) trait Entry: Sized {
    /// What it is.
    const KIND: Kind;
    /// Its time.
    fn time(&mut self) -> &mut DateTime<Utc>;
    /// The id that orders it: that of its record, or the caller's.
    fn id(&self, item: &Item<'_>) -> Option<String>;
    /// Its line in a folder.
    fn line(&self) -> String;
    /// Reads an entry: the text and the facts of its first line, and what its other lines say. `None` if it is none:
    /// it has no text, or is not done.
    fn of_parts(
        time: DateTime<Utc>,
        text: &str,
        facts: &Map<String, Value>,
        parts: Parts<'_>,
    ) -> Option<Self>;
    /// The entry of a line without a date.
    fn undated(self) -> Self {
        self
    }
    /// The entry adjusted to the limits of a memory; `None` if that is not possible. Text that is too long
    /// for an intent continues in the summary.
    fn within_limits(self) -> Option<Self>;
}

/// Whether a record line can represent the time.
pub(super) fn is_writable(time: DateTime<Utc>) -> bool {
    (1..=9999).contains(&time.year())
}

/// A bullet with its time, and facts that its words do not say as JSON in a comment.
fn bullet(time: DateTime<Utc>, words: &str, facts: Map<String, Value>) -> String {
    let mut text = format!("- [{}] {words}", written_time(time));
    // Words that end in such a comment themselves are followed by an empty one.
    if !facts.is_empty() || split_comment(words).is_some() {
        // These characters occur in JSON strings only; escaped, they cannot open or close a comment.
        let json = Value::Object(facts).to_string();
        let json = json.replace('>', "\\u003e").replace('<', "\\u003c");
        text.push_str(&format!(" {}{json}{}", COMMENT.0, COMMENT.1));
    }
    text.push('\n');
    text
}

/// Splits text from the facts in the comment after it. A comment that is no JSON object is text.
fn split_comment(words: &str) -> Option<(&str, Map<String, Value>)> {
    let (text, json) = words.strip_suffix(COMMENT.1)?.rsplit_once(COMMENT.0)?;
    Some((text.trim_end(), serde_json::from_str(json).ok()?))
}

/// Reads an entry, and its date if it has one.
pub(super) fn entry_of<E: Entry>(item: &Item<'_>) -> Option<(Option<DateTime<Utc>>, E)> {
    let parts = Parts::of(E::KIND, item);
    let date = item.time.or(parts.time);
    let (text, facts) = split_comment(item.text).unwrap_or((item.text, Map::new()));
    let entry = E::of_parts(date.unwrap_or_default(), text, &of_earlier(facts), parts)?;
    let entry = if date.is_some() { entry } else { entry.undated() };
    Some((date, entry.within_limits()?))
}

/// Parses time and text of a line as the service writes it: `- [2026-11-21T14:30:00Z] text`.
pub(super) fn written(line: &str) -> Option<(DateTime<Utc>, &str)> {
    let bare = line.strip_prefix("- ").unwrap_or(line);
    let (time, words) = bare.strip_prefix('[')?.split_once("] ")?;
    let time = DateTime::parse_from_rfc3339(time).ok()?.to_utc();
    Some((time.trunc_subsecs(0), words.trim())).filter(|(_, words)| !words.is_empty())
}

/// A line that begins with a date: a bullet, a heading or neither; the date in brackets, bold, in backticks or plain, with its
/// time if there is one; what separates it from the text, and the text if there is any. A record id before the date, as in
/// documents, is skipped.
static DATED: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r"^[-*+#\s]*(?:[A-Z]{1,2}-[0-9]+:?\s+)?[-*+#\s`\[(]*";
    let seconds = r":(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[-+][0-9]{2}:[0-9]{2})?";
    let time = format!("[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9](?:{seconds})?[Zz]?");
    let date = format!("([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:{time})?)");
    let text = r"(?:[\])*`,:—–\s]+(?:- )?([^\s\])*`,:—–].*)|[\])*`,:—–\s]*)$";
    Regex::new(&format!("{marks}{date}{text}")).expect("a form")
});

/// Parses time and text of a line that begins with a date.
pub(super) fn read(line: &str) -> Option<(DateTime<Utc>, &str)> {
    if let Some(found) = written(line) {
        return Some(found);
    }
    let found = DATED.captures(line)?;
    let (date, words) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    Some((time_of(date)?.trunc_subsecs(0), words.trim_end()))
}

/// The time that a text begins with, which may be all of it.
pub(super) fn time_at(text: &str) -> Option<DateTime<Utc>> {
    read(&format!("{text} x")).map(|(time, _)| time)
}

/// The time of a text; what it leaves out is zero, and the zone UTC.
fn time_of(text: &str) -> Option<DateTime<Utc>> {
    let bare = text.trim_end_matches(['Z', 'z']);
    ["", "Z", ":00Z", "T00:00:00Z"].iter().find_map(|rest| {
        let time = DateTime::parse_from_rfc3339(&format!("{bare}{rest}"));
        time.ok().map(|time| time.to_utc())
    })
}

/// Splits a leading record id (`T-7 …` or `T-7: …`) from the text: an import assigns a new one.
fn split_record(words: &str) -> (Option<RecordId>, &str) {
    let parts = words
        .split_once(' ')
        .and_then(|(id, rest)| Some((id.strip_suffix(':').unwrap_or(id).parse().ok()?, rest)));
    parts.map_or((None, words), |(id, rest)| (Some(id), rest.trim_start()))
}

/// Marks that people put around an id.
const MARKS: [char; 8] = ['*', '_', '`', '[', ']', '(', ')', ' '];

/// Splits a leading caller's id from the text: `task-1: Bootstrapped`, `**task-101**: …`, `task-9 — …`. It must look
/// like an id: a dash or underscore, and a digit. Other text before a colon is an intent.
fn split_task_id(words: &str) -> Option<(TaskId, &str)> {
    let begin = words.len() - words.trim_start_matches(MARKS).len();
    let bare = &words[begin..];
    let end = bare
        .find(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | ']' | ')'))
        .unwrap_or(bare.len());
    let token = &bare[..end];
    let id = token.trim_end_matches(':');
    let rest = &bare[end..];
    let is_marked = begin > 0 && rest.starts_with(['*', '`', ']', ')', '_']);
    let rest = if is_marked {
        rest.trim_start_matches(MARKS)
    } else {
        rest.trim_start()
    };
    let separators = [":", "—", "–", "- "];
    let cut = separators
        .iter()
        .find_map(|separator| rest.strip_prefix(separator));
    let is_separated = id.len() < token.len() || cut.is_some();
    let is_named = id
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("task-") || start.eq_ignore_ascii_case("task_"));
    let (name, number) = id.rsplit_once(['-', '_']).unwrap_or((id, ""));
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let is_hash = id.len() >= 8 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    let looks_like_one = match is_marked {
        true => has_digit(id),
        false => {
            !name.is_empty()
                && (is_hash && has_digit(id)
                    || name.starts_with(|c: char| c.is_ascii_alphabetic()) && has_digit(number))
        }
    };
    let rest = cut.unwrap_or(rest).trim_start();
    let is_one = looks_like_one
        && (id.contains(['-', '_']) || is_marked)
        && (is_separated || is_named || is_marked && rest.is_empty())
        && time_of(id).is_none()
        && id.parse::<RecordId>().is_err();
    // The text keeps marks that belong to it.
    Some((id.parse().ok().filter(|_| is_one)?, rest))
}

/// Whether a text begins with a record id or a caller's id.
pub(super) fn begins_with_id(words: &str) -> bool {
    let bare = words.trim_start_matches(['*', '`', '[']);
    split_record(bare).0.is_some() || split_task_id(words).is_some()
}

/// Extracts the reason of a decision that a person wrote as `…. Reason: …` or `… because …`.
fn reason_inside(words: &str) -> (Option<String>, String) {
    let markers = ["Reason:", "Why:", "Rationale:", " because "];
    let found = markers.into_iter().find_map(|word| words.split_once(word));
    let plain = |text: &str| text.trim_matches([' ', '*', ':', ',', ';']).to_owned();
    match found.map(|(decision, reason)| (plain(decision), plain(reason))) {
        Some((decision, reason)) if !decision.is_empty() && !reason.is_empty() => (Some(reason), decision),
        _ => (None, words.to_owned()),
    }
}

/// Adds a part to a text so that both stay readable in one line.
fn join(text: &mut String, part: &str, is_bullet: bool) {
    if !text.is_empty() && !part.is_empty() {
        let is_ended = text.ends_with(['.', '!', '?', ':', ';', ',']);
        text.push_str(if is_bullet && !is_ended { "; " } else { " " });
    }
    text.push_str(part);
}

/// What a person wrote in the lines below an entry's first, or in the cells of a row.
#[derive(Default)]
pub(super) struct Parts<'t> {
    /// Whether the first line is as the service writes it.
    is_written: bool,
    /// The quoted lines below a task, verbatim.
    quoted: Vec<&'t str>,
    words: String,
    id: Option<TaskId>,
    summary: String,
    reason: Option<String>,
    outcome: Option<Value>,
    epic: Option<String>,
    is_failed: bool,
    is_open: bool,
    time: Option<DateTime<Utc>>,
}

/// States that say no more than that a task is over.
const OVER: [&str; 8] = [
    "done",
    "completed",
    "complete",
    "finished",
    "success",
    "ok",
    "passed",
    "failed",
];

/// States of what is not done.
pub(super) const NOT_DONE: [&str; 10] = [
    "todo",
    "to do",
    "open",
    "pending",
    "planned",
    "in progress",
    "wip",
    "blocked",
    "not started",
    "unfinished",
];

impl<'t> Parts<'t> {
    fn of(kind: Kind, item: &Item<'t>) -> Self {
        let mut parts = Self {
            is_written: written(item.line).is_some(),
            ..Self::default()
        };
        for (name, value) in &item.cells {
            match Field::named(kind, name) {
                Some(field) => parts.set(field, name, value),
                None if parts.words.is_empty() && !is_number(value) => (*value).clone_into(&mut parts.words),
                None if name.is_empty() || *name == "#" => join(&mut parts.summary, value, true),
                None => parts.note(name, value),
            }
        }
        // The part that the following lines belong to.
        let mut last = None;
        for (_, line) in &item.body {
            let quoted = line.strip_prefix("  > ").or_else(|| line.strip_prefix("  >"));
            if let Some(quoted) = quoted.filter(|_| kind == Kind::Task) {
                parts.quoted.push(quoted);
                continue;
            }
            let (text, is_bullet) = body_text(line);
            match (field(kind, text), last) {
                (Some((Field::Summary | Field::Note, _, "")), _) => last = None,
                (Some((name @ (Field::Reason | Field::Words), _, "")), _) => last = Some(name),
                (Some((field, name, value)), _) => {
                    last = None;
                    parts.set(field, name, value);
                }
                (None, Some(Field::Reason)) => join(parts.reason.get_or_insert_default(), text, is_bullet),
                (None, Some(_)) => join(&mut parts.words, text, is_bullet),
                (None, None) => join(&mut parts.summary, text, is_bullet),
            }
        }
        parts
    }

    fn set(&mut self, field: Field, name: &str, value: &str) {
        // An id alone is recognised by what follows it.
        let followed = format!("{value}: x");
        let as_id = || split_task_id(&followed);
        match field {
            Field::Words => join(&mut self.words, value, true),
            Field::Task => match as_id() {
                Some((id, rest)) if self.id.is_none() => {
                    self.id = Some(id);
                    join(
                        &mut self.words,
                        rest.strip_suffix(": x").unwrap_or_default(),
                        true,
                    );
                }
                _ if is_number(value) || value.parse::<RecordId>().is_ok() => {}
                _ => join(&mut self.words, value, true),
            },
            Field::Summary => join(&mut self.summary, value, true),
            Field::Note => self.note(name, value),
            Field::Reason => join(self.reason.get_or_insert_default(), value, true),
            Field::Epic => self.epic = Some(value.to_owned()).filter(|epic| !epic.is_empty()),
            Field::Time => match time_at(value) {
                Some(time) => self.time = Some(time),
                None => self.note(name, value),
            },
            Field::Outcome => match serde_json::from_str(value.trim_matches('`')) {
                Ok(json) => self.outcome = Some(json),
                Err(_) => self.status(name, value, false),
            },
            Field::Status => self.status(name, value, true),
        }
    }

    fn note(&mut self, name: &str, value: &str) {
        join(&mut self.summary, &format!("{name}: {value}"), true);
    }

    /// A state in words: what is not done is no task of a window, and as a state, done says nothing more. That a task failed is a
    /// fact of it.
    fn status(&mut self, name: &str, value: &str, is_state: bool) {
        let bare = value.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        self.is_failed |= bare.starts_with("fail");
        self.is_open |= is_state && NOT_DONE.contains(&bare.as_str());
        let says_no_more = (is_state || bare == "failed") && OVER.contains(&bare.as_str());
        if !says_no_more {
            self.note(name, value);
        }
    }
}

fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches('#').trim_end_matches('.');
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds what another file says about the same task, as far as the limits of a memory allow.
pub(super) fn add_words(known: &mut ImportedTask, other: &Task) {
    let mut whole = known.clone();
    whole.task.intent = both(&known.task.intent, &other.intent);
    whole.task.summary = both(&known.task.summary, &other.summary);
    let outcome = &mut whole.task.details.outcome;
    *outcome = outcome.take().or_else(|| other.details.outcome.clone());
    if let Some(whole) = whole.within_limits() {
        *known = whole;
    }
}

/// Two texts about one entry as one, unless one says what the other does.
fn both(title: &str, words: &str) -> String {
    let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    match (title, words) {
        (title, words) if holds(title, words) => title.to_owned(),
        (title, words) if holds(words, title) => words.to_owned(),
        (title, words) => format!("{title} — {words}"),
    }
}

fn failure() -> Value {
    json!({ "success": false })
}

/// The fact that says the id of a task, or null, if its line is read otherwise.
const TASK_ID: &str = "task_id";
/// The fact that says how many colons before a blank an intent has, which do not end it.
const COLONS: &str = "colons";
/// The fact that says what came out, or null, if the line looks like that of a task that failed.
const OUTCOME: &str = "outcome";

/// The facts that a task has now, of one that an earlier version wrote with all of it in the comment.
fn of_earlier(mut facts: Map<String, Value>) -> Map<String, Value> {
    if let Some(intent) = facts.get("intent").and_then(Value::as_str) {
        let colons = one_line(intent).matches(": ").count();
        facts.insert(COLONS.to_owned(), colons.into());
        for name in [TASK_ID, OUTCOME] {
            facts.entry(name).or_insert(Value::Null);
        }
    }
    facts
}

/// The caller's id of a task, and the words behind it. In a line of the service only `: ` separates them.
fn split_own_id<'w>(
    words: &'w str,
    facts: &Map<String, Value>,
    is_written: bool,
) -> (Option<TaskId>, &'w str) {
    if let Some(id) = facts.get(TASK_ID) {
        let id: Option<TaskId> = id.as_str().and_then(|id| id.parse().ok());
        let own = id.as_ref().map(|id| format!("{id}: "));
        let rest = own.and_then(|own| words.strip_prefix(&own));
        return (id, rest.unwrap_or(words));
    }
    split_task_id(words)
        .filter(|(id, rest)| !is_written || words == format!("{id}: {rest}"))
        .map_or((None, words), |(id, rest)| (Some(id), rest))
}

/// The intent and the summary of a task, which the first colon separates that is not in the intent.
fn split_words<'w>(words: &'w str, facts: &Map<String, Value>) -> (&'w str, &'w str) {
    let colons = facts.get(COLONS).and_then(Value::as_u64).unwrap_or(0);
    let colons = usize::try_from(colons).unwrap_or(usize::MAX);
    if colons == 0 {
        return split_line(words);
    }
    match words.match_indices(": ").nth(colons) {
        Some((end, colon)) => (&words[..end], &words[end + colon.len()..]),
        None => (words, ""),
    }
}

impl Entry for ImportedTask {
    const KIND: Kind = Kind::Task;

    fn time(&mut self) -> &mut DateTime<Utc> {
        &mut self.time
    }

    fn id(&self, _: &Item<'_>) -> Option<String> {
        let record = self.record.map(|record| record.to_string());
        let own = || self.clone().without_derived_id().task.task_id;
        record.or_else(|| own().map(|id| id.to_string()))
    }

    fn line(&self) -> String {
        let task = &self.task;
        let words = task_line(task);
        // What the words do not say.
        let mut facts = task.details.members();
        if task.details.outcome == Some(failure()) {
            facts.remove(OUTCOME);
        }
        let intent = one_line(&task.intent);
        if intent.starts_with(FAILED) && task.details.outcome.is_none() {
            facts.insert(OUTCOME.to_owned(), Value::Null);
        }
        if intent.contains(": ") {
            facts.insert(COLONS.to_owned(), intent.matches(": ").count().into());
        }
        if split_own_id(&words, &Map::new(), true).0 != task.task_id {
            facts.insert(TASK_ID.to_owned(), json!(task.task_id));
        }
        let record = self
            .record
            .map_or_else(String::new, |record| format!("{record} "));
        bullet(self.time, &format!("{record}{words}"), facts)
    }

    fn of_parts(
        time: DateTime<Utc>,
        words: &str,
        facts: &Map<String, Value>,
        parts: Parts<'_>,
    ) -> Option<Self> {
        if parts.is_open {
            return None;
        }
        let (record, words) = split_record(words);
        let (task_id, words) = split_own_id(words, facts, parts.is_written);
        let mut task = Task {
            task_id: task_id.or(parts.id),
            details: TaskDetails::of_members(facts).normalized(),
            ..Task::default()
        };
        let marked = words.strip_prefix(FAILED);
        let marked = marked.filter(|_| !facts.contains_key(OUTCOME) || task.has_failed());
        let words = marked.unwrap_or(words).trim();
        let (intent, summary) = split_words(words, facts);
        (task.intent, task.summary) = (intent.to_owned(), summary.to_owned());
        if !parts.quoted.is_empty() {
            // Earlier versions quoted the summary, and the lines of the intent but the first, below it.
            let lines = [vec![words], parts.quoted].concat();
            let intent_lines = facts.get("intent_lines").and_then(Value::as_u64).unwrap_or(1);
            let intent_lines = usize::try_from(intent_lines).unwrap_or(1).clamp(1, lines.len());
            let (intent, summary) = lines.split_at(intent_lines);
            (task.intent, task.summary) = (intent.join("\n"), summary.join("\n"));
        }
        if !parts.words.is_empty() {
            task.intent = both(&task.intent, &parts.words);
        }
        join(&mut task.summary, &parts.summary, true);
        if task.intent.is_empty() {
            task.intent = task.task_id.as_ref().map(ToString::to_string)?;
        }
        task.details.epic = task.details.epic.take().or(parts.epic);
        let failed = (marked.is_some() || parts.is_failed).then(failure);
        task.details.outcome = task.details.outcome.take().or(parts.outcome).or(failed);
        Some(Self { time, record, task })
    }

    fn undated(self) -> Self {
        Self::undated(self)
    }

    fn within_limits(mut self) -> Option<Self> {
        let Task { intent, summary, .. } = &mut self.task;
        if intent.len() > INTENT_BYTES {
            let whole = intent.floor_char_boundary(INTENT_BYTES);
            let end = intent[..whole].rfind(' ').filter(|end| *end > 0).unwrap_or(whole);
            let rest = intent.split_off(end);
            *summary = format!("{} {summary}", rest.trim()).trim().to_owned();
        }
        let is_fit = !one_line(intent).is_empty()
            && fits(intent, INTENT_BYTES)
            && fits(summary, SUMMARY_BYTES)
            && self.task.details.are_storable()
            && is_writable(self.time);
        is_fit.then_some(self)
    }
}

impl Entry for ImportedDecision {
    const KIND: Kind = Kind::Decision;

    fn time(&mut self) -> &mut DateTime<Utc> {
        &mut self.time
    }

    fn id(&self, item: &Item<'_>) -> Option<String> {
        let (record, _) = split_record(item.text.trim_start_matches(MARKS));
        let own = || split_task_id(item.text).map(|(id, _)| id.to_string());
        record.map(|id| id.to_string()).or_else(own)
    }

    fn line(&self) -> String {
        let decision = one_line(&self.decision);
        let words = match &self.reason {
            Some(reason) => format!("because {}: {decision}", one_line(reason)),
            None => decision,
        };
        bullet(self.time, &words, Map::new())
    }

    fn of_parts(time: DateTime<Utc>, words: &str, _: &Map<String, Value>, parts: Parts<'_>) -> Option<Self> {
        let words = match parts.is_written {
            true => words,
            false => split_record(words).1,
        };
        let own = words
            .strip_prefix("because ")
            .and_then(|rest| rest.split_once(": "));
        let (reason, mut decision) = match own {
            Some((reason, decision)) => (Some(reason.trim().to_owned()), decision.trim().to_owned()),
            None if parts.is_written || parts.reason.is_some() => (None, words.trim().to_owned()),
            None => reason_inside(words),
        };
        if !parts.words.is_empty() {
            decision = both(&decision, &parts.words);
        }
        if !decision.is_empty() {
            join(&mut decision, &parts.summary, true);
        }
        (!decision.is_empty()).then_some(Self {
            time,
            decision,
            reason: reason.or(parts.reason),
        })
    }

    fn within_limits(mut self) -> Option<Self> {
        // A reason that a record line cannot represent unchanged stays in the text.
        if let Some(reason) = self.reason.take_if(|reason| unwritable_at(reason).is_some()) {
            self.decision = format!("{} (reason: {})", self.decision, one_line(&reason));
        }
        let is_fit = !one_line(&self.decision).is_empty()
            && fits(&self.decision, DECISION_BYTES)
            && self
                .reason
                .as_deref()
                .is_none_or(|reason| fits(reason, DECISION_BYTES))
            && is_writable(self.time);
        is_fit.then_some(self)
    }
}
