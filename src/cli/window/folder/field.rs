//! The named parts of an entry, as people write them: `- **Summary:** all tests pass`.

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Decision,
}

/// A named part of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The intent of a task; what was decided.
    Words,
    /// The id of a task, or its intent.
    Task,
    Summary,
    Reason,
    Outcome,
    Epic,
    Time,
    /// Whether a task is done or failed.
    Status,
    /// Anything else that is told.
    Note,
}

/// The names of the parts, in lower case.
const NAMES: [(Kind, &[&str], Field); 13] = [
    (Kind::Task, &["intent", "title"], Field::Words),
    (Kind::Task, &["task", "task id", "id"], Field::Task),
    (Kind::Task, &["summary"], Field::Summary),
    (Kind::Task, &["outcome", "validation"], Field::Outcome),
    (Kind::Task, &["epic"], Field::Epic),
    (
        Kind::Task,
        &["date", "completed", "time", "when", "finished"],
        Field::Time,
    ),
    (Kind::Task, &["status", "state", "result"], Field::Status),
    (
        Kind::Task,
        &["notes", "note", "details", "description", "what"],
        Field::Note,
    ),
    (Kind::Decision, &["decision", "title"], Field::Words),
    (Kind::Decision, &["reason", "why", "rationale"], Field::Reason),
    (Kind::Decision, &["date", "time", "when", "decided"], Field::Time),
    (Kind::Decision, &["summary"], Field::Summary),
    (
        Kind::Decision,
        &[
            "status",
            "context",
            "consequences",
            "alternatives",
            "notes",
            "note",
            "details",
        ],
        Field::Note,
    ),
];

impl Field {
    /// Whether a bullet that begins with its name can begin an entry.
    pub(super) fn begins_entry(self) -> bool {
        matches!(self, Self::Words | Self::Task)
    }

    /// Whether its name means it also on a bullet between others.
    pub(super) fn is_strong(self) -> bool {
        !matches!(self, Self::Time | Self::Status | Self::Note)
    }

    /// The part that a column or a line of this name tells.
    pub(super) fn named(kind: Kind, name: &str) -> Option<Self> {
        let name = name.trim_matches(['*', '_', '`', ' ']).to_lowercase();
        let mut names = NAMES.iter().filter(|(of, ..)| *of == kind);
        names
            .find(|(_, names, _)| names.contains(&name.as_str()))
            .map(|(.., field)| *field)
    }
}

/// The part that a text names, and its value: `Summary: x`, `**Summary:** x`, `**Summary**: x`.
pub(super) fn field(kind: Kind, text: &str) -> Option<(Field, &str)> {
    let (name, value) = text.split_once(':')?;
    if !(value.is_empty() || value.starts_with([' ', '\t', '*', '_', '`'])) {
        return None;
    }
    let is_marked = name.starts_with(['*', '_']);
    let value = match is_marked {
        true => value.trim_start_matches(['*', '_']),
        false => value,
    };
    Some((Field::named(kind, name)?, value.trim()))
}
