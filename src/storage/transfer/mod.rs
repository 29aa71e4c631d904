//! Export and import of a vault as JSON Lines.
//!
//! Each line is a JSON object with one member, whose name is the kind of the line:
//!
//! ```text
//! {"header": {"format": "working-memory", "version": 1, "vault_id": …}}
//!   {"vault_item": {…}}   prompt items of the vault, by item_id
//!   {"memory": {memory_id, head_version, head_context_id, counters, times}}
//!     {"context": {…}}    its versions, from 1 on
//!     {"record": {…}}     its records, by kind and number
//!     {"run": {…}}        its runs, by update_id
//!     {"item": {…}}       its prompt items, by item_id
//!     {"path": {…}}       its path as a file of the memory tool, if it is one
//!   {"end": {memory_id, contexts, records, runs, items, paths, sha256}}
//! {"footer": {memories}}
//! ```
//!
//! - Memories are sorted by id, and everything else in the stated order, so that equal vaults give equal bytes.
//! - `sha256` is the hash of all lines of the memory before the end line, including line ends.
//! - A file without a footer is truncated. The complete memories in it are valid.
//! - New tables become new kinds of lines before `end`, as items and paths did. `items` is omitted in `end` if there
//!   are none, so that files without items are compatible between older and newer releases in both directions.
//!
//! Each table has one file here, with one type that is both its row and its line. To export and import a new column, add
//! it to the type, the SELECT and the INSERT.
//!
//! Records are a projection of the documents. So an import derives them from the documents with the function that every
//! writer uses, and then compares each record line with the result. What documents do not contain (why a record was
//! archived, what replaced it) comes from the line.

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

/// The format name in the first line.
const FORMAT: &str = "working-memory";

/// The version of the format that is written, and the only one that is read.
const FORMAT_VERSION: u32 = 1;

/// The progress of an export or import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Complete memories.
    pub memories: u64,
    /// Versions.
    pub contexts: u64,
    /// Bytes of the file.
    pub bytes: u64,
}
