//! A task, its reported facts, and its line in the document.

use super::{EPIC_BYTES, OUTCOME_BYTES};
use crate::domain::ids::TaskId;
use crate::domain::text::{has_nul, one_line, write_out_numbers};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A completed task as the caller reported it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Task {
    /// The caller's id; unique within a memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// What was to be done.
    pub intent: String,
    /// What was done.
    pub summary: String,
    /// Its other reported facts.
    #[serde(flatten)]
    pub details: TaskDetails,
}

/// Prefix on the line of a task whose outcome reports a failure.
pub const FAILED: &str = "[failed] ";

impl Task {
    /// Whether its outcome reports a failure: `"success": false`.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let success = self.details.outcome.as_ref();
        let success = success.and_then(|outcome| outcome.get("success"));
        success == Some(&Value::Bool(false))
    }

    /// What its writer calls it. An id that an import derived is not shown to people or programs.
    #[must_use]
    pub fn own_id(&self) -> Option<&TaskId> {
        self.task_id.as_ref().filter(|id| !is_derived(id))
    }

    /// Restores a task from its line and its stored data, if there is any. If a person changed the line, the
    /// line takes precedence.
    #[must_use]
    pub fn of_line(line: &str, reported: Option<Self>) -> Self {
        let reported = match reported {
            Some(reported) if task_line(&reported) == line => return reported,
            reported => reported.unwrap_or_default(),
        };
        let named = reported
            .task_id
            .as_ref()
            .and_then(|id| line.strip_prefix(id.as_str())?.strip_prefix(": "));
        let line = named.unwrap_or(line);
        let marked = line.strip_prefix(FAILED).filter(|_| reported.has_failed());
        let (intent, summary) = split_line(marked.unwrap_or(line));
        Self {
            intent: intent.to_owned(),
            summary: summary.to_owned(),
            ..reported
        }
    }
}

/// Formats the line of a task after its time: `task-1: [failed] intent: summary`, each part as one line.
/// Omits a missing or derived id and a mark that does not apply; never contains a reason.
#[must_use]
pub fn task_line(task: &Task) -> String {
    without_reason(words(task))
}

/// As [`task_line`], for a place where no reason is expected.
pub(super) fn words(task: &Task) -> String {
    let id = task.own_id().map_or_else(String::new, |id| format!("{id}: "));
    let mark = if task.has_failed() { FAILED } else { "" };
    let mut line = format!("{id}{mark}{}", one_line(&task.intent));
    let summary = one_line(&task.summary);
    if !summary.is_empty() {
        line.push_str(": ");
        line.push_str(&summary);
    }
    line
}

/// Prevents that the line is parsed as having a reason: if it begins with `because` and a blank, the blank
/// becomes a no-break space (U+00A0).
pub(super) fn without_reason(mut line: String) -> String {
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

/// Splits a line written by a person into intent (before the first `: `) and summary.
#[must_use]
pub fn split_line(line: &str) -> (&str, &str) {
    match line.split_once(": ") {
        Some((intent, summary)) if !intent.trim().is_empty() => (intent.trim(), summary.trim()),
        _ => (line.trim(), ""),
    }
}

/// The reported facts of a task besides its intent and summary. Runs, proposals, versions, records, exports and the
/// folder carry the whole, and name no member.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskDetails {
    /// A report on it, any JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Value>,
    /// The larger work it is a part of, one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic: Option<String>,
}

impl TaskDetails {
    /// As they are kept: an outcome that is null is none, large integers are written out, and an epic is one line that says
    /// something.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        if let Some(outcome) = &mut self.outcome {
            write_out_numbers(outcome);
        }
        Self {
            outcome: self.outcome.filter(|outcome| !outcome.is_null()),
            epic: self
                .epic
                .map(|epic| one_line(&epic))
                .filter(|epic| !epic.is_empty()),
        }
    }

    /// Whether a memory can hold them.
    #[must_use]
    pub fn are_storable(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_none_or(|outcome| outcome.to_string().len() <= OUTCOME_BYTES && !has_nul(outcome))
            && self.epic.as_deref().is_none_or(|epic| fits(epic, EPIC_BYTES))
    }

    /// The facts as the members of a JSON object.
    #[must_use]
    pub fn members(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            // Texts and JSON are always JSON.
            _ => Map::new(),
        }
    }

    /// The facts among the members of a JSON object. It may have other members; a member of another form is ignored.
    #[must_use]
    pub fn of_members(members: &Map<String, Value>) -> Self {
        let epic = members.get("epic").and_then(Value::as_str);
        Self {
            outcome: members
                .get("outcome")
                .filter(|outcome| !outcome.is_null())
                .cloned(),
            epic: epic.map(str::to_owned),
        }
    }
}

/// Whether a memory can hold a text that may have so many bytes.
#[must_use]
pub fn fits(text: &str, limit: usize) -> bool {
    text.len() <= limit && !text.contains('\0')
}

/// Prefix of a derived id, and the number of hash bytes that follow in hexadecimal.
pub(super) const DERIVED: &str = "import-";
pub(super) const DERIVED_BYTES: usize = 12;

/// Whether an id was derived.
fn is_derived(id: &TaskId) -> bool {
    let digits = id.as_str().strip_prefix(DERIVED);
    digits.is_some_and(|digits| {
        digits.len() == 2 * DERIVED_BYTES
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::records;
    use crate::domain::ids::RecordKind;
    use crate::domain::memory::{Counters, Edit};
    use crate::domain::operation::AddedRecord;
    use chrono::DateTime;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_task_is_one_line_that_begins_with_no_reason() {
        let line = |intent: &str, summary: &str| task_line(&task_of(None, intent, summary));
        let folded = line("Add\nparser", "FSM\n\nover lines");
        assert_eq!(folded, "Add parser: FSM over lines");
        assert_eq!(line("Because x", "y"), "Because\u{a0}x: y");
        assert_eq!(line("because", "y"), "because: y");
    }

    fn task_of(task_id: Option<&str>, intent: &str, summary: &str) -> Task {
        Task {
            task_id: task_id.map(|id| id.parse().unwrap()),
            intent: intent.to_owned(),
            summary: summary.to_owned(),
            ..Task::default()
        }
    }

    /// What one that failed looks like is in the test of the route.
    #[test]
    fn a_task_failed_only_if_its_outcome_says_so() {
        let mut task = task_of(Some("task-1"), "Deploy", "the probe timed out");
        for outcome in [
            json!({"success": true}),
            json!({"success": "false"}),
            json!({"success": null}),
            json!([{"success": false}]),
        ] {
            task.details.outcome = Some(outcome);
            assert!(!task.has_failed());
        }
        task.details.outcome = Some(json!({"success": false, "exit": 3}));
        assert!(task.has_failed());
    }

    proptest! {
        #[test]
        fn the_line_of_any_task_is_read_as_it_was_written(
            intent in "(because |- |T-3 |\\[2026-11-21T02:00:00Z\\] |# |```)?\\PC{0,20}[:=>\n\r ]{0,4}\\PC{1,20}",
            summary in "\\PC{0,20}[:\n]{0,3}(because x: y)?",
        ) {
            prop_assume!(!one_line(&intent).is_empty());
            let line = task_line(&task_of(None, &intent, &summary));
            let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
            let mut edit = Edit::new("", Counters::default(), now);
            let record = AddedRecord { content: line.clone(), ..AddedRecord::default() };
            edit.add(RecordKind::Task, &record, now).unwrap();
            let text = edit.finish().text;
            let found = records(&text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].content, &line);
            prop_assert_eq!((found[0].reason.as_ref(), found[0].time), (None, Some(now)));
        }
    }

    fn of(members: Value) -> TaskDetails {
        TaskDetails::of_members(members.as_object().unwrap())
    }

    #[test]
    fn members_are_read_as_written_whatever_others_there_are() {
        let details = TaskDetails {
            outcome: Some(json!({"number": 18_446_744_073_709_551_615_u64, "other": [-1, 0.1, null]})),
            epic: Some("E".to_owned()),
        };
        let mut members = details.members();
        assert_eq!(TaskDetails::of_members(&members), details);
        members.insert("intent".to_owned(), json!("i"));
        members.insert("of_a_newer_release".to_owned(), json!(5));
        assert_eq!(TaskDetails::of_members(&members), details);
        assert_eq!(TaskDetails::default().members(), Map::new());
    }

    #[test]
    fn a_member_of_another_form_takes_no_other_along_and_what_says_nothing_is_not_kept() {
        let details = of(json!({"outcome": [1], "epic": 5}));
        assert_eq!((details.outcome, details.epic), (Some(json!([1])), None));
        assert_eq!(of(json!({"outcome": null, "epic": null})), TaskDetails::default());
        let details = TaskDetails {
            outcome: Some(Value::Null),
            epic: Some(" \n".to_owned()),
        };
        assert_eq!(details.normalized(), TaskDetails::default());
    }
}
