//! Which files of a folder are synchronised, and their paths on the service.

use crate::cli::folder::disk::hash;
use crate::cli::folder::plan::Local;
use crate::cli::folder::swap::MAX_NAME_BYTES;
use crate::cli::folder::tree::Tree;
use crate::domain::memory_files::FilePath;
use rustix::fs::{AtFlags, Dir, FileType};
use std::collections::BTreeMap;
use std::io;

/// The largest file that is synchronised; services accept less.
const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;

/// The root of the paths on the service.
pub(super) const ROOT: &str = "/memories/";

/// The most files that a folder may have.
const MAX_FILES: usize = 20_000;

/// The maximum depth of folders; the service accepts no more.
const MAX_DEPTH: usize = 19;

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// By path, files to synchronise, and entries at the path of such a file that are not files.
    pub(super) files: BTreeMap<String, Local>,
    /// Symbolic links, each with a trailing slash: there may have been a folder before.
    pub(super) links: Vec<String>,
    /// What was skipped, and why.
    pub(super) skipped: BTreeMap<String, String>,
    /// The folders, each with a trailing slash, but for the first.
    pub(super) folders: Vec<String>,
}

impl ScanResult {
    /// Scans a folder for the files to synchronise: Markdown only, or all text files.
    ///
    /// # Errors
    /// A folder cannot be read, or there are too many files.
    pub(super) fn of(tree: &Tree, all: bool) -> io::Result<Self> {
        let mut found = Self {
            folders: vec![String::new()],
            ..Self::default()
        };
        let mut next = 0;
        while let Some(above) = found.folders.get(next).cloned() {
            found.scan_folder(tree, all, &above)?;
            next += 1;
        }
        Ok(found)
    }

    fn scan_folder(&mut self, tree: &Tree, all: bool, above: &str) -> io::Result<()> {
        let Some((folder, _)) = tree.parent(&format!("{above}x"), false)? else {
            return Ok(());
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
                    true => self.folders.push(format!("{path}/")),
                    false => drop(self.skipped.insert(path, "it is too deep".to_owned())),
                }
                continue;
            }
            if kind == FileType::Symlink {
                self.links.push(format!("{path}/"));
            }
            if !is_wanted(&path, all) {
                continue;
            }
            if self.files.len() >= MAX_FILES {
                return Err(io::Error::other(format!("has over {MAX_FILES} files")));
            }
            let local = match read(tree, &path, kind) {
                Ok(sha256) => Local::Text(sha256),
                Err(why) => {
                    self.skipped.insert(path.clone(), why);
                    Local::Unusable
                }
            };
            self.files.insert(path, local);
        }
        Ok(())
    }
}

/// The hash of a file that can be synchronised, or why it cannot.
fn read(tree: &Tree, path: &str, kind: FileType) -> Result<String, String> {
    path_on_service(path)?;
    match kind {
        FileType::RegularFile => {}
        FileType::Symlink => return Err("it is a symbolic link, which is not followed".to_owned()),
        _ => return Err("it is not a regular file".to_owned()),
    }
    let bytes = tree.read(path).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("it went away")?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(format!("it is over {MAX_FILE_BYTES} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8")?;
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    Ok(hash(text.as_bytes()))
}

/// The path on the service of a file with this path below the folder.
///
/// # Errors
///
/// The service would reject the path or spell it differently, or the name is reserved.
pub(super) fn path_on_service(relative: &str) -> Result<FilePath, String> {
    let whole = format!("{ROOT}{relative}");
    let path = FilePath::parse(&whole).map_err(|refusal| refusal.to_string())?;
    if path.as_str() != whole {
        return Err("its name is not spelt in NFC; rename it".to_owned());
    }
    check_names(relative).map(|()| path)
}

/// The path below the folder of a file on the service. The service is not trusted: a path cannot leave the
/// folder or be hidden.
///
/// # Errors
///
/// Why the path is not allowed.
pub(super) fn path_in_folder(path: &str) -> Result<String, String> {
    let parsed = FilePath::parse(path).map_err(|refusal| refusal.to_string())?;
    let relative = path
        .strip_prefix(ROOT)
        .filter(|relative| !relative.is_empty() && parsed.as_str() == path)
        .ok_or("it is no path below /memories")?;
    check_names(relative).map(|()| relative.to_owned())
}

fn check_names(relative: &str) -> Result<(), String> {
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
    use crate::cli::folder::swap::conflict_paths;

    #[test]
    fn paths_stay_in_the_folder_and_are_the_same_on_both_sides() {
        for relative in ["a.md", "notes/tea ü 漢.md", "x/y/z.txt"] {
            let path = path_on_service(relative).unwrap();
            assert_eq!(path_in_folder(path.as_str()).unwrap(), relative);
        }
        let long = format!("{}.md", "ä".repeat(78));
        for copy in conflict_paths(&long, "0123456789abcdef").take(9) {
            assert!(path_on_service(&copy).is_ok(), "{copy}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "/memories",
            "/memories/",
            "/memories/../x.md",
            "/memories/a//b.md",
            "/memories/a/",
            "/memories/.ssh/id.md",
            "/memories/a\\b.md",
            "/memories/a\nb.md",
            "/memories/%2e%2e/x.md",
            "/memoriesx/a.md",
            "/memories/u\u{308}.md",
        ] {
            assert!(path_in_folder(bad).is_err(), "{bad:?}");
        }
        for bad in [
            "u\u{308}.md",
            ".a.md",
            "a/.b/c.md",
            "a\\b.md",
            "",
            &"x".repeat(161),
        ] {
            assert!(path_on_service(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn markdown_is_wanted_and_with_all_everything() {
        assert!(is_wanted("n/a.md", false) && is_wanted("A.MD", false) && is_wanted("a.xml", true));
        assert!(!is_wanted("a.xml", false) && !is_wanted("md", false) && !is_wanted("a.md/x", false));
    }
}
