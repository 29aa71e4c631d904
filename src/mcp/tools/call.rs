//! A call of a tool: its memory, its requests, and its result.

use crate::domain::ids::{MemoryId, VaultId};
use crate::mcp::backend::{Backend, Method, RouteRequest};
use crate::mcp::failure::Failure;
use crate::mcp::fixed::Fixed;
use crate::mcp::response::RouteResponse;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use serde_json::Value;

/// A call of a tool.
pub(in crate::mcp) struct Call<'c, B> {
    pub(super) backend: &'c B,
    pub(super) context: &'c RequestContext<RoleServer>,
    pub(super) fixed: Fixed,
}

/// The result of a tool.
pub(super) struct Done {
    /// Its structured content.
    pub(super) structured: Value,
    /// A text for the model before the JSON, and the members that the JSON then omits.
    pub(super) text: Option<(String, &'static [&'static str])>,
}

impl From<Value> for Done {
    fn from(structured: Value) -> Self {
        Self {
            structured,
            text: None,
        }
    }
}

impl<'c, B: Backend> Call<'c, B> {
    pub(in crate::mcp) fn new(backend: &'c B, context: &'c RequestContext<RoleServer>) -> Self {
        Self {
            fixed: backend.fixed(&context.extensions),
            backend,
            context,
        }
    }

    /// Vault and memory, removed from the arguments.
    pub(super) fn place(&self, arguments: &mut JsonObject) -> Result<Place, Failure> {
        Ok(Place {
            vault: self.fixed.vault(arguments)?,
            memory: self.fixed.memory(arguments)?,
        })
    }

    /// The vault of a tool that works on all its memories.
    pub(super) fn vault(&self, arguments: &mut JsonObject) -> Result<VaultId, Failure> {
        self.fixed.ignore_memory(arguments)?;
        self.fixed.vault(arguments)
    }

    /// Sends a request, and fails unless the response is a success.
    pub(super) async fn ask(&self, ask: RouteRequest) -> Result<RouteResponse, Failure> {
        let answer = self.backend.ask(&self.context.extensions, ask).await?;
        match answer.is_success() {
            true => Ok(answer),
            false => Err(Failure::of_answer(&answer)),
        }
    }

    /// Requests a version of a document.
    pub(super) async fn document(&self, ask: RouteRequest) -> Result<Value, Failure> {
        let document = self.backend.document(&self.context.extensions, ask).await?;
        document.map_err(|refused| Failure::of_answer(&refused))
    }

    /// Like [`Call::ask`], and parses the JSON.
    pub(super) async fn json(&self, ask: RouteRequest) -> Result<Value, Failure> {
        read_json(&self.ask(ask).await?)
    }
}

impl Done {
    pub(super) fn into_result(self) -> CallToolResult {
        let Self { structured, text } = self;
        let content = match text {
            None => vec![ContentBlock::text(structured.to_string())],
            Some((text, left_out)) => {
                let mut rest = JsonObject::new();
                for (name, value) in structured.as_object().into_iter().flatten() {
                    if !left_out.contains(&name.as_str()) {
                        rest.insert(name.clone(), value.clone());
                    }
                }
                vec![
                    ContentBlock::text(text),
                    ContentBlock::text(Value::Object(rest).to_string()),
                ]
            }
        };
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(structured);
        result
    }
}

pub(super) fn read_json(answer: &RouteResponse) -> Result<Value, Failure> {
    serde_json::from_slice(&answer.body).map_err(|_| {
        Failure::new(
            "the response of the memory service cannot be parsed",
            "Tell the user: the service may have another version than this program.",
        )
    })
}

/// The memory of a call.
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
