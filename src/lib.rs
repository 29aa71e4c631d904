//! Working memory for agents: versioned plain-text context documents on PostgreSQL, changed item by item.
//!
//! The modules and their dependency direction (enforced by `tests/it/architecture`, together with the absence
//! of cyclic imports between them):
//!
//! ```text
//! main → cli → {http, mcp, dashboard, background, pipeline} → {storage, llm} → domain
//! ```
//!
//! - [`domain`]: the domain core: documents, the update DSL, and the effect of an update on a memory.
//! - [`storage`]: PostgreSQL, the embedded server, and all SQL.
//! - [`llm`]: models behind one trait, and the built-in updater without a model.
//! - [`pipeline`]: `/update`, from a task and messages to a new version.
//! - [`http`]: routes, extractors, problems, middleware, and the OpenAPI document.
//! - `mcp`: tools, resources and prompts of the Model Context Protocol, on top of the HTTP interface.
//! - `dashboard`: HTML pages, on top of the HTTP interface.
//! - [`background`]: periodic tasks of the service.
//! - [`cli`]: one file per command.
//! - [`config`], [`telemetry`], [`clock`], [`random`], [`tokens`], [`fair`]: shared infrastructure; `route_request`: requests of `mcp` and
//!   `dashboard` to routes.

pub mod background;
pub mod cli;
pub mod clock;
pub mod config;
mod dashboard;
pub mod domain;
pub mod fair;
pub mod http;
pub mod llm;
mod mcp;
pub mod pipeline;
pub mod random;
mod route_request;
pub mod storage;
pub mod telemetry;
pub mod tokens;
