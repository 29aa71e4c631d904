//! HTTP: the route table, validating extractors, handlers that call storage or the pipeline, and one error format.
//!
//! A request passes `middleware`, its route file, typed extractors (`extract`), and a storage transaction or the
//! pipeline. Errors become a `problem`.

mod addresses;
mod budget;
mod dashboard;
mod extract;
mod feed;
mod header_timer;
mod json_answer;
mod middleware;
mod names;
mod openapi;
mod problem;
pub(crate) mod responses;
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
pub use starting::Server;
pub use state::AppState;
pub use tls::{Tls, TlsError};

/// Bodies of the interface that the command line sends and reads.
pub(crate) mod types {
    pub(crate) use super::extract::page::List;
    pub(crate) use super::routes::archive::ArchivedBody;
    pub(crate) use super::routes::keys::view::{KeyBody, NewKeyBody};
    pub(crate) use super::routes::memory_tool::files::FileBody;
    pub(crate) use super::routes::memory_tool::files::put::PutFileBody;
    pub(crate) use super::routes::window::get::WindowBody;
    pub(crate) use super::routes::window::import::ImportAnswer;
}
