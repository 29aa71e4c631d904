//! The facts of a task besides its intent and summary, in the columns of `records`: `outcome` and `epic` have a column
//! each, all other members are in one JSON object, `details`.

use crate::domain::window::TaskDetails;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;

/// The values of the columns.
#[derive(Debug, Default, Serialize)]
pub(in crate::storage) struct DetailColumns<'t> {
    pub(in crate::storage) outcome: Option<&'t Value>,
    pub(in crate::storage) epic: Option<&'t str>,
    pub(in crate::storage) details: Option<Value>,
}

impl<'t> From<&'t TaskDetails> for DetailColumns<'t> {
    fn from(details: &'t TaskDetails) -> Self {
        let mut others = details.members();
        for name in ["outcome", "epic"] {
            others.remove(name);
        }
        Self {
            outcome: details.outcome.as_ref(),
            epic: details.epic.as_deref(),
            details: (!others.is_empty()).then_some(Value::Object(others)),
        }
    }
}

/// Reads the facts from the columns. Members of `details` that only a newer release knows are ignored.
pub(in crate::storage) fn details_of(
    outcome: Option<Value>,
    epic: Option<String>,
    details: Option<Json<TaskDetails>>,
) -> TaskDetails {
    let mut facts = details.map(|Json(others)| others).unwrap_or_default();
    facts.outcome = outcome;
    facts.epic = epic;
    facts
}
