//! The memory tool of Anthropic's API (`memory_20250818`): its commands, and what they do to the text of a file.
//!
//! A model speaks of files below `/memories`. Each file is a memory, and its document is the file. What is answered is
//! text for the model, in the words of the reference implementation (`_beta_builtin_memory_tool.py` of Anthropic's
//! Python SDK), so that an agent sees no difference; where that one fails without words of its own, or accepts what a
//! service cannot keep, the words are those of [`Refusal`].
//!
//! Where it differs from a file system: a directory exists by the files below it, and its size is the sum of theirs.

mod command;
mod edit;
mod listing;
mod occurrences;
mod path;
mod refusal;
mod refused_commands;
mod view;

pub use command::{Command, is_edit};
pub use edit::{Edited, insert, new_file, str_replace};
pub use listing::Listing;
pub use path::{FilePath, MAX_PATH_BYTES, MAX_PATH_SEGMENTS};
pub use refusal::Refusal;
pub use view::{ViewRange, view_file};

/// How many characters a line number takes, as wide as the largest one that is shown.
const LINE_NUMBER_WIDTH: usize = 6;

/// The most lines of a file that is shown.
const MAX_LINES: usize = 999_999;

/// What a successful deletion says.
#[must_use]
pub fn deleted(path: &FilePath) -> String {
    format!("Successfully deleted {path}")
}

/// What a successful renaming says.
#[must_use]
pub fn renamed(from: &FilePath, to: &FilePath) -> String {
    format!("Successfully renamed {from} to {to}")
}

/// Adds a line as the model sees it, with its number.
fn push_numbered(shown: &mut String, number: usize, line: &str) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(shown, "\n{number:>LINE_NUMBER_WIDTH$}\t{line}");
}
