//! The prose of a handoff by a model. Its lines are checked against the input, and invalid lines are asked for once
//! more.

use super::{Pipeline, PipelineError};
use crate::domain::handoff::{DroppedLine, HandoffAnswer, Line, Material, Part, read_answer, shown};
use crate::domain::ids::VaultId;
use crate::llm::{ChatMessage, ChatRole, ModelOutcome, Request, RoleModel};
use crate::storage::StorageError;
use crate::storage::usage::{RoleSpent, Spender, Spent};
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

#[derive(Default)]
struct Report {
    attempts: u32,
    reprompts: u32,
    input_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    output_tokens: Option<u64>,
    millis: u64,
    failed: Option<String>,
}

impl Report {
    fn note(&mut self, round: u32, asked: &ModelOutcome) {
        self.attempts += asked.attempts;
        self.reprompts = round;
        self.millis += u64::try_from(asked.elapsed.as_millis()).unwrap_or(u64::MAX);
        match &asked.result {
            Ok(answer) => {
                for (sum, more) in [
                    (&mut self.input_tokens, answer.input_tokens),
                    (&mut self.cached_tokens, answer.cached_tokens),
                    (&mut self.cache_write_tokens, answer.cache_write_tokens),
                    (&mut self.output_tokens, answer.output_tokens),
                ] {
                    if let Some(more) = more {
                        *sum = Some(sum.unwrap_or(0).saturating_add(more));
                    }
                }
            }
            Err(error) => self.failed = Some(error.public().to_string()),
        }
    }

    fn spent(&self, model: &RoleModel) -> RoleSpent {
        RoleSpent {
            role: Spender::Handoff,
            model: model.model.name().to_owned(),
            spent: Spent {
                runs: 1,
                calls: u64::from(self.attempts),
                failures: u64::from(self.failed.is_some()),
                input_tokens: self.input_tokens.unwrap_or(0),
                cached_tokens: self.cached_tokens.unwrap_or(0),
                cache_write_tokens: self.cache_write_tokens.unwrap_or(0),
                output_tokens: self.output_tokens.unwrap_or(0),
                millis: self.millis,
            },
        }
    }

    fn to_json(&self, model: &RoleModel) -> Value {
        json!({
            "model": model.model.name(),
            "attempts": self.attempts,
            "reprompts": self.reprompts,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "millis": self.millis,
            "failed": self.failed,
        })
    }
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
        match self.refuse_over_tokens(vault).await {
            Ok(()) => {}
            Err(PipelineError::Storage(error)) => return Err(error),
            Err(refused) => {
                let report = Report {
                    failed: Some(refused.to_string()),
                    ..Report::default()
                };
                return Ok(Some(ModelHandoff {
                    lines: BTreeMap::new(),
                    dropped: Vec::new(),
                    report: report.to_json(model),
                }));
            }
        }
        let mut asking = Request {
            role: None,
            system: self.prompts.handoff(),
            messages: vec![ChatMessage {
                speaker: ChatRole::User,
                text: self.prompts.handoff_input(&entries),
            }],
            schema: None,
        };
        let mut report = Report::default();
        let mut answer = HandoffAnswer::default();
        for round in 0..=self.settings.max_reprompts.min(1) {
            let asked = model.ask(&asking).await;
            report.note(round, &asked);
            let Ok(completion) = asked.result else { break };
            let read = read_answer(&completion.text, material, &citations);
            if round == 0 {
                answer = read;
            } else {
                answer.amend(read);
            }
            if answer.dropped.is_empty() {
                break;
            }
            asking.messages.push(ChatMessage {
                speaker: ChatRole::Assistant,
                text: completion.text,
            });
            asking.messages.push(ChatMessage {
                speaker: ChatRole::User,
                text: self.prompts.handoff_again(&describe(&answer.dropped)),
            });
        }
        self.write_down(vault, begun, &[report.spent(model)]).await;
        Ok(Some(ModelHandoff {
            lines: answer.lines,
            dropped: answer.dropped,
            report: report.to_json(model),
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
