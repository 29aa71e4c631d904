//! The engine of the folders that this program keeps on disk: a [`tree`] from which no path leads out, texts that are
//! replaced only if they are as expected ([`swap`]), and one state file a folder ([`state`]) that says what was last
//! written. What is read is compared with that state, so that texts of others are never lost.
//!
//! | folder | files | state |
//! |---|---|---|
//! | `sync DIR` | the tree of a root, both directions | `.working-memory-sync.json`: version and hash by path |
//! | `window export DIR` | rules, status, decisions, history, epics | `.working-memory-folder.json`: hashes by path |
//! | `$WORKING_MEMORY_HOME/workspace` | each run's handoff, and the current one | the manifest beside it: hash of the text |

pub(super) mod state;
pub(super) mod swap;
pub(super) mod tree;
pub(super) mod watch;
