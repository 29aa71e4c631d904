//! `GET /ui/service`: the state of the service, for operators: visitors who may see all vaults.

use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
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
    /// Why it is not ready.
    not_ready: Option<Refusal>,
    database: Option<ServerState>,
    queue: Option<QueueState>,
    failed: Vec<FailedRequest>,
}

/// Shows the state.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    if !layout::runs_the_service(&visit.caller) {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "The state of the service is shown to the role admin of every vault.",
        ));
    }
    let storage = &visit.services.storage;
    let (ready, database, queue) = futures::join!(
        visit.api.ask_root(Method::GET, &["readyz"]).answer(),
        storage.server_state(),
        storage.queue_state(),
    );
    let ready = ready?;
    layout::render(&View {
        page: Page::of(&visit, "Service").here("Service"),
        not_ready: (!ready.status.is_success()).then(|| Refusal::read(&ready.body)),
        database: database.ok(),
        queue: queue.ok(),
        failed: requests::recently_failed(),
    })
}
