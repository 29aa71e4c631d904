//! Records the end of a session in one change: adds the completed task, sets the status, and moves the
//! matching bullet of `In Progress` to `Completed`.

use super::change::{Change, ChangedDocument, Sizes, WindowError};
use super::status::Status;
use super::task::Task;
use crate::domain::document::{Fence, ManagedSection, outline};
use crate::domain::memory::Counters;
use crate::domain::text::{folded, one_line};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The data recorded at the end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The completed task.
    #[serde(flatten)]
    pub task: Task,
    /// The new goal; without it the current goal stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The blocker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<String>,
}

/// Records a session: moves the bullet of `In Progress` that equals the intent to `Completed`, adds the task
/// at the top of `Recent Tasks`, archives the oldest tasks beyond the window, and sets goal and blocker if
/// one of them is given (a goal alone means that nothing blocks it).
///
/// # Errors
///
/// [`WindowError`]; nothing is changed.
pub fn record_session(
    document: &str,
    counters: Counters,
    now: DateTime<Utc>,
    record: &SessionRecord,
    sizes: &Sizes,
) -> Result<ChangedDocument, WindowError> {
    let mut change = Change::begin(document, counters, now);
    let progress = outline(document)
        .into_iter()
        .find(|found| found.managed == Some(ManagedSection::CurrentProgress))
        .and_then(|found| completed(&document[found.body], &record.task.intent));
    if let Some(body) = progress {
        change.rewrite_progress(body);
    }
    change.add_task(&record.task, sizes)?;
    if record.goal.is_some() || record.blocker.is_some() {
        let mut wanted = Status::new(record.goal.as_deref(), record.blocker.as_deref());
        if record.goal.is_none() {
            wanted.goal.clone_from(&change.status().goal);
        }
        change.set_status(wanted);
    }
    change.finish(sizes)
}

/// The list of `Current Progress` that a heading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Completed,
    InProgress,
    Other,
}

impl List {
    fn of(title: &str) -> Self {
        let title = title.trim_matches('#').trim().trim_end_matches([':', '#']).trim();
        if title.eq_ignore_ascii_case("completed") {
            Self::Completed
        } else if title.eq_ignore_ascii_case("in progress") {
            Self::InProgress
        } else {
            Self::Other
        }
    }
}

/// A list with the indices of its lines.
struct Part {
    list: List,
    /// Its heading and the lines below it.
    lines: Range<usize>,
    bullets: Vec<Range<usize>>,
}

/// Moves the bullets of `In Progress` that equal the intent, as one bullet, to the end of `Completed`.
/// Returns `None` if there is none. All other lines stay, except headings that would have no content.
fn completed(body: &str, intent: &str) -> Option<String> {
    let lines: Vec<&str> = body
        .trim_end_matches(['\n', '\r'])
        .split_inclusive('\n')
        .collect();
    let parts = parts(&lines);
    let wanted = folded(intent);
    let is_equal = |bullet: &Range<usize>| {
        let text = lines[bullet.clone()].concat();
        folded(&one_line(&text).replacen(['-', '*'], "", 1)) == wanted
    };
    let of = |list: List| parts.iter().filter(move |part| part.list == list);
    let done: Vec<&Range<usize>> = of(List::InProgress)
        .flat_map(|part| &part.bullets)
        .filter(|bullet| is_equal(bullet))
        .collect();
    let moved = lines[(*done.first()?).clone()].concat();
    let is_known = of(List::Completed).flat_map(|part| &part.bullets).any(is_equal);
    let mut removed = vec![false; lines.len()];
    for line in done.iter().flat_map(|bullet| (*bullet).clone()) {
        removed[line] = true;
    }
    for part in of(List::InProgress) {
        let mut below = part.lines.clone().skip(1);
        let had_one = part.bullets.iter().any(|bullet| removed[bullet.start]);
        if had_one && below.all(|line| removed[line] || lines[line].trim().is_empty()) {
            removed[part.lines.clone()].fill(true);
        }
    }
    let into = of(List::Completed).next();
    let place = match into {
        Some(part) => {
            let last = part
                .lines
                .clone()
                .rev()
                .find(|line| !lines[*line].trim().is_empty());
            last.map_or(part.lines.end, |line| line + 1)
        }
        None => of(List::InProgress).next()?.lines.start,
    };
    let mut text = String::with_capacity(body.len() + 16);
    for line in 0..=lines.len() {
        if line == place && !is_known {
            if into.is_none() {
                end_line(&mut text);
                text.push_str("## Completed\n");
            }
            end_line(&mut text);
            text.push_str(&moved);
            end_line(&mut text);
        }
        if line < lines.len() && !removed[line] {
            text.push_str(lines[line]);
        }
    }
    end_line(&mut text);
    Some(text)
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn parts(lines: &[&str]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut is_open = false;
    for (place, line) in lines.iter().enumerate() {
        let bare = line.trim_end();
        let continues = is_open && (bare.is_empty() || bare.starts_with([' ', '\t']));
        if let Some(open) = fence {
            fence = (!open.is_closed_by(bare)).then_some(open);
        } else if !continues {
            fence = Fence::opened_by(bare);
            is_open = fence.is_none() && (bare.starts_with("- ") || bare.starts_with("* "));
            if bare.starts_with('#') {
                parts.push(Part {
                    list: List::of(bare),
                    lines: place..place,
                    bullets: Vec::new(),
                });
            }
        }
        let Some(part) = parts.last_mut() else { continue };
        part.lines.end = place + 1;
        if !is_open {
            continue;
        }
        match part.bullets.last_mut().filter(|_| continues) {
            // Blank lines after a bullet do not belong to it.
            Some(_) if bare.is_empty() => {}
            Some(bullet) => bullet.end = place + 1,
            None => part.bullets.push(place..place + 1),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::memory::OperationName;

    const SIZES: Sizes = Sizes {
        tasks: 2,
        decisions: 2,
        context_bytes: 10_000,
    };

    fn record(intent: &str) -> SessionRecord {
        SessionRecord {
            task: Task {
                intent: intent.to_owned(),
                summary: "built".to_owned(),
                ..Task::default()
            },
            ..SessionRecord::default()
        }
    }

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    #[test]
    fn the_bullet_of_the_intent_moves_and_all_other_lines_stay() {
        for (body, expected) in [
            (
                "## Completed\n- a\n\n## In Progress\n- Wire  THE\n  parser\n- b\n",
                "## Completed\n- a\n- Wire  THE\n  parser\n\n## In Progress\n- b\n",
            ),
            (
                "## In Progress\n- wire the parser\n",
                "## Completed\n- wire the parser\n",
            ),
            (
                "prose\n## In Progress:\n* wire the parser\n\n- b\n## Remaining\n- wire the parser",
                "prose\n## Completed\n* wire the parser\n## In Progress:\n\n- b\n## Remaining\n- wire the parser\n",
            ),
            (
                "## In Progress\n- wire the parser\n- Wire the parser\n## Completed\n- wire The parser\n",
                "## Completed\n- wire The parser\n",
            ),
        ] {
            assert_eq!(
                completed(body, "Wire the\nparser").as_deref(),
                Some(expected),
                "{body}"
            );
        }
        for body in [
            "",
            "## In Progress\n- wire the parser too\n",
            "## Completed\n- wire the parser\n",
            "## In Progress\n```\n- wire the parser\n```\n",
            "- wire the parser\n",
        ] {
            assert_eq!(completed(body, "Wire the parser"), None, "{body}");
        }
    }

    #[test]
    fn one_change_writes_progress_task_and_status_and_prunes() {
        let document = "# Current Progress\n## In Progress\n- Wire it\n- Test it\n\n# Recent Tasks\n- T-2 two: b\n- T-1 one: a\n";
        let session = SessionRecord {
            goal: Some("ship".to_owned()),
            ..record("wire it")
        };
        let written = record_session(document, Counters::default(), now(), &session, &SIZES).unwrap();
        let expected = "# Current Progress\n## Completed\n- Wire it\n## In Progress\n- Test it\n\n# Recent Tasks\n\
                        - T-3 [2027-01-15T08:00:00Z] wire it: built\n- T-2 two: b\n\n# Active Context\n\
                        Goal: ship\nBlocker: none\nUpdated: 2027-01-15T08:00:00Z\n";
        assert_eq!(written.text, expected);
        let names: Vec<_> = written.operations.iter().map(|operation| operation.op).collect();
        assert_eq!(
            names,
            [
                OperationName::RewriteProgress,
                OperationName::Archive,
                OperationName::Add,
                OperationName::RewriteStatus
            ]
        );
        assert_eq!(written.archived, ["T-1".parse().unwrap()]);
    }

    #[test]
    fn a_status_is_only_changed_if_the_request_has_one() {
        let document = "# Active Context\nGoal: ship\nBlocker: CI\nUpdated: 2026-01-01T00:00:00Z\n";
        let text = |session: &SessionRecord| {
            record_session(document, Counters::default(), now(), session, &SIZES)
                .unwrap()
                .text
        };
        assert!(text(&record("a")).contains("Goal: ship\nBlocker: CI\nUpdated: 2027"));
        let blocker = SessionRecord {
            blocker: Some("review".to_owned()),
            ..record("a")
        };
        assert!(text(&blocker).contains("Goal: ship\nBlocker: review\n"));
        let goal = SessionRecord {
            goal: Some("next".to_owned()),
            ..record("a")
        };
        assert!(text(&goal).contains("Goal: next\nBlocker: none\n"));
    }
}
