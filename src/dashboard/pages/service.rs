//! `GET /ui/service`: the state of the service, for operators: visitors who may see all vaults.

use super::super::failure::{Failure, Refusal};
use super::super::layout::{self, Crumb, Page};
use super::super::parts::{When, grouped, size, took};
use super::super::visit::Visit;
use crate::storage::database::server::ServerState;
use crate::storage::updates::queue::QueueState;
use crate::telemetry::requests::{self, FailedRequest};
use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/service.html")]
struct View {
    page: Page,
    is_ready: bool,
    /// Why it is not ready.
    not_ready: String,
    version: &'static str,
    database: Option<ServerState>,
    database_size: String,
    queue: Option<Queue>,
    failed: Vec<Failed>,
}

struct Queue {
    queued: String,
    running: String,
    oldest: Option<When>,
}

struct Failed {
    at: When,
    request: FailedRequest,
    took: String,
}

/// Shows the state.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    if !visit.runs_the_service() {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "The state of the service is shown to the role admin of every vault.",
        ));
    }
    let storage = &visit.services.storage;
    let (ready, database, queue) = futures::join!(
        visit.api.ask_path(Method::GET, "/readyz".to_owned()).answer(),
        storage.server_state(),
        storage.queue_state(),
    );
    let ready = ready?;
    let is_ready = ready.status.is_success();
    let database = database.ok();
    let failed = requests::recently_failed().into_iter().map(|request| Failed {
        at: When::new(request.at, visit.now),
        took: took(i64::try_from(request.millis).unwrap_or(i64::MAX)),
        request,
    });
    let queue = queue.ok().map(|queue: QueueState| Queue {
        queued: grouped(queue.queued),
        running: grouped(queue.running),
        oldest: queue.oldest.map(|oldest| When::new(oldest, visit.now)),
    });
    layout::render(&View {
        page: Page::of(&visit, "Service").crumb(Crumb::here("Service")),
        is_ready,
        not_ready: if is_ready {
            String::new()
        } else {
            Refusal::read(&ready.body).detail
        },
        version: env!("CARGO_PKG_VERSION"),
        database_size: database
            .as_ref()
            .map(|state| size(state.bytes))
            .unwrap_or_default(),
        database,
        queue,
        failed: failed.collect(),
    })
}
