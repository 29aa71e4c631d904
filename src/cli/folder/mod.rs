//! The engine of the folders that this program keeps on disk. A [`tree`] from which no path leads out, texts that are
//! replaced only if they are as expected ([`swap`]), and one state file a folder that says what was last equal on both
//! sides; from that, the folder and the other side a [`plan`] follows for each path, which the [`engine`] carries out. So the
//! text of somebody else is never lost.
//!
//! | folder | files | other side | state |
//! |---|---|---|---|
//! | `sync DIR` | the tree of a root | the memory tool's files, in both directions | `.working-memory-sync.json`: version and hash by path |
//! | `window export DIR` | rules, status, decisions, history, epics | a memory, which the folder follows | `.working-memory-folder.json`: hash by path |
//! | `$WORKING_MEMORY_HOME/workspace` | each run's handoff, and the current one | none: they are this program's alone | the manifest beside it: hash of the text |

pub(super) mod disk;
pub(super) mod engine;
pub(super) mod plan;
pub(super) mod swap;
pub(super) mod tree;
pub(super) mod watch;
