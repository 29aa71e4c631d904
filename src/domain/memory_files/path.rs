//! Paths of files: `/memories` or a path below it, each with a single spelling.

use super::refusal::Refusal;
use crate::domain::ids::MemoryId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use unicode_normalization::UnicodeNormalization as _;
use uuid::Uuid;

/// Maximum length of a path in bytes.
pub const MAX_PATH_BYTES: usize = 1_024;

/// Maximum number of segments of a path, including `memories`.
pub const MAX_PATH_SEGMENTS: usize = 20;

/// The root of all paths.
const ROOT: &str = "/memories";

/// Percent-encoded characters with a special meaning in paths, in lower case.
const ENCODED: [&str; 4] = ["%2e", "%2f", "%5c", "%00"];

/// Maximum number of characters of a file name that are used in the id of its memory.
const NAME_IN_ID: usize = 64;

/// A path of the memory tool: NFC, without a trailing slash and without `.` or `..` segments.
///
/// ```
/// use working_memory::domain::memory_files::FilePath;
/// assert_eq!(FilePath::parse("/memories/notes/")?.as_str(), "/memories/notes");
/// assert!(FilePath::parse("/memories/../etc/passwd").is_err());
/// # Ok::<(), working_memory::domain::memory_files::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct FilePath(String);

string_in_json!(FilePath);

impl FilePath {
    /// Parses a path from a model.
    ///
    /// # Errors
    ///
    /// What is invalid.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        // Normalised first, so that the checked path is the stored path.
        let mut path: String = text.nfc().collect();
        if path.len() > 1 && path.ends_with('/') {
            path.pop();
        }
        let below = path.strip_prefix(ROOT);
        if !below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
            let outside = format!("Path must start with /memories, got: {text}");
            return Err(Refusal::new(outside));
        }
        let path = Self(path).bounded()?;
        for segment in path.0.split('/').skip(2) {
            check_segment(&path.0, segment)?;
        }
        Ok(path)
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is `/memories` itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == ROOT
    }

    /// Its segments below `directory`, which must be the path itself or a parent.
    pub(super) fn segments_below<'p>(&'p self, directory: &Self) -> impl Iterator<Item = &'p str> + use<'p> {
        let below = self.0.strip_prefix(directory.as_str()).unwrap_or_default();
        below.split('/').skip(1)
    }

    /// Whether it is below a directory.
    #[must_use]
    pub fn is_below(&self, directory: &Self) -> bool {
        self.0
            .strip_prefix(directory.as_str())
            .is_some_and(|below| below.starts_with('/'))
    }

    /// Its parent directories, without `/memories`.
    #[must_use]
    pub fn directories(&self) -> Vec<Self> {
        let slashes = self.0.match_indices('/').skip(2);
        slashes.map(|(at, _)| Self(self.0[..at].to_owned())).collect()
    }

    /// The path after renaming `from`, which must be the path itself or a parent, to `to`.
    ///
    /// # Errors
    ///
    /// The new path is too long or too deep.
    pub fn moved(&self, from: &Self, to: &Self) -> Result<Self, Refusal> {
        let below = self.0.strip_prefix(from.as_str()).unwrap_or_default();
        Self(format!("{to}{below}")).bounded()
    }

    /// The memory id of a new file: a readable part of its name and a unique part.
    #[must_use]
    pub fn new_memory_id(&self, unique: Uuid) -> MemoryId {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String = name
            .chars()
            .map(|c| if fits(c) { c } else { '-' })
            .take(NAME_IN_ID)
            .collect();
        let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        format!("{name}-{unique}")
            .parse()
            .unwrap_or_else(|_| unique.into())
    }

    fn bounded(self) -> Result<Self, Refusal> {
        let segments = self.0.matches('/').count();
        if self.0.len() > MAX_PATH_BYTES {
            Err(Refusal::new(format!(
                "The path has {} bytes; at most {MAX_PATH_BYTES} are possible. Choose a shorter path.",
                self.0.len()
            )))
        } else if segments > MAX_PATH_SEGMENTS {
            Err(Refusal::new(format!(
                "The path has {segments} segments; at most {MAX_PATH_SEGMENTS} are possible, /memories included. Choose \
                 a path with fewer directories."
            )))
        } else {
            Ok(self)
        }
    }
}

impl FromStr for FilePath {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        Self::parse(text)
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_segment(path: &str, segment: &str) -> Result<(), Refusal> {
    let lower = segment.to_ascii_lowercase();
    if segment == ".." || segment.contains('\\') || ENCODED.iter().any(|encoded| lower.contains(encoded)) {
        let escapes = format!("Path {path} would escape /memories directory");
        return Err(Refusal::new(escapes));
    }
    let wrong = |what: &str| Refusal::new(format!("Path {path} is not valid: {what}"));
    if segment.is_empty() {
        Err(wrong(
            "it holds // where a name is missing. Write single slashes.",
        ))
    } else if segment == "." {
        Err(wrong("it holds the segment `.`. Leave that out."))
    } else if let Some(control) = segment.chars().find(|c| c.is_control()) {
        let code = u32::from(control);
        Err(wrong(&format!(
            "it holds the control character U+{code:04X}. Leave that out."
        )))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_an_id() {
        for (name, begins) in [
            ("notes.md", "notes.md-"),
            (".env", "env-"),
            ("日本", "0"),
            ("a b/ü@x", "x-"),
        ] {
            let path = FilePath::parse(&format!("/memories/{name}")).unwrap();
            let id = path.new_memory_id(Uuid::nil());
            assert!(id.as_str().starts_with(begins), "{id}");
        }
        let long = FilePath::parse(&format!("/memories/{}", "x".repeat(900))).unwrap();
        assert!(long.new_memory_id(Uuid::nil()).as_str().len() <= 128);
    }
}
