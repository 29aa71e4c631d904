//! Responses while the service starts. The database may be unavailable or its migration may take long; health checks
//! must see that the process is alive but not ready.

use super::middleware;
use super::problem::Passing;
use super::routes::health;
use super::{Settings, serve};
use crate::clock::Clock;
use crate::telemetry;
use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::{from_fn, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long responses in transfer may delay the start of the service.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Answers on a socket until the service takes over.
#[derive(Debug)]
pub struct Starting {
    listener: TcpListener,
    done: CancellationToken,
    answering: JoinHandle<bool>,
}

impl Starting {
    /// Starts answering: `/healthz` with 200, everything else with 503.
    ///
    /// # Errors
    /// The socket cannot be cloned.
    pub fn answer(listener: TcpListener, settings: &Settings, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let listener = listener.into_std()?;
        let shared = TcpListener::from_std(listener.try_clone()?)?;
        let settings = Settings {
            // A response in transfer is completed, but a slow client must not delay the start of the service.
            shutdown_grace: LAST_ANSWERS,
            ..settings.clone()
        };
        let done = CancellationToken::new();
        let until = done.clone().cancelled_owned();
        let answering = tokio::spawn(async move { serve(shared, router(clock), &settings, until).await });
        Ok(Self {
            listener: TcpListener::from_std(listener)?,
            done,
            answering,
        })
    }

    /// Stops answering. Later connections are accepted by the next user of the socket.
    pub async fn done(self) -> TcpListener {
        self.done.cancel();
        // The result does not matter: it accepts no more connections.
        let _ = self.answering.await;
        self.listener
    }
}

/// 503, as startup probes expect.
async fn starting() -> Response {
    let mut response = health::starting().into_response();
    response.extensions_mut().insert(Passing);
    response
}

/// Closes each connection after its response (RFC 9112, 9.6). The next request is for the service, and would be lost
/// on a connection that closes when the service starts.
async fn last_of_its_connection(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn router(clock: Arc<dyn Clock>) -> Router {
    telemetry::metrics();
    let router = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(starting))
        .fallback(starting);
    let router = router.layer((
        from_fn(middleware::site::check_host),
        map_response(last_of_its_connection),
    ));
    middleware::standard::around_routes(router, clock)
}
