//! One file an operation: its request, its answer, its handler and its documentation. The tree mirrors the URLs.

pub(crate) mod archive;
pub(crate) mod blame;
pub(crate) mod contexts;
pub(crate) mod decisions;
pub(crate) mod events;
pub(crate) mod guidance;
pub(crate) mod handoff;
pub(crate) mod handoffs;
pub(crate) mod health;
pub(crate) mod items;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod memories;
mod memory;
pub(crate) mod memory_tool;
pub(crate) mod operations;
pub(crate) mod prompt;
pub(crate) mod records;
pub(crate) mod recovered;
pub(crate) mod search;
pub(crate) mod sections;
pub(crate) mod status;
pub(crate) mod tasks;
pub(crate) mod update;
pub(crate) mod updates;
pub(crate) mod vaults;
pub(crate) mod window;
