//! The input of one prompt.

use super::params::PromptParams;
use crate::domain::prompt::{Assembly, Count, Material, OverBudget, PromptItem, assemble};
use crate::http::problem::Problem;
use crate::storage::Context;
use chrono::{DateTime, Utc};

/// Everything that one prompt is built from.
pub(super) struct Work {
    pub(super) params: PromptParams,
    pub(super) items: Vec<PromptItem>,
    pub(super) context: Option<Context>,
    pub(super) time: DateTime<Utc>,
    pub(super) degraded: Option<String>,
}

impl Work {
    pub(super) fn assemble(&self, count: Count<'_>) -> Result<Assembly, Problem> {
        let material = Material {
            items: &self.items,
            document: self.context.as_ref().map(|context| context.text.as_str()),
            time: self.time,
            zone: self.params.timezone,
            selection: &self.params.selection,
        };
        let max_tokens = self.params.max_tokens.map(|number| (number as usize, count));
        assemble(&material, max_tokens).map_err(|over @ OverBudget { needed }| {
            let limit = self.params.max_tokens.unwrap_or_default();
            Problem::invalid("max_tokens", format!("max_tokens is {limit}, but {over}"))
                .with("limit", limit)
                .with("needed", needed)
        })
    }
}
