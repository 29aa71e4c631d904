//! The reported facts of a task besides its intent and summary, in requests and responses. Its members are named
//! only here, so that a new one is a line in each of these.
//!
//! They are macros and not one struct inside the others: flattened it would lose which members are known, the paths of faults
//! and digits of numbers.

use super::window::fields;
use crate::domain::window::{EPIC_BYTES, TaskDetails};
use crate::http::problem::Problem;

/// The body of a request that tells of a task: its own members, and between them those of [`TaskDetails`], which `details`
/// takes out of it.
macro_rules! task_request {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($before:tt)* } $(and { $($after:tt)* })?
    ) => {
        #[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$attribute])*
        $visibility struct $name {
            $($before)*
            /// A report on it, any JSON of at most 8,192 bytes without blanks; numbers that a double cannot hold are refused.
            /// With `"success": false` the task counts as failed.
            #[serde(default, deserialize_with = "crate::http::extract::json::exact")]
            #[schema(value_type = Option<serde_json::Value>)]
            outcome: Option<serde_json::Value>,
            /// The larger work it is a part of; at most 128 bytes.
            #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
            epic: Option<String>,
            $($($after)*)?
        }

        impl $name {
            fn details(&mut self) -> crate::domain::window::TaskDetails {
                crate::domain::window::TaskDetails {
                    outcome: self.outcome.take(),
                    epic: self.epic.take(),
                }
            }
        }
    };
}
pub(super) use task_request;

/// Checks what a request tells of a task. `at` is put before the names of its fields.
///
/// # Errors
/// 422, naming the field and the limit.
pub(super) fn checked(at: &str, details: TaskDetails) -> Result<TaskDetails, Problem> {
    let TaskDetails { outcome, epic } = &details;
    if let Some(outcome) = outcome {
        fields::outcome(&format!("{at}outcome"), outcome)?;
    }
    if let Some(epic) = epic {
        fields::required(&format!("{at}epic"), epic, EPIC_BYTES)?;
    }
    Ok(details.normalized())
}
