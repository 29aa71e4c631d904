//! Scans the folder.

use crate::cli::folder::state::hash;
use crate::cli::folder::swap;
use crate::cli::folder::tree::Tree;
use crate::cli::sync::plan::{Local, is_wanted, path_on_service};
use crate::clock::{Clock as _, SystemClock};
use rustix::fs::{AtFlags, Dir, FileType};
use std::collections::BTreeMap;
use std::io;

/// The largest file that is read; services accept less.
pub(super) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The most files that a folder may have.
const MAX_FILES: usize = 20_000;

/// The maximum depth of folders; the service accepts no more.
const MAX_DEPTH: usize = 19;

/// A file that was changed less than this long ago may change again with the same metadata.
const UNSETTLED_SECONDS: i64 = 3;

/// The metadata of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// By path, files to synchronise, and entries at the path of such a file that are not files.
    pub(super) files: BTreeMap<String, Local>,
    /// Symbolic links, each with a trailing slash: there may have been a folder before.
    pub(super) links: Vec<String>,
    /// What was skipped, and why.
    pub(super) skipped: BTreeMap<String, String>,
    /// Temporary files of a killed program: the folder, and the name.
    pub(super) left_behind: Vec<(String, String)>,
}

/// Scans a folder repeatedly, and reads only files that have changed.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    known: BTreeMap<String, (Stamp, String)>,
}

impl Scanner {
    /// Returns all files to synchronise.
    ///
    /// # Errors
    /// A folder cannot be read, or there are too many files.
    pub(super) fn scan(&mut self, tree: &Tree, all: bool) -> io::Result<ScanResult> {
        let mut found = ScanResult::default();
        let mut known = BTreeMap::new();
        let mut open = vec![String::new()];
        while let Some(above) = open.pop() {
            self.scan_folder(tree, all, &above, &mut open, &mut found, &mut known)?;
        }
        self.known = known;
        Ok(found)
    }

    fn scan_folder(
        &self,
        tree: &Tree,
        all: bool,
        above: &str,
        open: &mut Vec<String>,
        found: &mut ScanResult,
        known: &mut BTreeMap<String, (Stamp, String)>,
    ) -> io::Result<()> {
        let Some((folder, _)) = tree.parent(&format!("{above}x"), false)? else {
            return Ok(());
        };
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                let shown = format!("{above}{}", entry.file_name().to_string_lossy());
                found.skipped.insert(shown, "its name is not UTF-8".to_owned());
                continue;
            };
            if swap::is_left_behind(name) {
                found.left_behind.push((above.to_owned(), name.to_owned()));
            }
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
                    true => open.push(format!("{path}/")),
                    false => drop(found.skipped.insert(path, "it is too deep".to_owned())),
                }
                continue;
            }
            if kind == FileType::Symlink {
                found.links.push(format!("{path}/"));
            }
            if !is_wanted(&path, all) {
                continue;
            }
            if found.files.len() >= MAX_FILES {
                return Err(io::Error::other(format!("has over {MAX_FILES} files")));
            }
            let stamp = stamp(&stat);
            let local = match self.known.get(&path) {
                Some((seen, sha256)) if *seen == stamp && kind == FileType::RegularFile => Ok(sha256.clone()),
                _ => read(tree, &path, kind, stamp.size),
            };
            let local = match local {
                Ok(sha256) => {
                    if is_settled(&stamp) {
                        known.insert(path.clone(), (stamp, sha256.clone()));
                    }
                    Local::Text(sha256)
                }
                Err(why) => {
                    found.skipped.insert(path.clone(), why);
                    Local::Unusable
                }
            };
            found.files.insert(path, local);
        }
        Ok(())
    }
}

/// The hash of a file that can be synchronised, or why it cannot.
fn read(tree: &Tree, path: &str, kind: FileType, size: i64) -> Result<String, String> {
    path_on_service(path)?;
    match kind {
        FileType::RegularFile => {}
        FileType::Symlink => return Err("it is a symbolic link, which is not followed".to_owned()),
        _ => return Err("it is not a regular file".to_owned()),
    }
    if u64::try_from(size).unwrap_or_default() > MAX_FILE_BYTES {
        return Err(format!("it is over {MAX_FILE_BYTES} bytes"));
    }
    let bytes = tree.read(path).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("it went away")?;
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8")?;
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    Ok(hash(text.as_bytes()))
}

#[expect(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the types of these fields differ between systems"
)]
fn stamp(stat: &rustix::fs::Stat) -> Stamp {
    Stamp {
        inode: stat.st_ino as u64,
        size: i64::from(stat.st_size),
        modified: (i64::from(stat.st_mtime), stat.st_mtime_nsec as u64),
        changed: (i64::from(stat.st_ctime), stat.st_ctime_nsec as u64),
    }
}

/// Whether the last change of a file is old enough that another change would show in its metadata.
fn is_settled(stamp: &Stamp) -> bool {
    let now = SystemClock.now().timestamp();
    let newest = stamp.modified.0.max(stamp.changed.0);
    newest <= now - UNSETTLED_SECONDS
}
