//! `.working-memory.toml`: which memory the work in a folder belongs to.

use super::failure::Failure;
use serde::Deserialize;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The file's name, in the current folder or one above.
pub(in crate::cli) const FILE_NAME: &str = ".working-memory.toml";

/// The maximum size of the file.
const MAX_BYTES: u64 = 64 * 1024;

/// The entries of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Entries {
    /// Address of the service.
    pub(super) url: Option<String>,
    /// The vault.
    pub(super) vault: Option<String>,
    /// The memory.
    pub(super) memory: Option<String>,
    /// The author of changes.
    pub(super) actor: Option<String>,
    /// A file with the API key, relative to the folder of this file.
    pub(super) key_file: Option<PathBuf>,
}

/// A file and its location.
#[derive(Debug)]
pub(super) struct Project {
    /// The path of the file.
    pub(super) path: PathBuf,
    /// Its entries.
    pub(super) entries: Entries,
}

impl Project {
    /// Finds the nearest file of `folder` and the folders above it.
    ///
    /// # Errors
    /// It cannot be read, is not TOML, or has an unknown key.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>, Failure> {
        for folder in folder.ancestors() {
            let path = folder.join(FILE_NAME);
            if path.is_file() {
                return Self::read(path).map(Some);
            }
        }
        Ok(None)
    }

    /// The key file it names, which must be inside its folder: a folder that came from someone else must not name other
    /// files of its user.
    ///
    /// # Errors
    /// It is outside, also by way of a symbolic link.
    pub(super) fn key_file(&self) -> Result<Option<PathBuf>, Failure> {
        let (Some(path), Some(folder)) = (&self.entries.key_file, self.path.parent()) else {
            return Ok(None);
        };
        // A missing file is reported when it is read.
        let (Ok(file), Ok(folder)) = (path.canonicalize(), folder.canonicalize()) else {
            return Ok(Some(path.clone()));
        };
        if file.starts_with(&folder) {
            return Ok(Some(file));
        }
        Err(Failure::usage(format!(
            "{}: key_file must be inside {}: name it with --key-file, or set WORKING_MEMORY_API_KEY",
            self.path.display(),
            folder.display()
        )))
    }

    fn read(path: PathBuf) -> Result<Self, Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
        let mut text = String::new();
        std::fs::File::open(&path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
            .map_err(|error| wrong(&error))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(wrong(&format!("is over {MAX_BYTES} bytes")));
        }
        let mut entries: Entries = config::Config::builder()
            .add_source(config::File::from_str(&text, config::FileFormat::Toml))
            .build()
            .and_then(config::Config::try_deserialize)
            .map_err(|error| wrong(&super::text::one_line(&error.to_string())))?;
        if let (Some(key_file), Some(folder)) = (&mut entries.key_file, path.parent()) {
            *key_file = folder.join(&*key_file);
        }
        Ok(Self { path, entries })
    }
}
