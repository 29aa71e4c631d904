//! The accept loop: HTTP/1.1 with a time limit on request headers, so that a slow client holds only a socket, and a
//! graceful shutdown. The TLS handshake runs in the connection's own task, so a slow client does not delay others.
//!
//! TLS is built in, with a certificate and a key from two PEM files, which can be reloaded while the service runs. How many
//! connections one address may hold that show no key is limited here, which neither hyper nor tower does.

use crate::clock::Clock;
use crate::fair::{FairSemaphore, Party, Permit, ShareLimits};
use crate::http::middleware::{self, layer};
use crate::http::problem::{Kind, Passing, Problem};
use crate::http::routes::health;
use crate::http::state::Settings;
use crate::telemetry;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{BoxError, Router};
use futures::future::{Either, ready};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinHandle};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service;

/// How long to wait before accepting again when no file descriptor is available.
const PAUSE_WITHOUT_SOCKETS: Duration = Duration::from_millis(100);

/// The time limit for sending the response to a rejected connection.
const TURNED_AWAY_WITHIN: Duration = Duration::from_secs(1);

/// The origin of a request, as an extension.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// What it is counted for; of IPv6 only the beginning.
    pub(crate) address: IpAddr,
    /// The connection's permit, which counts for its address.
    unauthenticated: Arc<Mutex<Option<Permit>>>,
}

impl Peer {
    /// A request on the connection had a valid key: it no longer counts.
    pub(crate) fn is_known(&self) {
        *self.unauthenticated.lock() = None;
    }
}

/// Serves `listener`, each request with what `router` returns then and the layers around all routes, until `shutdown` completes,
/// then lets running requests finish, for at most [`Settings::shutdown_grace`]. Returns whether all of them did.
pub async fn serve<R>(
    listener: TcpListener,
    router: R,
    settings: &Settings,
    shutdown: impl Future<Output = ()> + Send,
) -> bool
where
    R: Fn() -> Router + Send + Sync + 'static,
{
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .max_buf_size(settings.max_header_bytes)
        .max_headers(settings.max_headers);
    let server = Arc::new(Connections {
        builder,
        router: Arc::new(router),
        settings: settings.clone(),
    });
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(settings.max_connections));
    // So that one address cannot use up all connections.
    let unauthenticated = FairSemaphore::new(ShareLimits {
        of_vault: match settings.config.http.max_connections_per_address {
            0 => usize::MAX,
            most => most,
        },
        ..ShareLimits::of(usize::MAX)
    });
    let mut shutdown = std::pin::pin!(shutdown);
    let stopping = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, address, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE_WITHOUT_SOCKETS).await;
                continue;
            }
        };
        let (server, watcher, stopping) = (server.clone(), graceful.watcher(), stopping.clone());
        let address = counted(address.ip());
        let of_address = Party::new(Some(&address.to_string()), None);
        let permit = unauthenticated.try_acquire(&of_address, 1);
        tokio::spawn(async move {
            let _open = Open::new(place);
            match permit {
                Some(permit) => {
                    let unauthenticated = Arc::new(Mutex::new(Some(permit)));
                    let peer = Peer {
                        address,
                        unauthenticated,
                    };
                    server.connection(stream, peer, watcher, &stopping).await;
                }
                None => server.turn_away(stream).await,
            }
        });
    }
    drop(listener);
    stopping.cancel();
    tokio::time::timeout(settings.shutdown_grace, graceful.shutdown())
        .await
        .is_ok()
}

/// The address that a client is counted for. Of IPv6 it is the /64, since every host has one and may use any address in it; one that
/// maps IPv4, as a socket for both shows it, is that of IPv4.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// What every connection needs.
struct Connections<R> {
    builder: Builder,
    router: Arc<R>,
    settings: Settings,
}

impl<R: Fn() -> Router + Send + Sync + 'static> Connections<R> {
    /// Rejects a connection of an address that has reached its limit. A TLS connection is closed without a response.
    async fn turn_away(&self, stream: TcpStream) {
        telemetry::refused("connections");
        if self.settings.tls.is_some() {
            return;
        }
        let most = self.settings.config.http.max_connections_per_address;
        let refused = tower::service_fn(move |_: Request<Incoming>| {
            let detail = format!(
                "this address has {most} open connections that have shown no key, which is the limit"
            );
            let problem = Problem::new(Kind::Unavailable, detail)
                .with("limit", most)
                .with("limit_name", "http.max_connections_per_address")
                .retry_after(1)
                .header(CONNECTION, HeaderValue::from_static("close"));
            ready(Ok::<_, Infallible>(problem.into_response()))
        });
        let service = TowerToHyperService::new(middleware::standard::around_routes(refused));
        let connection = self.builder.serve_connection(TokioIo::new(stream), service);
        // The result does not matter: the connection must be closed anyway.
        let _ = tokio::time::timeout(TURNED_AWAY_WITHIN, connection).await;
    }

    async fn connection(
        &self,
        stream: TcpStream,
        peer: Peer,
        watcher: Watcher,
        stopping: &CancellationToken,
    ) {
        // Disables Nagle's algorithm, which delays small responses on a keep-alive connection.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.settings.tls else {
            return self.requests(stream, peer, watcher).await;
        };
        let handshake = tls.acceptor().accept(stream);
        let handshake = tokio::time::timeout(self.settings.header_timeout, handshake);
        match stopping.run_until_cancelled(handshake).await {
            Some(Ok(Ok(stream))) => self.requests(stream, peer, watcher).await,
            Some(Ok(Err(error))) => broken("tls", &error),
            Some(Err(late)) => broken("tls", &late),
            // No request has begun.
            None => {}
        }
    }

    async fn requests(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: Peer,
        watcher: Watcher,
    ) {
        let (router, most) = (self.router.clone(), self.settings.max_header_bytes);
        let routes = tower::service_fn(move |request: Request<Incoming>| {
            // hyper looks at the length of its buffer only while the head is incomplete; its own response is the same.
            if head_bytes(&request) > most {
                let close = [(CONNECTION, HeaderValue::from_static("close"))];
                let too_long = (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, close).into_response();
                return Either::Left(ready(Ok::<_, Infallible>(too_long)));
            }
            let mut request = request.map(body);
            request.extensions_mut().insert(peer.clone());
            // A router is always ready.
            Either::Right(router().call(request))
        });
        let service = TowerToHyperService::new(middleware::standard::around_routes(routes));
        // Otherwise a client that requests much and reads nothing would keep its response in memory, and its connection open,
        // forever (docs/operations.md).
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(self.settings.write_timeout));
        let connection = self
            .builder
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        // A broken connection is caused by the client; its request has its own log line.
        if let Err(error) = watcher.watch(connection).await {
            broken("http", &error);
        }
    }
}

/// The size of a request's head, as it was sent but for blanks around values.
fn head_bytes<B>(request: &Request<B>) -> usize {
    let target = request
        .uri()
        .path_and_query()
        .map_or(1, |target| target.as_str().len());
    let lines = request.headers().iter();
    let lines = lines.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    request.method().as_str().len() + target + "  HTTP/1.1\r\n\r\n".len() + lines.sum::<usize>()
}

/// Most requests have no body, and an empty body needs no allocation.
fn body<B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static>(body: B) -> Body {
    if body.is_end_stream() {
        Body::empty()
    } else {
        Body::new(body)
    }
}

fn broken(reason: &'static str, error: &(dyn std::error::Error + 'static)) {
    metrics::counter!(telemetry::CONNECTIONS_BROKEN_TOTAL, "reason" => reason).increment(1);
    tracing::debug!(error, reason, "a connection ended");
}

/// An open connection.
struct Open(#[expect(dead_code, reason = "counts while it is there")] OwnedSemaphorePermit);

impl Open {
    fn new(place: OwnedSemaphorePermit) -> Self {
        metrics::gauge!(telemetry::CONNECTIONS_OPEN).increment(1.0);
        Self(place)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        metrics::gauge!(telemetry::CONNECTIONS_OPEN).decrement(1.0);
    }
}

/// Waits for a permit before accepting: connections above the limit stay in the listener's queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places
        .clone()
        .acquire_owned()
        .await
        .map_err(std::io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    Ok((stream, address, place))
}

/// Answers on a socket, first as a service that starts, then as the service. The database may be unavailable or its migration
/// may take long, and health checks must see that the process is alive but not ready. Connections stay when the service is
/// ready: the next request on each is for the service.
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
        let (starting, ready) = (starting_router(clock), service.clone());
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

fn starting_router(clock: Arc<dyn Clock>) -> Router {
    telemetry::metrics();
    let router = Router::new()
        .route("/healthz", get(health::get_health))
        .route("/readyz", get(starting))
        .fallback(starting);
    router.layer(layer(Arc::new(clock), middleware::around_start))
}

/// Why TLS cannot be used: the setting, the file and the problem.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// The current certificate. A connection keeps the one it started with.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// As [`TlsError`] says.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current: RwLock::new(read_pair(certificate, key)?),
        })
    }

    /// Reads the files again, for later connections. On an error the previous certificate remains in use.
    ///
    /// # Errors
    /// As [`TlsError`] says.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = read_pair(&self.certificate, &self.key)?;
        *self.current.write() = fresh;
        Ok(())
    }

    /// The acceptor for a new connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.read();
        TlsAcceptor::from(current.clone())
    }
}

fn read_pair(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let of_certificate = |problem: &dyn Display| {
        TlsError(format!(
            "http.tls.certificate {}: {problem}",
            certificate.display()
        ))
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| of_certificate(&error))?;
    if chain.is_empty() {
        return Err(of_certificate(&"there is no PEM certificate in it"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        let is_encrypted = std::fs::read_to_string(key).is_ok_and(|text| text.contains("ENCRYPTED"));
        let why = match is_encrypted {
            true => "the key is encrypted, and must not be".to_owned(),
            false => error.to_string(),
        };
        TlsError(format!("http.tls.key {}: {why}", key.display()))
    })?;
    let of_both = |error: rustls::Error| {
        let (certificate, key) = (certificate.display(), key.display());
        TlsError(format!(
            "http.tls.certificate {certificate} and http.tls.key {key} cannot be used: {error} (the key must be that of the \
             first certificate in the file)"
        ))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(of_both)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(of_both)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_counts_by_its_network_and_an_ipv4_address_by_itself() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ] {
            let counted = counted(address.parse().unwrap());
            assert_eq!(counted.to_string(), expected, "{address}");
        }
    }
}
