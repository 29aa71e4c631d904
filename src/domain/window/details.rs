//! The reported facts of a task besides its intent and summary.

use super::{EPIC_BYTES, OUTCOME_BYTES};
use crate::domain::text::one_line;
use serde::de::value::MapDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::iter::once;

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
    /// As they are kept: an outcome that is null is none, and an epic is one line that says something.
    #[must_use]
    pub fn normalized(self) -> Self {
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
        let outcome = self.outcome.as_ref().map(Value::to_string);
        outcome.is_none_or(|json| json.len() <= OUTCOME_BYTES && !json.contains("\\u0000"))
            && self.epic.as_deref().is_none_or(|epic| fits(epic, EPIC_BYTES))
    }

    /// What the window shows of them in lines of their own, by name; the outcome is shown apart.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let lines = [("Epic", self.epic.as_deref())];
        lines.into_iter().filter_map(|(name, text)| Some((name, text?)))
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
        let read = |members: Vec<(&str, &Value)>| {
            Self::deserialize(MapDeserializer::<_, serde_json::Error>::new(members.into_iter()))
        };
        let members = members.iter().map(|(name, value)| (name.as_str(), value));
        let readable = members.filter(|member| read(once(*member).collect()).is_ok());
        read(readable.collect()).unwrap_or_default()
    }
}

/// Whether a memory can hold a text that may have so many bytes.
#[must_use]
pub fn fits(text: &str, limit: usize) -> bool {
    text.len() <= limit && !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn a_member_of_another_form_takes_no_other_along() {
        let details = of(json!({"outcome": [1], "epic": 5}));
        assert_eq!((details.outcome, details.epic), (Some(json!([1])), None));
        assert_eq!(of(json!({"outcome": null, "epic": null})), TaskDetails::default());
    }

    #[test]
    fn what_says_nothing_is_not_kept() {
        let details = TaskDetails {
            outcome: Some(Value::Null),
            epic: Some(" \n".to_owned()),
        };
        assert_eq!(details.normalized(), TaskDetails::default());
    }
}
