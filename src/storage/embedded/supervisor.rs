//! The supervisor task: restarts the server when it ends, and stops it at the end.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::server::{Launcher, Server};
use super::server_log;

const LOG_CHECK: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Runs until `stop` gets a message, or its sender is dropped. The launcher, which holds the lock of the data folder,
/// is dropped only after the server has ended.
pub(super) async fn supervise(launcher: Launcher, mut server: Server, mut stop: oneshot::Receiver<()>) {
    let mut log_check = interval(LOG_CHECK);
    log_check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = &mut stop => return server.stop().await,
            status = server.ended() => {
                tracing::error!(%status, "the database server ended unexpectedly, starting it again");
                tokio::select! {
                    _ = &mut stop => return,
                    restarted = relaunch(&launcher) => server = restarted,
                }
            }
            _ = log_check.tick() => {
                if let Err(error) = server_log::rotate(&launcher.folder.home) {
                    tracing::warn!(%error, "the database server's log cannot be rotated");
                }
            }
        }
    }
}

/// Retries with backoff until the server runs: without its database the service can only wait.
async fn relaunch(launcher: &Launcher) -> Server {
    let mut pause = FIRST_PAUSE;
    loop {
        match launcher.launch().await {
            Ok(server) => {
                tracing::info!("the database server runs again");
                return server;
            }
            Err(error) => tracing::error!(%error, "the database server cannot be started"),
        }
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}
