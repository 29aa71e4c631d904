//! The API key cache: which keys are valid, held in the process.
//!
//! All active keys are held in memory and read again when they are older than [`FRESH`]. A key that was revoked on any
//! instance is therefore rejected everywhere within a second, without notifications. An unknown key is rejected only
//! after a read that began after the request arrived, so a new key is valid everywhere at once. Concurrent requests
//! share one read (single flight), and reads have a minimum interval, so a flood of invalid keys causes only a few
//! short queries per second.

use crate::domain::access::{Caller, SecretHash};
use crate::domain::ids::KeyId;
use crate::http::problem::{Kind, Problem};
use crate::http::state::Settings;
use crate::storage::Storage;
use crate::storage::access::keys::ActiveKeys;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The maximum age of the cached keys.
const FRESH: Duration = Duration::from_millis(800);

/// The minimum interval between two reads for unknown keys: a multiple of the duration of a read, within the bounds
/// below.
const PAUSE_PER_READING: u32 = 4;
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How long no read is attempted after one that failed.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// The timeout of a read.
const READING_TIMEOUT: Duration = Duration::from_secs(10);

/// Authenticates callers with the cached keys.
pub(crate) struct Gate {
    storage: Storage,
    /// `http.require_keys`.
    required: Option<bool>,
    /// Whether the service may run without keys on the address it listens on.
    may_be_open: bool,
    /// Set once keys were required: from then on the service never accepts requests without keys.
    closed: AtomicBool,
    known: Mutex<Option<Arc<Known>>>,
    /// When the last read failed, for the requests that waited for it.
    reading: tokio::sync::Mutex<Option<Instant>>,
    /// Wakes long responses when credentials ended on this instance.
    ended: watch::Sender<()>,
}

struct Known {
    active: ActiveKeys,
    begun: Instant,
    took: Duration,
}

impl Gate {
    pub(crate) fn new(storage: Storage, settings: &Settings) -> Self {
        Self {
            storage,
            required: settings.require_keys,
            may_be_open: settings.may_be_open,
            closed: AtomicBool::new(false),
            known: Mutex::new(None),
            reading: tokio::sync::Mutex::new(None),
            ended: watch::Sender::new(()),
        }
    }

    /// Whether requests without a key are accepted.
    ///
    /// # Errors
    /// 503 if the database cannot tell whether there are keys: in doubt no request is accepted, unless `offline`
    /// allows the use of expired cache contents.
    pub(crate) async fn is_open(&self, offline: bool) -> Result<bool, Problem> {
        match self.required {
            Some(required) => return Ok(!required),
            None if !self.may_be_open || self.closed.load(Ordering::Relaxed) => return Ok(false),
            None => {}
        }
        let closed = self.known_or_last(None, offline).await?.active.ever;
        if closed {
            self.closed.store(true, Ordering::Relaxed);
        }
        Ok(!closed)
    }

    /// The holder of a key, by the key's id and the hash of its secret; `None` if it is not valid. `arrived` is when the
    /// request arrived. `offline` allows the use of expired cache contents.
    ///
    /// # Errors
    /// 503 if the database does not respond.
    pub(crate) async fn holder_of(
        &self,
        key_id: &KeyId,
        shown: &SecretHash,
        arrived: Instant,
        offline: bool,
    ) -> Result<Option<Caller>, Problem> {
        let now = self.storage.now();
        for newer_than in [None, Some(arrived)] {
            let known = self.known_or_last(newer_than, offline).await?;
            let found = known.active.keys.get(key_id);
            if let Some(found) = found.filter(|found| found.is_opened_by(shown, now)) {
                return Ok(found
                    .key
                    .is_active(now)
                    .then(|| Caller::holder_of(found.key.clone())));
            }
        }
        Ok(None)
    }

    /// Whether a key is still valid.
    ///
    /// # Errors
    /// 503 if the database does not respond.
    pub(super) async fn takes(&self, key_id: &KeyId, secret: &SecretHash) -> Result<bool, Problem> {
        let known = self.known(None).await?;
        let now = self.storage.now();
        let found = known.active.keys.get(key_id);
        Ok(found.is_some_and(|found| found.is_opened_by(secret, now) && found.key.is_active(now)))
    }

    /// Clears the cache, so that the next request reads the keys again: one was created or ended on this instance.
    pub(crate) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.wake();
    }

    /// Lets long responses check their credentials now: a session ended on this instance.
    pub(crate) fn wake(&self) {
        self.ended.send_replace(());
    }

    /// Whether a session is still open.
    ///
    /// # Errors
    /// 503 if the database does not respond.
    pub(super) async fn has_session(&self, session: &SecretHash) -> Result<bool, Problem> {
        Ok(self.storage.session(session).await?.is_some())
    }

    /// Changes whenever credentials ended on this instance.
    pub(super) fn ended(&self) -> watch::Receiver<()> {
        self.ended.subscribe()
    }

    fn at_hand(&self, newer_than: Option<Instant>) -> Option<Arc<Known>> {
        let known = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()?;
        let new_enough = newer_than.is_none_or(|time| known.begun >= time);
        (new_enough && known.begun.elapsed() < FRESH).then_some(known)
    }

    async fn known_or_last(&self, newer_than: Option<Instant>, offline: bool) -> Result<Arc<Known>, Problem> {
        match self.known(newer_than).await {
            Err(_) if offline => {
                let last = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
                Ok(last.unwrap_or_else(|| {
                    Arc::new(Known {
                        active: ActiveKeys::default(),
                        begun: Instant::now(),
                        took: Duration::ZERO,
                    })
                }))
            }
            other => other,
        }
    }

    async fn known(&self, newer_than: Option<Instant>) -> Result<Arc<Known>, Problem> {
        match self.at_hand(newer_than) {
            Some(known) => Ok(known),
            // Boxed: this branch is rare, and its large future would otherwise be part of every request's future.
            None => Box::pin(self.read(newer_than)).await,
        }
    }

    async fn read(&self, newer_than: Option<Instant>) -> Result<Arc<Known>, Problem> {
        let waits_since = Instant::now();
        let mut failed = self.reading.lock().await;
        if let Some(known) = self.at_hand(newer_than) {
            return Ok(known);
        }
        if failed.is_some_and(|time| time >= waits_since || time.elapsed() < AFTER_FAILURE) {
            return Err(unavailable("the reading of the keys that was waited for failed"));
        }
        if let Some(last) = self.at_hand(None) {
            let pause = (last.took * PAUSE_PER_READING).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
            tokio::time::sleep_until(last.begun + last.took + pause).await;
        }
        let begun = Instant::now();
        let read = tokio::time::timeout(READING_TIMEOUT, self.storage.active_keys()).await;
        let active = read
            .map_err(|_| unavailable("time-out of reading the keys"))
            .and_then(|read| Ok(read?))
            .inspect_err(|_| *failed = Some(Instant::now()))?;
        let known = Arc::new(Known {
            active,
            begun,
            took: begun.elapsed(),
        });
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }
}

fn unavailable(cause: &str) -> Problem {
    Problem::new(Kind::Unavailable, "the database is not available at the moment")
        .retry_after(1)
        .caused_by(cause)
}

/// How often the key is checked again.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The credentials that a request was admitted with.
#[derive(Clone)]
pub(crate) struct Admission {
    gate: Arc<Gate>,
    /// The key of the request; `None` if none was required.
    shown: Option<(KeyId, SecretHash)>,
    /// The session of a visitor of the dashboard, which may end before its key.
    session: Option<SecretHash>,
}

impl Admission {
    pub(super) fn new(gate: &Arc<Gate>, shown: Option<(KeyId, SecretHash)>) -> Self {
        Self {
            gate: gate.clone(),
            shown,
            session: None,
        }
    }

    pub(super) fn of_session(mut self, session: SecretHash) -> Self {
        self.session = Some(session);
        self
    }

    /// Returns when the request would no longer be admitted: its key was revoked or rotated or has expired, its session
    /// has ended, or a service that required no keys now does. At once if that happens on this instance. Database errors
    /// do not end it.
    pub(crate) async fn ended(self) {
        let mut ended = self.gate.ended();
        loop {
            // An end before the stream began is found by the first check.
            let _ = tokio::time::timeout(LOOK_EVERY, ended.changed()).await;
            if matches!(self.holds().await, Ok(false)) {
                return;
            }
        }
    }

    async fn holds(&self) -> Result<bool, Problem> {
        if let Some(session) = &self.session
            && !self.gate.has_session(session).await?
        {
            return Ok(false);
        }
        match &self.shown {
            Some((key_id, secret)) => self.gate.takes(key_id, secret).await,
            None => self.gate.is_open(false).await,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admission {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let admission = parts.extensions.get::<Self>().cloned();
        // A route without the access layer is a bug; it must not answer everybody.
        admission.ok_or_else(|| Problem::internal("nobody has said what let the request in"))
    }
}
