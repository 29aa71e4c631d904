//! The visitor of a page, and their rights.

use crate::clock::Clock;
use crate::dashboard::api::Routes;
use crate::dashboard::failure::Failure;
use crate::dashboard::layout::Who;
use crate::dashboard::link;
use crate::dashboard::pages::refused::Refused;
use crate::domain::access::{AccessRole, Caller};
use crate::storage::Storage;
use async_trait::async_trait;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// What pages need from the service: in the extensions of every page request.
#[derive(Clone)]
pub(crate) struct PageServices {
    /// The clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// Signing in and out.
    pub(crate) sessions: Arc<dyn SessionBackend>,
    /// The largest document, in bytes.
    pub(crate) context_bytes: usize,
    /// For what the database reports about itself.
    pub(crate) storage: Storage,
}

/// A page request of a visitor who is signed in or needs no key.
pub(crate) struct Visit {
    pub(super) api: Routes,
    pub(super) caller: Caller,
    pub(super) form_token: String,
    pub(super) services: PageServices,
    pub(super) now: DateTime<Utc>,
    /// The form that was not executed, if its page is shown again.
    pub(super) refused: Option<Arc<Refused>>,
    query: Vec<(String, String)>,
}

impl Visit {
    /// Whether the visitor may send operations, at least as a proposal.
    pub(super) fn may_propose(&self) -> bool {
        self.caller.may(AccessRole::Proposer)
    }

    /// Whether the visitor may change memories.
    pub(super) fn may_write(&self) -> bool {
        self.caller.may(AccessRole::Writer)
    }

    /// Whether the visitor may remove history, and create keys.
    pub(super) fn may_admin(&self) -> bool {
        self.caller.may(AccessRole::Admin)
    }

    /// Whether the visitor may see what belongs to all vaults.
    pub(super) fn runs_the_service(&self) -> bool {
        Who::of(&self.caller).runs_the_service
    }

    /// A parameter of the page; an empty one counts as missing.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(other, _)| other == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }
}

/// An extension of a page request.
fn present<T: Clone + Send + Sync + 'static>(parts: &Parts) -> Result<T, Failure> {
    let found = parts.extensions.get::<T>().cloned();
    found.ok_or_else(|| Failure::internal("a page was requested without the layer in front of it"))
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let visitor: Visitor = present(parts)?;
        let here = parts
            .uri
            .path_and_query()
            .map_or("/ui/", |whole| whole.as_str())
            .to_owned();
        let Some(caller) = visitor.caller else {
            if parts.method == Method::GET {
                let next = (here != "/ui/").then_some(here.as_str());
                return Err(Failure::SignIn(link::with_query(
                    "/ui/sign-in",
                    &[("next", next)],
                )));
            }
            return Err(Failure::with_status(
                StatusCode::UNAUTHORIZED,
                "You are no longer signed in; the form was not executed.",
            ));
        };
        let services: PageServices = present(parts)?;
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self {
            api: present(parts)?,
            caller,
            form_token: visitor.form_token,
            now: services.clock.now(),
            refused: None,
            services,
            query: url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        })
    }
}

/// A page request of any visitor.
pub(crate) struct Anybody {
    pub(super) visitor: Visitor,
    pub(super) services: PageServices,
}

impl<S: Send + Sync> FromRequestParts<S> for Anybody {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self {
            visitor: present(parts)?,
            services: present(parts)?,
        })
    }
}

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
