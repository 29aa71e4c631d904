//! Parses the commands of a model. Unknown members are ignored.

use super::path::FilePath;
use super::refusal::Refusal;
use serde_json::{Map, Value};

/// The commands that change files.
const EDITS: [&str; 5] = ["create", "str_replace", "insert", "delete", "rename"];

/// A parsed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Shows a file, or lists a directory.
    View {
        /// Path of the file or directory.
        path: FilePath,
        /// The lines of a file to show, as they were given; all without it.
        range: Option<Value>,
    },
    /// Creates a file and its directories.
    Create {
        /// Path of the file.
        path: FilePath,
        /// Its complete text.
        text: String,
    },
    /// Replaces a text that occurs exactly once in a file.
    StrReplace {
        /// Path of the file.
        path: FilePath,
        /// The text to replace.
        old: String,
        /// The replacement.
        new: String,
    },
    /// Inserts lines into a file.
    Insert {
        /// Path of the file.
        path: FilePath,
        /// Number of the line to insert after; 0 inserts before the first line.
        line: i128,
        /// The lines to insert.
        text: String,
    },
    /// Deletes a file, or a directory with everything in it.
    Delete {
        /// Path of the file or directory.
        path: FilePath,
    },
    /// Renames a file or a directory.
    Rename {
        /// The current path.
        from: FilePath,
        /// Its new path.
        to: FilePath,
    },
}

/// Whether a command changes files, by its name alone.
#[must_use]
pub fn is_edit(members: &Map<String, Value>) -> bool {
    let name = members.get("command").and_then(Value::as_str);
    name.is_some_and(|name| EDITS.contains(&name))
}

impl Command {
    /// Parses a command.
    ///
    /// # Errors
    ///
    /// What is invalid, regardless of the existing files.
    pub fn read(members: &Map<String, Value>) -> Result<Self, Refusal> {
        let text = |name| text(members, name);
        let path = |name| FilePath::parse(text(name)?);
        Ok(match text("command")? {
            "view" => Self::View {
                path: path("path")?,
                range: members
                    .get("view_range")
                    .filter(|range| !range.is_null())
                    .cloned(),
            },
            "create" => Self::Create {
                path: path("path")?,
                text: text("file_text")?.to_owned(),
            },
            "str_replace" => Self::StrReplace {
                path: path("path")?,
                old: text("old_str")?.to_owned(),
                new: match members.get("new_str") {
                    None | Some(Value::Null) => String::new(),
                    Some(_) => text("new_str")?.to_owned(),
                },
            },
            "insert" => Self::Insert {
                path: path("path")?,
                line: members
                    .get("insert_line")
                    .and_then(integer)
                    .ok_or_else(|| wrong_type("insert_line", "a whole number"))?,
                text: text("insert_text")?.to_owned(),
            },
            "delete" => Self::Delete { path: path("path")? },
            "rename" => Self::Rename {
                from: path("old_path")?,
                to: path("new_path")?,
            },
            unknown => {
                return Err(Refusal::new(format!(
                    "Unknown command: {unknown}. The commands are view, {}.",
                    EDITS.join(", ")
                )));
            }
        })
    }
}

fn text<'m>(members: &'m Map<String, Value>, name: &'static str) -> Result<&'m str, Refusal> {
    let value = members.get(name).and_then(Value::as_str);
    value.ok_or_else(|| wrong_type(name, "a string"))
}

fn wrong_type(name: &str, expected: &str) -> Refusal {
    Refusal::new(format!("Invalid `{name}` parameter: it must be {expected}."))
}

/// An integer, written without a decimal point.
pub(super) fn integer(value: &Value) -> Option<i128> {
    let signed = value.as_i64().map(i128::from);
    signed.or_else(|| value.as_u64().map(i128::from))
}
