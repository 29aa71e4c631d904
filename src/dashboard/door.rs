//! Who comes in, as the layer in front of all pages found out, and how one signs in and out.

use crate::domain::access::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;

/// Who looks at a page: among the extensions of every request for one.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    /// Whoever is signed in; at a service that asks for no key anybody. `None`: has to sign in first.
    pub(crate) caller: Option<Caller>,
    /// What a form has to send back to be taken as one of this browser's.
    pub(crate) form_token: String,
}

/// Signing in and out.
#[async_trait]
pub(crate) trait Door: Send + Sync {
    /// Begins a session with a key: the value of `Set-Cookie`. `None`: the key is not taken.
    ///
    /// # Errors
    /// A problem, as a route would answer it.
    async fn sign_in(
        &self,
        key: &str,
        headers: &HeaderMap,
    ) -> Result<Option<String>, axum::response::Response>;

    /// Ends the session of a request: the value of `Set-Cookie`.
    ///
    /// # Errors
    /// A problem, as a route would answer it.
    async fn sign_out(&self, headers: &HeaderMap) -> Result<String, axum::response::Response>;
}
