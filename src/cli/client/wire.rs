//! Connections to a service, and answers as they come in.

use super::answer::Answer;
use super::failure::Failure;
use super::settings::is_loopback;
use std::error::Error as _;
use std::time::Duration;
use url::Url;

/// How long a connection may take to come about.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The largest answer that is read, in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 256 * 1024 * 1024;

/// No redirects, since one could carry the key elsewhere, and no proxy to this machine itself.
pub(in crate::cli) fn client(url: &Url) -> Result<reqwest::Client, Failure> {
    // Nothing else in this process installs one before.
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
        .map_err(|error| Failure::failed(format!("cannot speak to {url}: {}", innermost(&error))))
}

/// An answer with its body.
pub(super) async fn whole(mut response: reqwest::Response) -> Result<Answer, Broken> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(Broken::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer {
        status,
        headers,
        body,
    })
}

/// An exchange that came to no end.
pub(super) enum Broken {
    Http(reqwest::Error),
    TooLarge,
}

impl From<reqwest::Error> for Broken {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

/// The last cause of an error: the one that says something to a person.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = error.to_string();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
