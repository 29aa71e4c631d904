//! Export and import of a vault as JSON Lines.
//!
//! Each line is a JSON object with one member, whose name is the kind of the line:
//!
//! ```text
//! {"header": {"format": "working-memory", "version": 2, "vault_id": …}}
//!   {"vault_item": {…}}   prompt items of the vault, by item_id
//!   {"memory": {memory_id, head_version, head_context_id, counters, times}}
//!     {"context": {…}}    its versions, from 1 on
//!     {"record": {…}}     those of its records that do not follow from the versions, by kind and number
//!     {"run": {…}}        its runs, by update_id
//!     {"handoff": {…}}    its handoffs, by number
//!     {"item": {…}}       its prompt items, by item_id
//!     {"path": {…}}       its path as a file of the memory tool, if it is one
//!   {"end": {memory_id, sha256}}
//! {"footer": {memories}}
//! ```
//!
//! - Memories are sorted by id, and everything else in the stated order, so that equal vaults give equal bytes. An import
//!   requires of a memory's lines that versions are in order, and that active records come after the newest.
//! - `sha256` is the hash of all lines of the memory before the end line, including line ends.
//! - A file without a footer is truncated. The complete memories in it are valid.
//! - Version 1 has a line for every record, and no handoffs. It is read in the same way.
//!
//! Each table has one type (`lines`) that is both its row and its line. To export and import a new column, add it to the
//! type, the SELECT (`export`) and the INSERT (`memory`).
//!
//! Records are a projection of the versions: an import derives them with the function that every writer and the rebuild use.
//! Where a version is missing or was redacted, record lines tell what it would; what the versions know counts more.

mod export;
mod import;
mod lines;
mod memory;

pub use export::ExportError;
pub use import::{ImportError, ImportOptions, Imported, OnConflict};

/// The format name in the first line.
const FORMAT: &str = "working-memory";

/// The version of the format that is written.
const FORMAT_VERSION: u32 = 2;

/// The oldest version that is read.
const OLDEST_VERSION: u32 = 1;
