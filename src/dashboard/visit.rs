//! The visitor of a page, and their rights.

use crate::clock::Clock;
use crate::dashboard::api::{Ask, Routes};
use crate::dashboard::failure::Failure;
use crate::dashboard::form::Refused;
use crate::dashboard::link;
use crate::domain::access::Caller;
use crate::http::dashboard::Sessions;
use crate::storage::Storage;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use chrono::{DateTime, Utc};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// What pages need from the service: in the extensions of every page request.
#[derive(Clone)]
pub(crate) struct PageServices {
    /// The clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// Signing in and out.
    pub(crate) sessions: Arc<Sessions>,
    /// The largest document, in bytes.
    pub(crate) context_bytes: usize,
    /// The time for a form to arrive.
    pub(crate) body_timeout: Duration,
    /// For what the database reports about itself.
    pub(crate) storage: Storage,
}

/// A page request of a visitor who is signed in or needs no key.
#[derive(Clone)]
pub(crate) struct Visit {
    pub(super) api: Routes,
    pub(super) caller: Caller,
    pub(super) form_token: String,
    pub(super) services: PageServices,
    pub(super) now: DateTime<Utc>,
    /// The form that was not executed, if its page is shown again.
    pub(super) refused: Option<Arc<Refused>>,
    path: String,
    /// What the path names: `vault_id`, `memory_id` and others.
    names: Vec<(String, String)>,
    query: Vec<(String, String)>,
}

/// The links to the first and the next page of a list.
#[derive(Debug, Default)]
pub(crate) struct Pager {
    pub(super) first: Option<String>,
    pub(super) next: Option<String>,
}

/// The value of a name; `None` if it is missing or empty.
fn value<'v>(values: &'v [(String, String)], name: &str) -> Option<&'v str> {
    let (_, value) = values.iter().find(|(other, _)| other == name)?;
    Some(value.as_str()).filter(|value| !value.is_empty())
}

impl Visit {
    /// A parameter of the page; an empty one counts as missing.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        value(&self.query, name)
    }

    /// The request with these parameters of the page.
    pub(super) fn pass(&self, ask: Ask, names: &[&'static str]) -> Ask {
        let pass = |ask: Ask, name: &&'static str| ask.maybe(name, self.param(name));
        names.iter().fold(ask, pass)
    }

    /// What the path of the page names, such as `record_id`.
    pub(super) fn named(&self, name: &str) -> &str {
        value(&self.names, name).unwrap_or_default()
    }

    /// The vault of the page.
    pub(super) fn vault(&self) -> &str {
        self.named("vault_id")
    }

    /// The memory of the page.
    pub(super) fn memory(&self) -> &str {
        self.named("memory_id")
    }

    /// A request for something of the page's vault.
    pub(super) fn of_vault(&self, below: &[&str]) -> Ask {
        self.api.get(&[&["vaults", self.vault()], below].concat())
    }

    /// A request for something of the page's memory.
    pub(super) fn of_memory(&self, below: &[&str]) -> Ask {
        self.of_vault(&[&["memories", self.memory()], below].concat())
    }

    /// The path of a page of the same memory.
    pub(super) fn link(&self, below: &[&str]) -> String {
        link::memory(self.vault(), self.memory(), below)
    }

    /// A parameter that is a number.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.param(name)?.parse().ok()
    }

    /// The URL of this page with these parameters instead of its own.
    pub(super) fn with(&self, parameters: &[(&str, Option<&str>)]) -> String {
        let is_kept = |name: &str| name != "done" && parameters.iter().all(|(other, _)| *other != name);
        let kept = self.query.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, value)| (name.as_str(), Some(value.as_str())));
        let query: Vec<_> = kept.chain(parameters.iter().copied()).collect();
        link::with_query(&self.path, &query)
    }

    /// The links of a page of a list; `next` is the cursor of the next one.
    pub(super) fn pager(&self, next: Option<&str>) -> Pager {
        Pager {
            first: self.param("cursor").map(|_| self.with(&[("cursor", None)])),
            next: next.map(|next| self.with(&[("cursor", Some(next))])),
        }
    }
}

/// An extension of a page request.
pub(super) fn present<T: Clone + Send + Sync + 'static>(parts: &Parts) -> Result<T, Failure> {
    let found = parts.extensions.get::<T>().cloned();
    found.ok_or_else(|| Failure::internal("a page was requested without the layer in front of it"))
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let visitor: Visitor = present(parts)?;
        let here = parts
            .uri
            .path_and_query()
            .map_or("/ui/", |whole| whole.as_str())
            .to_owned();
        let Some(caller) = visitor.caller else {
            if matches!(parts.method, Method::GET | Method::HEAD) {
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
        let invalid =
            |_| Failure::with_status(StatusCode::BAD_REQUEST, "The address of the page is not valid.");
        let names = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(invalid)?;
        let services: PageServices = present(parts)?;
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self {
            api: present(parts)?,
            caller,
            form_token: visitor.form_token,
            now: services.clock.now(),
            refused: None,
            services,
            path: parts.uri.path().to_owned(),
            names: names
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            query: url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
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

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        present(parts)
    }
}
