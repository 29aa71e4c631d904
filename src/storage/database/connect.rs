//! Connection options, the check of idle connections before they are reused, and whether a pooler is in between.
//!
//! A transaction-mode pooler may run each transaction on another server connection. If it does not track prepared
//! statements (`database.prepared_statements = false`, the default behind a pooler), a statement's name would be missing
//! there or belong to another client. So each transaction first deallocates all names, and even a single read is a transaction, because preparing
//! and executing are two messages.

use crate::storage::StorageError;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::{Liveness, SILENCE, silence};
use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Begins a transaction on a server connection on which other clients prepared statements.
pub(in crate::storage) const BEGIN_WITHOUT_NAMES: &str = "BEGIN; DEALLOCATE ALL";

/// Begins a transaction anew, as one that only reads and whose statements all see one moment. `SET TRANSACTION` would be
/// refused after the `DEALLOCATE`, which counts as a query. One message, so that a pooler keeps the server connection.
pub(in crate::storage) const SEE_ONE_MOMENT: &str =
    "ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// A connection that was idle for less than this is reused without a check.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Prepared statements cached on each connection: more than the service has.
const KEPT_STATEMENTS: usize = 256;

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

/// The options of a pool: its connections belong to the current generation, and idle ones are checked before reuse.
pub(in crate::storage) fn pool_options(liveness: &Arc<Liveness>) -> PgPoolOptions {
    let liveness = liveness.clone();
    PgPoolOptions::new()
        .test_before_acquire(false)
        .before_acquire(move |connection, about| {
            let liveness = liveness.clone();
            Box::pin(async move { is_usable(connection, &about, &liveness).await })
        })
}

/// Checks whether an idle connection may be handed out.
///
/// # Errors
/// The connection does not answer. If one is lost, others are probably lost too, so its whole generation is retired.
async fn is_usable(
    connection: &mut PgConnection,
    about: &PoolConnectionMetadata,
    liveness: &Liveness,
) -> Result<bool, sqlx::Error> {
    if liveness.is_outdated(about.age) {
        return Ok(false);
    }
    // A connection that was used a moment ago is not checked: the check costs as much as most statements.
    if about.idle_for > BELIEVED_FOR {
        let answered = timeout(SILENCE, connection.ping()).await;
        answered
            .unwrap_or_else(|_| Err(silence()))
            .inspect_err(|_| liveness.retire())?;
    }
    Ok(true)
}

/// The time limit of [`is_direct`].
const ASKED_FOR: Duration = Duration::from_secs(10);

/// How many connections with the setting are lost, while others are made, until that counts as a rejection.
const MARKED_TRIES: u32 = 3;

/// A setting that nothing else uses, which identifies a session.
const MARK: &str = "working_memory.session";

/// Whether a URL leads to the server itself: it applies a setting that is sent at the start of a session. A pooler rejects
/// the setting or drops it, because its server connections exist already. Behind one, a `LISTEN` would remain in a session
/// that other clients use next, and the names of prepared statements may be missing or belong to other clients.
///
/// # Errors
/// An invalid URL, or a database that does not answer.
pub async fn is_direct(url: &str) -> Result<bool, StorageError> {
    let asked = timeout(ASKED_FOR, Box::pin(is_setting_applied(url))).await;
    asked.unwrap_or_else(|_| Err(silence().into()))
}

async fn is_setting_applied(url: &str) -> Result<bool, StorageError> {
    let options = connect_options(Hosts::parse(url)?.primary().await?, false);
    let with_mark = options.clone().options([(MARK, "direct")]);
    let mut lost = 0;
    let mut marked = loop {
        let error = match PgConnection::connect_with(&with_mark).await {
            Ok(marked) => break marked,
            // A server that is starting, or has no connection left at the moment, says nothing of the setting.
            Err(sqlx::Error::Database(error)) if error.is_transient_in_connect_phase() => {
                return Err(sqlx::Error::Database(error).into());
            }
            Err(error) => error,
        };
        // Each pooler rejects it in its own way, some by closing the connection. Any other error occurs again without it.
        let plain = PgConnection::connect_with(&options).await?;
        let _ = plain.close().await;
        lost += 1;
        // A connection is lost for other reasons too, but not again and again while others are made.
        if matches!(error, sqlx::Error::Database(_)) || lost == MARKED_TRIES {
            return Ok(false);
        }
    };
    let statement = format!("SELECT current_setting('{MARK}', true)");
    let found = sqlx::raw_sql(AssertSqlSafe(statement))
        .fetch_one(&mut marked)
        .await?;
    let found: Option<String> = found.try_get(0)?;
    let _ = marked.close().await;
    Ok(found.is_some_and(|found| found == "direct"))
}
