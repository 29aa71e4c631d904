//! Steps 2 to 4 for one role: calls its model, reads and checks the answer, and asks again about faults.

use super::check::as_parsed;
use super::report::{ModelReport, Warning, quote};
use super::run::{Running, mask, spent_on};
use super::steps::{Step, Steps};
use crate::config::llm::Constrain;
use crate::domain::consolidation::{self, Share};
use crate::domain::document;
use crate::domain::dsl::{self, Parsed};
use crate::domain::evidence::{Input, JudgeContext, Strictness};
use crate::domain::ids::{RecordId, VaultId};
use crate::domain::memory::{View, validate};
use crate::domain::operation::{Fault, FaultKind, Operation, Role};
use crate::fair;
use crate::llm::{self, Answer, ChatMessage, ChatRole, ModelError, ModelOutcome, Request, RoleModel, rules};
use crate::pipeline::prompts::{Template, quoted, section_of, shown_messages, shown_section, unquoted};
use crate::pipeline::review::rewrites_progress;
use crate::pipeline::{Pipeline, UpdateInput};
use crate::storage::StorageError;
use crate::storage::usage::{RoleSpent, Spender};
use crate::telemetry::meters;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::mem::take;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Records that a model's answer may archive per section; if it names more, all are rejected: a model that cleans up has
/// misread its task.
const MAX_ARCHIVES: usize = 3;

/// The result of a role.
#[derive(Debug, Default)]
pub(super) struct RoleOutcome {
    pub(super) reading: Parsed,
    pub(super) warnings: Vec<Warning>,
    pub(super) report: ModelReport,
    pub(super) exchanges: Vec<Value>,
    /// No model is configured; the built-in rules answered.
    pub(super) by_rules: bool,
    /// The model failed, and nothing can be used.
    pub(super) failure: Option<ModelError>,
    /// Its calls being counted as usage.
    pub(super) counting: Vec<JoinHandle<()>>,
}

/// What an answer may consist of.
pub(super) enum Expected<'a> {
    /// Items of the section of a role, compared with the input where there is a case.
    Section(Option<JudgeContext<'a>>),
    /// Steps of a consolidation that may be taken after the earlier ones.
    Steps {
        earlier: &'a [Operation],
        share: &'a Share,
    },
}

impl Pipeline {
    /// Asks the model of a role about its section.
    pub(super) async fn ask_role(
        &self,
        running: &Running,
        input: &UpdateInput,
        (role, speaker): (Role, &RoleModel),
    ) -> Result<RoleOutcome, StorageError> {
        let (document, sent) = (&running.progress_base().text, sent(input));
        let ids: Vec<RecordId> = document::record_ranges(document)
            .into_iter()
            .map(|(id, _)| id)
            .filter(|id| Some(id.kind) == role.record_kind())
            .collect();
        let most = running.limits.max_additions;
        let text = self.prompts.fill(
            Template::Input,
            &[
                ("{memory}", &quoted(shown_section(document, role))),
                ("{task}", &quoted(&input.task)),
                (
                    "{messages}",
                    &shown_messages(&input.messages, self.config.pipeline.messages_bytes),
                ),
                ("{ids}", &listed(&ids)),
                ("{most}", &most.to_string()),
            ],
        );
        let schema = schema(speaker, || dsl::structured::schema(role, &ids, most));
        let asking = asking(Some(role), self.prompts.instructions(role), text, schema);
        let expected = Expected::Section(self.case(running, input, &sent));
        self.ask_until_right(running, (speaker, asking), &expected, &ids)
            .await
    }

    /// Steps 2 to 4 for one role: asks its model, reads and checks the answer, and asks again about the faults that it can
    /// repair.
    pub(super) async fn ask_until_right(
        &self,
        running: &Running,
        (speaker, mut asking): (&RoleModel, Request),
        expected: &Expected<'_>,
        ids: &[RecordId],
    ) -> Result<RoleOutcome, StorageError> {
        let document = &running.progress_base().text;
        let role = asking.role.unwrap_or(Role::Learnings);
        let mut outcome = RoleOutcome::of(speaker.model.name());
        for round in 0..=self.config.pipeline.max_reprompts {
            let caller = (&running.to.vault, &running.steps, running.rebases == 0);
            let asked = self.call(caller, (speaker, &asking), round, &mut outcome).await;
            let Some((text, stopped_at_limit)) = asked else {
                break;
            };
            let is_json = asking.schema.is_some();
            let author = matches!(expected, Expected::Section(_)).then_some(role);
            let read = || parse(author, &unquoted(&text, is_json), is_json, stopped_at_limit);
            let mut parsed = fair::on_cpu(text.len(), read).await;
            let mut reading = match expected {
                Expected::Section(case) => {
                    // What is of other sections is for their roles; what is of none is about this role's answer.
                    let is_own = |section: Option<Role>| section.is_none_or(|section| section == role);
                    parsed.items.retain(|item| is_own(item.operation.role()));
                    parsed
                        .faults
                        .retain_mut(|fault| *fault.section.get_or_insert(role) == role);
                    let case = case.map(|case| (case, &*outcome.reading.items));
                    self.check(running, parsed, &[], case).await?
                }
                Expected::Steps { earlier, .. } => {
                    let steps = consolidation::steps_only(parsed);
                    self.check(running, steps, earlier, None).await?
                }
            };
            if round > 0 {
                let first = take(&mut outcome.reading);
                reading = self.second_counts(reading, first, running);
            }
            match expected {
                Expected::Section(Some(_)) => reading.name_replaced(document),
                Expected::Section(None) => {}
                Expected::Steps { share, .. } => reading = consolidation::within(reading, (*share).clone()),
            }
            outcome.reading = reading;
            if !outcome.reading.needs_repair() {
                break;
            }
            let faults = describe(&outcome.reading.faults);
            let values = [("{faults}", faults.as_str()), ("{ids}", &listed(ids))];
            go_on(&mut asking, text, self.prompts.fill(Template::Again, &values));
        }
        Ok(outcome)
    }

    /// What items are compared with, unless that is off.
    fn case<'a>(
        &'a self,
        running: &'a Running,
        input: &UpdateInput,
        sent: &'a Input<'a>,
    ) -> Option<JudgeContext<'a>> {
        let document = &running.progress_base().text;
        let strictness = input.evidence.unwrap_or(self.config.pipeline.evidence);
        (strictness != Strictness::Off).then(|| JudgeContext {
            input: sent,
            document,
            progress: section_of(document, Role::Progress),
            examples: self.prompts.examples(),
            max_archives: MAX_ARCHIVES,
            strictness,
        })
    }

    /// Calls a model once, and counts what that costs at once: a run that is cancelled has used these tokens, too. Returns the
    /// text of the answer, and whether it stopped at its limit; `None` if it failed, which is noted.
    pub(super) async fn call(
        &self,
        (vault, steps, is_first): (&VaultId, &Steps, bool),
        (speaker, asking): (&RoleModel, &Request),
        round: u32,
        outcome: &mut RoleOutcome,
    ) -> Option<(String, bool)> {
        if let Some(role) = asking.role {
            steps.send(Step::Asked { role, round });
        }
        let by = asking.role.map_or(Spender::Handoff, Spender::Update);
        let spent = |call: &_, failed| spent_on(call, by, round == 0 && is_first, failed);
        let unanswered = ModelReport {
            model: outcome.report.model.clone(),
            attempts: 1,
            // Its input was read, and its provider counts it.
            input_tokens: Some(document::estimated_tokens(sent_bytes(asking))),
            ..ModelReport::default()
        };
        let mut in_flight = InFlight {
            pipeline: self,
            vault,
            spent: Some(spent(&unanswered, true)),
        };
        let asked = speaker.ask(asking).await;
        let millis = u64::try_from(asked.elapsed.as_millis()).unwrap_or(u64::MAX);
        if let Some(role) = asking.role {
            steps.send(Step::Answered {
                role,
                round,
                attempts: asked.attempts,
                millis,
                failed: asked.result.is_err(),
            });
        }
        let call = outcome.note(round, asking, &asked, millis).await;
        let answer = match asked.result {
            Ok(answer) => Some((storable(answer.text), answer.stopped_at_limit)),
            // The first answer is used, and its faults are reported as if there had been no second call.
            Err(error) if round > 0 => {
                let detail = format!(
                    "The model was asked again about faulty items and failed: {}.",
                    error.public()
                );
                let warning = Warning::new(asking.role, "reprompt_failed", detail);
                outcome.warnings.push(warning);
                None
            }
            Err(error) => {
                outcome.failure = Some(error);
                None
            }
        };
        in_flight.spent = None;
        let spent = spent(&call, outcome.failure.is_some());
        outcome.counting.push(self.count(vault, spent));
        answer
    }

    /// Counts the usage of a run, in a task: the run goes on meanwhile, and may be cancelled.
    pub(super) fn count(&self, vault: &VaultId, spent: RoleSpent) -> JoinHandle<()> {
        let (storage, vault) = (self.storage.clone(), vault.clone());
        tokio::spawn(async move { storage.add_usage(&vault, spent).await })
    }
}

/// A call that is not counted yet. If its run is cancelled or handed back meanwhile, it is dropped, and counted as one that
/// came to nothing: the model was asked all the same.
struct InFlight<'a> {
    pipeline: &'a Pipeline,
    vault: &'a VaultId,
    spent: Option<RoleSpent>,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        // At the end of the process nothing is counted any more.
        if let (Some(spent), Ok(_)) = (self.spent.take(), Handle::try_current()) {
            self.pipeline.count(self.vault, spent);
        }
    }
}

fn sent_bytes(asking: &Request) -> usize {
    let messages = asking.messages.iter().map(|turn| turn.text.len());
    asking.system.len() + messages.sum::<usize>()
}

/// The input that a role's answer is compared with.
pub(super) fn sent(input: &UpdateInput) -> Input<'_> {
    let messages = input.messages.iter();
    Input {
        task: &input.task,
        messages: messages.map(|message| message.content.as_str()).collect(),
    }
}

/// The first question, of a role or of none.
pub(super) fn asking(
    role: Option<Role>,
    system: Arc<str>,
    text: String,
    schema: Option<Arc<Value>>,
) -> Request {
    Request {
        role,
        system,
        messages: vec![ChatMessage {
            speaker: ChatRole::User,
            text,
        }],
        schema,
    }
}

/// The schema of the answer, if the model can be constrained to one.
pub(super) fn schema(speaker: &RoleModel, make: impl FnOnce() -> Value) -> Option<Arc<Value>> {
    (speaker.model.constrains() == Constrain::JsonSchema).then(|| make().into())
}

/// Counts a model call, with the requests that were retried.
fn count_call(role: &'static str, call: &ModelReport, asked: &ModelOutcome) {
    let (model, attempts) = (|| call.model.clone(), u64::from(asked.attempts));
    metrics::counter!(meters::MODEL_CALLS_TOTAL, "role" => role, "model" => model()).increment(attempts);
    metrics::histogram!(meters::MODEL_CALL_SECONDS, "role" => role, "model" => model()).record(asked.elapsed);
    if attempts > 1 {
        metrics::counter!(meters::MODEL_RETRIES_TOTAL, "role" => role, "model" => model())
            .increment(attempts - 1);
    }
    if call.reprompts > 0 {
        metrics::counter!(meters::REPROMPTS_TOTAL, "role" => role).increment(1);
    }
    for (kind, tokens) in [
        ("input", call.input_tokens),
        ("cached", call.cached_tokens),
        ("cache_write", call.cache_write_tokens),
        ("output", call.output_tokens),
    ] {
        if let Some(tokens) = tokens {
            metrics::counter!(meters::MODEL_TOKENS_TOTAL, "role" => role, "model" => model(), "kind" => kind)
                .increment(tokens);
        }
    }
    if let Err(error) = &asked.result {
        let reason = error.reason();
        metrics::counter!(meters::MODEL_FAILURES_TOTAL, "role" => role, "model" => model(), "reason" => reason)
            .increment(1);
    }
}

/// Adds an answer and what is asked about it.
pub(super) fn go_on(asking: &mut Request, answer: String, again: String) {
    for (speaker, text) in [(ChatRole::Assistant, answer), (ChatRole::User, again)] {
        asking.messages.push(ChatMessage { speaker, text });
    }
}

impl RoleOutcome {
    /// An outcome without an answer yet, of what has this name in reports.
    pub(super) fn of(model: &str) -> Self {
        let mut outcome = Self::default();
        model.clone_into(&mut outcome.report.model);
        outcome
    }

    /// Adds one model call, which it returns, to the report and to the exchanges that the run stores.
    async fn note(&mut self, round: u32, asking: &Request, asked: &ModelOutcome, millis: u64) -> ModelReport {
        let answer = asked.result.as_ref().ok();
        let tokens = |of: fn(&Answer) -> Option<u64>| answer.and_then(of);
        let call = ModelReport {
            model: self.report.model.clone(),
            attempts: asked.attempts,
            input_tokens: tokens(|answer| answer.input_tokens),
            cached_tokens: tokens(|answer| answer.cached_tokens),
            cache_write_tokens: tokens(|answer| answer.cache_write_tokens),
            output_tokens: tokens(|answer| answer.output_tokens),
            millis,
            reprompts: round,
        };
        self.report.add(&call);
        self.report.reprompts = round;
        count_call(asking.subject(), &call, asked);
        let turns: Vec<Value> = asking
            .messages
            .iter()
            .map(|turn| {
                let speaker: &str = turn.speaker.into();
                json!({ "role": speaker, "content": turn.text })
            })
            .collect();
        let mut exchange = json!(call);
        exchange["section"] = json!(asking.role.map(Role::name));
        exchange["messages"] = json!(turns);
        exchange["answer"] = json!(answer.map(|answer| &answer.text));
        exchange["stopped_at_limit"] = json!(answer.is_some_and(|answer| answer.stopped_at_limit));
        exchange["error"] = json!(asked.result.as_ref().err().map(ToString::to_string));
        let bytes = sent_bytes(asking) + answer.map_or(0, |answer| answer.text.len());
        fair::on_cpu(bytes, || mask(&mut exchange)).await;
        // The instructions are the service's own.
        exchange["system"] = json!(asking.system);
        self.exchanges.push(exchange);
        call
    }
}

impl Pipeline {
    /// Merges two answers. The second one takes precedence. Valid items of the first that it does not contain are kept,
    /// and so is a valid rewrite of progress if the second has none. Faults of the first that the model was not asked
    /// about are still reported.
    fn second_counts(&self, mut second: Parsed, first: Parsed, running: &Running) -> Parsed {
        let is_silent = |fault: &Fault| fault.kind == FaultKind::NoSection;
        let spoken = !second.faults.iter().any(is_silent);
        let rewritten = second.items.iter().any(rewrites_progress);
        let earlier = second.items.iter().map(|item| item.operation.clone());
        let earlier: Vec<Operation> = earlier.collect();
        let gone: BTreeSet<RecordId> = earlier.iter().flat_map(Operation::leaving).collect();
        // A merge written again is the second answer's.
        let is_again = |merges: &[RecordId]| !merges.is_empty() && merges.iter().all(|id| gone.contains(id));
        let mut left_out = first.items;
        left_out.retain(|item| !(rewritten && rewrites_progress(item) || is_again(item.operation.merges())));
        // These items were valid before. Rejected now are only duplicates of the second answer, those above the limit with
        // what they were to replace, and steps whose ground goes with the second answer.
        let view = View {
            document: &running.progress_base().text,
            ended: &BTreeSet::new(),
            now: self.storage.now(),
        };
        let kept = validate(Parsed::of_items(left_out), &view, &earlier, &running.limits);
        let mut faults = first.faults;
        faults.retain(|fault| !fault.needs_repair() || !spoken && !is_silent(fault));
        faults.retain(|fault| !second.faults.iter().any(|again| is_same(again, fault)));
        faults.append(&mut second.faults);
        // What the second answer says, too, is not lost.
        let is_twice = |kind| matches!(kind, FaultKind::Duplicate | FaultKind::AlreadyArchived);
        faults.extend(kept.faults.into_iter().filter(|fault| !is_twice(fault.kind)));
        second.faults = faults;
        second.items.extend(kept.items);
        second.keep_few();
        second
    }
}

/// Whether both report the same fault of the same text.
fn is_same(one: &Fault, other: &Fault) -> bool {
    (one.kind, one.section) == (other.kind, other.section)
        && one.written.text.trim() == other.written.text.trim()
}

/// The faults in the form in which they are sent to the model.
fn describe(faults: &[Fault]) -> String {
    let mut text = String::new();
    for fault in faults.iter().filter(|fault| fault.needs_repair()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {}: {}", fault.kind.name(), fault.detail);
        for line in quote(&fault.written.text).lines() {
            let _ = writeln!(text, "  > {line}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Step 3: reads the answer of a role, or to a consolidation: JSON of the schema that was asked for, or else text.
fn parse(author: Option<Role>, text: &str, is_of_schema: bool, is_cut_off: bool) -> Parsed {
    let read = || dsl::structured::read(author, text, is_cut_off);
    match is_of_schema.then(read).flatten() {
        Some((parsed, items)) => parsed.quoting(|range| items[range.start].as_str().into()),
        // Text that does not match the schema is read as text, so that its author hears of the fault.
        None => dsl::parse_answer(author, text, is_cut_off).quoting(|range| text[range.clone()].into()),
    }
}

fn listed(ids: &[RecordId]) -> String {
    match ids {
        [] => "(none)".to_owned(),
        _ => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
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

impl Pipeline {
    /// Applies the rules once, for all of these roles.
    pub(super) async fn apply_rules(
        &self,
        running: &Running,
        input: &UpdateInput,
        roles: &[Role],
    ) -> Result<BTreeMap<Role, RoleOutcome>, StorageError> {
        if roles.is_empty() {
            return Ok(BTreeMap::new());
        }
        let begun = Instant::now();
        for role in roles {
            let (role, round) = (*role, 0);
            running.steps.send(Step::Asked { role, round });
        }
        let (document, sent) = (&running.progress_base().text, sent(input));
        let heard = || rules::operations(document, &input.task, &input.messages);
        let mut operations = fair::on_cpu(sent.bytes() + document.len(), heard).await;
        operations.retain(|operation| operation.role().is_some_and(|role| roles.contains(&role)));
        // The input is indexed once for the operations of all roles.
        let mut reading = Parsed::default();
        if !operations.is_empty() {
            let case = self.case(running, input, &sent);
            let checked = case.map(|case| (case, [].as_slice()));
            reading = self.check(running, as_parsed(operations), &[], checked).await?;
            if case.is_some() {
                reading.name_replaced(document);
            }
        }
        let report = ModelReport {
            model: llm::RULES.to_owned(),
            attempts: 1,
            millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..ModelReport::default()
        };
        let outcomes = roles.iter().map(|role| {
            running.steps.send(Step::Answered {
                role: *role,
                round: 0,
                attempts: 1,
                millis: report.millis,
                failed: false,
            });
            let outcome = RoleOutcome {
                reading: reading.take(*role),
                by_rules: true,
                report: report.clone(),
                ..RoleOutcome::default()
            };
            (*role, outcome)
        });
        Ok(outcomes.collect())
    }
}
