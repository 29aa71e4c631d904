//! How connections to a server are set up, and whether one that waited may still be used.

use crate::storage::database::liveness::{Liveness, silence};
use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use std::time::Duration;
use tokio::time::timeout;

/// How every connection to a server is set up.
pub(in crate::storage) fn connect_options(
    server: &PgConnectOptions,
    prepared_statements: bool,
) -> PgConnectOptions {
    server
        .clone()
        .application_name("working-memory")
        // A parameter of the start of a session, which poolers refuse. No number here needs it.
        .extra_float_digits(None)
        .statement_cache_capacity(if prepared_statements { KEPT_STATEMENTS } else { 0 })
        .disable_statement_logging()
}

/// For how long a connection that nobody used is not asked whether it lives.
pub(in crate::storage) const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Prepared statements that a connection keeps: more than the service has.
const KEPT_STATEMENTS: usize = 256;

/// Whether a connection that waited in a pool may be given to somebody.
///
/// # Errors
/// That it does not answer: where one is lost, others are, and all of its generation are given up.
pub(in crate::storage) async fn is_usable(
    connection: &mut PgConnection,
    about: &PoolConnectionMetadata,
    liveness: &Liveness,
    silence_after: Duration,
) -> Result<bool, sqlx::Error> {
    if liveness.is_outdated(about.age) {
        return Ok(false);
    }
    // One that was used a moment ago is believed: to ask costs as much as most statements.
    if about.idle_for > BELIEVED_FOR {
        let answered = timeout(silence_after, connection.ping()).await;
        answered
            .unwrap_or_else(|_| Err(silence()))
            .inspect_err(|_| liveness.retire())?;
    }
    Ok(true)
}
