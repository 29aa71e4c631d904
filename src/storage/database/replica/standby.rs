//! The standby and its state.

use super::progress::Progress;
use crate::storage::StorageError;
use crate::storage::database::liveness::{Beat, Liveness};
use sqlx::PgPool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The standby.
pub(in crate::storage) struct Replica {
    pub(super) pool: PgPool,
    pub(super) liveness: Arc<Liveness>,
    pub(super) max_lag: Duration,
    pub(super) progress: Mutex<Progress>,
}

impl Replica {
    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It answered and is replaying.
    pub(super) fn follows(&self, place: i64) {
        self.liveness.beat(Beat::Written);
        let mut progress = self.progress();
        progress.replayed(place);
        if progress.why_not.take().is_some() {
            tracing::info!("the standby for reads answers again");
        }
    }

    /// It cannot be used for this reason, which is logged once.
    pub(super) fn fails(&self, why_not: &'static str, error: Option<&StorageError>) {
        let mut progress = self.progress();
        progress.forget();
        if progress.why_not.replace(why_not) != Some(why_not) {
            let error = error.map(ToString::to_string);
            tracing::warn!(
                error,
                why_not,
                "the primary answers instead of the standby for reads"
            );
        }
    }
}
