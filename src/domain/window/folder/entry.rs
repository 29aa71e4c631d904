//! One entry as a line: a bullet with its time, its text, and a comment if the text alone is not complete.

use super::super::details::{TaskDetails, fits};
use super::super::import::{ImportedDecision, ImportedTask};
use super::super::one_line::one_line;
use super::super::task::{FAILED, Task, split_line, task_line};
use super::super::{DECISION_BYTES, INTENT_BYTES, SUMMARY_BYTES, check_reason};
use crate::domain::document::written_time;
use crate::domain::ids::{RecordId, TaskId};
use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, SubsecRound as _, Utc};
use serde_json::{Map, Value, json};

/// Delimiters of the comment after a line.
const COMMENT: (&str, &str) = ("<!-- ", " -->");

/// An entry of a list: a time and a text.
pub(super) trait Entry: Sized + PartialEq {
    /// The time of the entry.
    fn time(&self) -> DateTime<Utc>;
    /// The record id it had at its source, if known.
    fn record(&self) -> Option<RecordId>;
    /// Its text in one line.
    fn words(&self) -> String;
    /// Builds an entry from its text alone.
    fn of_words(time: DateTime<Utc>, words: &str) -> Self;
    /// All of its data.
    fn to_json(&self) -> Value;
    /// Restores an entry from its data; `None` for anything else.
    fn of_json(time: DateTime<Utc>, json: &Map<String, Value>) -> Option<Self>;
    /// The entry after a person changed its text; other data from the comment stays.
    fn with_words(self, words: &str) -> Self;
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

/// Formats the line of an entry.
pub(super) fn line(entry: &impl Entry) -> String {
    let mut line = format!(
        "- [{}] {}",
        written_time(entry.time()),
        words_with_record_id(entry)
    );
    let plain = read(&line).is_some_and(|(time, words)| entry_is(entry, time, words));
    if !plain {
        // These characters occur in JSON strings only; escaped, they cannot open or close a comment.
        let json = entry
            .to_json()
            .to_string()
            .replace('>', "\\u003e")
            .replace('<', "\\u003c");
        line.push_str(&format!(" {}{json}{}", COMMENT.0, COMMENT.1));
    }
    line.push('\n');
    line
}

/// The record id, if known, and the text.
fn words_with_record_id(entry: &impl Entry) -> String {
    match entry.record() {
        Some(record) => format!("{record} {}", entry.words()),
        None => entry.words(),
    }
}

fn entry_is<E: Entry>(entry: &E, time: DateTime<Utc>, words: &str) -> bool {
    entry_of::<E>(time, words) == *entry
}

/// Splits text from the JSON in the comment after it.
fn split_comment(words: &str) -> Option<(&str, &str)> {
    let (text, json) = words.strip_suffix(COMMENT.1)?.rsplit_once(COMMENT.0)?;
    Some((text.trim_end(), json))
}

/// The text of an entry as it is parsed between its time and a comment.
fn shown(entry: &impl Entry) -> String {
    let (time, words) = (written_time(entry.time()), words_with_record_id(entry));
    let line = format!("- [{time}] {words} {}{{}}{}", COMMENT.0, COMMENT.1);
    let shown = read(&line).and_then(|(_, words)| split_comment(words));
    shown.map_or_else(String::new, |(shown, _)| shown.to_owned())
}

/// Parses the entry after a time.
pub(super) fn entry_of<E: Entry>(time: DateTime<Utc>, words: &str) -> E {
    let Some((text, json)) = split_comment(words) else {
        return E::of_words(time, words);
    };
    let entry = match serde_json::from_str(json) {
        Ok(Value::Object(members)) => E::of_json(time, &members),
        _ => None,
    };
    match entry {
        Some(entry) if shown(&entry) == text => entry,
        Some(entry) => entry.with_words(text),
        None => E::of_words(time, text),
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

/// Splits a leading caller's id from the text: `task-1: Bootstrapped`. It must look like an id: letters, then
/// a dash or underscore and a part with a digit. Other text before a colon is an intent.
fn split_task_id(words: &str) -> Option<(TaskId, &str)> {
    let (id, rest) = words.split_once(": ")?;
    let (name, number) = id.rsplit_once(['-', '_'])?;
    let looks_like_one = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && number.contains(|c: char| c.is_ascii_digit())
        && !rest.trim().is_empty();
    Some((id.parse().ok().filter(|_| looks_like_one)?, rest.trim_start()))
}

/// Whether a text begins with a record id or a caller's id.
pub(super) fn begins_with_id(words: &str) -> bool {
    split_record(words).0.is_some() || split_task_id(words).is_some()
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

impl Entry for ImportedTask {
    fn time(&self) -> DateTime<Utc> {
        self.time
    }

    fn record(&self) -> Option<RecordId> {
        self.record
    }

    fn words(&self) -> String {
        task_line(&self.task)
    }

    fn of_words(time: DateTime<Utc>, words: &str) -> Self {
        let (record, words) = split_record(words);
        let (task_id, words) = match split_task_id(words) {
            Some((id, words)) => (Some(id), words),
            None => (None, words),
        };
        let failed = words.strip_prefix(FAILED);
        let (intent, summary) = split_line(failed.unwrap_or(words));
        let task = Task {
            task_id,
            intent: intent.to_owned(),
            summary: summary.to_owned(),
            details: TaskDetails {
                outcome: failed.map(|_| json!({ "success": false })),
                ..TaskDetails::default()
            },
        };
        Self { time, record, task }
    }

    fn to_json(&self) -> Value {
        let mut json = json!({
            "record": self.record.map(|id| id.to_string()),
            "task_id": self.task.task_id.as_ref().map(|id| id.as_str()),
            "intent": self.task.intent,
            "summary": self.task.summary,
            // Named where they say nothing, too, as ever: files that say the same are the same.
            "outcome": null,
            "epic": null,
        });
        for (name, value) in self.task.details.members() {
            json[name] = value;
        }
        json
    }

    fn of_json(time: DateTime<Utc>, json: &Map<String, Value>) -> Option<Self> {
        let task = Task {
            task_id: text(json, "task_id").and_then(|id| id.parse().ok()),
            intent: text(json, "intent")?.to_owned(),
            summary: text(json, "summary")?.to_owned(),
            details: TaskDetails::of_members(json).normalized(),
        };
        let record = text(json, "record").and_then(|id| id.parse().ok());
        Some(Self { time, record, task })
    }

    fn with_words(self, words: &str) -> Self {
        // A changed text is a new task, even if the old id still precedes it.
        let (record, words) = split_record(words);
        let id = self.task.task_id.as_ref();
        let named = id.and_then(|id| words.strip_prefix(id.as_str())?.strip_prefix(": "));
        let mut changed = Self::of_words(self.time, named.unwrap_or(words));
        changed.record = record;
        changed.task.details = self.task.details;
        changed
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
    fn time(&self) -> DateTime<Utc> {
        self.time
    }

    fn record(&self) -> Option<RecordId> {
        None
    }

    fn words(&self) -> String {
        let decision = one_line(&self.decision);
        match &self.reason {
            Some(reason) => format!("because {}: {decision}", one_line(reason)),
            None => decision,
        }
    }

    fn of_words(time: DateTime<Utc>, words: &str) -> Self {
        let words = without_id(words);
        let parts = words
            .strip_prefix("because ")
            .and_then(|rest| rest.split_once(": "));
        let (reason, decision) = match parts {
            Some((reason, decision)) => (Some(reason.trim().to_owned()), decision.trim().to_owned()),
            None => reason_inside(words),
        };
        Self {
            time,
            decision,
            reason,
        }
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

    fn with_words(self, words: &str) -> Self {
        Self::of_words(self.time, words)
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
