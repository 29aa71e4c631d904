//! The domain core: context documents, the update DSL, and the effect of an update on a memory. Pure: no I/O,
//! no HTTP, no SQL, no clock; time and ids are arguments.

pub mod access;
pub mod bring;
pub mod changelog;
pub mod consolidation;
pub mod document;
pub mod dsl;
pub mod duration;
pub mod evidence;
pub mod faults;
pub mod handoff;
pub mod history;
pub mod ids;
pub mod memory;
pub mod memory_files;
pub mod operation;
pub mod prompt;
pub mod redaction;
pub mod retention;
pub mod search;
pub mod text;
pub mod window;
