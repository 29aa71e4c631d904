//! The commands that ask a running service, as the program runs them.

mod answers;
mod commands;
mod edit;
mod folder;
mod git_hook;
mod handoff;
mod hook;
mod mcp;
mod memory;
mod program;
mod settings;
mod stub;
mod sync;
mod terminal;
mod watch;
mod window;
