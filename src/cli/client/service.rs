//! A service called over HTTP, and a request to it, from its parameters to its response.

use super::failure::{Exit, Failure, ServiceResponse};
use super::settings::{Connection, MemoryRef, ServiceArgs, SettingSources, is_loopback, not_named};
use crate::clock::{Clock, SystemClock};
use crate::domain::ids::{MemoryId, VaultId};
use crate::llm::read_at_most;
use crate::route_request::RouteRequest;
use bytes::Bytes;
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH,
};
use reqwest::{Method, Request, Response};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use std::error::Error as _;
use std::time::Duration;
use url::Url;

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
        let (connection, key) = SettingSources::of_process(args.url.is_some())?.connection(args)?;
        let header = |text: &str| {
            HeaderValue::from_str(text).map_err(|error| Failure::usage(format!("cannot be sent: {error}")))
        };
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut bearer = header(&format!("Bearer {}", key.expose_secret()))?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        if let Some(actor) = &connection.actor {
            headers.insert(X_ACTOR_ID, header(actor.as_str())?);
        }
        let builder = client_builder(&connection.url).default_headers(headers);
        Ok(Self {
            client: built(builder, &connection.url)?,
            connection,
            timeout: args.timeout().unwrap_or(time),
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

    /// The request with a key under which a write is executed once, unless it has one.
    pub(in crate::cli) fn sending(&self, request: RouteRequest) -> Call<'_> {
        let mut call = request.sent_by(Sender {
            service: self,
            about: String::new(),
        });
        // The answer of a route of keys holds a secret, which is not kept to be answered again.
        let is_kept = !call.target().starts_with("/v1/keys");
        if matches!(call.method, Method::POST | Method::PUT) && is_kept {
            // A UUID is a header value.
            if let Ok(key) = HeaderValue::from_str(&SystemClock.new_id().to_string()) {
                call.headers.entry(IDEMPOTENCY_KEY).or_insert(key);
            }
        }
        call
    }
}

/// Pauses before a request whose connection was lost is retried, unchanged and with the same `Idempotency-Key`.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// The timeout of a connection attempt.
const CONNECT_TIME: Duration = Duration::from_secs(5);

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The HTTP client of a service: no redirects, since one could send the key to another host, and no proxy for this
/// machine itself.
pub(in crate::cli) fn client_builder(url: &Url) -> reqwest::ClientBuilder {
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
}

/// # Errors
/// The machine has no certificates, which `https` needs.
pub(in crate::cli) fn built(builder: reqwest::ClientBuilder, url: &Url) -> Result<reqwest::Client, Failure> {
    let unusable = |error| Failure::failed(format!("cannot connect to {url}: {}", innermost(&error)));
    builder.build().map_err(unusable)
}

/// What sends a request.
#[derive(Debug)]
pub(in crate::cli) struct Sender<'s> {
    pub(super) service: &'s Service,
    /// The subject of the request, for messages.
    pub(super) about: String,
}

/// A request under construction.
pub(in crate::cli) type Call<'s> = RouteRequest<Sender<'s>>;

impl Call<'_> {
    /// Sets `If-Match`: a context_id, with or without quotes, or `*`.
    ///
    /// # Errors
    /// It is not valid in a header.
    pub(in crate::cli) fn if_match(self, version: Option<&str>) -> Result<Self, Failure> {
        let Some(version) = version else { return Ok(self) };
        let tag = if version == "*" || version.starts_with('"') {
            version.to_owned()
        } else {
            format!("\"{version}\"")
        };
        let tag = HeaderValue::from_str(&tag)
            .map_err(|_| Failure::usage("--if-match must be the context_id of a version"))?;
        Ok(self.header(IF_MATCH, tag))
    }

    /// Lets a write succeed only on this version, or if there is none.
    ///
    /// # Errors
    /// As [`Call::if_match`].
    pub(in crate::cli) fn on_version(self, version: Option<&str>) -> Result<Self, Failure> {
        match version {
            Some(_) => self.if_match(version),
            None => Ok(self.header(IF_NONE_MATCH, HeaderValue::from_static("*"))),
        }
    }

    /// Sets a header by its name.
    ///
    /// # Errors
    /// It is not valid in a header.
    pub(in crate::cli) fn named_header(self, name: &str, value: &str) -> Result<Self, Failure> {
        match (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => Ok(self.header(name, value)),
            _ => Err(Failure::usage(format!(
                "{name} cannot be sent: it is not valid in a header"
            ))),
        }
    }

    /// Sets a body that is sent as it is: JSON if it is an object or a list, else text.
    pub(in crate::cli) fn json_or_text(self, body: Vec<u8>) -> Self {
        let is_json = matches!(
            serde_json::from_slice(&body),
            Ok(Value::Object(_) | Value::Array(_))
        );
        let call = self.text(body);
        match is_json {
            true => call.header(CONTENT_TYPE, HeaderValue::from_static("application/json")),
            false => call,
        }
    }

    /// Sends the request and reads the response. If the connection is lost it is retried: a write carries a key, so that
    /// the service executes it once.
    ///
    /// # Errors
    /// No response, or not in time, or an error status.
    pub(in crate::cli) async fn send(self) -> Result<ServiceResponse, Failure> {
        let answer = self.exchange().await?;
        answer.into_success(&self.sender.about)
    }

    /// Like [`Call::send`], with any status as success.
    ///
    /// # Errors
    /// No response, or not in time.
    pub(in crate::cli) async fn exchange(&self) -> Result<ServiceResponse, Failure> {
        // What has no key is not repeated: a deletion, of which a retry would find nothing, and a new API key.
        let may_repeat = self.method == Method::GET || self.headers.contains_key(IDEMPOTENCY_KEY);
        let mut pauses = if may_repeat { PAUSES.iter() } else { [].iter() };
        let mut lost = None;
        loop {
            let error = match self.once(self.request()?).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let is_connect = error.is_connect();
            if (error.is_timeout() && !is_connect) || (is_connect && lost.is_none()) {
                return Err(self.broken(&error));
            }
            let Some(pause) = pauses.next() else {
                return Err(self.lost(lost.as_ref().unwrap_or(&error)));
            };
            lost.get_or_insert(error);
            tokio::time::sleep(*pause).await;
        }
    }

    /// Sends the request once and reads the response: for optional requests, which must not take longer than the timeout.
    ///
    /// # Errors
    /// As [`Call::send`].
    pub(in crate::cli) async fn send_once(self) -> Result<ServiceResponse, Failure> {
        let answer = self.once(self.request()?).await;
        let answer = answer.map_err(|error| self.broken(&error))?;
        answer.into_success(&self.sender.about)
    }

    /// Sends the request once and returns the response while its body is still open. Only its head has a timeout. It
    /// carries no `Idempotency-Key`, with which the service sends only the last event of a stream.
    ///
    /// # Errors
    /// No response, or not in time.
    pub(in crate::cli) async fn begin(mut self) -> Result<Response, Failure> {
        self.headers.remove(IDEMPOTENCY_KEY);
        let Service { client, timeout, .. } = self.sender.service;
        let sending = client.execute(self.request()?);
        match tokio::time::timeout(*timeout, sending).await {
            Ok(begun) => begun.map_err(|error| self.broken(&error)),
            Err(_) => Err(self.too_slow()),
        }
    }

    async fn once(&self, mut request: Request) -> reqwest::Result<ServiceResponse> {
        let Service { client, timeout, .. } = self.sender.service;
        *request.timeout_mut() = Some(*timeout);
        whole(client.execute(request).await?).await
    }

    /// The request to the address of the service.
    fn request(&self) -> Result<Request, Failure> {
        let target = self.target();
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (&*target, None),
        };
        let is_dots =
            |part: &str| matches!(part.replace("%2E", ".").replace("%2e", ".").as_str(), "." | "..");
        if let Some(bad) = path.split('/').find(|part| is_dots(part)) {
            return Err(Failure::usage(format!("\"{bad}\" is not an id")));
        }
        let mut url = self.sender.service.connection.url.clone();
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        url.set_query(query);
        let mut request = Request::new(self.method.clone(), url);
        *request.headers_mut() = self.headers.clone();
        if !self.body.is_empty() {
            *request.body_mut() = Some(self.body.clone().into());
        }
        Ok(request)
    }

    fn broken(&self, error: &reqwest::Error) -> Failure {
        if error.is_connect() {
            return Failure::new(
                Exit::NoService,
                format!(
                    "no service answers at {} ({}); start one with `working-memory serve`, or name another with --url \
                     or WORKING_MEMORY_URL",
                    self.sender.service.connection.url,
                    innermost(error)
                ),
            );
        }
        if error.is_timeout() {
            return self.too_slow();
        }
        self.lost(error)
    }

    fn too_slow(&self) -> Failure {
        let (url, timeout) = (&self.sender.service.connection.url, self.sender.service.timeout);
        let time = match timeout.as_secs() {
            0 => format!("{} ms", timeout.as_millis()),
            seconds => format!("{seconds} s"),
        };
        Failure::new(
            Exit::Busy,
            format!("{url} did not answer within {time} (--timeout)"),
        )
    }

    fn lost(&self, error: &reqwest::Error) -> Failure {
        let unknown = match self.method {
            Method::GET => "",
            _ => "; whether the request was executed is unknown",
        };
        Failure::failed(format!(
            "the connection to {} was lost ({}){unknown}",
            self.sender.service.connection.url,
            innermost(error)
        ))
    }
}

/// More than any response of a service has, in bytes.
const MOST_BYTES: usize = 512 * 1024 * 1024;

/// Reads a response with its body. One without end is as that of another program at the address: a gateway's.
pub(in crate::cli) async fn whole(response: Response) -> reqwest::Result<ServiceResponse> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Ok(match read_at_most(response, MOST_BYTES).await? {
        Some(body) => ServiceResponse {
            status,
            headers,
            body: body.into(),
        },
        None => ServiceResponse {
            status: 502,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        },
    })
}

/// The innermost cause of an error, which is the most informative.
pub(in crate::cli) fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = error.to_string();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
