//! `Active Context`: goal, blocker, and when they or the window last changed; and reasons that a record line can represent.

use crate::domain::document::{
    Fence, ManagedSection, closing_fence, end_of_reason, heading_of, outline, written_time,
};
use crate::domain::text::lines::LINE_ENDS;
use crate::domain::text::one_line;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// Written if there is no goal or no blocker.
const NONE: &str = "none";

/// What is aimed at, and what stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = WindowStatus)]
pub struct Status {
    /// What is aimed at; null for nothing.
    pub goal: Option<String>,
    /// What stands in the way; null for nothing.
    pub blocker: Option<String>,
    /// When status, tasks or decisions last changed.
    pub updated: Option<DateTime<Utc>>,
}

/// The key of a line that the service writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(ascii_case_insensitive)]
enum Key {
    Goal,
    Blocker,
    Updated,
}

impl Key {
    const ALL: [Self; 3] = [Self::Goal, Self::Blocker, Self::Updated];

    fn name(self) -> &'static str {
        self.into()
    }

    /// Parses the key and the value after the colon of a line in column 0, ignoring case. Also accepts a
    /// bullet, and `Blockers:` with a value on the same line; without a value it is the heading of a list.
    fn of(line: &str) -> Option<(Self, &str)> {
        let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        let (name, value) = bullet.unwrap_or(line).split_once(':')?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("blockers") && !value.is_empty() {
            return Some((Self::Blocker, value));
        }
        Some((name.parse().ok()?, value))
    }
}

impl Status {
    /// Parses it from a document; empty if the section is missing.
    #[must_use]
    pub fn of(document: &str) -> Self {
        let mut status = Self::default();
        for (key, value) in head(body(document)).filter_map(Key::of) {
            let text = (!value.is_empty() && !value.eq_ignore_ascii_case(NONE)).then(|| value.to_owned());
            match key {
                Key::Goal => status.goal = status.goal.or(text),
                Key::Blocker => status.blocker = status.blocker.or(text),
                Key::Updated => {
                    let time = DateTime::parse_from_rfc3339(value).ok().map(|time| time.to_utc());
                    status.updated = status.updated.or(time);
                }
            }
        }
        status
    }

    /// Normalises a goal and a blocker: one line each; `none` means no value.
    #[must_use]
    pub fn new(goal: Option<&str>, blocker: Option<&str>) -> Self {
        let non_blank = |text: Option<&str>| {
            text.map(one_line)
                .filter(|line| !line.is_empty() && !line.eq_ignore_ascii_case(NONE))
        };
        Self {
            goal: non_blank(goal),
            blocker: non_blank(blocker),
            updated: None,
        }
    }

    /// Whether both have the same goal and blocker.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.goal == other.goal && self.blocker == other.blocker
    }

    /// Renders the body of the section with this goal, blocker and time. Existing lines are replaced in
    /// place, missing ones are inserted at the top; all other text stays.
    pub(super) fn body_on(&self, document: &str) -> String {
        let old = body(document);
        let values = [
            self.goal.as_deref().unwrap_or(NONE).to_owned(),
            self.blocker.as_deref().unwrap_or(NONE).to_owned(),
            self.updated.map(written_time).unwrap_or_default(),
        ];
        let line = |key: Key| format!("{}: {}\n", key.name(), values[key as usize]);
        let head_lines = head(old).count();
        let there: Vec<Key> = head(old).filter_map(Key::of).map(|(key, _)| key).collect();
        // A missing key follows the key before it, or is at the top.
        let missing_from = |place: usize| -> String {
            let keys = Key::ALL.into_iter().skip(place);
            keys.take_while(|key| !there.contains(key)).map(line).collect()
        };
        let (mut text, mut written) = (missing_from(0), Vec::new());
        for (index, old_line) in old.split_inclusive('\n').enumerate() {
            match Key::of(old_line).filter(|_| index < head_lines) {
                // If a key has several lines, the first is replaced and the others are removed.
                Some((key, _)) if written.contains(&key) => {}
                Some((key, _)) => {
                    written.push(key);
                    text.push_str(&line(key));
                    text.push_str(&missing_from(key as usize + 1));
                }
                None => text.push_str(old_line),
            }
        }
        close(text)
    }
}

/// The body of the section without trailing blank lines; empty if it is missing.
fn body(document: &str) -> &str {
    outline(document)
        .into_iter()
        .find(|section| section.managed == Some(ManagedSection::ActiveContext))
        .map_or("", |section| {
            &document[section.body.start..section.written_end(document)]
        })
}

/// The lines where keys are recognised: those before the first fence and the first heading.
fn head(body: &str) -> impl Iterator<Item = &str> {
    body.lines().take_while(|line| {
        let line = line.trim_start();
        Fence::opened_by(line).is_none() && heading_of(line).is_none()
    })
}

/// Closes an open fence in a body, so that text written after it can be parsed.
fn close(mut body: String) -> String {
    let document = format!("# {}\n{body}", ManagedSection::ActiveContext.title());
    if let Some(closing_line) = closing_fence(&document) {
        if !body.ends_with('\n') {
            body.push('\n');
        }
        body.push_str(&closing_line);
    }
    body
}

/// The byte at which the line of a record cannot say a reason unchanged: that of a line end, or of a colon that a blank follows,
/// which would end it. Blanks around it do not count.
#[must_use]
pub fn unwritable_at(reason: &str) -> Option<usize> {
    let begin = reason.len() - reason.trim_start().len();
    let reason = reason.trim();
    let colon = end_of_reason(reason).filter(|colon| colon + 1 < reason.len());
    reason.find(LINE_ENDS).or(colon).map(|at| begin + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::records;
    use crate::domain::memory::Counters;
    use crate::domain::window::{Change, Sizes};
    use chrono::DateTime;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_accepted_reason_is_read_back_unchanged(reason in "(because |: )?\\PC{0,8}[: \t\n\r]{0,3}\\PC{1,8}:?") {
            prop_assume!(!reason.trim().is_empty() && unwritable_at(&reason).is_none());
            let sizes = Sizes { tasks: 5, decisions: 5, context_bytes: 100_000 };
            let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
            let mut change = Change::begin("", Counters::default(), now, sizes);
            change.add_decision("keep it", Some(&reason), None).unwrap();
            let written = change.finish().unwrap();
            let found = records(&written.text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(found[0].reason.as_deref(), Some(reason.trim()));
            prop_assert_eq!(found[0].content.as_str(), "keep it");
        }
    }
}
