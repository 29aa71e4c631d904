//! The interface through which tools, resources and prompts call the routes; and the arguments of a call: vault and memory, which may
//! be fixed for the client, and the rest, parsed strictly.

use crate::domain::ids::{MemoryId, VaultId};
use crate::mcp::failure::Failure;
pub(crate) use crate::route_request::RouteRequest;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use http::Method;
use rmcp::RoleServer;
use rmcp::model::{Extensions, JsonObject};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use std::fmt::Display;
use std::str::FromStr;

/// The maximum size of an event of a stream, in bytes.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// A response with its whole body.
pub(crate) type RouteResponse = http::Response<Bytes>;

/// The response to a streaming request.
pub(crate) enum StreamResponse {
    /// Another status than a success, or no stream.
    Whole(RouteResponse),
    /// The pieces of the body.
    Stream(BoxStream<'static, Result<Bytes, Unreachable>>),
}

/// The service cannot be reached; the message says which address and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unreachable(pub(crate) String);

/// Executes requests. `from` contains the extensions of the message that caused them.
#[async_trait]
pub(crate) trait Backend: Send + Sync {
    /// The vault and memory that are fixed for this client.
    fn fixed(&self, from: &Extensions) -> Fixed;

    /// Sends a request and reads the whole response.
    async fn ask(&self, from: &Extensions, ask: RouteRequest) -> Result<RouteResponse, Failure>;

    /// Opens a stream.
    async fn open(&self, from: &Extensions, ask: RouteRequest) -> Result<StreamResponse, Failure>;
}

/// A message of a client, with what executes its requests.
pub(super) struct Call<'c> {
    backend: &'c dyn Backend,
    pub(super) context: &'c RequestContext<RoleServer>,
    pub(super) fixed: Fixed,
}

impl<'c> Call<'c> {
    pub(super) fn new(backend: &'c dyn Backend, context: &'c RequestContext<RoleServer>) -> Self {
        Self {
            fixed: backend.fixed(&context.extensions),
            backend,
            context,
        }
    }

    /// Sends a request, and fails unless the response is a success.
    pub(super) async fn success(&self, ask: RouteRequest) -> Result<RouteResponse, Failure> {
        let answer = self.backend.ask(&self.context.extensions, ask).await?;
        match answer.status().is_success() {
            true => Ok(answer),
            false => Err(Failure::of_answer(&answer)),
        }
    }

    /// Like [`Call::success`], and parses the JSON.
    pub(super) async fn json(&self, ask: RouteRequest) -> Result<Value, Failure> {
        parse(&self.success(ask).await?)
    }

    /// Opens a stream.
    pub(super) async fn open(&self, ask: RouteRequest) -> Result<StreamResponse, Failure> {
        self.backend.open(&self.context.extensions, ask).await
    }
}

/// Parses the JSON of a response.
pub(super) fn parse(answer: &RouteResponse) -> Result<Value, Failure> {
    serde_json::from_slice(answer.body()).map_err(|_| {
        Failure::new(
            "the response of the memory service cannot be parsed",
            "Tell the user: the service may have another version than this program.",
        )
    })
}

/// The events of a stream. One that is too long ends it.
pub(crate) fn events(
    pieces: impl Stream<Item = Result<Bytes, Unreachable>> + Send + 'static,
) -> impl Stream<Item = Result<Sse, Unreachable>> + Send {
    let mut pending = 0;
    let pieces = pieces.map(move |piece| {
        let piece: Bytes = piece?;
        pending = match memchr::memmem::rfind(&piece, b"\n\n") {
            Some(end) => piece.len() - end,
            None => pending + piece.len(),
        };
        match pending {
            0..=MAX_EVENT_BYTES => Ok(piece),
            _ => Err(Unreachable(format!("an event is over {MAX_EVENT_BYTES} bytes"))),
        }
    });
    SseStream::from_bytes_stream(pieces).map_err(|error| match error {
        sse_stream::Error::Body(cause) => Unreachable(cause.to_string()),
        other => Unreachable(format!("the event stream cannot be read: {other}")),
    })
}

/// The values that `?vault=&memory=` of the URL, or the settings of the command line, fix for a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fixed {
    /// The vault.
    pub(crate) vault: Option<VaultId>,
    /// The memory.
    pub(crate) memory: Option<MemoryId>,
}

impl Fixed {
    /// The vault of a call; removes it from the arguments.
    pub(super) fn vault(&self, arguments: &mut JsonObject) -> Result<VaultId, Failure> {
        taken("vault", arguments, self.vault.as_ref())?.ok_or_else(|| Failure::missing("vault"))
    }

    /// Vault and memory of a call; removes them from the arguments.
    pub(super) fn place(&self, arguments: &mut JsonObject) -> Result<Place, Failure> {
        Ok(Place {
            vault: self.vault(arguments)?,
            memory: self.memory(arguments)?,
        })
    }

    /// The memory of a call; removes it from the arguments.
    pub(super) fn memory(&self, arguments: &mut JsonObject) -> Result<MemoryId, Failure> {
        taken("memory", arguments, self.memory.as_ref())?.ok_or_else(|| Failure::missing("memory"))
    }

    /// Rejects a memory that differs from the fixed one.
    pub(super) fn check(&self, place: &Place) -> Result<(), Failure> {
        same("vault", &place.vault, self.vault.as_ref())?;
        same("memory", &place.memory, self.memory.as_ref())
    }
}

/// The memory that a call is about.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) vault: VaultId,
    pub(super) memory: MemoryId,
}

impl Place {
    /// A request below the memory.
    pub(super) fn ask(&self, method: Method, below: &[&str]) -> RouteRequest {
        let path = ["vaults", self.vault.as_str(), "memories", self.memory.as_str()];
        RouteRequest::new(method, &[&path, below].concat())
    }
}

/// An argument, removed from the others, or the fixed value.
pub(super) fn taken<T: FromStr<Err: Display> + Clone + PartialEq + Display>(
    name: &'static str,
    arguments: &mut JsonObject,
    fixed: Option<&T>,
) -> Result<Option<T>, Failure> {
    let value = match arguments.remove(name) {
        None | Some(Value::Null) => return Ok(fixed.cloned()),
        Some(Value::String(text)) => text
            .parse()
            .map_err(|rule| Failure::argument(name, format!("{name} {rule}")))?,
        Some(_) => return Err(Failure::argument(name, format!("{name} must be a string"))),
    };
    same(name, &value, fixed)?;
    Ok(Some(value))
}

fn same<T: PartialEq + Display>(name: &'static str, value: &T, fixed: Option<&T>) -> Result<(), Failure> {
    match fixed {
        Some(fixed) if fixed != value => Err(Failure::new(
            format!("{name} is {value}, but this connection is fixed to the {name} {fixed}"),
            format!("Leave {name} out, or give {fixed}."),
        )),
        _ => Ok(()),
    }
}

/// Parses the arguments that remain after vault and memory were removed: an unknown or missing member or a wrong type is
/// named.
pub(super) fn read_arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Failure> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        match path.as_str() {
            "." => Failure::argument("the arguments", format!("the arguments are not valid: {cause}")),
            path => Failure::argument(path, format!("the argument {path} is not valid: {cause}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_come_in_any_pieces_and_an_endless_one_ends_the_stream() {
        let text = ": hello\n\nevent: asked\nid: 1-a\ndata: {\"a\":1}\n\ndata: b\ndata: c\n\n";
        for size in 1..text.len() {
            let pieces: Vec<Result<Bytes, Unreachable>> = text
                .as_bytes()
                .chunks(size)
                .map(|piece| Ok(Bytes::copy_from_slice(piece)))
                .collect();
            let all = events(futures::stream::iter(pieces)).try_collect::<Vec<Sse>>();
            let data: Vec<String> = all
                .await
                .unwrap()
                .into_iter()
                .filter_map(|event| event.data)
                .collect();
            assert_eq!(data, ["{\"a\":1}", "b\nc"], "pieces of {size}");
        }
        let endless = futures::stream::repeat_with(|| Ok(Bytes::from(vec![b'x'; 1 << 20])));
        let all = events(endless).try_collect::<Vec<Sse>>().await;
        assert!(all.unwrap_err().0.contains("over 4194304 bytes"));
    }
}
