//! `UpdateContext`: runs the steps in order, at once or, for a queued update, by a worker.

use crate::domain::ids::{ActorId, MemoryId, VaultId};
use crate::domain::memory::Limits;
use crate::domain::operation::Role;
use crate::domain::text::masked;
use crate::fair::{self, NoRoom, Party};
use crate::llm::ModelError;
use crate::pipeline::reading::Reading;
use crate::pipeline::report::{Rejection, UpdateAnswer, Warning};
use crate::pipeline::request::read_stored;
use crate::pipeline::role::{RoleOutcome, sent};
use crate::pipeline::run::{Results, Running, mask, stored};
use crate::pipeline::steps::{Step, WRITE_EVERY, count_end, measure_step};
use crate::pipeline::{
    LimitReached, Mode, OnInvalid, Pipeline, PipelineError, Steps, UpdateInput, UpdateRequest,
};
use crate::storage::idempotency::Answering;
use crate::storage::updates::Run;
use crate::storage::updates::queue::{Claimed, EnqueueError, NewUpdate, QueueLimits, is_redacted};
use crate::storage::usage::{RoleSpent, Spender};
use crate::storage::{Head, Preconditions};
use futures::future::{join, join_all};
use serde_json::json;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::mem::take;

/// The maximum length of the task in the title of a log entry, in characters.
const TITLE_CHARS: usize = 100;

/// How many records of a section even a short input may add.
const LEAST_ADDITIONS: usize = 3;
/// How much input allows one more.
const BYTES_FOR_AN_ADDITION: usize = 1_000;

impl Pipeline {
    /// Runs an update.
    ///
    /// # Errors
    /// See [`PipelineError`]; no version was saved.
    pub async fn update(&self, request: UpdateRequest) -> Result<UpdateAnswer, PipelineError> {
        let result = Box::pin(self.update_in_turn(&request)).await;
        count_end(request.input.kind(), &result);
        result
    }

    async fn update_in_turn(&self, request: &UpdateRequest) -> Result<UpdateAnswer, PipelineError> {
        let party = Party::of_memory(request.vault.as_str(), request.memory.as_str());
        let permit = self.updates.enter(&party, super::QUEUE_PER_MEMORY);
        let _permit = measure_step("queue", permit)
            .await
            .map_err(|refused| self.no_room(&refused))?;
        self.refuse_over_tokens(&request.vault).await?;
        Box::pin(self.run_update(request, None)).await
    }

    fn no_room(&self, refused: &NoRoom) -> LimitReached {
        let (what, limit, name) = match refused {
            NoRoom::InAll => (
                "the service is running as many updates as it can".to_owned(),
                self.config.pipeline.concurrent_updates,
                "pipeline.concurrent_updates",
            ),
            NoRoom::OfVault => {
                let limit = self.config.pipeline.concurrent_updates_per_vault();
                let what = format!("{limit} updates of this vault are running");
                (what, limit, "pipeline.concurrent_updates_per_vault")
            }
            NoRoom::OfMemory => {
                let limit = super::QUEUE_PER_MEMORY;
                let what = format!("{limit} updates of this memory are running or waiting");
                (what, limit, "pipeline.queue_per_memory")
            }
        };
        LimitReached {
            what,
            limit,
            name,
            is_of_service: matches!(refused, NoRoom::InAll),
        }
    }

    /// Runs an update that holds its permit; if it was queued, under its claim, and perhaps not for the last time. Its steps are
    /// written while it runs, its model usage at the end.
    pub(super) async fn run_update(
        &self,
        request: &UpdateRequest,
        queued: Option<(&Claimed, bool)>,
    ) -> Result<UpdateAnswer, PipelineError> {
        // Rules do not wait for models, so hundreds of updates would keep the processors busy.
        let party = Party::of_memory(request.vault.as_str(), request.memory.as_str());
        let mut roles = request.input.roles.iter();
        let _turn = match roles.any(|role| self.models.for_role(*role).is_some()) {
            true => None,
            false => Some(fair::turn(&party).await),
        };
        let mut running = measure_step("capture", self.begin(request, queued)).await?;
        let result = tokio::select! {
            result = self.make_steps(request, &mut running) => result,
            never = self.write_steps(request) => match never {},
        };
        if result.is_err() {
            // A stored run has written all steps. These are left if the run is retried or could not be stored.
            self.write_left_steps(request).await;
        }
        self.account(&request.vault, &running.spent).await;
        result
    }

    /// Writes events periodically until it is dropped.
    async fn write_steps(&self, request: &UpdateRequest) -> Infallible {
        loop {
            tokio::time::sleep(WRITE_EVERY).await;
            self.write_left_steps(request).await;
        }
    }

    async fn write_left_steps(&self, request: &UpdateRequest) {
        let _writing = request.steps.to_be_written().await;
        let events = request.steps.events();
        if events.is_empty() {
            return;
        }
        match self.storage.append_events(&request.vault, &events).await {
            Ok(()) => request.steps.written(&events),
            // They are written again at the end of the run, if possible.
            Err(error) => tracing::debug!(%error, "the steps of an update could not be stored"),
        }
    }

    /// Steps 2 to 6.
    async fn make_steps(
        &self,
        request: &UpdateRequest,
        running: &mut Running,
    ) -> Result<UpdateAnswer, PipelineError> {
        if let Some(task_id) = running.task_id() {
            let known = self.storage.known_task(&request.vault, &request.memory, task_id);
            running.known = known.await?;
        }
        let limits = running.limits;
        let mut outcomes = BTreeMap::new();
        // An earlier call did the work of a task that is recorded: no model is asked.
        if running.known.is_none() {
            let asked = self.ask_roles(request, &running.base, &request.input.roles, &limits);
            outcomes = measure_step("ask", asked).await?;
        }
        let spent = outcomes
            .iter_mut()
            .map(|(role, outcome)| outcome.spent(Spender::Update(*role), true));
        running.spent.extend(spent);
        loop {
            running.results = Results::of(&outcomes, request.input.allow_partial);
            self.stop_on_failed_models(request, running, &outcomes).await?;
            self.stop_on_faults(request, running, &outcomes).await?;
            let spent = take(&mut running.spent);
            let writing = request.steps.to_be_written().await;
            let (saved, ()) = join(
                measure_step("save", self.save(running)),
                self.account(&request.vault, &spent),
            )
            .await;
            drop(writing);
            if let Some(answer) = saved? {
                return Ok(answer);
            }
            self.rebase(running).await?;
            let head = running.progress_base();
            let asked = self.ask_progress_again(request, head, &limits, &mut outcomes);
            let spent = measure_step("ask", asked).await?;
            running.spent.push(spent);
        }
    }

    async fn begin(
        &self,
        request: &UpdateRequest,
        queued: Option<(&Claimed, bool)>,
    ) -> Result<Running, PipelineError> {
        let claim = queued.map(|(claimed, is_tried_again)| Claim {
            id: claimed.claim.clone(),
            attempt: claimed.attempts,
            is_tried_again,
        });
        let (update_id, created_at) = match queued {
            Some((claimed, _)) => (claimed.due.update_id.clone(), claimed.created_at),
            None => (self.new_update_id(), self.clock.now()),
        };
        let of = (request.vault.clone(), request.memory.clone());
        let base = self.capture((&of.0, &of.1), &request.preconditions).await?;
        request
            .steps
            .keep(&self.clock, &update_id, &request.memory, &request.actor);
        request.steps.send(Step::Started {
            update_id: update_id.clone(),
            attempt: claim.as_ref().map_or(1, |claim| claim.attempt),
        });
        request.steps.send(Step::Captured {
            version: base.version,
            context_id: base.context_id.clone(),
        });
        let input = &request.input;
        let bytes = sent(request).bytes();
        let stored = stored(input, bytes).await;
        let most = match input.consolidation {
            // What a consolidation merges is limited by its share.
            true => usize::MAX,
            // A longer input may add more, up to the configured number.
            false => {
                let most = LEAST_ADDITIONS + bytes / BYTES_FOR_AN_ADDITION;
                most.min(self.config.pipeline.max_additions)
            }
        };
        let title = match (input.consolidation, &input.mode) {
            (false, _) => format!("update: {}", title_of(&masked(&input.task))),
            (true, Mode::Apply) => "consolidation applied".to_owned(),
            (true, Mode::Propose { .. }) => "consolidation proposed".to_owned(),
        };
        let by = (request.actor.clone(), created_at);
        let limits = Limits {
            pins_hold: true,
            ..self.config.limits.of_operations(most)
        };
        Ok(Running {
            request: stored,
            preconditions: request.preconditions.clone(),
            dry_run: input.dry_run,
            claim,
            idempotency: request.idempotency.clone(),
            steps: request.steps.clone(),
            mode: input.mode.clone(),
            record: input.record.clone(),
            ..Running::begin(update_id, of, input.kind(), by, (limits, title), base)
        })
    }

    /// Step 2: calls all roles concurrently. No database connection is held during model calls.
    async fn ask_roles(
        &self,
        request: &UpdateRequest,
        snapshot: &Head,
        roles: impl IntoIterator<Item = &Role>,
        limits: &Limits,
    ) -> Result<BTreeMap<Role, RoleOutcome>, PipelineError> {
        if request.input.consolidation {
            let outcome = self.consolidate(request, snapshot, limits).await?;
            return Ok(BTreeMap::from([(Role::Learnings, outcome)]));
        }
        let (asked, ruled): (Vec<Role>, Vec<Role>) = roles
            .into_iter()
            .partition(|role| self.models.for_role(**role).is_some());
        let asked = asked
            .into_iter()
            .filter_map(|role| Some((role, self.models.for_role(role)?)));
        let asked = asked.map(|(role, model)| async move {
            self.ask_role(request, snapshot, (role, model), limits)
                .await
                .map(|outcome| (role, outcome))
        });
        let ruled = self.apply_rules(request, snapshot, &ruled, limits);
        let (asked, ruled) = join(join_all(asked), ruled).await;
        let mut outcomes = ruled?;
        for outcome in asked {
            let (role, outcome) = outcome?;
            outcomes.insert(role, outcome);
        }
        Ok(outcomes)
    }

    /// Step 5, when progress has changed: calls only that role, with the new head. The usage is added to its report.
    async fn ask_progress_again(
        &self,
        request: &UpdateRequest,
        head: &Head,
        limits: &Limits,
        outcomes: &mut BTreeMap<Role, RoleOutcome>,
    ) -> Result<RoleSpent, PipelineError> {
        let asked = self.ask_roles(request, head, &[Role::Progress], limits).await?;
        let mut again = asked.into_values().next().unwrap_or_default();
        let spent = again.spent(Spender::Update(Role::Progress), false);
        if let Some(before) = outcomes.remove(&Role::Progress) {
            let mut report = before.report;
            report.add(&again.report);
            report.reprompts += again.report.reprompts + 1;
            again.report = report;
            again.exchanges.splice(0..0, before.exchanges);
        }
        outcomes.insert(Role::Progress, again);
        Ok(spent)
    }

    async fn stop_on_failed_models(
        &self,
        request: &UpdateRequest,
        running: &Running,
        outcomes: &BTreeMap<Role, RoleOutcome>,
    ) -> Result<(), PipelineError> {
        let failed: Vec<(Role, &ModelError)> = outcomes
            .iter()
            .filter_map(|(role, outcome)| Some((*role, outcome.failure.as_ref()?)))
            .collect();
        let Some((role, error)) = failed.first().copied() else {
            return Ok(());
        };
        if request.input.allow_partial && failed.len() < outcomes.len() {
            return Ok(());
        }
        let error = PipelineError::ModelFailed {
            update_id: running.update_id.clone(),
            role,
            timed_out: error.is_timeout(),
            retryable: failed.iter().all(|(_, error)| error.is_retryable()),
            detail: format!("{}: {}", self.models.description(role), error.public()),
        };
        let is_tried_again = running.claim.as_ref().is_some_and(|claim| claim.is_tried_again);
        if is_tried_again && error.may_pass() {
            return Err(error);
        }
        self.fail(running, error).await
    }

    async fn stop_on_faults(
        &self,
        request: &UpdateRequest,
        running: &Running,
        outcomes: &BTreeMap<Role, RoleOutcome>,
    ) -> Result<(), PipelineError> {
        let faulty = outcomes.values().any(|outcome| outcome.reading.needs_repair());
        if request.input.on_invalid == OnInvalid::Drop || !faulty {
            return Ok(());
        }
        let error = PipelineError::Invalid {
            update_id: running.update_id.clone(),
            rejected: running.results.rejected.clone(),
            more: running.results.omitted.rejections,
        };
        self.fail(running, error).await
    }
}

impl Results {
    /// The results of the roles.
    fn of(outcomes: &BTreeMap<Role, RoleOutcome>, allow_partial: bool) -> Self {
        let mut results = Self::default();
        for (role, outcome) in outcomes {
            results.add(&outcome.reading);
            results.warnings.extend(outcome.warnings.iter().cloned());
            results
                .models
                .insert(role.name().to_owned(), outcome.report.clone());
            results.exchanges.extend(outcome.exchanges.iter().cloned());
            if let Some(error) = outcome.failure.as_ref().filter(|_| allow_partial) {
                results.rejected.push(Rejection {
                    section: Some(*role),
                    kind: "model_failed".to_owned(),
                    detail: error.public(),
                    text: String::new(),
                    index: None,
                });
            }
        }
        let ruled = outcomes.iter().filter(|(_, outcome)| outcome.by_rules);
        let ruled: Vec<Role> = ruled.map(|(role, _)| *role).collect();
        results
            .warnings
            .extend(Warning::of_no_model(&ruled, outcomes.len()));
        results
    }

    /// Adds what was read of a text.
    pub(super) fn add(&mut self, reading: &Reading) {
        self.accepted.extend(reading.accepted.iter().cloned());
        self.rejected.extend(reading.rejections());
        self.warnings.extend(reading.warnings());
        self.omitted.merge(reading.omitted);
    }
}

fn title_of(task: &str) -> String {
    let first = task.trim().lines().next().unwrap_or_default();
    match first.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &first[..end]),
        None => first.to_owned(),
    }
}

/// Records that are new since the last consolidation before a full memory is consolidated again by itself.
const NEW_RECORDS_WHEN_FULL: i64 = 10;

/// The claim under which a worker runs a queued update.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) attempt: i32,
    /// Whether the update is retried after a retryable model failure. Such a failure does not end the run then.
    pub(super) is_tried_again: bool,
}

impl Pipeline {
    /// Queues an update for a worker of this or another instance. The update is stored when this returns.
    ///
    /// # Errors
    /// A precondition that does not hold for the current head, a full queue, a vault that has used its daily tokens,
    /// or a database error. Nothing is stored then.
    pub async fn accept(
        &self,
        request: UpdateRequest,
        under: Option<Answering<'static, Run>>,
    ) -> Result<Run, PipelineError> {
        self.enqueue(request, under, false).await
    }

    /// Queues a consolidation of a memory if one is due and none is queued or running; its steps are proposed.
    ///
    /// # Errors
    /// As [`Self::accept`].
    pub async fn consolidate_if_due(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<bool, PipelineError> {
        let settings = &self.config.consolidation;
        let state = self.storage.consolidation_state(vault, memory).await?;
        let full = i64::try_from(self.config.limits.context_bytes).unwrap_or(i64::MAX);
        let at = |count: u32, reached: bool| count > 0 && reached;
        let is_grown = at(
            settings.after_records,
            state.new_records >= settings.after_records.into(),
        );
        let is_full = at(
            settings.at_percent,
            state.bytes * 100 >= full.saturating_mul(settings.at_percent.into()),
        );
        let is_due = is_grown || (is_full && state.new_records >= NEW_RECORDS_WHEN_FULL);
        if !is_due {
            return Ok(false);
        }
        let request = UpdateRequest {
            vault: vault.clone(),
            memory: memory.clone(),
            actor: ActorId::of_service(),
            preconditions: Preconditions::default(),
            input: UpdateInput::consolidation(String::new(), Mode::Propose { key: None }),
            steps: Steps::default(),
            idempotency: None,
        };
        match self.enqueue(request, None, true).await {
            Ok(_) => Ok(true),
            // One is queued or running already, or the queue is full.
            Err(PipelineError::Full(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn enqueue(
        &self,
        request: UpdateRequest,
        under: Option<Answering<'static, Run>>,
        is_alone: bool,
    ) -> Result<Run, PipelineError> {
        self.refuse_over_tokens(&request.vault).await?;
        let update_id = self.new_update_id();
        let created_at = self.clock.now();
        let place = (&request.vault, &request.memory);
        let base = self.capture(place, &request.preconditions).await?;
        let mut input = json!(request.input);
        // What waits is stored. The session record stays as it is: the version that it is for has it.
        let mask_texts = || ["task", "messages"].map(|member| mask(&mut input[member]));
        fair::on_cpu(sent(&request).bytes(), mask_texts).await;
        let limits = QueueLimits {
            per_memory: i64::from(self.config.pipeline.queue.max_per_memory),
            per_vault: i64::from(self.config.pipeline.queue.max_per_vault),
        };
        let new = NewUpdate {
            kind: request.input.kind(),
            request: input,
            preconditions: json!(request.preconditions),
            vault: request.vault,
            memory: request.memory,
            update_id,
            actor: request.actor,
            created_at,
            base_version: base.version,
            identity: base.identity,
            is_alone,
            idempotency: under,
        };
        self.storage.enqueue_update(&new, &limits).await.map_err(|error| {
            let (of, limit, name) = match error {
                EnqueueError::MemoryFull { limit } => ("memory", limit, "pipeline.queue.max_per_memory"),
                EnqueueError::VaultFull { limit } => ("vault", limit, "pipeline.queue.max_per_vault"),
                EnqueueError::NotAlone => ("memory", 1, "pipeline.queue_per_memory"),
                EnqueueError::Storage(error) => return error.into(),
            };
            PipelineError::Full(LimitReached {
                what: format!("{limit} updates of this {of} are queued"),
                limit: usize::try_from(limit).unwrap_or(usize::MAX),
                name,
                is_of_service: false,
            })
        })
    }

    /// Runs an update that a worker has claimed, and stores its result under the claim, except for the errors below.
    ///
    /// # Errors
    /// See [`PipelineError`]. Not stored: a precondition that does not hold, a retryable model failure if
    /// `is_tried_again`, and database errors.
    pub async fn run_claimed(
        &self,
        claimed: &Claimed,
        is_tried_again: bool,
    ) -> Result<UpdateAnswer, PipelineError> {
        let request = Self::read_claimed(claimed)?;
        let party = Party::of_memory(request.vault.as_str(), request.memory.as_str());
        let _permit = self.updates.acquire(&party, 1).await;
        self.refuse_over_tokens(&request.vault).await?;
        let result = Box::pin(self.run_update(&request, Some((claimed, is_tried_again)))).await;
        count_end(request.input.kind(), &result);
        result
    }

    fn read_claimed(claimed: &Claimed) -> Result<UpdateRequest, PipelineError> {
        let unreadable = |problem: String| PipelineError::Unreadable {
            update_id: claimed.due.update_id.clone(),
            problem,
        };
        if is_redacted(&claimed.request) {
            return Err(unreadable(
                "the request quotes a version that has been redacted since".to_owned(),
            ));
        }
        let unreadable_part =
            |of: &str, problem: &str| unreadable(format!("the stored {of} cannot be read: {problem}"));
        Ok(UpdateRequest {
            vault: claimed.due.vault.clone(),
            memory: claimed.due.memory.clone(),
            actor: claimed.actor.clone(),
            preconditions: read_stored(&claimed.preconditions)
                .map_err(|problem| unreadable_part("preconditions", &problem))?,
            input: read_stored::<UpdateInput>(&claimed.request)
                .map_err(|problem| unreadable_part("request", &problem))?,
            steps: Steps::default(),
            idempotency: None,
        })
    }
}
