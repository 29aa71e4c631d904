//! A task and its line in the document.

use crate::domain::ids::TaskId;
use serde_json::Value;

/// A completed task, as it was told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// What its writer calls it; unique within a memory.
    pub task_id: Option<TaskId>,
    /// What was to be done.
    pub intent: String,
    /// What was done.
    pub summary: String,
    /// A report on it, any JSON.
    pub outcome: Option<Value>,
    /// The larger work it is a part of, one line.
    pub epic: Option<String>,
}

/// What ends a line, in any of the ways that Unicode knows.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// A text as one line: its lines without the blanks around them, joined by single blanks. Doing it twice changes
/// nothing more.
#[must_use]
pub fn one_line(text: &str) -> String {
    let lines = text
        .split(LINE_ENDS)
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// What stands on the line of a task behind its time: `intent: summary`, each as one line. A line that began with
/// `because` and a blank would be read as a reason: the blank becomes one that does not break (U+00A0).
#[must_use]
pub fn task_line(intent: &str, summary: &str) -> String {
    let (mut line, summary) = (one_line(intent), one_line(summary));
    if !summary.is_empty() {
        line.push_str(": ");
        line.push_str(&summary);
    }
    let word = "because".len();
    let is_reason = line
        .get(..word)
        .is_some_and(|start| start.eq_ignore_ascii_case("because"))
        && line[word..].starts_with([' ', '\t']);
    if is_reason {
        line.replace_range(word..=word, "\u{a0}");
    }
    line
}

/// Intent and summary of a line whose task is not known otherwise, because a person wrote it: what stands before the
/// first `: `, and the rest.
#[must_use]
pub fn split_line(line: &str) -> (&str, &str) {
    match line.split_once(": ") {
        Some((intent, summary)) if !intent.trim().is_empty() => (intent.trim(), summary.trim()),
        _ => (line.trim(), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::{NewRecord, records};
    use crate::domain::ids::RecordKind;
    use crate::domain::memory::{Counters, Edit};
    use chrono::DateTime;
    use proptest::prelude::*;

    #[test]
    fn lines_are_folded_with_single_blanks() {
        for (text, line) in [
            ("one", "one"),
            (" a \r\n\n\t b\u{2028}c\u{b}", "a b c"),
            ("two  blanks stay", "two  blanks stay"),
            ("\n \n", ""),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
        assert_eq!(
            task_line("Add\nparser", "FSM\n\nover lines"),
            "Add parser: FSM over lines"
        );
        assert_eq!(task_line("Because x", "y"), "Because\u{a0}x: y");
        assert_eq!(task_line("because", "y"), "because: y");
    }

    #[test]
    fn a_line_of_a_person_is_split_at_its_first_colon() {
        for (line, parts) in [
            ("Fix CI: cache it", ("Fix CI", "cache it")),
            ("Fix a::b", ("Fix a::b", "")),
            (": odd", (": odd", "")),
        ] {
            assert_eq!(split_line(line), parts, "{line}");
        }
    }

    proptest! {
        #[test]
        fn the_line_of_any_task_is_read_as_it_was_written(
            intent in "(because |- |T-3 |\\[2026-11-21T02:00:00Z\\] |# |```)?\\PC{0,20}[:=>\n\r ]{0,4}\\PC{1,20}",
            summary in "\\PC{0,20}[:\n]{0,3}(because x: y)?",
        ) {
            prop_assume!(!one_line(&intent).is_empty());
            let line = task_line(&intent, &summary);
            let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
            let mut edit = Edit::new("", Counters::default(), now);
            let record = NewRecord { reason: None, label: None, content: &line };
            edit.add(RecordKind::Task, &record).unwrap();
            let (text, _) = edit.finish();
            let found = records(&text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].content, &line);
            prop_assert_eq!((found[0].reason.as_ref(), found[0].time), (None, Some(now)));
        }
    }
}
