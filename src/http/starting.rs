//! The server of the process. It answers as soon as it has its socket: the database may be unavailable or its migration may
//! take long, and health checks must see that the process is alive but not ready. Connections stay when the service is
//! ready: the next request on each is for the service.

use super::middleware;
use super::problem::Passing;
use super::routes::health;
use super::{Settings, serve};
use crate::clock::Clock;
use crate::telemetry;
use axum::Router;
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

/// Answers on a socket, first as a service that starts, then as the service.
#[derive(Debug)]
pub struct Server {
    service: Arc<OnceLock<Router>>,
    stop: CancellationToken,
    serving: JoinHandle<bool>,
}

impl Server {
    /// Starts answering: `/healthz` with 200, everything else with 503.
    pub fn start(listener: TcpListener, settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let (service, stop) = (Arc::<OnceLock<Router>>::default(), CancellationToken::new());
        let (starting, ready) = (router(clock), service.clone());
        let router = move || ready.get().unwrap_or(&starting).clone();
        let until = stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move { serve(listener, router, &settings, until).await });
        Self {
            service,
            stop,
            serving,
        }
    }

    /// Every request that arrives from now on is answered by this router. Only the first call has an effect.
    pub fn ready(&self, router: Router) {
        let _ = self.service.set(router);
    }

    /// Stops accepting, and lets running requests finish, for at most [`Settings::shutdown_grace`]. Returns whether all did.
    ///
    /// # Errors
    /// The server panicked.
    pub async fn stop(self) -> Result<bool, JoinError> {
        self.stop.cancel();
        self.serving.await
    }
}

/// 503, as startup probes expect.
async fn starting() -> Response {
    let mut response = health::starting().into_response();
    response.extensions_mut().insert(Passing);
    response
}

fn router(clock: Arc<dyn Clock>) -> Router {
    telemetry::metrics();
    let router = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(starting))
        .fallback(starting);
    middleware::standard::around_routes(router.layer(from_fn(middleware::site::check_host)), clock)
}
