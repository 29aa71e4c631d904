//! The Model Context Protocol: memories as tools, resources and prompts of an agent's client.
//!
//! Every tool maps its arguments to one request of the HTTP interface, the response to its
//! structured content, and a problem to a tool error that says what to do next. A [`Backend`] executes
//! the requests: within the service its own routes (`http::routes::mcp`), for `working-memory mcp` a service over HTTP
//! (`cli::mcp`). So a tool is the same over both transports, and role, vault, limits and storage functions are those of
//! the route. No message depends on an earlier one: there are no sessions.

mod backend;
mod failure;
mod resources;
mod server;
mod tools;

pub(crate) use backend::{Backend, Fixed, RouteRequest, RouteResponse, StreamResponse, Unreachable, events};
pub(crate) use failure::Failure;
pub(crate) use server::Server;
