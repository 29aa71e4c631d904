//! An operation with logic of its own has a file, with its request, response, handler and documentation; small siblings
//! share one. The module tree mirrors the URLs.

pub(crate) mod contexts;
pub(crate) mod events;
pub(crate) mod handoff;
pub(crate) mod health;
pub(crate) mod items;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod memories;
pub(crate) mod memory_tool;
pub(crate) mod operations;
pub(crate) mod prompt;
pub(crate) mod records;
pub(crate) mod search;
pub(crate) mod tasks;
pub(crate) mod update;
pub(crate) mod updates;
pub(crate) mod vaults;
pub(crate) mod window;
