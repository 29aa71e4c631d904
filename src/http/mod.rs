//! HTTP: the route table, validating extractors, handlers that call storage or the pipeline, and one error format.
//!
//! A request passes `middleware`, its route file, typed extractors (`extract`), and a storage transaction or the
//! pipeline. Errors become a `problem`.

pub(crate) mod dashboard;
mod extract;
mod feed;
mod middleware;
mod openapi;
mod problem;
pub(crate) mod responses;
mod router;
mod routes;
mod serve;
mod state;

pub use openapi::openapi_yaml;
pub use router::router;
pub use serve::{Server, Tls, TlsError, serve};
pub use state::{AppState, Settings};
