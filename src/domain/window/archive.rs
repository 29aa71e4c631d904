//! The archive: one line per task, and roll-ups of tasks.

use super::task::{FAILED, TaskDetails, is_derived};
use crate::domain::document::written_time;
use crate::domain::ids::{RecordId, TaskId};
use crate::domain::text::one_line;
use chrono::{DateTime, Utc};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A task that was archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedTask {
    /// The id of its record.
    pub id: RecordId,
    /// The caller's id of the task.
    pub task_id: Option<TaskId>,
    /// When it was done, in whole seconds.
    pub time: DateTime<Utc>,
    /// What was to be done; empty if redacted.
    pub intent: String,
    /// The first sentence of the summary.
    pub summary: String,
    /// Its other reported facts, without the outcome.
    pub details: TaskDetails,
    /// Whether its outcome reports a failure.
    pub failed: bool,
}

impl ArchivedTask {
    /// Formats its line: time, both ids, intent and first sentence. An id derived by an import is omitted.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("{} {}", written_time(self.time), self.id);
        let intent = one_line(&self.intent);
        line.push(' ');
        if let Some(id) = self.task_id.as_ref().filter(|id| !is_derived(id)) {
            line.push_str(id.as_str());
            line.push_str(": ");
        }
        if self.failed {
            line.push_str(FAILED);
        }
        line.push_str(if intent.is_empty() { "[redacted]" } else { &intent });
        let sentence = first_sentence(&self.summary);
        if !sentence.is_empty() {
            line.push_str(": ");
            line.push_str(&sentence);
        }
        line
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

/// A roll-up of archived tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epic {
    /// The week or the epic; `None` for tasks without an epic.
    pub name: Option<String>,
    /// Number of tasks.
    pub tasks: i64,
    /// When the first task was completed.
    pub first: DateTime<Utc>,
    /// When the last task was completed.
    pub last: DateTime<Utc>,
    /// The latest tasks, ordered by time.
    pub latest: Vec<ArchivedTask>,
}

/// Returns the first sentence of a text as one line: up to the first `.`, `!` or `?` followed by a blank or
/// the end. A full stop after a single letter or between digits does not count (`e. g.`, `v1.2`). Linear.
#[must_use]
pub fn first_sentence(text: &str) -> String {
    let mut line = one_line(text);
    let end = line.match_indices(['.', '!', '?']).find(|(at, mark)| {
        let ends = line[at + 1..].chars().next().is_none_or(char::is_whitespace);
        ends && !(*mark == "." && is_abbreviation(&line[..*at]))
    });
    if let Some((at, _)) = end {
        line.truncate(at + 1);
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
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), sentence, "{text}");
        }
    }
}
