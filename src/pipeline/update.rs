//! `UpdateContext`: runs the six steps in order, at once or, for a queued update, by a worker (`queued`).

use crate::domain::dsl::Parsed;
use crate::domain::memory::Limits;
use crate::domain::operation::Role;
use crate::domain::text::masked;
use crate::fair::{self, NoRoom};
use crate::llm::ModelError;
use crate::pipeline::ask::{RoleOutcome, sent};
use crate::pipeline::report::{Rejection, UpdateAnswer, Warning};
use crate::pipeline::run::{Results, Running, spent_on, stored};
use crate::pipeline::steps::{Step, Steps, count_end, measure_step};
use crate::pipeline::{
    LimitReached, Mode, OnInvalid, Pipeline, PipelineError, Target, UpdateInput, UpdateRequest,
};
use crate::storage::updates::queue::Claimed;
use crate::storage::usage::Spender;
use crate::storage::{Head, StorageError};
use futures::future::{join, join_all};
use std::collections::BTreeMap;
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
        let party = request.to.party();
        let permit = self.updates.enter(&party, super::QUEUE_PER_MEMORY);
        let _permit = measure_step("queue", permit)
            .await
            .map_err(|refused| self.no_room(refused))?;
        self.refuse_update(&request.to, &request.input).await?;
        Box::pin(self.run_update(request, None)).await
    }

    fn no_room(&self, refused: NoRoom) -> LimitReached {
        let settings = &self.config.pipeline;
        let (of, limit, name) = match refused {
            NoRoom::InAll => ("service", settings.concurrent_updates, LimitReached::OF_SERVICE),
            NoRoom::OfVault => {
                let limit = settings.concurrent_updates_per_vault();
                ("vault", limit, "pipeline.concurrent_updates_per_vault")
            }
            NoRoom::OfMemory => ("memory", super::QUEUE_PER_MEMORY, LimitReached::OF_MEMORY),
        };
        LimitReached::of(&format!("updates of this {of}"), limit, name)
    }

    /// Runs an update that holds its permit; if it was queued, under its claim.
    pub(super) async fn run_update(
        &self,
        request: &UpdateRequest,
        claimed: Option<&Claimed>,
    ) -> Result<UpdateAnswer, PipelineError> {
        // Rules do not wait for models, so hundreds of updates would keep the processors busy.
        let mut roles = request.input.roles.iter();
        let _turn = match roles.any(|role| self.models.for_role(*role).is_some()) {
            true => None,
            false => Some(fair::turn(&request.to.party()).await),
        };
        let mut running = measure_step("capture", self.begin(request, claimed)).await?;
        let result = Box::pin(self.ask_and_save(&request.input, &mut running)).await;
        if result.is_err() {
            // A stored run has written all steps. These are left if the run is retried or could not be stored.
            self.write_steps(&running).await;
        }
        result
    }

    /// Step 1: takes a head snapshot.
    pub(super) async fn capture(&self, to: &Target) -> Result<Head, PipelineError> {
        let snapshot = self.storage.head_snapshot(&to.vault, &to.memory).await?;
        snapshot.meets(&to.preconditions)?;
        Ok(snapshot)
    }

    async fn begin(
        &self,
        request: &UpdateRequest,
        claimed: Option<&Claimed>,
    ) -> Result<Running, PipelineError> {
        let (UpdateRequest { to, input, .. }, attempt) = (request, claimed.map_or(1, |claim| claim.attempts));
        let (update_id, created_at) = match claimed {
            Some(claimed) => (claimed.due.update_id.clone(), claimed.created_at),
            None => (self.new_update_id(), self.clock.now()),
        };
        let base = self.capture(to).await?;
        let steps = Steps::of_run(request.watcher.clone(), &self.clock, (&update_id, to));
        steps.send(Step::Started {
            update_id: update_id.clone(),
            attempt,
        });
        steps.send(Step::Captured {
            version: base.version,
            context_id: base.context_id.clone(),
        });
        let bytes = sent(input).bytes();
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
        let limits = Limits {
            pins_hold: true,
            ..self.config.limits.of_operations(most)
        };
        let of = (input.kind(), to.clone());
        Ok(Running {
            request: stored,
            dry_run: input.dry_run,
            claim: claimed.map(|claimed| (claimed.claim.clone(), claimed.attempts)),
            idempotency: request.idempotency.clone(),
            steps,
            mode: input.mode.clone(),
            record: input.record.clone(),
            ..Running::begin((update_id, created_at), of, (limits, title), base)
        })
    }

    /// Steps 2 to 6.
    async fn ask_and_save(
        &self,
        input: &UpdateInput,
        running: &mut Running,
    ) -> Result<UpdateAnswer, PipelineError> {
        // An earlier call did the work of a task that is recorded: no model is asked.
        let mut outcomes = match self.is_recorded(&running.to, input).await? {
            true => BTreeMap::new(),
            false => self.ask(running, input, &input.roles).await?,
        };
        // A call of a model is counted when it ends; where there was none, the rules answered.
        for (role, outcome) in outcomes
            .iter_mut()
            .filter(|(_, outcome)| outcome.exchanges.is_empty())
        {
            let spent = spent_on(&outcome.report, Spender::Update(*role), true, false);
            outcome.counting.push(self.count(&running.to.vault, spent));
        }
        loop {
            let counted = join_all(
                outcomes
                    .values_mut()
                    .flat_map(|outcome| take(&mut outcome.counting)),
            );
            running.results = Results::of(&outcomes, input.allow_partial);
            if let Some(error) = self.why_it_stops(input, running, &outcomes) {
                counted.await;
                let attempt = running.claim.as_ref().map(|(_, attempt)| *attempt);
                return match error.may_pass() && attempt.is_some_and(|attempt| self.is_tried_again(attempt)) {
                    true => Err(error),
                    false => self.fail(running, error).await,
                };
            }
            let (saved, _) = join(measure_step("save", self.save(running)), counted).await;
            if let Some(answer) = saved? {
                return Ok(answer);
            }
            self.rebase(running).await?;
            self.ask_progress_again(input, running, &mut outcomes).await?;
        }
    }

    /// Steps 2 to 4: asks all roles concurrently. No database connection is held during model calls.
    async fn ask(
        &self,
        running: &Running,
        input: &UpdateInput,
        roles: impl IntoIterator<Item = &Role>,
    ) -> Result<BTreeMap<Role, RoleOutcome>, StorageError> {
        let (mut asked, mut ruled) = (Vec::new(), Vec::new());
        for role in roles {
            match self.models.for_role(*role) {
                Some(model) => asked.push((*role, model)),
                None => ruled.push(*role),
            }
        }
        let work = async {
            if input.consolidation {
                let outcome = self.consolidate(running, input).await?;
                return Ok(BTreeMap::from([(Role::Learnings, outcome)]));
            }
            let asked = asked.into_iter().map(async |(role, model)| {
                let outcome = self.ask_role(running, input, (role, model)).await;
                outcome.map(|outcome| (role, outcome))
            });
            let (asked, ruled) = join(join_all(asked), self.apply_rules(running, input, &ruled)).await;
            let mut outcomes = ruled?;
            for outcome in asked {
                outcomes.extend([outcome?]);
            }
            Ok(outcomes)
        };
        self.followed(running, measure_step("ask", Box::pin(work))).await
    }

    /// Takes another head snapshot for a run under which progress was changed, unless that happened too often.
    async fn rebase(&self, running: &mut Running) -> Result<(), PipelineError> {
        if running.rebases == self.config.pipeline.max_rebases {
            return self.fail(running, running.conflict()).await;
        }
        running.rebases += 1;
        let snapshot = self.capture(&running.to).await?;
        if running.identity().is_some() && running.identity() != snapshot.identity.as_ref() {
            return Err(PipelineError::Deleted);
        }
        running.rebased_on = Some(snapshot);
        Ok(())
    }

    /// Step 5, when progress has changed: asks only that role, with the new head. Its report has the usage before, too.
    async fn ask_progress_again(
        &self,
        input: &UpdateInput,
        running: &Running,
        outcomes: &mut BTreeMap<Role, RoleOutcome>,
    ) -> Result<(), StorageError> {
        for (role, mut again) in self.ask(running, input, &[Role::Progress]).await? {
            if let Some(mut before) = outcomes.remove(&role) {
                before.report.add(&again.report);
                before.report.reprompts += again.report.reprompts + 1;
                again.report = before.report;
                again.exchanges.splice(0..0, before.exchanges);
            }
            outcomes.insert(role, again);
        }
        Ok(())
    }

    /// Why a run with these outcomes saves nothing: a model failed, or items stayed faulty, and the caller wants it so.
    fn why_it_stops(
        &self,
        input: &UpdateInput,
        running: &Running,
        outcomes: &BTreeMap<Role, RoleOutcome>,
    ) -> Option<PipelineError> {
        let update_id = running.update_id.clone();
        let failed = outcomes
            .iter()
            .filter_map(|(role, outcome)| Some((*role, outcome.failure.as_ref()?)));
        let failed: Vec<(Role, &ModelError)> = failed.collect();
        let is_enough = input.allow_partial && failed.len() < outcomes.len();
        if let Some((role, error)) = failed.first().filter(|_| !is_enough) {
            return Some(PipelineError::ModelFailed {
                update_id,
                role: *role,
                timed_out: error.is_timeout(),
                retryable: failed.iter().all(|(_, error)| error.is_retryable()),
                detail: format!("{}: {}", self.models.name(*role), error.public()),
            });
        }
        let faulty = outcomes.values().any(|outcome| outcome.reading.needs_repair());
        let invalid = outcomes.values().flat_map(|outcome| outcome.reading.invalid());
        let rejected = running.results.rejected.iter();
        let failed = rejected.filter(|rejection| rejection.kind == "model_failed");
        (input.on_invalid == OnInvalid::Fail && faulty).then(|| PipelineError::Invalid {
            update_id,
            rejected: invalid.chain(failed.cloned()).collect(),
            more: running.results.more_rejected,
        })
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
                let rejection = Rejection::new(Some(*role), "model_failed", error.public(), "");
                results.rejected.push(rejection);
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
    pub(super) fn add(&mut self, reading: &Parsed) {
        self.accepted.extend(reading.items.iter().cloned());
        self.rejected.extend(reading.rejections());
        self.warnings.extend(reading.warnings());
        self.more_rejected += reading.omitted.rejections;
        self.more_warnings += reading.omitted.warnings;
    }
}

fn title_of(task: &str) -> String {
    let first = task.trim().lines().next().unwrap_or_default();
    match first.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &first[..end]),
        None => first.to_owned(),
    }
}
