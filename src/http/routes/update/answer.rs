//! The schema of the response to `/update`, `/operations` and an approval, for the OpenAPI document.
//!
//! The pipeline builds the response itself: it stores most of it in the run, in the same form, and knows no schema. A
//! test compares both.

use crate::http::names::UpdateStatusName;
use crate::http::routes::evidence::EvidenceBody;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The answer to `/update` and `/operations`.
#[derive(ToSchema)]
#[schema(as = UpdateAnswer)]
#[expect(dead_code, reason = "documents `pipeline::report::UpdateAnswer`")]
pub(crate) struct UpdateAnswerSchema {
    /// The run, see `GetUpdate`.
    update_id: String,
    /// The vault.
    vault_id: String,
    /// The memory.
    memory_id: String,
    /// How it ended.
    status: UpdateStatusName,
    /// The version that was captured; 0 if the memory did not exist.
    base_version: i64,
    /// The version that stands now; of a dry run the base version.
    version: i64,
    /// Its id; null if the memory does not exist.
    #[schema(required)]
    context_id: Option<String>,
    /// Whether the memory had moved since it was captured.
    rebased: bool,
    /// What was changed.
    operations: Vec<OperationReportSchema>,
    /// What was not applied; of each text the first 200 items.
    rejected: Vec<RejectionSchema>,
    /// How many more items were not applied; absent if those are all.
    #[schema(required = false, minimum = 1)]
    more_rejected: usize,
    /// What is worth knowing; of each text the first 200 warnings.
    warnings: Vec<WarningSchema>,
    /// How many more warnings there are; absent if those are all.
    #[schema(required = false, minimum = 1)]
    more_warnings: usize,
    /// A unified diff of the document.
    diff: String,
    /// The change in words.
    log: String,
    /// What each role's model cost; empty for `/operations`.
    models: BTreeMap<String, ModelReportSchema>,
    /// How full the document is.
    document: DocumentReportSchema,
}

/// Something that was not applied.
#[derive(ToSchema)]
#[schema(as = Rejection)]
#[expect(dead_code, reason = "documents `pipeline::report::Rejection`")]
pub(crate) struct RejectionSchema {
    /// `progress`, `learnings`, `verbatim`, or null where the place belongs to none.
    #[schema(required, examples("learnings"))]
    section: Option<String>,
    /// The fault's stable name.
    #[schema(examples("missing_reason"))]
    kind: String,
    /// A sentence that says what is wrong and what would be right.
    detail: String,
    /// The item as it was written, cut after 2,000 bytes.
    text: String,
    /// Of operations sent as JSON the place in their list, from 0; absent otherwise.
    #[schema(nullable = false)]
    index: Option<usize>,
}

/// Something worth knowing that kept nothing from being applied.
#[derive(ToSchema)]
#[schema(as = Warning)]
#[expect(dead_code, reason = "documents `pipeline::report::Warning`")]
pub(crate) struct WarningSchema {
    /// `progress`, `learnings`, `verbatim`, or null where the place belongs to none.
    #[schema(required, examples("learnings"))]
    section: Option<String>,
    /// Its stable name; `no_model` where the built-in rules answered because no model is configured.
    #[schema(examples("truncated", "no_model"))]
    kind: String,
    /// A sentence.
    detail: String,
    /// Of operations sent as JSON the place in their list, from 0; absent otherwise.
    #[schema(nullable = false)]
    index: Option<usize>,
}

/// One change that was made.
#[derive(ToSchema)]
#[schema(as = OperationReport)]
#[expect(dead_code, reason = "documents `pipeline::report::OperationReport`")]
pub(crate) struct OperationReportSchema {
    /// The number by which it is approved; only of a proposal, and not of what belongs to its record.
    #[schema(nullable = false)]
    number: Option<usize>,
    /// `rewrite_progress`, `add` or `archive`; with a record also `rewrite_status`.
    #[schema(examples("add"))]
    op: String,
    /// The record it made or archived.
    #[schema(required, examples("KL-3"))]
    id: Option<String>,
    /// The label of a verbatim record.
    #[schema(required)]
    label: Option<String>,
    /// Why.
    #[schema(required)]
    reason: Option<String>,
    /// The insight, snippet or new progress; of an archived record what it said.
    #[schema(required)]
    content: Option<String>,
    /// Of an archived record the one that takes its place; absent where none does.
    #[schema(nullable = false, examples("KL-4"))]
    superseded_by: Option<String>,
    /// What of the task and the messages carries it, at most two passages; of a model's change only.
    evidence: Vec<EvidenceBody>,
}

/// What a role's model cost.
#[derive(ToSchema)]
#[schema(as = ModelReport)]
#[expect(dead_code, reason = "documents `pipeline::report::ModelReport`")]
pub(crate) struct ModelReportSchema {
    /// The model's name.
    model: String,
    /// Calls made, retries included.
    attempts: u32,
    /// How often it was asked again about faulty items or a moved memory.
    reprompts: u32,
    /// Tokens it read, where it tells.
    #[schema(required)]
    input_tokens: Option<u64>,
    /// Of these, tokens its provider had in its cache, where it tells.
    #[schema(required)]
    cached_tokens: Option<u64>,
    /// Of these, tokens its provider put into its cache, where it tells.
    #[schema(required)]
    cache_write_tokens: Option<u64>,
    /// Tokens it wrote, where it tells.
    #[schema(required)]
    output_tokens: Option<u64>,
    /// Time until its last answer, in milliseconds.
    millis: u64,
}

/// How full the document is.
#[derive(ToSchema)]
#[schema(as = DocumentReport)]
#[expect(dead_code, reason = "documents `pipeline::report::DocumentReport`")]
pub(crate) struct DocumentReportSchema {
    /// Its size in bytes.
    bytes: usize,
    /// Roughly how many tokens that is for a model.
    estimated_tokens: u64,
    /// Its size in percent of `limits.context_bytes`, with one decimal.
    percent_of_cap: f64,
}

#[cfg(test)]
mod tests;
