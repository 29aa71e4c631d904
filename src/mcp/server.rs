//! The protocol's methods, each delegated to its module.

use super::backend::{Backend, Call};
use super::failure::Failure;
use crate::mcp::{resources, tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use std::sync::Arc;

/// The methods whose parameters are checked before this server sees a request.
const METHODS: &str = "resources/read resources/list prompts/get tools/call";

/// The instructions for clients about this server.
const INSTRUCTIONS: &str = include_str!("texts/instructions.md");

type Context = RequestContext<RoleServer>;

/// A server of the protocol.
pub(crate) struct Server(
    /// What executes its requests.
    pub(crate) Arc<dyn Backend>,
);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let implementation =
            Implementation::new("working-memory", env!("CARGO_PKG_VERSION")).with_title("Working memory");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        let fixed = self.0.fixed(&context.extensions);
        Ok(ListToolsResult::with_all_items(tools::list(&fixed)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::get(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::new(&*self.0, &context);
        let run = tools::run(&request.name, call, request.arguments.unwrap_or_default());
        let result = tokio::select! {
            result = run => result,
            () = context.ct.cancelled() => return Err(ErrorData::invalid_request("the request was cancelled", None)),
        };
        Ok(result.unwrap_or_else(|| tools::unknown(&request.name)).into())
    }

    /// A request whose parameters are not those of its method arrives here, such as a call whose arguments are not an object.
    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if !METHODS.split(' ').any(|known| known == method) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let called = params.as_ref().filter(|_| method == "tools/call");
        let name = called.and_then(|params| params.get("name"));
        let result = name.and_then(Value::as_str).map(tools::without_arguments);
        let result = result.and_then(|result| serde_json::to_value(result).ok());
        result.map(CustomResult::new).ok_or_else(|| {
            ErrorData::invalid_params(
                format!(
                    "the parameters are not those of {method}: tools/call needs the name of a tool and an object of arguments, \
                     resources/read a uri, prompts/get the name of a prompt and an object of texts"
                ),
                None,
            )
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let listed = resources::list(&Call::new(&*self.0, &context), cursor).await;
        listed.map_err(Failure::into_error)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(&Call::new(&*self.0, &context), &request.uri).await;
        read.map(Into::into).map_err(Failure::into_error)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(request)?;
        let fixed = self.0.fixed(&context.extensions);
        Ok(ListPromptsResult::with_all_items(resources::list_prompts(&fixed)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = Call::new(&*self.0, &context);
        let prompt = resources::get_prompt(&call, &request.name, arguments).await;
        prompt.map(Into::into).map_err(Failure::into_error)
    }
}

/// Rejects a cursor for a list that has one page.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !cursor.is_empty() => Err(ErrorData::invalid_params(
            "cursor is not one that this list gave: it has one page",
            None,
        )),
        _ => Ok(()),
    }
}
