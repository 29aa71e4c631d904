//! The response of an update. Its run stores it in the same form.

use super::Step;
use crate::domain::document;
use crate::domain::ids::{ContextId, MemoryId, UpdateId, VaultId};
use crate::domain::memory::AppliedOperation;
use crate::domain::operation::{Fault, Role};
use crate::storage::updates::RunStatus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The maximum length of a quoted faulty item, in bytes.
const QUOTE_BYTES: usize = 2_000;

/// How an update ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateStatus {
    /// A new version was saved.
    Applied,
    /// There was nothing to change; no version was saved.
    Unchanged,
    /// It was a dry run.
    DryRun,
    /// It waits for approval.
    Proposed,
}

impl UpdateStatus {
    /// The status of its run.
    pub(super) fn of_run(self) -> RunStatus {
        match self {
            Self::Applied => RunStatus::Applied,
            Self::Unchanged => RunStatus::Unchanged,
            Self::DryRun => RunStatus::DryRun,
            Self::Proposed => RunStatus::Proposed,
        }
    }
}

/// Something that was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rejection {
    /// `progress`, `learnings`, `verbatim`, or null where the place belongs to none.
    #[schema(value_type = Option<String>, examples("learnings"))]
    pub section: Option<Role>,
    /// The fault's stable name.
    #[schema(examples("missing_reason"))]
    pub kind: String,
    /// A sentence that says what is wrong and what would be right.
    pub detail: String,
    /// The item as it was written, cut after 2,000 bytes.
    pub text: String,
    /// For operations sent as JSON, the position in their list, from 0; absent otherwise.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// Something worth knowing that kept nothing from being applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Warning {
    /// `progress`, `learnings`, `verbatim`, or null where the place belongs to none.
    #[schema(value_type = Option<String>, examples("learnings"))]
    pub section: Option<Role>,
    /// Its stable name; `no_model` where the built-in rules answered because no model is configured.
    #[schema(examples("truncated", "no_model"))]
    pub kind: String,
    /// A sentence.
    pub detail: String,
    /// For operations sent as JSON, the position in their list, from 0; absent otherwise.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// What a role's model cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct ModelReport {
    /// The model's name.
    pub model: String,
    /// Calls made, retries included.
    pub attempts: u32,
    /// How often it was asked again about faulty items or a moved memory.
    pub reprompts: u32,
    /// Tokens it read, where it tells.
    pub input_tokens: Option<u64>,
    /// Of these, tokens its provider had in its cache, where it tells.
    pub cached_tokens: Option<u64>,
    /// Of these, tokens its provider put into its cache, where it tells.
    pub cache_write_tokens: Option<u64>,
    /// Tokens it wrote, where it tells.
    pub output_tokens: Option<u64>,
    /// Time until its last answer, in milliseconds.
    pub millis: u64,
}

impl ModelReport {
    /// Adds what further calls cost.
    pub(super) fn add(&mut self, more: &Self) {
        self.attempts += more.attempts;
        self.millis += more.millis;
        for (sum, more) in [
            (&mut self.input_tokens, more.input_tokens),
            (&mut self.cached_tokens, more.cached_tokens),
            (&mut self.cache_write_tokens, more.cache_write_tokens),
            (&mut self.output_tokens, more.output_tokens),
        ] {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        }
    }
}

/// How full the document is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DocumentReport {
    /// Its size in bytes.
    pub bytes: usize,
    /// Roughly how many tokens that is for a model.
    pub estimated_tokens: u64,
    /// Its size in percent of `limits.context_bytes`, with one decimal.
    pub percent_of_cap: f64,
}

impl DocumentReport {
    /// Measures a text.
    #[must_use]
    pub fn of(text: &str, cap: usize) -> Self {
        Self {
            bytes: text.len(),
            estimated_tokens: document::estimated_tokens(text.len()),
            percent_of_cap: percent_of_cap(text.len(), cap),
        }
    }
}

/// `bytes` in percent of `cap`, with one decimal.
#[must_use]
pub fn percent_of_cap(bytes: usize, cap: usize) -> f64 {
    let tenths = bytes.saturating_mul(1_000) / cap.max(1);
    f64::from(u32::try_from(tenths).unwrap_or(u32::MAX)) / 10.0
}

/// The answer to `/update` and `/operations`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct UpdateAnswer {
    /// The run, see `GetUpdate`.
    #[schema(value_type = String)]
    pub update_id: UpdateId,
    /// The vault.
    #[schema(value_type = String)]
    pub vault_id: VaultId,
    /// The memory.
    #[schema(value_type = String)]
    pub memory_id: MemoryId,
    /// How it ended.
    pub status: UpdateStatus,
    /// The version that was captured; 0 if the memory did not exist.
    pub base_version: i64,
    /// The version that stands now; of a dry run the base version.
    pub version: i64,
    /// Its id; null if the memory does not exist.
    #[schema(value_type = Option<String>)]
    pub context_id: Option<ContextId>,
    /// Whether the memory had moved since it was captured.
    pub rebased: bool,
    /// What was changed.
    pub operations: Vec<AppliedOperation>,
    /// What was not applied; of each text the first 200 items.
    pub rejected: Vec<Rejection>,
    /// How many more items were not applied; absent if those are all.
    #[schema(required = false, minimum = 1)]
    #[serde(skip_serializing_if = "is_zero")]
    pub more_rejected: usize,
    /// What is worth knowing; of each text the first 200 warnings.
    pub warnings: Vec<Warning>,
    /// How many more warnings there are; absent if those are all.
    #[schema(required = false, minimum = 1)]
    #[serde(skip_serializing_if = "is_zero")]
    pub more_warnings: usize,
    /// A unified diff of the document.
    pub diff: String,
    /// The change in words.
    pub log: String,
    /// What each role's model cost; empty for `/operations`.
    pub models: BTreeMap<String, ModelReport>,
    /// How full the document is.
    pub document: DocumentReport,
}

impl UpdateAnswer {
    /// The steps that follow when it is saved.
    pub(super) fn ending(&self) -> Vec<Step> {
        let mut steps = vec![Step::Merged {
            rebased: self.rebased,
        }];
        if let (UpdateStatus::Applied, Some(context_id)) = (self.status, &self.context_id) {
            steps.push(Step::Saved {
                version: self.version,
                context_id: context_id.clone(),
            });
        }
        steps
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Rejection {
    /// Builds a rejection of what no operation of a list said.
    pub(super) fn new(section: Option<Role>, kind: &str, detail: impl Into<String>, text: &str) -> Self {
        Self {
            section,
            kind: kind.to_owned(),
            detail: detail.into(),
            text: quote(text),
            index: None,
        }
    }

    /// Builds a rejection from a fault.
    pub(super) fn of_fault(fault: &Fault) -> Self {
        let written = &fault.written;
        let (kind, detail) = (fault.kind.name(), placed(&fault.detail, written.index));
        Self {
            index: written.index,
            ..Self::new(fault.section, kind, detail, &written.text)
        }
    }
}

impl Warning {
    /// Builds a warning that belongs to no operation.
    pub(super) fn new(section: Option<Role>, kind: &str, detail: impl Into<String>) -> Self {
        Self {
            section,
            kind: kind.to_owned(),
            detail: detail.into(),
            index: None,
        }
    }

    /// Builds a warning from a fault that prevented nothing from being applied.
    pub(super) fn of_fault(fault: &Fault) -> Self {
        let index = fault.written.index;
        Self {
            index,
            ..Self::new(fault.section, fault.kind.name(), placed(&fault.detail, index))
        }
    }

    /// Warns that the built-in rules answered: one warning if that holds for `all` roles, otherwise one per role.
    pub(super) fn of_no_model(roles: &[Role], all: usize) -> Vec<Self> {
        let detail =
            "no model is configured: the built-in rules answered, which keep only explicit statements";
        let sections: Vec<Option<Role>> = match !roles.is_empty() && roles.len() == all {
            true => vec![None],
            false => roles.iter().copied().map(Some).collect(),
        };
        let warning = |section| Self::new(section, "no_model", detail);
        sections.into_iter().map(warning).collect()
    }
}

/// Prefixes a sentence with the position of its operation.
fn placed(detail: &str, index: Option<usize>) -> String {
    match index {
        Some(index) => format!("operations[{index}]: {detail}"),
        None => detail.to_owned(),
    }
}

/// At most [`QUOTE_BYTES`] of a text, cut at a character boundary.
pub(super) fn quote(text: &str) -> String {
    if text.len() <= QUOTE_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(QUOTE_BYTES);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_cap_has_one_decimal() {
        for (bytes, percent) in [(0, "0"), (51_200, "50"), (1_234, "1.2"), (102_400, "100")] {
            assert_eq!(percent_of_cap(bytes, 102_400).to_string(), percent);
        }
    }

    #[test]
    fn a_quotation_is_cut_at_a_character() {
        assert_eq!(quote("short"), "short");
        let long = "ä".repeat(2_000);
        let cut = quote(&long);
        assert!(cut.len() <= QUOTE_BYTES + "…".len() && cut.ends_with('…'));
        assert!(long.starts_with(&cut[..QUOTE_BYTES]));
    }
}
