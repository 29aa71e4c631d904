//! Connection options, and the check of idle connections before they are reused.

use crate::storage::database::liveness::{Liveness, silence};
use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use std::time::Duration;
use tokio::time::timeout;

/// The options of every connection to a server.
pub(in crate::storage) fn connect_options(
    server: &PgConnectOptions,
    prepared_statements: bool,
) -> PgConnectOptions {
    server
        .clone()
        .application_name("working-memory")
        // This is a startup parameter, which poolers reject. No number here needs it.
        .extra_float_digits(None)
        .statement_cache_capacity(if prepared_statements { KEPT_STATEMENTS } else { 0 })
        .disable_statement_logging()
}

/// A connection that was idle for less than this is reused without a check.
pub(in crate::storage) const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Prepared statements cached on each connection: more than the service has.
const KEPT_STATEMENTS: usize = 256;

/// Checks whether an idle connection may be handed out.
///
/// # Errors
/// The connection does not answer. If one is lost, others are probably lost too, so its whole generation is retired.
pub(in crate::storage) async fn is_usable(
    connection: &mut PgConnection,
    about: &PoolConnectionMetadata,
    liveness: &Liveness,
    silence_after: Duration,
) -> Result<bool, sqlx::Error> {
    if liveness.is_outdated(about.age) {
        return Ok(false);
    }
    // A connection that was used a moment ago is not checked: the check costs as much as most statements.
    if about.idle_for > BELIEVED_FOR {
        let answered = timeout(silence_after, connection.ping()).await;
        answered
            .unwrap_or_else(|_| Err(silence()))
            .inspect_err(|_| liveness.retire())?;
    }
    Ok(true)
}
