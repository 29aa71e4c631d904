//! Mounts the dashboard: provides its pages with the services they need, sign-in and sign-out among them.

use super::extract::body::{self, Limit};
use super::middleware::carried;
use super::middleware::session;
use super::problem::Problem;
use super::state::AppState;
use crate::dashboard::{PageServices, Routes};
use crate::domain::access::Token;
use crate::storage::access::sessions::{SESSION_DAYS, Session};
use axum::Router;
use axum::body::Body;
use axum::http::header::ORIGIN;
use axum::http::{Extensions, HeaderMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const SECONDS_PER_DAY: i64 = 86_400;

/// The services that the layer around all pages provides.
pub(crate) struct Pages {
    /// The routes that pages call. They check the visitor's permissions.
    routes: Router,
    services: PageServices,
}

impl Pages {
    pub(super) fn new(state: &AppState, routes: Router) -> Self {
        Self {
            routes,
            services: PageServices {
                clock: state.clock.clone(),
                sessions: Arc::new(Sessions(state.clone())),
                context_bytes: state.settings.config.limits.context_bytes,
                body_timeout: state.settings.body_timeout,
                storage: state.storage.clone(),
            },
        }
    }

    /// Adds the services to the extensions of a request for a page.
    pub(super) fn give(&self, extensions: &mut Extensions) {
        extensions.insert(Routes::new(self.routes.clone(), carried(extensions)));
        extensions.insert(self.services.clone());
    }
}

/// Reads a form of at most `most` bytes within `time`, as the bodies of routes are read.
pub(crate) async fn read_form(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    time: Duration,
) -> Result<Vec<u8>, Problem> {
    let limit = Limit {
        name: "of a form",
        bytes: most,
    };
    body::read(headers, body, limit, time).await
}

/// Sign-in and sign-out with the API keys of this service.
pub(crate) struct Sessions(AppState);

impl Sessions {
    /// Starts a session with a key and returns the value of `Set-Cookie`. `None`: the key is not valid.
    pub(crate) async fn sign_in(&self, key: &str, headers: &HeaderMap) -> Result<Option<String>, Problem> {
        let Some(token) = Token::parse(key) else {
            return Ok(None);
        };
        let state = &self.0;
        if state
            .gate
            .holder_of(token.key_id(), &token.hash(), Instant::now(), false)
            .await?
            .is_none()
        {
            crate::telemetry::refused("unauthorized");
            return Ok(None);
        }
        // Always a new session id, never the one the browser sent: an attacker could have set it (session fixation).
        let session = session::new();
        let begun = Session {
            key_id: token.key_id().clone(),
            secret: token.hash(),
        };
        state.storage.begin_session(&session.hash(), &begun).await?;
        let seconds = SESSION_DAYS * SECONDS_PER_DAY;
        let secure = self.is_secure(headers);
        Ok(Some(session::cookie(session.expose(), Some(seconds), secure)))
    }

    /// Ends the session of a request and returns the value of `Set-Cookie`.
    pub(crate) async fn sign_out(&self, headers: &HeaderMap) -> Result<String, Problem> {
        if let Some(session) = session::of(headers) {
            self.0.storage.end_session(&session.hash()).await?;
            self.0.gate.wake();
        }
        Ok(session::cookie("", Some(0), self.is_secure(headers)))
    }

    /// Whether the browser uses TLS, to this service or to a proxy in front of it.
    fn is_secure(&self, headers: &HeaderMap) -> bool {
        let by_proxy = headers
            .get(ORIGIN)
            .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
        self.0.settings.tls.is_some() || by_proxy
    }
}
