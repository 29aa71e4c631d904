//! The responses to commands that cannot be executed.

use super::path::FilePath;

/// Why a command was not executed, worded for the model. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `view`, `str_replace` and `insert`: the path does not exist.
    #[error("The path {0} does not exist. Please provide a valid path.")]
    NoSuchPath(FilePath),
    /// `delete` and `rename`: the path does not exist.
    #[error("The path {0} does not exist")]
    NothingThere(FilePath),
    /// `str_replace` and `insert`: the path is a directory.
    #[error("The path {0} is not a file.")]
    NotAFile(FilePath),
    /// `create`: the path already exists.
    #[error("File {0} already exists")]
    FileExists(FilePath),
    /// `rename`: the new path already exists.
    #[error("The destination {0} already exists")]
    DestinationExists(FilePath),
    /// `create` and `rename`: a parent of the path is a file.
    #[error("The path {path} cannot be used: {file} is a file, not a directory. Choose another path.")]
    BelowAFile {
        /// The path.
        path: FilePath,
        /// The file.
        file: FilePath,
    },
    /// `delete`: the path is the root.
    #[error("Cannot delete the /memories directory itself")]
    RootIsNotDeleted,
    /// `rename`: the path is the root.
    #[error("Cannot rename the /memories directory itself")]
    RootIsNotRenamed,
    /// `rename`: the new path is below the old one.
    #[error("Cannot rename {0} to {1}: a directory cannot be moved into itself. Choose another path.")]
    IntoItself(FilePath, FilePath),
    /// Any other reason: the whole message.
    #[error("{0}")]
    Other(String),
}

impl Refusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::Other(text.into())
    }
}
