//! One role: calls its model, reads and validates the answer, and asks again about faults.

use super::reading::{self, Accepted, Against, FoundFault, Reading, WrittenItem};
use super::report::{ModelReport, Warning, quote};
use crate::config::llm::Constrain;
use crate::domain::consolidation::Share;
use crate::domain::evidence::{Input, JudgeContext, Strictness};
use crate::domain::ids::RecordId;
use crate::domain::memory::{Limits, View, validate};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use crate::domain::{document, dsl};
use crate::fair;
use crate::llm::{
    Answer, ChatMessage, ChatRole, ModelError, ModelOutcome, Request, RoleModel, models, rules,
};
use crate::pipeline::prompts::{Template, quoted, section_of, shown_messages, shown_section};
use crate::pipeline::review::rewrites_progress;
use crate::pipeline::run::mask;
use crate::pipeline::{Pipeline, Step, Steps, UpdateRequest, consolidation};
use crate::storage::usage::Spender;
use crate::storage::{Head, StorageError};
use crate::telemetry::meters;
use chrono::{DateTime, Utc};
use futures::future::join;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Records that a model's answer may archive per section; if it names more, all are rejected: a model that cleans up has
/// misread its task.
const MAX_ARCHIVES: usize = 3;

/// The result of a role.
#[derive(Debug, Default)]
pub(super) struct RoleOutcome {
    pub(super) reading: Reading,
    pub(super) warnings: Vec<Warning>,
    pub(super) report: ModelReport,
    /// What of it is not counted as usage of the vault yet.
    pub(super) uncounted: ModelReport,
    pub(super) exchanges: Vec<Value>,
    /// No model is configured; the built-in rules answered.
    pub(super) by_rules: bool,
    /// The model failed, and nothing can be used.
    pub(super) failure: Option<ModelError>,
}

impl Pipeline {
    /// Asks the model of a role about its section.
    pub(super) async fn ask_role(
        &self,
        request: &UpdateRequest,
        snapshot: &Head,
        (role, speaker): (Role, &RoleModel),
        limits: &Limits,
    ) -> Result<RoleOutcome, StorageError> {
        let sent = sent(request);
        let messages = shown_messages(&request.input.messages, self.config.pipeline.messages_bytes);
        let ids = existing_ids(&snapshot.text, role);
        let input = self.prompts.fill(
            Template::Input,
            &[
                ("{memory}", &quoted(shown_section(&snapshot.text, role))),
                ("{task}", &quoted(&request.input.task)),
                ("{messages}", &messages),
                ("{ids}", &ids),
                ("{most}", &limits.max_additions.to_string()),
            ],
        );
        let schema = schema(speaker.model.constrains(), &snapshot.text, role, limits);
        let asking = Request::of_role(Some(role), self.prompts.instructions(role), input, schema);
        let against = (Against::Input(self.case(request, &sent, snapshot), &[]), None);
        self.ask_until_right(request, snapshot, (speaker, asking), against, (&ids, limits))
            .await
    }

    /// Asks a model, reads and checks its answer, and asks again about the faults that it can repair. With a share the answer is
    /// that to a consolidation, which takes no more.
    pub(super) async fn ask_until_right(
        &self,
        request: &UpdateRequest,
        snapshot: &Head,
        (speaker, mut asking): (&RoleModel, Request),
        (against, share): (Against<'_>, Option<&Share>),
        (ids, limits): (&str, &Limits),
    ) -> Result<RoleOutcome, StorageError> {
        let (document, place) = (&snapshot.text, (&request.vault, &request.memory));
        let role = asking.role.unwrap_or(Role::Learnings);
        let form = share.is_none().then_some(role);
        let mut outcome = RoleOutcome::of_model(speaker);
        for round in 0..=self.config.pipeline.max_reprompts {
            let asked = outcome.ask((speaker, &asking), round, &request.steps).await;
            // At once: an update that is cancelled has used these tokens, too.
            let spent = [outcome.spent(Spender::Update(role), false)];
            let counted = self.account(&request.vault, &spent);
            let Some((text, stopped_at_limit)) = asked else {
                counted.await;
                break;
            };
            let (mut parsed, items) = fair::on_cpu(text.len(), || {
                parsed(form, &text, asking.schema.is_some(), stopped_at_limit)
            })
            .await;
            let written = |range| written(items.as_ref(), &text, range);
            let checked = match against {
                Against::Input(case, _) => {
                    // What is of other sections is for their roles.
                    let is_own = |section: Option<Role>| section.is_none_or(|section| section == role);
                    parsed.items.retain(|item| is_own(item.operation.role()));
                    parsed.faults.retain(|fault| is_own(fault.section));
                    Against::Input(case, &outcome.reading.accepted)
                }
                Against::Earlier(earlier) => {
                    parsed = consolidation::steps_only(parsed);
                    Against::Earlier(earlier)
                }
            };
            let storage = &self.storage;
            let read = reading::read(storage, place, document, parsed, written, checked, limits);
            let (reading, ()) = join(read, counted).await;
            let mut reading = reading?;
            if round > 0 {
                let first = std::mem::take(&mut outcome.reading);
                reading = second_counts(reading, first, (document, self.storage.now()), limits);
            }
            match (against, share) {
                (_, Some(share)) => reading = consolidation::within(reading, share.clone()),
                (Against::Input(case, _), None) if case.strictness != Strictness::Off => {
                    reading.name_replaced(document);
                }
                _ => {}
            }
            outcome.reading = reading;
            if !outcome.reading.needs_repair() {
                break;
            }
            let faults = describe(&outcome.reading.found);
            let values = [("{faults}", faults.as_str()), ("{ids}", ids)];
            let again = self.prompts.fill(Template::Again, &values);
            asking.go_on(text, again);
        }
        Ok(outcome)
    }

    /// What items are compared with.
    pub(super) fn case<'a>(
        &'a self,
        request: &UpdateRequest,
        input: &'a Input<'a>,
        snapshot: &'a Head,
    ) -> JudgeContext<'a> {
        JudgeContext {
            input,
            document: &snapshot.text,
            progress: section_of(&snapshot.text, Role::Progress),
            examples: self.prompts.examples(),
            max_archives: MAX_ARCHIVES,
            strictness: request.input.evidence.unwrap_or(self.config.pipeline.evidence),
        }
    }
}

/// The input that a role's answer is compared with.
pub(super) fn sent(request: &UpdateRequest) -> Input<'_> {
    let messages = request.input.messages.iter();
    Input {
        task: &request.input.task,
        messages: messages.map(|message| message.content.as_str()).collect(),
    }
}

impl Request {
    /// The first call, of a role or of none.
    pub(super) fn of_role(
        role: Option<Role>,
        system: Arc<str>,
        text: String,
        schema: Option<Arc<Value>>,
    ) -> Self {
        Self {
            role,
            system,
            messages: vec![ChatMessage {
                speaker: ChatRole::User,
                text,
            }],
            schema,
        }
    }

    /// Adds an answer and what is asked about it.
    pub(super) fn go_on(&mut self, answer: String, again: String) {
        self.messages.push(ChatMessage {
            speaker: ChatRole::Assistant,
            text: not_empty(answer),
        });
        self.messages.push(ChatMessage {
            speaker: ChatRole::User,
            text: again,
        });
    }
}

impl RoleOutcome {
    /// An outcome without an answer yet.
    pub(super) fn of_model(speaker: &RoleModel) -> Self {
        Self {
            report: ModelReport {
                model: speaker.model.name().to_owned(),
                ..ModelReport::default()
            },
            ..Self::default()
        }
    }

    /// Calls the model once. Returns the text of its answer, and whether it stopped at its limit; `None` if it failed, which
    /// is noted.
    pub(super) async fn ask(
        &mut self,
        (speaker, asking): (&RoleModel, &Request),
        round: u32,
        steps: &Steps,
    ) -> Option<(String, bool)> {
        if let Some(role) = asking.role {
            steps.send(Step::Asked { role, round });
        }
        let asked = speaker.ask(asking).await;
        if let Some(role) = asking.role {
            steps.send(Step::Answered {
                role,
                round,
                attempts: asked.attempts,
                millis: u64::try_from(asked.elapsed.as_millis()).unwrap_or(u64::MAX),
                failed: asked.result.is_err(),
            });
        }
        self.note(round, asking, &asked).await;
        match (asked.result, asking.role) {
            (Ok(answer), _) => return Some((storable(answer.text), answer.stopped_at_limit)),
            // The first answer is used, and its faults are reported as if there had been no second call.
            (Err(error), Some(role)) if round > 0 => {
                let detail = format!(
                    "The model was asked again about faulty items and failed: {}.",
                    error.public()
                );
                self.warnings
                    .push(Warning::new(Some(role), "reprompt_failed", detail));
            }
            (Err(error), _) => self.failure = Some(error),
        }
        None
    }

    /// Adds one model call to the report and to the exchanges that the run stores.
    async fn note(&mut self, round: u32, asking: &Request, asked: &ModelOutcome) {
        let answer = asked.result.as_ref().ok();
        let tokens = |of: fn(&Answer) -> Option<u64>| answer.and_then(of);
        let call = ModelReport {
            attempts: asked.attempts,
            input_tokens: tokens(|answer| answer.input_tokens),
            cached_tokens: tokens(|answer| answer.cached_tokens),
            cache_write_tokens: tokens(|answer| answer.cache_write_tokens),
            output_tokens: tokens(|answer| answer.output_tokens),
            millis: u64::try_from(asked.elapsed.as_millis()).unwrap_or(u64::MAX),
            ..ModelReport::default()
        };
        self.report.add(&call);
        self.uncounted.add(&call);
        self.report.reprompts = round;
        meters::model_called(&meters::ModelCall {
            role: asking.subject(),
            model: &self.report.model,
            attempts: asked.attempts,
            again: round > 0,
            time: asked.elapsed,
            tokens: [
                ("input", call.input_tokens),
                ("cached", call.cached_tokens),
                ("cache_write", call.cache_write_tokens),
                ("output", call.output_tokens),
            ],
            failure: asked.result.as_ref().err().map(ModelError::reason),
        });
        let turns: Vec<Value> = asking
            .messages
            .iter()
            .map(|turn| {
                let speaker: &str = turn.speaker.into();
                json!({ "role": speaker, "content": turn.text })
            })
            .collect();
        let mut exchange = json!({
            "section": asking.role.map(Role::name),
            "model": self.report.model,
            "system": asking.system,
            "messages": turns,
            "answer": answer.map(|answer| &answer.text),
            "stopped_at_limit": answer.is_some_and(|answer| answer.stopped_at_limit),
            "error": asked.result.as_ref().err().map(ToString::to_string),
            "attempts": asked.attempts,
            "input_tokens": call.input_tokens,
            "cached_tokens": call.cached_tokens,
            "cache_write_tokens": call.cache_write_tokens,
            "output_tokens": call.output_tokens,
            "millis": call.millis,
        });
        let sent: usize = asking.messages.iter().map(|turn| turn.text.len()).sum();
        let bytes = sent + answer.map_or(0, |answer| answer.text.len());
        fair::on_cpu(bytes, || mask(&mut exchange)).await;
        self.exchanges.push(exchange);
    }
}

/// Merges two answers. The second one takes precedence. Valid items of the first that it does not contain are kept,
/// and so is a valid rewrite of progress if the second has none. Faults of the first that the model was not asked
/// about are still reported.
fn second_counts(
    second: Reading,
    first: Reading,
    (document, now): (&str, DateTime<Utc>),
    limits: &Limits,
) -> Reading {
    let spoken = !second
        .found
        .iter()
        .any(|found| found.fault.kind == FaultKind::NoSection);
    let is_left = |fault: &Fault| !spoken && fault.kind != FaultKind::NoSection;
    let rewritten = second.accepted.iter().any(rewrites_progress);
    let earlier = second.accepted.iter().map(|item| item.operation.clone());
    let earlier: Vec<Operation> = earlier.collect();
    let mut left_out = first.accepted;
    left_out.retain(|item| !(rewritten && rewrites_progress(item)));
    // These items were valid before. Rejected now are only duplicates of the second answer and those above the limit.
    let kept = validate(
        numbered(&left_out),
        Vec::new(),
        &View {
            document,
            ended: &BTreeSet::new(),
            now,
        },
        &earlier,
        limits,
    );
    let mut found: Vec<FoundFault> = first
        .found
        .into_iter()
        .filter(|found| !found.needs_repair() || is_left(&found.fault))
        .filter(|found| !second.found.iter().any(|again| again.says_the_same(found)))
        .collect();
    found.extend(second.found);
    // Duplicates of the second answer are not reported; additions above the limit are.
    found.extend(
        kept.faults
            .into_iter()
            .filter(|fault| fault.kind == FaultKind::TooManyAdditions)
            .map(|fault| FoundFault::of(left_out[fault.range.start].written.clone(), fault)),
    );
    let kept = kept.items.into_iter();
    let mut accepted = second.accepted;
    accepted.extend(kept.map(|item| left_out[item.range.start].clone()));
    let mut reading = Reading {
        accepted,
        found,
        omitted: second.omitted,
    };
    reading.keep_few();
    reading
}

/// Items whose ranges are their positions in the list, so that validation results can be mapped back.
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

/// The faults in the form in which they are sent to the model.
fn describe(found: &[FoundFault]) -> String {
    let mut text = String::new();
    for FoundFault { fault, written, .. } in found.iter().filter(|found| found.needs_repair()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {}: {}", fault.kind.name(), fault.detail);
        for line in quote(&written.text).lines() {
            let _ = writeln!(text, "  > {line}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// An item as its author wrote it, by its position: one of these if the answer was JSON, or else a part of the text.
fn written(items: Option<&Vec<String>>, text: &str, range: Range<usize>) -> WrittenItem {
    match items {
        Some(items) => WrittenItem::of_text(items[range.start].as_str()),
        None => WrittenItem::of_text(&text[range]),
    }
}

/// Parses the answer of a role, or to a consolidation: JSON of the schema that was asked for, or else text. Of JSON the
/// items as they were written come with it, by their positions.
fn parsed(
    role: Option<Role>,
    text: &str,
    is_of_schema: bool,
    is_cut_off: bool,
) -> (dsl::Parsed, Option<Vec<String>>) {
    match is_of_schema.then(|| dsl::structured::read(role, text)).flatten() {
        Some((parsed, items)) => (parsed, Some(items)),
        // Text that does not match the schema is read as text, so that its author hears of the fault.
        None if is_cut_off => (dsl::parse_cut_off(text), None),
        None => (dsl::parse(text), None),
    }
}

/// The schema that constrains a role's output, for servers that take one.
fn schema(constrain: Constrain, document: &str, role: Role, limits: &Limits) -> Option<Arc<Value>> {
    (constrain == Constrain::JsonSchema)
        .then(|| dsl::structured::schema(role, &ids_of(document, role), limits.max_additions).into())
}

fn ids_of(document: &str, role: Role) -> Vec<RecordId> {
    document::record_ranges(document)
        .into_iter()
        .map(|(id, _)| id)
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

/// Replaces NUL, which PostgreSQL texts and documents cannot contain.
pub(super) fn storable(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

/// Replaces an empty text: some servers reject a message without text.
fn not_empty(text: String) -> String {
    if text.trim().is_empty() {
        "(no answer)".to_owned()
    } else {
        text
    }
}

impl Pipeline {
    /// Applies the rules once, for all of these roles.
    pub(super) async fn apply_rules(
        &self,
        request: &UpdateRequest,
        snapshot: &Head,
        roles: &[Role],
        limits: &Limits,
    ) -> Result<BTreeMap<Role, RoleOutcome>, StorageError> {
        if roles.is_empty() {
            return Ok(BTreeMap::new());
        }
        let begun = Instant::now();
        for role in roles {
            request.steps.send(Step::Asked {
                role: *role,
                round: 0,
            });
        }
        let input = sent(request);
        let bytes = input.bytes() + snapshot.text.len();
        let heard = || rules::operations(&snapshot.text, &request.input.task, &request.input.messages);
        let mut operations = fair::on_cpu(bytes, heard).await;
        operations.retain(|operation| operation.role().is_some_and(|role| roles.contains(&role)));
        // The input is indexed once for the operations of all roles.
        let mut reading = Reading::default();
        if !operations.is_empty() {
            let case = self.case(request, &input, snapshot);
            let (place, document) = ((&request.vault, &request.memory), &snapshot.text);
            let (parsed, written) = reading::parsed(operations);
            let against = Against::Input(case, &[]);
            reading = reading::read(&self.storage, place, document, parsed, written, against, limits).await?;
            if case.strictness != Strictness::Off {
                reading.name_replaced(&snapshot.text);
            }
        }
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut outcomes = BTreeMap::new();
        for role in roles {
            request.steps.send(Step::Answered {
                role: *role,
                round: 0,
                attempts: 1,
                millis,
                failed: false,
            });
            let report = ModelReport {
                model: models::RULES.to_owned(),
                attempts: 1,
                millis,
                ..ModelReport::default()
            };
            let outcome = RoleOutcome {
                reading: reading.take(*role),
                by_rules: true,
                uncounted: report.clone(),
                report,
                ..RoleOutcome::default()
            };
            outcomes.insert(*role, outcome);
        }
        Ok(outcomes)
    }
}
