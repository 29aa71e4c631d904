//! The archive: one line per task, and roll-ups of tasks.

use super::task::{Task, words};
use crate::domain::document::written_time;
use crate::domain::ids::{RecordId, TaskId};
use crate::domain::text::one_line;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// A task that has left the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArchivedTask {
    /// Its record.
    #[schema(value_type = String)]
    pub record_id: RecordId,
    /// When it was done.
    pub time: DateTime<Utc>,
    /// What its writer calls it.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// What was to be done; empty if it was redacted.
    pub intent: String,
    /// The first sentence of what was done.
    pub summary: String,
    /// The larger work it is a part of.
    pub epic: Option<String>,
    /// Whether its outcome says `"success": false`.
    pub failed: bool,
    /// All of it in one line: time, ids, intent and first sentence.
    pub line: String,
}

impl ArchivedTask {
    /// The task of a record. Its line omits an id that an import derived.
    #[must_use]
    pub fn of(record_id: RecordId, time: DateTime<Utc>, mut task: Task) -> Self {
        task.summary = first_sentence(&task.summary);
        let intent = task.intent.clone();
        if one_line(&intent).is_empty() {
            "[redacted]".clone_into(&mut task.intent);
        }
        Self {
            record_id,
            time,
            failed: task.has_failed(),
            line: format!("{} {record_id} {}", written_time(time), words(&task)),
            task_id: task.own_id().cloned(),
            intent,
            summary: task.summary,
            epic: task.details.epic,
        }
    }
}

/// How archived tasks are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Grouping {
    /// The ISO week of the task's time in UTC, such as `2026-W47`.
    Week,
    /// The epic of the task.
    Epic,
}

listed! {
    /// The values of `by`.
    Grouping as "Grouping";
}

/// A roll-up of tasks that have left the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Epic {
    /// The epic, or the week as in `2026-W47`; null for tasks that name no epic.
    pub name: Option<String>,
    /// How many tasks.
    #[schema(minimum = 1)]
    pub tasks: i64,
    /// When the first was done.
    pub first: DateTime<Utc>,
    /// When the last was done.
    pub last: DateTime<Utc>,
    /// The last ten, in the order of time.
    #[schema(max_items = 10)]
    pub latest: Vec<ArchivedTask>,
}

/// Returns the first sentence of a text as one line: up to the first `.`, `!` or `?` followed by a blank or
/// the end, or `。`, `！` or `？`. A full stop after a single letter or between digits does not count (`e. g.`, `v1.2`). Linear.
#[must_use]
pub fn first_sentence(text: &str) -> String {
    let mut line = one_line(text);
    let end = line
        .match_indices(['.', '!', '?', '。', '！', '？'])
        .find(|(at, mark)| {
            let next = line[at + mark.len()..].chars().next();
            let ends = !mark.is_ascii() || next.is_none_or(char::is_whitespace);
            ends && !(*mark == "." && is_abbreviation(&line[..*at]))
        });
    if let Some(end) = end.map(|(at, mark)| at + mark.len()) {
        line.truncate(end);
    }
    line
}

/// Whether a text ends in a single letter, or in an abbreviation that usually has a full stop at its end.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if word.chars().count() == 1 && word.chars().all(char::is_alphabetic) {
        return true;
    }
    let word = word.trim_start_matches(['(', '"', '\'']);
    ["e.g", "i.e", "etc", "cf", "vs", "no", "dr", "mr", "mrs", "approx"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_where_a_reader_would_end_it() {
        for (text, sentence) in [
            ("FSM over lines. 60 tests.", "FSM over lines."),
            ("Moved to v1.2 today! Then more", "Moved to v1.2 today!"),
            ("Uses std, e.g. strings. Good", "Uses std, e.g. strings."),
            ("no stop at all", "no stop at all"),
            ("two\nlines. three", "two lines."),
            ("Why? Because.", "Why?"),
            ("ends in ä. Next", "ends in ä. Next"),
            ("解析器を書いた。テストは六十。", "解析器を書いた。"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), sentence, "{text}");
        }
    }
}
