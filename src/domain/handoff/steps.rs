//! The current work according to the document: `Current Progress` and `Active Context`.

use crate::domain::document::{Fence, ManagedSection, outline};
use crate::domain::text::visible_line;
use crate::domain::window::Status;

/// Goal, blocker and progress bullets, each on one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Steps {
    /// `Goal:` of Active Context; `None` if it says that there is none.
    pub goal: Option<String>,
    /// `Blocker:` of Active Context; `None` if it says that there is none.
    pub blocker: Option<String>,
    /// `Completed` of Current Progress.
    pub completed: Vec<String>,
    /// `In Progress` of Current Progress.
    pub in_progress: Vec<String>,
    /// `Remaining` of Current Progress.
    pub remaining: Vec<String>,
}

impl Steps {
    /// Parses a document. Linear.
    #[must_use]
    pub fn of(document: &str) -> Self {
        let Status { goal, blocker, .. } = Status::of(document);
        let non_empty = |value: Option<String>| {
            value
                .map(|value| visible_line(&value))
                .filter(|value| has_content(value))
        };
        let mut steps = Self {
            goal: non_empty(goal),
            blocker: non_empty(blocker),
            ..Self::default()
        };
        let mut sections = outline(document).into_iter();
        if let Some(found) = sections.find(|found| found.managed == Some(ManagedSection::CurrentProgress)) {
            steps.read_progress(&document[found.body]);
        }
        steps
    }

    fn read_progress(&mut self, body: &str) {
        let mut list: Option<List> = None;
        let mut is_open = false;
        let mut fence: Option<Fence> = None;
        for line in body.lines() {
            if let Some(open) = fence {
                fence = (!open.is_closed_by(line)).then_some(open);
                continue;
            }
            if !(is_open && line.starts_with([' ', '\t'])) {
                fence = Fence::opened_by(line);
                if fence.is_some() {
                    is_open = false;
                    continue;
                }
            }
            if line.starts_with('#') {
                list = List::of(line.trim_start_matches('#'));
                is_open = false;
                continue;
            }
            let bullets = match list {
                Some(List::Completed) => &mut self.completed,
                Some(List::InProgress) => &mut self.in_progress,
                Some(List::Remaining) => &mut self.remaining,
                None => continue,
            };
            let own = line.trim_end();
            if let Some(bullet) = own.strip_prefix("- ").or_else(|| own.strip_prefix("* ")) {
                is_open = has_content(bullet);
                if is_open {
                    bullets.push(visible_line(bullet));
                }
            } else if is_open && own.starts_with([' ', '\t']) && says_something(own) {
                if let Some(last) = bullets.last_mut() {
                    last.push(' ');
                    last.push_str(&visible_line(own));
                }
            } else if !own.is_empty() {
                is_open = false;
            }
        }
    }
}

#[derive(Clone, Copy)]
enum List {
    Completed,
    InProgress,
    Remaining,
}

impl List {
    fn of(title: &str) -> Option<Self> {
        let title = title.trim().trim_end_matches([':', '#']).trim();
        let lists = [
            ("completed", Self::Completed),
            ("in progress", Self::InProgress),
            ("remaining", Self::Remaining),
        ];
        lists
            .into_iter()
            .find(|(name, _)| title.eq_ignore_ascii_case(name))
            .map(|(_, list)| list)
    }
}

/// Whether a text has content and does not say "none".
fn has_content(text: &str) -> bool {
    says_something(text) && !is_none(text.trim())
}

/// Whether a text contains a letter or digit of any script.
fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn is_none(value: &str) -> bool {
    let bare = value.trim_matches(['(', ')', '[', ']', '.', ' ']);
    ["none", "n/a", "no", "nothing"]
        .iter()
        .any(|word| bare.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_and_the_status_are_read() {
        let text = "# Current Progress\n## Completed\n- done\n## In Progress\n- wire\n  it up\n- \nprose\n  more\n\
                    ```\n- shown\n```\n## Remaining:\n- (none)\n* bench\n# Active Context\nGoal: ship\nBlocker: (none)\nUpdated: now\n\
                    # Notes\n## Remaining\n- not this\n";
        let steps = Steps::of(text);
        assert_eq!(steps.goal.as_deref(), Some("ship"));
        assert_eq!(steps.blocker, None);
        assert_eq!(steps.in_progress, ["wire it up"]);
        assert_eq!(steps.remaining, ["bench"]);
        assert_eq!(Steps::of("# Notes\n- In Progress\n"), Steps::default());
        let shown = "# Active Context\nwords\n```\nGoal: shown\n```\n";
        assert_eq!(Steps::of(shown), Steps::default());
        assert_eq!(
            Steps::of("# Active Context\n- Blocker: the quota\n")
                .blocker
                .as_deref(),
            Some("the quota")
        );
    }
}
