//! The responses to commands that cannot be executed.

use super::path::FilePath;

/// Why a command was not executed, worded for the model. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// `view`, `str_replace` and `insert`: the path does not exist.
    #[must_use]
    pub fn no_such_path(path: &FilePath) -> Self {
        Self::new(format!(
            "The path {path} does not exist. Please provide a valid path."
        ))
    }

    /// `delete` and `rename`: the path does not exist.
    #[must_use]
    pub fn nothing_there(path: &FilePath) -> Self {
        Self::new(format!("The path {path} does not exist"))
    }

    /// `str_replace` and `insert`: the path is a directory.
    #[must_use]
    pub fn not_a_file(path: &FilePath) -> Self {
        Self::new(format!("The path {path} is not a file."))
    }

    /// `create`: the path already exists.
    #[must_use]
    pub fn file_exists(path: &FilePath) -> Self {
        Self::new(format!("File {path} already exists"))
    }

    /// `rename`: the new path already exists.
    #[must_use]
    pub fn destination_exists(path: &FilePath) -> Self {
        Self::new(format!("The destination {path} already exists"))
    }

    /// `create` and `rename`: a parent of the path is a file.
    #[must_use]
    pub fn below_a_file(path: &FilePath, file: &FilePath) -> Self {
        Self::new(format!(
            "The path {path} cannot be used: {file} is a file, not a directory. Choose another path."
        ))
    }

    /// `delete`: the path is the root.
    #[must_use]
    pub fn root_is_not_deleted() -> Self {
        Self::new("Cannot delete the /memories directory itself")
    }

    /// `rename`: the path is the root.
    #[must_use]
    pub fn root_is_not_renamed() -> Self {
        Self::new("Cannot rename the /memories directory itself")
    }

    /// `rename`: the new path is below the old one.
    #[must_use]
    pub fn into_itself(from: &FilePath, to: &FilePath) -> Self {
        Self::new(format!(
            "Cannot rename {from} to {to}: a directory cannot be moved into itself. Choose another path."
        ))
    }

    pub(super) fn too_large(path: &FilePath, bytes: usize, limit: usize) -> Self {
        Self::new(format!(
            "The file {path} would have {bytes} bytes; at most {limit} are possible (limits.context_bytes). Nothing \
             was changed. Keep less in it, or split it into several files."
        ))
    }

    pub(super) fn nul(path: &FilePath, at: usize) -> Self {
        Self::new(format!(
            "The file {path} would hold a NUL character at byte {at}, which cannot be stored. Nothing was changed. \
             Remove the character."
        ))
    }
}
