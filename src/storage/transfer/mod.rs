//! Memories out of one database and into another: a vault as JSON Lines.
//!
//! One JSON object a line, with one member that names what the line is:
//!
//! ```text
//! {"header": {"format": "working-memory", "version": 1, "vault_id": …}}
//!   {"vault_item": {…}}   prompt items of the vault, by item_id
//!   {"memory": {memory_id, head_version, head_context_id, counters, times}}
//!     {"context": {…}}    its versions, from 1 on
//!     {"record": {…}}     its records, by kind and number
//!     {"run": {…}}        its runs, by update_id
//!     {"item": {…}}       its prompt items, by item_id
//!     {"path": {…}}       where it is a file of the memory tool, if it is one
//!   {"end": {memory_id, contexts, records, runs, items, paths, sha256}}
//! {"footer": {memories}}
//! ```
//!
//! - Memories come by their ids, and everything else in the stated order, so that equal vaults give equal bytes.
//! - `sha256` is taken over all lines of the memory before the end line, with their line ends.
//! - A file without its footer is cut off. Whole memories before the cut are good.
//! - A later table is a further kind of line before `end`, as items and paths are: `items` is missing in `end` where
//!   there are none, so that a file without items is one that an older program reads, and the other way round.
//!
//! Each table has one file here, with one type that is its row and its line at once: a column added there, to
//! the SELECT and to the INSERT below it, is exported and imported.
//!
//! Records are a projection of the documents, so an import makes them anew from the documents, by the function
//! that every writer uses, and then holds each record line to what came of it. What documents do not say (why a
//! record was archived, what took its place) comes from the line.

mod append;
mod check;
mod contexts;
mod error;
mod export;
mod import;
mod incoming;
mod items;
mod line;
mod memory;
mod options;
mod paths;
mod reader;
mod records;
mod runs;

pub use error::{ExportError, ImportError};
pub use options::{ImportOptions, Imported, OnConflict};

/// The first line's name of the format.
const FORMAT: &str = "working-memory";

/// The version of the format that is written; also the only one that is read.
const FORMAT_VERSION: u32 = 1;

/// How much was written or read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Whole memories.
    pub memories: u64,
    /// Versions.
    pub contexts: u64,
    /// Bytes of the file.
    pub bytes: u64,
}
