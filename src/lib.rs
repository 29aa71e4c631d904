//! Working memory for agents: versioned plain-text context documents on PostgreSQL, changed item by item.
//!
//! The rooms and who may call whom (`tests/it/architecture` holds the arrows, and that no files import each other):
//!
//! ```text
//! main → cli → {http, mcp, dashboard, background, pipeline} → {storage, llm} → domain
//! ```
//!
//! - [`domain`]: the pure core: documents, the update DSL, what an update does to a memory.
//! - [`storage`]: PostgreSQL, the embedded server, and all SQL.
//! - [`llm`]: models behind one trait, and the built-in updater without a model.
//! - [`pipeline`]: `/update`, from a task and messages to a new version.
//! - [`http`]: routes, extractors, problems, middleware, and the OpenAPI document.
//! - `mcp`: tools, resources and prompts of the Model Context Protocol, over requests of the HTTP interface.
//! - `dashboard`: pages for people, over requests of the HTTP interface.
//! - [`background`]: what the service does by itself.
//! - [`cli`]: one file a command.
//! - [`config`], [`telemetry`], [`clock`], [`random`], [`tokens`], [`fair`]: what all of them are given.

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
pub mod storage;
pub mod telemetry;
pub mod tokens;
