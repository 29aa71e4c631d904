//! The commands that call a running service, run as the real program.

mod answers;
mod commands;
mod edit;
mod folder;
mod git_hook;
mod handoff;
mod hook;
mod mcp;
mod memory;
pub(crate) mod program;
mod settings;
mod stub;
mod sync;
mod terminal;
mod watch;
mod window;
