//! A service called over HTTP.

use super::call::{Call, IDEMPOTENCY_KEY, client};
use super::failure::Failure;
use super::settings::{Connection, MemoryRef, ServiceArgs, SettingSources};
use crate::clock::{Clock, SystemClock};
use crate::domain::ids::{MemoryId, VaultId};
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use secrecy::ExposeSecret as _;
use std::time::Duration;
use url::Url;

/// The default timeout of a response.
const ANSWER_TIME: Duration = Duration::from_secs(60);

const X_ACTOR_ID: HeaderName = HeaderName::from_static("x-actor-id");

/// A service, and the vault and memory of its requests.
pub(in crate::cli) struct Service {
    pub(super) client: reqwest::Client,
    /// Its address.
    pub(in crate::cli) url: Url,
    /// Of a response.
    pub(in crate::cli) timeout: Duration,
    headers: HeaderMap,
    args: ServiceArgs,
    surroundings: SettingSources,
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
        let surroundings = SettingSources::of_process()?;
        let (url, key) = surroundings.service(args)?;
        let unusable = |error: &dyn std::fmt::Display| Failure::usage(format!("cannot be sent: {error}"));
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let bearer = format!("Bearer {}", key.expose_secret());
            let mut bearer = HeaderValue::from_str(&bearer).map_err(|error| unusable(&error))?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        if let Some(actor) = surroundings.actor(args)? {
            let actor = HeaderValue::from_str(actor.as_str()).map_err(|error| unusable(&error))?;
            headers.insert(X_ACTOR_ID, actor);
        }
        Ok(Self {
            client: client(&url)?,
            url,
            timeout: args.timeout().unwrap_or(time),
            headers,
            args: args.clone(),
            surroundings,
        })
    }

    /// Like [`Service::with_timeout`], for unattended commands: an address that only a file in the folder names is not called,
    /// also without a key, since the user's words are sent there and an agent reads the response.
    ///
    /// # Errors
    /// As [`Service::of`], or there is only such an address.
    pub(in crate::cli) fn unattended(args: &ServiceArgs, time: Duration) -> Result<Self, Failure> {
        let service = Self::with_timeout(args, time)?;
        if service.surroundings.is_elsewhere_by_file(args)? {
            return Err(Failure::usage(format!(
                "only a file in the folder names {}, and nothing is sent there unasked: if you trust it, set \
                 WORKING_MEMORY_URL too",
                service.url
            )));
        }
        Ok(service)
    }

    /// The selected vault.
    pub(in crate::cli) fn vault(&self) -> Result<VaultId, Failure> {
        self.surroundings.vault(&self.args.memory_ref)
    }

    /// The selected memory.
    pub(in crate::cli) fn memory_ref(&self) -> Result<MemoryRef, Failure> {
        Ok(MemoryRef {
            vault: self.vault()?,
            memory: self.surroundings.memory(&self.args.memory_ref)?,
        })
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
        call.about = format!("memory {memory} of vault {vault}");
        Ok(call)
    }

    /// A request below the vault.
    pub(in crate::cli) fn of_vault(&self, method: Method, below: &[&str]) -> Result<Call<'_>, Failure> {
        let vault = self.vault()?;
        let mut call = self.call(method, &[&["v1", "vaults", vault.as_str()], below].concat())?;
        call.about = format!("vault {vault}");
        Ok(call)
    }

    /// The selected vault and memory, if they are named.
    pub(in crate::cli) fn named(&self) -> Result<(Option<VaultId>, Option<MemoryId>), Failure> {
        let memory_ref = &self.args.memory_ref;
        Ok((
            self.surroundings.named_vault(memory_ref)?,
            self.surroundings.named_memory(memory_ref)?,
        ))
    }

    /// The connection settings, for the configuration of another program.
    pub(in crate::cli) fn connection(&self) -> Result<Connection, Failure> {
        let (vault, memory) = self.named()?;
        Ok(Connection {
            url: self.url.clone(),
            vault,
            memory,
            actor: self.surroundings.actor(&self.args)?,
            key: self.surroundings.key_source(&self.args),
        })
    }

    /// A request to a path.
    pub(in crate::cli) fn call(&self, method: Method, segments: &[&str]) -> Result<Call<'_>, Failure> {
        if let Some(bad) = segments
            .iter()
            .find(|segment| matches!(**segment, "" | "." | ".."))
        {
            return Err(Failure::usage(format!("\"{bad}\" is not an id")));
        }
        let mut url = self.url.clone();
        match url.path_segments_mut() {
            Ok(mut path) => {
                path.pop_if_empty().extend(segments);
            }
            Err(()) => return Err(Failure::usage("the URL is not the address of a service")),
        }
        Ok(self.request(method, url))
    }

    /// A request to an encoded path with its parameters, such as `/v1/vaults?limit=1`.
    ///
    /// # Errors
    /// A part of the path is `.` or `..`.
    pub(in crate::cli) fn target(&self, method: Method, target: &str) -> Result<Call<'_>, Failure> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let is_dots =
            |part: &str| matches!(part.replace("%2E", ".").replace("%2e", ".").as_str(), "." | "..");
        if let Some(bad) = path.split('/').find(|part| is_dots(part)) {
            return Err(Failure::usage(format!("\"{bad}\" is not an id")));
        }
        let mut url = self.url.clone();
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        url.set_query(query);
        Ok(self.request(method, url))
    }

    fn request(&self, method: Method, url: Url) -> Call<'_> {
        let mut headers = self.headers.clone();
        if matches!(method, Method::POST | Method::PUT) {
            // A UUID is a header value.
            if let Ok(key) = HeaderValue::from_str(&SystemClock.new_id().to_string()) {
                headers.insert(IDEMPOTENCY_KEY, key);
            }
        }
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut request = Request::new(method, url);
        *request.headers_mut() = headers;
        Call {
            service: self,
            request,
            about: String::new(),
        }
    }
}
