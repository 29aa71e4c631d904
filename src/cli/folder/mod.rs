//! The folders that this program keeps on disk. A [`tree`] from which no path leads out, and one state file a folder. A folder
//! may [`follow`] texts: what others wrote there is copied before it is replaced, and the state is what this program wrote. Where
//! it is changed, too, `sync` makes both sides equal, path by path: a text is replaced only if it is as expected ([`swap`]), and
//! the state is what was last equal on both sides.
//!
//! | folder | files | other side | state |
//! |---|---|---|---|
//! | `sync DIR` | the tree of a root | the memory tool's files, in both directions | `.working-memory-sync.json`: version and hash by path |
//! | `window export DIR` | rules, status, decisions, history, epics | a memory, which the folder follows | `.working-memory-folder.json`: hash by path |
//! | `$WORKING_MEMORY_HOME/workspace` | each run's handoff, and the current one | none: they are this program's alone | the manifest beside it: hash of the text |

pub(super) mod file;
pub(super) mod follow;
pub(super) mod swap;
pub(super) mod tree;

use crate::cli::client::{Exit, Failure, note};
use crate::cli::run::Stop;
use crate::domain::handoff::Window as Length;
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// The hash by which texts are compared.
pub(super) fn hash(text: &[u8]) -> String {
    hex::encode(Sha256::digest(text))
}

/// The longest pause while a service does not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Failures that may pass. A memory that is gone may be written again.
const MAY_PASS: [Exit; 4] = [Exit::NoService, Exit::Failed, Exit::Busy, Exit::NotFound];

/// Looks at the folder once or, with an interval, until SIGINT or SIGTERM; `look` is told whether it is the first time, and
/// is dropped at a signal, at one of its await points. The first failure ends it, so that a wrong setting is reported at
/// once; of the later ones those that will not pass.
///
/// # Errors
/// That failure, or signals cannot be received.
pub(in crate::cli) async fn watch(
    every: Option<&Length>,
    mut look: impl AsyncFnMut(bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(every) = every else {
        return look(true).await;
    };
    let no_signals = |error: std::io::Error| Failure::failed(format!("cannot listen to signals: {error}"));
    let mut stop = Stop::listen().map_err(no_signals)?;
    let every = Duration::from_secs(every.seconds().unsigned_abs());
    let work = async {
        look(true).await?;
        let mut pause = every;
        let mut is_failing = false;
        loop {
            tokio::time::sleep(pause).await;
            match look(false).await {
                Ok(()) => {
                    if std::mem::take(&mut is_failing) {
                        note("the service answers again");
                    }
                    pause = every;
                }
                Err(failure) if !MAY_PASS.contains(&failure.exit) => return Err(failure),
                Err(_) if is_failing => pause = (pause * 2).min(LONGEST_PAUSE.max(every)),
                Err(failure) => {
                    is_failing = true;
                    note(&format!("{}; retrying", failure.sentence));
                }
            }
        }
    };
    tokio::select! {
        biased;
        _ = stop.wait() => Ok(()),
        ended = work => ended,
    }
}
