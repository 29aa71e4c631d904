//! The accept loop: HTTP/1.1 with a time limit on every header, so that a slow client holds a socket and nothing
//! else, and a shutdown that finishes what is running.

use super::settings::Settings;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// How long to wait before accepting again when the machine has no socket left.
const PAUSE_WITHOUT_SOCKETS: Duration = Duration::from_millis(100);

/// The largest header of a request in bytes.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// Serves `router` on `listener` until `shutdown` is done, then lets running requests end, for
/// [`Settings::shutdown_grace`] at most. Returns whether all of them did.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: &Settings,
    shutdown: impl Future<Output = ()> + Send,
) -> bool {
    let builder = Arc::new(connection_builder(settings));
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(settings.max_connections));
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE_WITHOUT_SOCKETS).await;
                continue;
            }
        };
        let (router, builder, watcher) = (router.clone(), builder.clone(), graceful.watcher());
        tokio::spawn(async move {
            // Without it the small answers of a keep-alive connection wait for each other.
            let _ = stream.set_nodelay(true);
            let service =
                TowerToHyperService::new(router.map_request(|request: Request<_>| request.map(Body::new)));
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            // A connection that breaks is the client's business; its request has its own log line.
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(error, "a connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    tokio::time::timeout(settings.shutdown_grace, graceful.shutdown())
        .await
        .is_ok()
}

fn connection_builder(settings: &Settings) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .max_buf_size(MAX_HEADER_BYTES)
        .keep_alive(true);
    builder
}

/// Waits for a place first: connections beyond the limit stay in the listener's queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places
        .clone()
        .acquire_owned()
        .await
        .map_err(std::io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    async fn start(settings: Settings) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<bool>) {
        let slow = || async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            "done"
        };
        let router = Router::new().route("/slow", get(slow));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(async move {
            serve(listener, router, &settings, async {
                let _ = stopped.await;
            })
            .await
        });
        (address, stop, server)
    }

    async fn answer_to(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_shutdown_lets_running_requests_end() {
        let (address, stop, server) = start(Settings::default()).await;
        let request = tokio::spawn(answer_to(address, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
        tokio::time::sleep(Duration::from_millis(30)).await;
        stop.send(()).unwrap();
        assert!(server.await.unwrap());
        assert!(request.await.unwrap().ends_with("done"));
    }

    #[tokio::test]
    async fn a_client_that_never_finishes_its_header_is_cut_off() {
        let settings = Settings {
            header_timeout: Duration::from_millis(50),
            ..Settings::default()
        };
        let (address, _stop, _server) = start(settings).await;
        for unfinished in ["", "P", "GET /slow HTTP/1.1\r\nHost:"] {
            let answer = tokio::time::timeout(Duration::from_secs(5), answer_to(address, unfinished)).await;
            assert!(!answer.unwrap().contains("done"), "{unfinished}");
        }
    }
}
