//! One role: asked, read, validated, asked again.

use super::conversation;
use super::report::{ModelReport, Rejection, Warning, quote};
use super::{Pipeline, Step, UpdateRequest};
use crate::config::llm::Constrain;
use crate::domain::dsl;
use crate::domain::ids::RecordId;
use crate::domain::memory::{Limits, View, validate};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use crate::domain::{document, ids::MemoryId, ids::VaultId};
use crate::llm::{self, Answer, Asked, Form, ModelError, Request, Speaker, Turn};
use crate::storage::{HeadSnapshot, Storage, StorageError};
use crate::telemetry::meters;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// A good item and what it was read from.
#[derive(Debug, Clone)]
pub(super) struct Accepted {
    pub(super) operation: Operation,
    pub(super) written: Written,
}

/// A fault and what it stands in.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) fault: Fault,
    pub(super) written: Written,
}

/// An item as it was written.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) text: String,
    /// Its place in the list that was sent, if it is no text.
    pub(super) index: Option<usize>,
}

/// A text read and validated.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) accepted: Vec<Accepted>,
    pub(super) found: Vec<Found>,
}

/// What became of a role.
#[derive(Debug, Default)]
pub(super) struct RoleOutcome {
    pub(super) reading: Reading,
    pub(super) warnings: Vec<Warning>,
    pub(super) report: ModelReport,
    pub(super) exchanges: Vec<Value>,
    /// No model is configured for it: the built-in rules answered.
    pub(super) by_rules: bool,
    /// The model failed and nothing of it can be used.
    pub(super) failure: Option<ModelError>,
}

impl Reading {
    /// Whether something is left that the writer of the text should mend.
    pub(super) fn is_to_be_mended(&self) -> bool {
        self.found.iter().any(|found| found.fault.kind.is_asked_again())
    }

    pub(super) fn rejections(&self) -> impl Iterator<Item = Rejection> {
        let rejected = self.found.iter().filter(|found| !found.fault.kind.is_warning());
        rejected.map(|found| Rejection::of_fault(&found.fault, &found.written))
    }

    /// What is to be mended but is no item that could be rejected: a text without a header, one that was cut off.
    pub(super) fn mendable_warnings(&self) -> impl Iterator<Item = Rejection> {
        let kinds = |found: &&Found| found.fault.kind.is_warning() && found.fault.kind.is_asked_again();
        let warned = self.found.iter().filter(kinds);
        warned.map(|found| Rejection::of_fault(&found.fault, &found.written))
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let warned = self.found.iter().filter(|found| found.fault.kind.is_warning());
        warned.map(|found| Warning::of_fault(&found.fault, found.written.index))
    }
}

/// Ids that operations and faults name and that are not active in a document: the ones whose past has to
/// be looked up.
pub(super) fn mentioned(items: &[Item], faults: &[Fault]) -> Vec<RecordId> {
    let archived = items.iter().filter_map(|item| match &item.operation {
        Operation::Archive { id, .. } => Some(*id),
        addition => addition.replaces(),
    });
    let ids: BTreeSet<RecordId> = archived
        .chain(faults.iter().filter_map(|fault| fault.id))
        .collect();
    ids.into_iter().collect()
}

/// Reads and validates a text. `only` leaves out what belongs to other roles' sections.
pub(super) async fn read(
    storage: &Storage,
    place: (&VaultId, &MemoryId),
    document: &str,
    text: &str,
    options: &dsl::Options,
    only: Option<Role>,
    limits: &Limits,
) -> Result<Reading, StorageError> {
    let written = |range: Range<usize>| Written {
        text: text[range].to_owned(),
        index: None,
    };
    let parsed = dsl::parse(text, options);
    validated(storage, place, document, parsed, written, only, limits).await
}

/// Validates what was read. `written` is what stands at a place of the input.
pub(super) async fn validated(
    storage: &Storage,
    place: (&VaultId, &MemoryId),
    document: &str,
    parsed: dsl::Parsed,
    written: impl Fn(Range<usize>) -> Written,
    only: Option<Role>,
    limits: &Limits,
) -> Result<Reading, StorageError> {
    let foreign = |role: Option<Role>| only.is_some() && role.is_some() && role != only;
    let items: Vec<Item> = parsed
        .items
        .into_iter()
        .filter(|item| !foreign(item.operation.role()))
        .collect();
    let faults: Vec<Fault> = parsed
        .faults
        .into_iter()
        .filter(|fault| !foreign(fault.section))
        .collect();
    let ended = storage
        .archived_among(place.0, place.1, &mentioned(&items, &faults))
        .await?;
    let validated = validate(
        items,
        faults,
        &View {
            document,
            ended: &ended,
        },
        &[],
        limits,
    );
    Ok(Reading {
        accepted: validated
            .items
            .into_iter()
            .map(|item| Accepted {
                written: written(item.range),
                operation: item.operation,
            })
            .collect(),
        found: validated
            .faults
            .into_iter()
            .map(|fault| Found {
                written: written(fault.range.clone()),
                fault,
            })
            .collect(),
    })
}

impl Pipeline {
    /// Asks a role's model and, where its answer has faults it can mend, asks it again.
    pub(super) async fn ask_role(
        &self,
        request: &UpdateRequest,
        captured: &HeadSnapshot,
        role: Role,
        limits: &Limits,
    ) -> Result<RoleOutcome, StorageError> {
        let speaker = self.models.for_role(role);
        let input = self.prompts.input(
            conversation::memory(&captured.text, role),
            &request.task,
            &conversation::messages(&request.messages, self.settings.messages_bytes),
        );
        let mut asking = Request {
            role: Some(role),
            system: self.prompts.instructions(role),
            turns: vec![Turn {
                speaker: Speaker::User,
                text: input,
            }],
            form: form(speaker.model.constrains(), &captured.text, role, limits),
            source: Arc::new(llm::Source {
                task: request.task.clone(),
                messages: request.messages.clone(),
                document: captured.text.clone(),
            }),
        };
        let mut outcome = RoleOutcome {
            by_rules: speaker.model.is_built_in(),
            report: ModelReport {
                model: speaker.model.name().to_owned(),
                ..ModelReport::default()
            },
            ..RoleOutcome::default()
        };
        for round in 0..=self.settings.max_reprompts {
            request.steps.tell(Step::Asked { role, round });
            let asked = speaker.ask(&asking).await;
            request.steps.tell(Step::Answered {
                role,
                round,
                attempts: asked.attempts,
                millis: u64::try_from(asked.elapsed.as_millis()).unwrap_or(u64::MAX),
                failed: asked.result.is_err(),
            });
            outcome.note(round, &asking, &asked);
            let answer = match asked.result {
                Ok(answer) => answer,
                Err(error) if round == 0 => {
                    outcome.failure = Some(error);
                    return Ok(outcome);
                }
                // The first answer stands, with its faults reported as if it had not been asked again.
                Err(error) => {
                    let detail = format!(
                        "The model was asked again about faulty items and failed: {}.",
                        error.public()
                    );
                    outcome
                        .warnings
                        .push(Warning::of_role(role, "reprompt_failed", detail));
                    break;
                }
            };
            let text = storable(answer.text);
            let options = dsl::Options {
                stopped_at_limit: answer.stopped_at_limit,
                ..dsl::Options::default()
            };
            let place = (&request.vault, &request.memory);
            let reading = read(
                &self.storage,
                place,
                &captured.text,
                &text,
                &options,
                Some(role),
                limits,
            )
            .await?;
            outcome.reading = if round == 0 {
                reading
            } else {
                second_counts(
                    reading,
                    std::mem::take(&mut outcome.reading),
                    &captured.text,
                    limits,
                )
            };
            if !outcome.reading.is_to_be_mended() {
                break;
            }
            let again = self.prompts.again(
                &describe(&outcome.reading.found),
                &existing_ids(&captured.text, role),
            );
            asking.turns.push(Turn {
                speaker: Speaker::Assistant,
                text: not_empty(text),
            });
            asking.turns.push(Turn {
                speaker: Speaker::User,
                text: again,
            });
        }
        Ok(outcome)
    }
}

impl RoleOutcome {
    /// Adds one asking to the report and to what is kept of the run.
    fn note(&mut self, round: u32, asking: &Request, asked: &Asked) {
        let millis = u64::try_from(asked.elapsed.as_millis()).unwrap_or(u64::MAX);
        self.report.attempts += asked.attempts;
        self.report.reprompts = round;
        self.report.millis += millis;
        let answer = asked.result.as_ref().ok();
        let tokens = |of: fn(&Answer) -> Option<u64>| answer.and_then(of);
        let (input_tokens, output_tokens) = (tokens(|a| a.input_tokens), tokens(|a| a.output_tokens));
        add(&mut self.report.input_tokens, input_tokens);
        add(&mut self.report.output_tokens, output_tokens);
        let (cached_tokens, cache_write_tokens) =
            (tokens(|a| a.cached_tokens), tokens(|a| a.cache_write_tokens));
        add(&mut self.report.cached_tokens, cached_tokens);
        add(&mut self.report.cache_write_tokens, cache_write_tokens);
        meters::asked(&meters::Asking {
            role: asking.subject(),
            model: &self.report.model,
            attempts: asked.attempts,
            again: round > 0,
            time: asked.elapsed,
            tokens: [
                ("input", input_tokens),
                ("cached", cached_tokens),
                ("cache_write", cache_write_tokens),
                ("output", output_tokens),
            ],
            failure: asked.result.as_ref().err().map(ModelError::reason),
        });
        let turns: Vec<Value> = asking
            .turns
            .iter()
            .map(|turn| {
                let speaker = match turn.speaker {
                    Speaker::User => "user",
                    Speaker::Assistant => "assistant",
                };
                json!({ "role": speaker, "content": storable_ref(&turn.text) })
            })
            .collect();
        self.exchanges.push(json!({
            "section": asking.role.map(Role::name),
            "model": self.report.model,
            "system": storable_ref(&asking.system),
            "messages": turns,
            "answer": answer.map(|answer| storable_ref(&answer.text)),
            "stopped_at_limit": answer.is_some_and(|answer| answer.stopped_at_limit),
            "error": asked.result.as_ref().err().map(|error| storable(error.to_string())),
            "attempts": asked.attempts,
            "input_tokens": input_tokens,
            "cached_tokens": cached_tokens,
            "cache_write_tokens": cache_write_tokens,
            "output_tokens": output_tokens,
            "millis": millis,
        }));
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// The second answer counts, and good items of the first that it leaves out are kept, a valid progress
/// too if the second has none. Faults of the first that nothing was asked about stay reported.
fn second_counts(second: Reading, first: Reading, document: &str, limits: &Limits) -> Reading {
    let spoken = !second
        .found
        .iter()
        .any(|found| found.fault.kind == FaultKind::NoSection);
    let is_left = |fault: &Fault| !spoken && fault.kind != FaultKind::NoSection;
    let rewritten = second
        .accepted
        .iter()
        .any(|item| matches!(item.operation, Operation::RewriteProgress(_)));
    let earlier: Vec<Operation> = second
        .accepted
        .iter()
        .map(|item| item.operation.clone())
        .collect();
    let mut left_out: Vec<Accepted> = first.accepted;
    left_out.retain(|item| !(rewritten && matches!(item.operation, Operation::RewriteProgress(_))));
    // Validated once already, so only what the second answer says too, or fills the limit with, falls out.
    let kept = validate(
        numbered(&left_out),
        Vec::new(),
        &View {
            document,
            ended: &BTreeSet::new(),
        },
        &earlier,
        limits,
    );
    let mut accepted = second.accepted;
    accepted.extend(
        kept.items
            .into_iter()
            .map(|item| left_out[item.range.start].clone()),
    );
    let mut found: Vec<Found> = first
        .found
        .into_iter()
        .filter(|found| !found.fault.kind.is_asked_again() || is_left(&found.fault))
        .collect();
    found.extend(second.found);
    // What the second answer says too needs no word; what finds no room beside it does.
    found.extend(
        kept.faults
            .into_iter()
            .filter(|fault| fault.kind == FaultKind::TooManyAdditions)
            .map(|fault| Found {
                written: left_out[fault.range.start].written.clone(),
                fault,
            }),
    );
    Reading { accepted, found }
}

/// Items whose ranges are their places in the list, so that validation tells which ones it means.
pub(super) fn numbered(accepted: &[Accepted]) -> Vec<Item> {
    accepted
        .iter()
        .enumerate()
        .map(|(index, item)| Item {
            operation: item.operation.clone(),
            range: index..index,
        })
        .collect()
}

/// The faults as a model reads them.
fn describe(found: &[Found]) -> String {
    let mut text = String::new();
    for Found { fault, written } in found.iter().filter(|found| found.fault.kind.is_asked_again()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {}: {}", fault.kind.name(), fault.detail);
        for line in quote(&written.text).lines() {
            let _ = writeln!(text, "  > {line}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// What a role may answer, for servers that hold their models to it.
fn form(constrain: Constrain, document: &str, role: Role, limits: &Limits) -> Option<Form> {
    let (ids, most) = (|| ids_of(document, role), limits.max_additions);
    match constrain {
        Constrain::Off => None,
        Constrain::Gbnf | Constrain::Vllm => {
            Some(Form::Grammar(dsl::grammar::gbnf(role, &ids(), most).into()))
        }
        Constrain::JsonSchema => Some(Form::Schema(dsl::structured::schema(role, &ids(), most).into())),
    }
}

fn ids_of(document: &str, role: Role) -> Vec<RecordId> {
    document::records(document)
        .into_iter()
        .map(|record| record.id)
        .filter(|id| Some(id.kind) == role.record_kind())
        .collect()
}

fn existing_ids(document: &str, role: Role) -> String {
    let ids: Vec<String> = ids_of(document, role).iter().map(ToString::to_string).collect();
    if ids.is_empty() {
        "(none)".to_owned()
    } else {
        ids.join(", ")
    }
}

/// PostgreSQL stores no NUL, and a document may hold none.
fn storable(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

fn storable_ref(text: &str) -> String {
    storable(text.to_owned())
}

/// Some servers refuse a turn without text.
fn not_empty(text: String) -> String {
    if text.trim().is_empty() {
        "(no answer)".to_owned()
    } else {
        text
    }
}
