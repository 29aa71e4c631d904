//! Which files of a folder are synchronised, and under which paths.

use super::root::Base;
use crate::cli::client::Failure;
use crate::cli::folder::hash;
use crate::cli::folder::swap::{self, MAX_NAME_BYTES};
use crate::cli::folder::tree::Tree;
use crate::config::limits::MOST_BYTES;
use crate::domain::memory_files::FilePath;
use rustix::fs::{AtFlags, Dir, FileType};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

/// The root of the paths on the service.
pub(super) const ROOT: &str = "/memories/";

/// The most files that a folder may have.
const MAX_FILES: usize = 20_000;

/// The maximum depth of folders; the service accepts no more.
const MAX_DEPTH: usize = 19;

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// By path, the hashes of the texts to synchronise.
    pub(super) files: BTreeMap<String, String>,
    /// What was skipped, and why.
    pub(super) skipped: BTreeMap<String, String>,
}

impl ScanResult {
    /// Scans a folder for the files to synchronise: Markdown only, or all text files. What a killed sync left behind in it is
    /// cleaned up; of a text that is in `bases` no copy is kept.
    ///
    /// # Errors
    /// A folder cannot be read, or there are too many files.
    pub(super) fn of(tree: &Tree, all: bool, bases: &BTreeMap<String, Base>) -> Result<Self, Failure> {
        let is_base = |path: &str, sha256: &str| {
            let base = bases.get(path);
            base.is_some_and(|base| base.sha256 == sha256)
        };
        let mut found = Self::default();
        let mut folders = vec![String::new()];
        while let Some(above) = folders.pop() {
            found.skipped.extend(swap::recover(tree, &above, is_base));
            match found.scan_folder(tree, all, &above) {
                Ok(below) => folders.extend(below),
                Err(error) if error.kind() == ErrorKind::PermissionDenied && !above.is_empty() => {
                    found.skipped.insert(above, error.to_string());
                }
                Err(error) => return Err(tree.failed("", &error)),
            }
        }
        Ok(found)
    }

    /// Scans one folder; returns those in it, each with a trailing slash.
    fn scan_folder(&mut self, tree: &Tree, all: bool, above: &str) -> io::Result<Vec<String>> {
        let mut folders = Vec::new();
        let Some((folder, _)) = tree.parent(&format!("{above}x"), false)? else {
            return Ok(folders);
        };
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                let shown = format!("{above}{}", entry.file_name().to_string_lossy());
                self.skipped.insert(shown, "its name is not UTF-8".to_owned());
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let path = format!("{above}{name}");
            let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(rustix::io::Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            if kind == FileType::Directory {
                match path.matches('/').count() + 1 < MAX_DEPTH {
                    true => folders.push(format!("{path}/")),
                    false => drop(self.skipped.insert(path, "it is too deep".to_owned())),
                }
                continue;
            }
            let leads_to_folder = || {
                let target = rustix::fs::statat(&folder, name, AtFlags::empty());
                target.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
            };
            let is_reported = is_wanted(&path, all) || kind == FileType::Symlink && leads_to_folder();
            if !is_reported {
                continue;
            }
            if self.files.len() + self.skipped.len() >= MAX_FILES {
                return Err(io::Error::other(format!("has over {MAX_FILES} files")));
            }
            match read(tree, &path, kind, stat.st_size) {
                Ok(sha256) => drop(self.files.insert(path, sha256)),
                Err(why) => drop(self.skipped.insert(path, why)),
            }
        }
        Ok(folders)
    }
}

/// The hash of a file of so many bytes that can be synchronised, or why it cannot.
fn read(tree: &Tree, path: &str, kind: FileType, bytes: i64) -> Result<String, String> {
    check(path)?;
    match kind {
        FileType::RegularFile => {}
        FileType::Symlink => return Err("it is a symbolic link, which is not followed".to_owned()),
        _ => return Err("it is not a regular file".to_owned()),
    }
    // What no service accepts is not read every two seconds.
    if u64::try_from(bytes).is_ok_and(|bytes| bytes > MOST_BYTES as u64) {
        return Err(format!("it is over {MOST_BYTES} bytes"));
    }
    let bytes = tree.read(path).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("it went away")?;
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8")?;
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    Ok(hash(text.as_bytes()))
}

/// The path below the folder of a file on the service. The service is not trusted.
///
/// # Errors
///
/// Why the path is not allowed.
pub(super) fn path_in_folder(path: &str) -> Result<&str, String> {
    let relative = path.strip_prefix(ROOT).ok_or("it is no path below /memories")?;
    check(relative).map(|()| relative)
}

/// Checks a path below the folder: the service spells it alike, and it cannot leave the folder or be hidden.
///
/// # Errors
///
/// Why the path is not allowed.
fn check(relative: &str) -> Result<(), String> {
    let whole = format!("{ROOT}{relative}");
    let path = FilePath::parse(&whole).map_err(|refusal| refusal.to_string())?;
    if path.as_str() != whole {
        return Err("its name is not spelt in NFC; rename it".to_owned());
    }
    for name in relative.split('/') {
        if name.starts_with('.') {
            return Err("hidden files and folders are left alone".to_owned());
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(format!("a name in its path is over {MAX_NAME_BYTES} bytes"));
        }
    }
    Ok(())
}

/// Whether a file is synchronised: Markdown only, or any file with `all`.
pub(super) fn is_wanted(relative: &str, all: bool) -> bool {
    let extension = relative.rsplit_once('.').map(|(_, extension)| extension);
    all || extension.is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::folder::swap::conflict_path;

    #[test]
    fn paths_stay_in_the_folder_and_are_the_same_on_both_sides() {
        for relative in ["a.md", "notes/tea ü 漢.md", "x/y/z.txt"] {
            check(relative).unwrap();
            assert_eq!(path_in_folder(&format!("{ROOT}{relative}")).unwrap(), relative);
        }
        let long = format!("{}.md", "ä".repeat(78));
        for copy in ["", "-1000"].map(|end| conflict_path(&long, "0123456789abcdef", end)) {
            assert!(check(&copy).is_ok(), "{copy}");
        }
        let bad = "|/etc/passwd|/memories|/memories/|/memories/../x.md|/memories/a//b.md|/memories/a/|\
                   /memories/.ssh/id.md|/memories/a\\b.md|/memories/a\nb.md|/memories/%2e%2e/x.md|/memoriesx/a.md|\
                   /memories/u\u{308}.md";
        for bad in bad.split('|') {
            assert!(path_in_folder(bad).is_err(), "{bad:?}");
        }
        let long = "x".repeat(161);
        for bad in ["u\u{308}.md", ".a.md", "a/.b/c.md", "a\\b.md", "", &long] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
