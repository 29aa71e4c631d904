//! Connections to a service, and their responses.

use super::failure::Failure;
use super::response::ServiceResponse;
use super::settings::is_loopback;
use std::error::Error as _;
use std::time::Duration;
use url::Url;

/// The timeout of a connection attempt.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The largest response that is accepted, in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 256 * 1024 * 1024;

/// No redirects, since one could send the key to another host, and no proxy for this machine itself.
pub(in crate::cli) fn client(url: &Url) -> Result<reqwest::Client, Failure> {
    // No other code in this process installs a provider before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("working-memory/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIME);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    builder
        .build()
        .map_err(|error| Failure::failed(format!("cannot connect to {url}: {}", innermost(&error))))
}

/// Reads a response with its body.
pub(super) async fn whole(mut response: reqwest::Response) -> Result<ServiceResponse, Broken> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(Broken::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(ServiceResponse {
        status,
        headers,
        body,
    })
}

/// An exchange that failed.
pub(super) enum Broken {
    Http(reqwest::Error),
    TooLarge,
}

impl From<reqwest::Error> for Broken {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

/// The innermost cause of an error, which is the most informative.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = error.to_string();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
