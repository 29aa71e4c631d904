//! Repeats the sync while the program runs.

use super::folder::{Folder, print_report};
use crate::cli::client::{Exit, Failure, note};
use crate::cli::stop::Stop;
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest wait for a service that does not answer.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Syncs repeatedly, until SIGINT or SIGTERM.
///
/// # Errors
/// The first time, no service answers; later, the service rejects permanently, or an I/O error.
pub(super) async fn watch(mut folder: Folder<'_>, every: Duration, as_json: bool) -> Result<(), Failure> {
    let no_signals = |error: std::io::Error| Failure::failed(format!("cannot listen to signals: {error}"));
    let mut stop = Stop::listen().map_err(no_signals)?;
    tokio::select! {
        biased;
        () = stop.wait() => Ok(()),
        ended = run(&mut folder, every, as_json) => ended,
    }
}

async fn run(folder: &mut Folder<'_>, every: Duration, as_json: bool) -> Result<(), Failure> {
    let mut is_first = true;
    let mut reported: BTreeMap<String, String> = BTreeMap::new();
    let mut pause: Option<Duration> = None;
    loop {
        match folder.sync().await {
            Ok(mut report) => {
                if pause.take().is_some() {
                    note("the service answers again");
                }
                // Skipped files are reported once, not every two seconds.
                let skipped = report.skipped.clone();
                report.skipped.retain(|path, why| reported.get(path) != Some(why));
                reported = skipped;
                if is_first || !report.is_quiet() || !report.skipped.is_empty() {
                    print_report(folder.shown, &report, as_json)?;
                }
            }
            Err(failure) if is_first || !may_pass(&failure) => return Err(failure),
            Err(failure) => {
                if pause.is_none() {
                    note(&format!("{}; trying again", failure.sentence));
                }
                pause = Some(pause.map_or(every, |pause| (pause * 2).min(LONGEST_WAIT.max(every))));
            }
        }
        is_first = false;
        tokio::time::sleep(pause.unwrap_or(every)).await;
    }
}

/// Whether a failure may be transient.
fn may_pass(failure: &Failure) -> bool {
    matches!(failure.exit, Exit::NoService | Exit::Failed | Exit::Busy)
}
