//! `GET /readyz`

use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use axum::extract::State;
use serde_json::{Map, Value};

/// What has to be so, in the order in which it is asked: behind what failed nothing is asked any more.
const CHECKS: [&str; 2] = ["database", "schema"];

/// Whether the service can work
///
/// Asks the database, and whether its schema is that of this program. The answer names each check with `ok`; a
/// problem has them as `checks`, with `ok`, `failed` or `unknown`.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "GetReadiness",
    tag = "health",
    responses(
        (status = 200, description = "It can.", body = String, content_type = "text/plain; charset=utf-8", example = "ready\ndatabase ok\nschema ok\n"),
        (status = 503, description = "It cannot; `detail` says what is not ready, `not_ready` and `checks` name it."),
    )
)]
pub(crate) async fn readyz(State(state): State<AppState>) -> Result<String, Problem> {
    if let Err(error) = state.storage.ping().await {
        let problem = not_ready("database", "the database does not answer");
        return Err(problem.caused_by(error));
    }
    match state.storage.schema_is_current().await {
        Ok(true) => {
            let lines = CHECKS.map(|check| format!("{check} ok\n"));
            Ok(format!("ready\n{}", lines.concat()))
        }
        Ok(false) => Err(not_ready(
            "schema",
            "the database's schema is older than this program",
        )),
        Err(error) => {
            let problem = not_ready("schema", "the database's schema cannot be read");
            Err(problem.caused_by(error))
        }
    }
}

/// The answer of a service that is still starting.
pub(crate) fn starting() -> Problem {
    not_ready(
        "database",
        "the service is starting: it waits for its database, or brings the schema up to date",
    )
}

fn not_ready(failed: &'static str, why: &str) -> Problem {
    let mut state = "ok";
    let mut checks = Map::new();
    for check in CHECKS {
        if check == failed {
            state = "failed";
        }
        checks.insert(check.to_owned(), Value::from(state));
        if check == failed {
            state = "unknown";
        }
    }
    Problem::new(Kind::Unavailable, format!("not ready: {why}"))
        .with("not_ready", vec![failed])
        .with("checks", checks)
        .retry_after(1)
}
