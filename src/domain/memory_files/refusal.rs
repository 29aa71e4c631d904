//! What a command is refused with.

use super::path::{FilePath, MAX_PATH_BYTES, MAX_PATH_SEGMENTS};
use std::fmt;

/// Why a command was not carried out, in words for the model. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// `view`, `str_replace` and `insert`: there is neither file nor directory.
    #[must_use]
    pub fn no_such_path(path: &FilePath) -> Self {
        Self(format!(
            "The path {path} does not exist. Please provide a valid path."
        ))
    }

    /// `delete` and `rename`: there is neither file nor directory.
    #[must_use]
    pub fn nothing_there(path: &FilePath) -> Self {
        Self(format!("The path {path} does not exist"))
    }

    /// `str_replace` and `insert`: it is a directory.
    #[must_use]
    pub fn not_a_file(path: &FilePath) -> Self {
        Self(format!("The path {path} is not a file."))
    }

    /// `create`: there is a file or a directory already.
    #[must_use]
    pub fn file_exists(path: &FilePath) -> Self {
        Self(format!("File {path} already exists"))
    }

    /// `rename`: there is a file or a directory at the new path.
    #[must_use]
    pub fn destination_exists(path: &FilePath) -> Self {
        Self(format!("The destination {path} already exists"))
    }

    /// `create` and `rename`: what would have to be a directory is a file.
    #[must_use]
    pub fn below_a_file(path: &FilePath, file: &FilePath) -> Self {
        Self(format!(
            "The path {path} cannot be used: {file} is a file, not a directory. Choose another path."
        ))
    }

    /// `delete`: all of it.
    #[must_use]
    pub fn root_is_not_deleted() -> Self {
        Self("Cannot delete the /memories directory itself".to_owned())
    }

    /// `rename`: all of it.
    #[must_use]
    pub fn root_is_not_renamed() -> Self {
        Self("Cannot rename the /memories directory itself".to_owned())
    }

    /// `rename`: a directory below itself.
    #[must_use]
    pub fn into_itself(from: &FilePath, to: &FilePath) -> Self {
        Self(format!(
            "Cannot rename {from} to {to}: a directory cannot be moved into itself. Choose another path."
        ))
    }

    pub(super) fn outside(path: impl fmt::Display) -> Self {
        Self(format!("Path must start with /memories, got: {path}"))
    }

    pub(super) fn escapes(path: impl fmt::Display) -> Self {
        Self(format!("Path {path} would escape /memories directory"))
    }

    pub(super) fn path_too_long(bytes: usize) -> Self {
        Self(format!(
            "The path has {bytes} bytes; at most {MAX_PATH_BYTES} are possible. Choose a shorter path."
        ))
    }

    pub(super) fn path_too_deep(segments: usize) -> Self {
        Self(format!(
            "The path has {segments} segments; at most {MAX_PATH_SEGMENTS} are possible, /memories included. Choose a \
             path with fewer directories."
        ))
    }

    pub(super) fn too_large(path: &FilePath, bytes: usize, limit: usize) -> Self {
        Self(format!(
            "The file {path} would have {bytes} bytes; at most {limit} are possible (limits.context_bytes). Nothing \
             was changed. Keep less in it, or split it into several files."
        ))
    }

    pub(super) fn nul(path: &FilePath, at: usize) -> Self {
        Self(format!(
            "The file {path} would hold a NUL character at byte {at}, which cannot be stored. Nothing was changed. \
             Remove the character."
        ))
    }
}
