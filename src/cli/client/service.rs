//! A service called over HTTP.

use super::call::{Call, IDEMPOTENCY_KEY, Sender, client};
use super::failure::Failure;
use super::settings::{Connection, MemoryRef, ServiceArgs, SettingSources, is_loopback, not_named};
use crate::clock::{Clock, SystemClock};
use crate::domain::ids::{MemoryId, VaultId};
use crate::route_request::RouteRequest;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use std::time::Duration;

/// The default timeout of a response.
const ANSWER_TIME: Duration = Duration::from_secs(60);

const X_ACTOR_ID: HeaderName = HeaderName::from_static("x-actor-id");

/// A service, and the vault and memory of its requests.
#[derive(Debug)]
pub(in crate::cli) struct Service {
    pub(super) client: reqwest::Client,
    /// Its address, and what is selected there.
    pub(in crate::cli) connection: Connection,
    /// Of a response.
    pub(in crate::cli) timeout: Duration,
    headers: HeaderMap,
}

impl Service {
    /// Configures the service that the options, the environment or a file name. Nothing is sent yet.
    ///
    /// # Errors
    /// A setting is wrong, or the machine has no certificates, which `https` needs.
    pub(in crate::cli) fn of(args: &ServiceArgs) -> Result<Self, Failure> {
        Self::with_timeout(args, ANSWER_TIME)
    }

    /// Like [`Service::of`], with another default timeout.
    ///
    /// # Errors
    /// As [`Service::of`].
    pub(in crate::cli) fn with_timeout(args: &ServiceArgs, time: Duration) -> Result<Self, Failure> {
        crate::cli::client::output::set_raw(args.raw);
        let (connection, key) = SettingSources::of_process()?.connection(args)?;
        let unusable = |error: &dyn std::fmt::Display| Failure::usage(format!("cannot be sent: {error}"));
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let bearer = format!("Bearer {}", key.expose_secret());
            let mut bearer = HeaderValue::from_str(&bearer).map_err(|error| unusable(&error))?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        if let Some(actor) = &connection.actor {
            let actor = HeaderValue::from_str(actor.as_str()).map_err(|error| unusable(&error))?;
            headers.insert(X_ACTOR_ID, actor);
        }
        Ok(Self {
            client: client(&connection.url)?,
            connection,
            timeout: args.timeout().unwrap_or(time),
            headers,
        })
    }

    /// Like [`Service::with_timeout`], for unattended commands: an address that only a file in the folder names is not called,
    /// also without a key, since the user's words are sent there and an agent reads the response.
    ///
    /// # Errors
    /// As [`Service::of`], or there is only such an address.
    pub(in crate::cli) fn unattended(args: &ServiceArgs, time: Duration) -> Result<Self, Failure> {
        let service = Self::with_timeout(args, time)?;
        let Connection { url, by_file, .. } = &service.connection;
        if *by_file && !is_loopback(url) {
            return Err(Failure::usage(format!(
                "only a file in the folder names {url}, and nothing is sent there unasked: if you trust it, set \
                 WORKING_MEMORY_URL too"
            )));
        }
        Ok(service)
    }

    /// The selected vault.
    pub(in crate::cli) fn vault(&self) -> Result<VaultId, Failure> {
        self.connection.vault.clone().ok_or_else(|| not_named("vault"))
    }

    /// The selected memory.
    pub(in crate::cli) fn memory_ref(&self) -> Result<MemoryRef, Failure> {
        let vault = self.vault()?;
        let memory = self.connection.memory.clone();
        let memory = memory.ok_or_else(|| not_named("memory"))?;
        Ok(MemoryRef { vault, memory })
    }

    /// A request below the memory: `&["contexts", "3"]`.
    pub(in crate::cli) fn of_memory(&self, method: Method, below: &[&str]) -> Result<Call<'_>, Failure> {
        self.of_memory_named(&self.memory_ref()?.memory, method, below)
    }

    /// A request below a memory of the vault, whichever is selected.
    pub(in crate::cli) fn of_memory_named(
        &self,
        memory: &MemoryId,
        method: Method,
        below: &[&str],
    ) -> Result<Call<'_>, Failure> {
        let vault = self.vault()?;
        let path = ["v1", "vaults", vault.as_str(), "memories", memory.as_str()];
        let mut call = self.call(method, &[&path, below].concat())?;
        call.sender.about = format!("memory {memory} of vault {vault}");
        Ok(call)
    }

    /// A request below the vault.
    pub(in crate::cli) fn of_vault(&self, method: Method, below: &[&str]) -> Result<Call<'_>, Failure> {
        let vault = self.vault()?;
        let mut call = self.call(method, &[&["v1", "vaults", vault.as_str()], below].concat())?;
        call.sender.about = format!("vault {vault}");
        Ok(call)
    }

    /// A request to a path.
    pub(in crate::cli) fn call(&self, method: Method, segments: &[&str]) -> Result<Call<'_>, Failure> {
        if segments.contains(&"") {
            return Err(Failure::usage("\"\" is not an id"));
        }
        Ok(self.sending(RouteRequest::of((), method, segments)))
    }

    /// The request with the key and the author of this service's requests; its own headers count more.
    pub(in crate::cli) fn sending(&self, request: RouteRequest) -> Call<'_> {
        let mut call = request.sent_by(Sender {
            service: self,
            about: String::new(),
        });
        let own = std::mem::replace(&mut call.headers, self.headers.clone());
        if matches!(call.method, Method::POST | Method::PUT) {
            // A UUID is a header value.
            if let Ok(key) = HeaderValue::from_str(&SystemClock.new_id().to_string()) {
                call.headers.insert(IDEMPOTENCY_KEY, key);
            }
        }
        call.headers.extend(own);
        call
    }
}
