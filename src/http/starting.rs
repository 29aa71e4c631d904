//! What is answered while the service starts: its database may be away, or its schema be brought up to date for long,
//! and whoever watches the process is to know that it lives and cannot work yet.

use super::middleware;
use super::middleware::layer::layer;
use super::passing::Passing;
use super::routes::health::{healthz, readyz};
use super::{Settings, serve};
use crate::clock::Clock;
use crate::telemetry;
use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long answers that are on their way may keep the service from beginning.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Answers on a socket until the service does.
#[derive(Debug)]
pub struct Starting {
    listener: TcpListener,
    done: CancellationToken,
    answering: JoinHandle<bool>,
}

impl Starting {
    /// Begins to answer: `/healthz` says that the process lives, and all else is 503.
    ///
    /// # Errors
    /// A socket that cannot be shared.
    pub fn answer(listener: TcpListener, settings: &Settings, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let listener = listener.into_std()?;
        let shared = TcpListener::from_std(listener.try_clone()?)?;
        let settings = Settings {
            // An answer that is on its way arrives; whoever is slow must not keep the service from beginning.
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

    /// Stops answering. Who connects from now on is answered by whoever takes the socket.
    pub async fn done(self) -> TcpListener {
        self.done.cancel();
        // What it came to changes nothing: it takes no connection any more.
        let _ = self.answering.await;
        self.listener
    }
}

/// 503, which whoever probes the start expects.
async fn starting() -> Response {
    let mut response = readyz::starting().into_response();
    response.extensions_mut().insert(Passing);
    response
}

/// No connection outlives its answer (RFC 9112, 9.6): the next request is for the service, and would be lost on a
/// connection that ends when the service begins.
async fn last_of_its_connection(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn router(clock: Arc<dyn Clock>) -> Router {
    telemetry::metrics();
    let router = Router::new()
        .route("/healthz", get(healthz::healthz))
        .route("/readyz", get(starting))
        .fallback(starting);
    router.layer((
        layer(Arc::new(clock), middleware::around_start),
        map_response(last_of_its_connection),
    ))
}
