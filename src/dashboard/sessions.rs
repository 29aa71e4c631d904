//! The visitor, as authenticated by the layer in front of all pages, and signing in and out.

use crate::domain::access::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;

/// The visitor of a page: in the extensions of every page request.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    /// The signed-in visitor; anybody if the service requires no key. `None`: has to sign in first.
    pub(crate) caller: Option<Caller>,
    /// The token that a form must send back, which proves that it comes from this browser.
    pub(crate) form_token: String,
}

/// Signing in and out.
#[async_trait]
pub(crate) trait SessionBackend: Send + Sync {
    /// Starts a session with a key and returns the value of `Set-Cookie`. `None`: the key is not valid.
    ///
    /// # Errors
    /// A problem, as a route returns it.
    async fn sign_in(
        &self,
        key: &str,
        headers: &HeaderMap,
    ) -> Result<Option<String>, axum::response::Response>;

    /// Ends the session of a request and returns the value of `Set-Cookie`.
    ///
    /// # Errors
    /// A problem, as a route returns it.
    async fn sign_out(&self, headers: &HeaderMap) -> Result<String, axum::response::Response>;
}
