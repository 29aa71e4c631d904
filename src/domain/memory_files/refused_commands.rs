//! What commands are refused with for what is at their paths.

use super::path::FilePath;
use super::refusal::Refusal;

impl Refusal {
    /// `view`, `str_replace` and `insert`: there is neither file nor directory.
    #[must_use]
    pub fn no_such_path(path: &FilePath) -> Self {
        Self::new(format!(
            "The path {path} does not exist. Please provide a valid path."
        ))
    }

    /// `delete` and `rename`: there is neither file nor directory.
    #[must_use]
    pub fn nothing_there(path: &FilePath) -> Self {
        Self::new(format!("The path {path} does not exist"))
    }

    /// `str_replace` and `insert`: it is a directory.
    #[must_use]
    pub fn not_a_file(path: &FilePath) -> Self {
        Self::new(format!("The path {path} is not a file."))
    }

    /// `create`: there is a file or a directory already.
    #[must_use]
    pub fn file_exists(path: &FilePath) -> Self {
        Self::new(format!("File {path} already exists"))
    }

    /// `rename`: there is a file or a directory at the new path.
    #[must_use]
    pub fn destination_exists(path: &FilePath) -> Self {
        Self::new(format!("The destination {path} already exists"))
    }

    /// `create` and `rename`: what would have to be a directory is a file.
    #[must_use]
    pub fn below_a_file(path: &FilePath, file: &FilePath) -> Self {
        Self::new(format!(
            "The path {path} cannot be used: {file} is a file, not a directory. Choose another path."
        ))
    }

    /// `delete`: all of it.
    #[must_use]
    pub fn root_is_not_deleted() -> Self {
        Self::new("Cannot delete the /memories directory itself")
    }

    /// `rename`: all of it.
    #[must_use]
    pub fn root_is_not_renamed() -> Self {
        Self::new("Cannot rename the /memories directory itself")
    }

    /// `rename`: a directory below itself.
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
