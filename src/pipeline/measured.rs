//! Metrics and trace spans of runs: their steps and their results.

use super::PipelineError;
use super::report::{Rejection, UpdateAnswer, Warning};
use crate::storage::StorageError;
use crate::storage::updates::{RunKind, RunStatus};
use crate::telemetry::{meters, traces};
use futures::FutureExt;
use std::time::Instant;

/// Measures a step of an update and creates its span.
pub(super) fn step<W: Future>(name: &'static str, work: W) -> impl Future<Output = W::Output> {
    let begun = Instant::now();
    traces::step(name, work).inspect(move |_| meters::step(name, begun.elapsed()))
}

/// Counts how a run ended. A run whose claim was lost has not ended: it was canceled, or another worker runs it.
pub(super) fn ended(kind: RunKind, result: &Result<UpdateAnswer, PipelineError>) {
    if let Err(PipelineError::Storage(StorageError::ClaimLost(_))) = result {
        return;
    }
    let of_rejection = |rejection: &Rejection| (rejection.section.clone(), rejection.kind.clone());
    let of_warning = |warning: &Warning| (warning.section.clone(), warning.kind.clone());
    let (status, rebased, faults): (_, _, Vec<_>) = match result {
        Ok(answer) => {
            let rejected = answer.rejected.iter().map(of_rejection);
            let faults = rejected.chain(answer.warnings.iter().map(of_warning));
            (answer.status.of_run().name(), answer.rebased, faults.collect())
        }
        Err(PipelineError::Invalid { rejected, .. }) => {
            let faults = rejected.iter().map(of_rejection).collect();
            (RunStatus::Invalid.name(), false, faults)
        }
        Err(error) => (status_of(error), false, Vec::new()),
    };
    let faults = faults.iter();
    meters::update_ended(
        kind.name(),
        status,
        rebased,
        faults.map(|(section, kind)| (section.as_deref(), kind.as_str())),
    );
}

fn status_of(error: &PipelineError) -> &'static str {
    match error {
        PipelineError::PreconditionFailed(_)
        | PipelineError::Conflict { .. }
        | PipelineError::OtherTask { .. }
        | PipelineError::Deleted => RunStatus::Conflict.name(),
        PipelineError::Invalid { .. } => RunStatus::Invalid.name(),
        PipelineError::ModelFailed { .. }
        | PipelineError::TooLarge { .. }
        | PipelineError::IdsExhausted { .. }
        | PipelineError::Storage(_) => RunStatus::Failed.name(),
        // No run was created.
        PipelineError::QueueFull { .. }
        | PipelineError::TokensSpent { .. }
        | PipelineError::LineFull { .. }
        | PipelineError::VaultBusy { .. }
        | PipelineError::Busy { .. }
        | PipelineError::Unreadable { .. }
        | PipelineError::UnknownRun(_)
        | PipelineError::NotResolvable { .. }
        | PipelineError::ProposalGone { .. }
        | PipelineError::NotProposed { .. }
        | PipelineError::OwnProposal { .. }
        | PipelineError::UnknownOperations { .. } => "refused",
    }
}
