//! The memory tool of Anthropic's API (`memory_20250818`): its commands and their effects on a file's text.
//!
//! A model addresses files below `/memories`. Each file is a memory whose document is the file's text.
//! Responses are texts for the model, worded like the reference implementation
//! (`_beta_builtin_memory_tool.py` of Anthropic's Python SDK), so that an agent sees no difference. Where
//! that one fails without a message, or accepts what a service cannot store, the messages are those of
//! [`Refusal`].
//!
//! Differences from a file system: a directory exists if there are files below it, and its size is the sum of
//! their sizes.

mod command;
mod edit;
mod listing;
mod path;
mod refusal;
mod view;

pub use command::{Command, is_edit};
pub use edit::{Edited, insert, new_file, str_replace};
pub use listing::Listing;
pub use path::{FilePath, MAX_PATH_BYTES, MAX_PATH_SEGMENTS};
pub use refusal::Refusal;
pub use view::view_file;

/// Width of a line number, sufficient for the largest one shown.
const LINE_NUMBER_WIDTH: usize = 6;

/// Maximum number of lines of a file that can be shown.
const MAX_LINES: usize = 999_999;

/// The response to a successful deletion.
#[must_use]
pub fn deleted(path: &FilePath) -> String {
    format!("Successfully deleted {path}")
}

/// The response to a successful renaming.
#[must_use]
pub fn renamed(from: &FilePath, to: &FilePath) -> String {
    format!("Successfully renamed {from} to {to}")
}

/// Appends a line with its number, in the format for the model.
fn push_numbered(shown: &mut String, number: usize, line: &str) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(shown, "\n{number:>LINE_NUMBER_WIDTH$}\t{line}");
}
