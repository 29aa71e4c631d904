//! One entry: how it is written, and how it is read from the lines that a person or the service wrote.

use super::items::{Field, Item, Items, Kind, Undated, body_text, field};
use crate::domain::document::written_time;
use crate::domain::ids::{RecordId, TaskId};
use crate::domain::text::one_line;
use crate::domain::window::{
    DECISION_BYTES, FAILED, INTENT_BYTES, ImportedDecision, ImportedTask, SUMMARY_BYTES, Task, TaskDetails,
    check_reason, fits, split_line, task_line,
};
use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, SubsecRound as _, Utc};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use std::iter::once;

/// Delimiters of the comment after a line.
const COMMENT: (&str, &str) = ("<!-- ", " -->");

/// An entry of a list.
pub(super) trait Entry: Sized + PartialEq {
    /// What it is.
    const KIND: Kind;
    /// Its time.
    fn time(&self) -> DateTime<Utc>;
    /// The entry with another time.
    fn at(self, time: DateTime<Utc>) -> Self;
    /// The record id it had at its source, if known.
    fn record(&self) -> Option<RecordId>;
    /// The id that orders it: the caller's, or that of its record.
    fn id(&self, item: &Item<'_>) -> Option<String>;
    /// Its text in one line.
    fn words(&self) -> String;
    /// Ways to write it, the plainest first: what follows the time, and the quoted lines below.
    fn forms(&self) -> Vec<(String, Vec<&str>)>;
    /// All of its data.
    fn to_json(&self) -> Value;
    /// Restores an entry from all of its data; `None` for anything else.
    fn of_json(time: DateTime<Utc>, json: &Map<String, Value>) -> Option<Self>;
    /// Reads an entry; `comment` is the object in the comment on its first line. `None` if it is none: it has no
    /// text, or is not done.
    fn of_item(
        time: DateTime<Utc>,
        item: &Item<'_>,
        words: &str,
        comment: &Map<String, Value>,
    ) -> Option<Self>;
    /// The entry of a line without a date.
    fn undated(self) -> Self;
    /// The entry adjusted to the limits of a memory; `None` if that is not possible. Text that is too long
    /// for an intent continues in the summary.
    fn within_limits(self) -> Option<Self>;
}

/// Whether a record line can represent the time.
fn is_writable(time: DateTime<Utc>) -> bool {
    (1..=9999).contains(&time.year())
}

/// Formats an entry: a bullet, and the lines of a longer text below it. What these cannot represent is in a comment.
pub(super) fn written<E: Entry>(entry: &E) -> String {
    let time = written_time(entry.time());
    let written = |words: &str, quoted: &[&str]| {
        let mut text = format!("- [{time}] {words}\n");
        for line in quoted {
            text.push_str(format!("  > {line}").trim_end());
            text.push('\n');
        }
        text
    };
    let is_read_back = |text: &String| {
        let lines: Vec<_> = text.lines().enumerate().collect();
        let (items, left_over) = Items::of(&lines, E::KIND, Undated::Anywhere);
        let [item] = &items[..] else { return false };
        left_over.is_empty() && entry_of::<E>(entry.time(), item).as_ref() == Some(entry)
    };
    let forms = entry.forms().into_iter();
    let mut texts = forms.map(|(words, quoted)| written(&words, &quoted));
    texts.find(is_read_back).unwrap_or_else(|| {
        let words = with_comment(words_with_record_id(entry), &entry.to_json());
        written(&words, &[])
    })
}

/// The text with a JSON object behind it.
fn with_comment(words: String, json: &Value) -> String {
    if json.as_object().is_some_and(Map::is_empty) {
        return words;
    }
    // These characters occur in JSON strings only; escaped, they cannot open or close a comment.
    let json = json.to_string().replace('>', "\\u003e").replace('<', "\\u003c");
    format!("{words} {}{json}{}", COMMENT.0, COMMENT.1)
}

/// The record id, if known, and the text.
fn words_with_record_id(entry: &impl Entry) -> String {
    with_record_id(entry.record(), &entry.words())
}

fn with_record_id(record: Option<RecordId>, words: &str) -> String {
    record.map_or_else(|| words.to_owned(), |record| format!("{record} {words}"))
}

/// Splits text from the JSON in the comment after it.
fn split_comment(words: &str) -> Option<(&str, &str)> {
    let (text, json) = words.strip_suffix(COMMENT.1)?.rsplit_once(COMMENT.0)?;
    Some((text.trim_end(), json))
}

/// The text of an entry as it is read between its time and a comment.
fn shown(entry: &impl Entry) -> String {
    let (time, words) = (written_time(entry.time()), words_with_record_id(entry));
    let line = format!("[{time}] {words} {}{{}}{}", COMMENT.0, COMMENT.1);
    let shown = read(&line).and_then(|(_, words)| split_comment(words));
    shown.map_or_else(String::new, |(shown, _)| shown.to_owned())
}

/// Reads an entry. If a person has changed the text before a comment since, the text takes precedence.
pub(super) fn entry_of<E: Entry>(time: DateTime<Utc>, item: &Item<'_>) -> Option<E> {
    let (text, comment) = match split_comment(&item.text) {
        Some((text, json)) => (text, serde_json::from_str(json).unwrap_or_default()),
        None => (item.text.as_str(), Map::new()),
    };
    match E::of_json(time, &comment) {
        Some(entry) if shown(&entry) == text && item.body.is_empty() && item.quoted.is_empty() => Some(entry),
        _ => E::of_item(time, item, text, &comment),
    }
}

/// Parses time and text of a line that begins with a date: a bullet, a heading or neither; the date in
/// brackets, bold, in backticks or plain. A record id before the date, as in documents, is skipped.
pub(super) fn read(line: &str) -> Option<(DateTime<Utc>, &str)> {
    let unmarked = line.trim().trim_start_matches(['-', '*', '+', '#', ' ', '\t']);
    let bare = without_id(unmarked).trim_start_matches(['-', '*', '+', '#', ' ', '\t', '`', '[', '(']);
    let word_end = bare
        .find(|c: char| c.is_whitespace() || matches!(c, ']' | ')' | '*' | '`' | ',' | '—' | '–'))
        .unwrap_or(bare.len());
    let word = bare[..word_end].trim_end_matches(':');
    let mut rest = &bare[word.len()..];
    let mut time = time_of(word)?;
    // `2026-11-21 14:30` is also accepted.
    let after = rest.strip_prefix(' ').unwrap_or_default();
    let clock = after
        .get(..5)
        .and_then(|clock| NaiveTime::parse_from_str(clock, "%H:%M").ok());
    if let Some(clock) =
        clock.filter(|_| word.len() == 10 && !after[5..].starts_with(|c: char| c.is_alphanumeric()))
    {
        time = time.date_naive().and_time(clock).and_utc();
        rest = &after[5..];
    }
    let words = rest.trim_start_matches([']', ')', '*', '`', ',', ':', '—', '–', ' ', '\t']);
    let words = words.strip_prefix("- ").unwrap_or(words).trim();
    (!words.is_empty()).then_some((time.trunc_subsecs(0), words))
}

fn time_of(word: &str) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(word) {
        return Some(time.to_utc());
    }
    let date = NaiveDate::parse_from_str(word, "%Y-%m-%d")
        .ok()
        .filter(|_| word.len() == 10)?;
    Some(date.and_time(NaiveTime::MIN).and_utc())
}

/// Strips a leading record id, because an import assigns a new one.
fn without_id(words: &str) -> &str {
    split_record(words).1
}

/// Splits a leading record id (`T-7 …` or `T-7: …`) from the text.
fn split_record(words: &str) -> (Option<RecordId>, &str) {
    let parts = words
        .split_once(' ')
        .and_then(|(id, rest)| Some((id.strip_suffix(':').unwrap_or(id).parse().ok()?, rest)));
    match parts {
        Some((id, rest)) => (Some(id), rest.trim_start()),
        None => (None, words),
    }
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

/// The number in the id of an entry, and what precedes it, by which entries are ordered.
pub(super) fn number_of(id: &str) -> Option<(&str, u64)> {
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (name, number) = id.split_at(id.len() - digits);
    Some((name, number.parse().ok()?))
}

/// Extracts the reason of a decision that a person wrote as `…. Reason: …` or `… because …`.
fn reason_inside(words: &str) -> (Option<String>, String) {
    let markers = ["Reason:", "Why:", "Rationale:", " because "];
    let found = markers
        .into_iter()
        .find_map(|word| Some((words.find(word)?, word)));
    let plain = |text: &str| text.trim_matches([' ', '*', ':', ',', ';']).to_owned();
    match found.map(|(at, word)| (plain(&words[..at]), plain(&words[at + word.len()..]))) {
        Some((decision, reason)) if !decision.is_empty() && !reason.is_empty() => (Some(reason), decision),
        _ => (None, words.to_owned()),
    }
}

fn text<'j>(json: &'j Map<String, Value>, name: &str) -> Option<&'j str> {
    json.get(name).and_then(Value::as_str)
}

/// Adds a part to a text so that both stay readable in one line.
fn join(text: &mut String, part: &str, is_bullet: bool) {
    if text.is_empty() {
        text.push_str(part);
    } else if !part.is_empty() {
        text.push_str(match text.ends_with(['.', '!', '?', ':', ';', ',']) {
            true => " ",
            false if is_bullet => "; ",
            false => " ",
        });
        text.push_str(part);
    }
}

/// The parts of an entry that a person wrote.
#[derive(Default)]
struct Parts {
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

impl Parts {
    /// The lines below an entry, and the cells of a row.
    fn of(kind: Kind, item: &Item<'_>) -> Self {
        let mut parts = Self::default();
        for (name, value) in &item.cells {
            match Field::named(kind, name) {
                Some(field) => parts.set(field, name, value),
                None if parts.words.is_empty() && !is_number(value) => parts.words.clone_from(value),
                None if name.is_empty() || name == "#" => join(&mut parts.summary, value, true),
                None => join(&mut parts.summary, &format!("{name}: {value}"), true),
            }
        }
        let mut last = None;
        for line in &item.body {
            let (text, is_bullet) = body_text(line);
            match field(kind, text) {
                Some((Field::Summary | Field::Note, "")) => last = None,
                Some((name @ (Field::Reason | Field::Words), "")) => last = Some(name),
                Some((name, value)) => {
                    last = None;
                    let shown = text
                        .split(':')
                        .next()
                        .unwrap_or_default()
                        .trim_matches(['*', '_', ' ']);
                    parts.set(name, shown, value);
                }
                None => match last {
                    Some(Field::Reason) => join(parts.reason.get_or_insert_default(), text, is_bullet),
                    Some(_) => join(&mut parts.words, text, is_bullet),
                    None => join(&mut parts.summary, text, is_bullet),
                },
            }
        }
        parts
    }

    fn set(&mut self, field: Field, name: &str, value: &str) {
        let as_id = || split_task_id(&format!("{}: x", value.trim_matches(MARKS))).map(|(id, _)| id);
        match field {
            Field::Words => join(&mut self.words, value, true),
            Field::Task => match as_id() {
                Some(id) if self.id.is_none() => self.id = Some(id),
                _ if is_number(value) || value.parse::<RecordId>().is_ok() => {}
                _ => join(&mut self.words, value, true),
            },
            Field::Summary => join(&mut self.summary, value, true),
            Field::Note => join(&mut self.summary, &format!("{name}: {value}"), true),
            Field::Reason => join(self.reason.get_or_insert_default(), value, true),
            Field::Epic => self.epic = Some(value.to_owned()),
            Field::Time => match read(&format!("{value} x")) {
                Some((time, _)) => self.time = Some(time),
                None => join(&mut self.summary, &format!("{name}: {value}"), true),
            },
            Field::Outcome => match serde_json::from_str(value.trim_matches('`')) {
                Ok(json) => self.outcome = Some(json),
                Err(_) => self.told(name, value),
            },
            Field::Status => self.told(name, value),
        }
    }

    /// A state in words: done says nothing more, what is not done is no task of a window.
    fn told(&mut self, name: &str, value: &str) {
        let bare = value.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if bare.starts_with("fail") {
            self.is_failed = true;
        }
        let is_open = matches!(
            bare.as_str(),
            "todo"
                | "to do"
                | "open"
                | "pending"
                | "planned"
                | "in progress"
                | "wip"
                | "blocked"
                | "not started"
        );
        let says_nothing = matches!(
            bare.as_str(),
            "done" | "completed" | "complete" | "finished" | "success" | "ok" | "passed" | "failed"
        );
        self.is_open |= name.to_lowercase() != "outcome" && is_open;
        if !says_nothing {
            join(&mut self.summary, &format!("{name}: {value}"), true);
        }
    }
}

fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches('#').trim_end_matches('.');
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Two titles of one entry as one, unless one says what the other does.
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

/// The members of a comment that a task's lines do not say.
fn of_comment(task: &Task) -> Map<String, Value> {
    let mut members = task.details.members();
    if task.details.outcome == Some(failure()) {
        members.remove("outcome");
    }
    members
}

/// How many of the lines below a task belong to its intent, its first line included.
const INTENT_LINES: &str = "intent_lines";

impl Entry for ImportedTask {
    const KIND: Kind = Kind::Task;

    fn time(&self) -> DateTime<Utc> {
        self.time
    }

    fn at(self, time: DateTime<Utc>) -> Self {
        Self { time, ..self }
    }

    fn record(&self) -> Option<RecordId> {
        self.record
    }

    fn id(&self, _: &Item<'_>) -> Option<String> {
        let record = || self.record.map(|record| record.to_string());
        let own = self.clone().without_derived_id().task.task_id;
        own.map(|id| id.to_string()).or_else(record)
    }

    fn words(&self) -> String {
        task_line(&self.task)
    }

    fn forms(&self) -> Vec<(String, Vec<&str>)> {
        let members = of_comment(&self.task);
        let line = with_comment(words_with_record_id(self), &Value::Object(members.clone()));
        let mut intent: Vec<&str> = self.task.intent.split('\n').collect();
        let first = intent.remove(0);
        let titled = Task {
            intent: first.to_owned(),
            summary: String::new(),
            ..self.task.clone()
        };
        let titled = with_record_id(self.record, &task_line(&titled));
        let lines = intent.len() + 1;
        let summary = self
            .task
            .summary
            .split('\n')
            .filter(|_| !self.task.summary.is_empty());
        intent.extend(summary);
        let mut members = members;
        if lines > 1 || intent.is_empty() {
            members.insert(INTENT_LINES.to_owned(), lines.into());
        }
        vec![
            (line, Vec::new()),
            (with_comment(titled, &Value::Object(members)), intent),
        ]
    }

    fn to_json(&self) -> Value {
        let mut json = json!(self.task);
        json["record"] = self.record.map(|id| id.to_string()).into();
        json
    }

    fn of_json(time: DateTime<Utc>, json: &Map<String, Value>) -> Option<Self> {
        let mut task = Task::deserialize(json).ok()?;
        task.details = task.details.normalized();
        let record = text(json, "record").and_then(|id| id.parse().ok());
        Some(Self { time, record, task })
    }

    fn of_item(
        time: DateTime<Utc>,
        item: &Item<'_>,
        words: &str,
        comment: &Map<String, Value>,
    ) -> Option<Self> {
        let parts = Parts::of(Kind::Task, item);
        if parts.is_open {
            return None;
        }
        let (record, words) = split_record(words);
        // A changed text is a new task, even if the old id still precedes it.
        let words = match text(comment, "task_id") {
            Some(old) => words
                .strip_prefix(old)
                .and_then(|rest| rest.strip_prefix(": "))
                .unwrap_or(words),
            None => words,
        };
        let (task_id, words) = match split_task_id(words) {
            Some((id, words)) => (Some(id), words),
            None => (None, words),
        };
        let is_marked = words.starts_with(FAILED);
        let words = words.strip_prefix(FAILED).unwrap_or(words).trim();
        let mut task = Task {
            task_id: task_id.or(parts.id),
            ..Task::default()
        };
        let intent_lines = comment.get(INTENT_LINES).and_then(Value::as_u64);
        if item.quoted.is_empty() && intent_lines.is_none() {
            let (intent, summary) = split_line(words);
            (task.intent, task.summary) = (intent.to_owned(), summary.to_owned());
        } else {
            let more = usize::try_from(intent_lines.unwrap_or(1).saturating_sub(1)).unwrap_or_default();
            let (more, summary) = item.quoted.split_at(more.min(item.quoted.len()));
            task.intent = once(&words).chain(more).copied().collect::<Vec<_>>().join("\n");
            task.summary = summary.join("\n");
        }
        if !parts.words.is_empty() {
            task.intent = both(&task.intent, &parts.words);
        }
        join(&mut task.summary, &parts.summary, true);
        if task.intent.is_empty() {
            task.intent = task.task_id.as_ref().map(ToString::to_string)?;
        }
        task.details = TaskDetails::of_members(comment).normalized();
        task.details.epic = task.details.epic.take().or(parts.epic);
        let failed = (is_marked || parts.is_failed).then(failure);
        task.details.outcome = task.details.outcome.take().or(parts.outcome).or(failed);
        let time = parts.time.filter(|_| item.time.is_none()).unwrap_or(time);
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

    fn time(&self) -> DateTime<Utc> {
        self.time
    }

    fn at(self, time: DateTime<Utc>) -> Self {
        Self { time, ..self }
    }

    fn record(&self) -> Option<RecordId> {
        None
    }

    fn id(&self, item: &Item<'_>) -> Option<String> {
        let bare = item.text.trim_start_matches(MARKS);
        split_record(bare)
            .0
            .map(|id| id.to_string())
            .or_else(|| split_task_id(&item.text).map(|(id, _)| id.to_string()))
    }

    fn words(&self) -> String {
        let decision = one_line(&self.decision);
        match &self.reason {
            Some(reason) => format!("because {}: {decision}", one_line(reason)),
            None => decision,
        }
    }

    fn forms(&self) -> Vec<(String, Vec<&str>)> {
        vec![(self.words(), Vec::new())]
    }

    fn to_json(&self) -> Value {
        json!({ "decision": self.decision, "reason": self.reason })
    }

    fn of_json(time: DateTime<Utc>, json: &Map<String, Value>) -> Option<Self> {
        Some(Self {
            time,
            decision: text(json, "decision")?.to_owned(),
            reason: text(json, "reason").map(str::to_owned),
        })
    }

    fn of_item(time: DateTime<Utc>, item: &Item<'_>, words: &str, _: &Map<String, Value>) -> Option<Self> {
        let parts = Parts::of(Kind::Decision, item);
        let words = without_id(words);
        let own = words
            .strip_prefix("because ")
            .and_then(|rest| rest.split_once(": "));
        let (reason, mut decision) = match own {
            Some((reason, decision)) => (Some(reason.trim().to_owned()), decision.trim().to_owned()),
            None if parts.reason.is_some() => (None, words.trim().to_owned()),
            None => reason_inside(words),
        };
        if !parts.words.is_empty() {
            decision = both(&decision, &parts.words);
        }
        for quoted in &item.quoted {
            join(&mut decision, quoted.trim(), false);
        }
        if !decision.is_empty() {
            join(&mut decision, &parts.summary, true);
        }
        let time = parts.time.filter(|_| item.time.is_none()).unwrap_or(time);
        let reason = reason.or(parts.reason);
        (!decision.is_empty()).then_some(Self {
            time,
            decision,
            reason,
        })
    }

    /// A decision is identified by its text alone.
    fn undated(self) -> Self {
        self
    }

    fn within_limits(mut self) -> Option<Self> {
        // A reason that a record line cannot represent unchanged stays in the text.
        if let Some(reason) = self.reason.take_if(|reason| check_reason(reason).is_err()) {
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
