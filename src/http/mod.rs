//! HTTP: a table of routes, extractors that check, handlers that call storage or the pipeline, one form of error.
//!
//! The way of a request: `middleware` → route file → typed extractors (`extract`) → a named storage
//! transaction or the pipeline → answer. The way of an error: `problem`.

mod addresses;
mod budget;
mod dashboard;
mod extract;
mod feed;
mod header_timer;
mod id_patterns;
mod middleware;
mod names;
mod openapi;
mod passing;
mod problem;
mod router;
mod routes;
mod serve;
mod settings;
mod stall;
mod starting;
mod state;
mod table;
mod tls;

pub use openapi::openapi_yaml;
pub use router::router;
pub use serve::serve;
pub use settings::Settings;
pub use starting::Starting;
pub use state::AppState;
pub use tls::{Tls, TlsError};
