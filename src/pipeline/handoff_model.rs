//! The prose of a handoff by a model. Its lines are checked against the input, and invalid lines are asked for once
//! more.

use super::prompts::{Template, quoted};
use super::role::RoleOutcome;
use super::{Pipeline, PipelineError, Steps};
use crate::domain::handoff::{DroppedLine, HandoffAnswer, Line, Material, Part, read_answer, shown};
use crate::domain::ids::VaultId;
use crate::llm::{ModelError, Request};
use crate::storage::StorageError;
use crate::storage::usage::Spender;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The output of the model.
pub(super) struct ModelHandoff {
    /// Valid lines.
    pub(super) lines: BTreeMap<Part, Vec<Line>>,
    /// Rejected lines.
    pub(super) dropped: Vec<DroppedLine>,
    /// Model name, tokens, times, and the reason of a failure.
    pub(super) report: Value,
}

/// What the manifest says of the model.
fn to_json(outcome: &RoleOutcome, refused: Option<String>) -> Value {
    let RoleOutcome { report, failure, .. } = outcome;
    let failed = failure.as_ref().map(ModelError::public);
    json!({
        "model": report.model,
        "attempts": report.attempts,
        "reprompts": report.reprompts,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "millis": report.millis,
        "failed": refused.or(failed),
    })
}

impl Pipeline {
    /// Asks the model for the lines; `None` if the handoff is compiled by rules alone. If the model fails, or is not
    /// called because the vault has used its daily tokens, the lines of the rules remain, and the report says why.
    /// Token usage is recorded.
    ///
    /// # Errors
    /// Database errors.
    pub(super) async fn write_handoff(
        &self,
        vault: &VaultId,
        material: &Material,
    ) -> Result<Option<ModelHandoff>, StorageError> {
        let Some(model) = self.models.for_handoff() else {
            return Ok(None);
        };
        let (entries, citations) = shown(material);
        if citations.is_empty() {
            // Every line must cite an entry, and there is none.
            return Ok(None);
        }
        let begun = self.clock.now();
        let mut outcome = RoleOutcome::of_model(model);
        match self.refuse_over_tokens(vault).await {
            Ok(()) => {}
            Err(PipelineError::Storage(error)) => return Err(error),
            Err(refused) => {
                return Ok(Some(ModelHandoff {
                    lines: BTreeMap::new(),
                    dropped: Vec::new(),
                    report: to_json(&outcome, Some(refused.to_string())),
                }));
            }
        }
        let input = self
            .prompts
            .fill(Template::HandoffInput, &[("{memory}", &quoted(&entries))]);
        let mut asking = Request::of_role(None, self.prompts.text(Template::Handoff), input, None);
        let mut answer = HandoffAnswer::default();
        for round in 0..=self.settings.max_reprompts.min(1) {
            let asked = outcome.ask((model, &asking), round, &Steps::default()).await;
            let Some((text, _)) = asked else { break };
            let read = read_answer(&text, material, &citations);
            if round == 0 {
                answer = read;
            } else {
                answer.amend(read);
            }
            if answer.dropped.is_empty() {
                break;
            }
            let faults = describe(&answer.dropped);
            let again = self
                .prompts
                .fill(Template::HandoffAgain, &[("{faults}", &faults)]);
            asking.go_on(text, again);
        }
        self.write_down(vault, begun, &[outcome.spent(Spender::Handoff, true)])
            .await;
        Ok(Some(ModelHandoff {
            lines: answer.lines,
            dropped: answer.dropped,
            report: to_json(&outcome, None),
        }))
    }
}

/// The rejected lines, in the form in which the model is asked again.
fn describe(dropped: &[DroppedLine]) -> String {
    let mut text = String::new();
    for DroppedLine {
        part,
        reason,
        text: dropped_text,
    } in dropped
    {
        let section = part.map_or("none", Part::name).to_uppercase();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {section}: {}\n  > {dropped_text}", reason.advice());
    }
    text.truncate(text.trim_end().len());
    text
}
