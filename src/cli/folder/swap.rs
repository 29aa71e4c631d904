//! Changes of files that other programs change too: no text of theirs is ever overwritten without having been read.
//!
//! Between a check of a file and its replacement an editor may save. So the new text is exchanged with the old one
//! atomically, and the old one is checked: if it is not the expected one, the exchange is reverted. A change returns whether
//! it was made: if not, the file is another one than expected, and is unchanged. A killed program leaves a hidden file beside
//! the file, with one of three names; [`recover`] cleans it up:
//!
//! | name | what it is |
//! |---|---|
//! | `.NAME.sync-part` | a text that was being written: it is removed |
//! | `.NAME.HASH.sync-swap` | the new text, if its hash is HASH: it is removed. Otherwise the old one, which is kept |
//! | `.NAME.sync-gone` | a file that was being removed: it is restored |

use super::hash;
use super::tree::{Tree, kind_of, no_folder, unlink};
use crate::cli::client::note;
use rustix::fs::{AtFlags, FileType, RenameFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

/// Maximum length of a file or folder name in bytes; temporary file names are longer.
pub(in crate::cli) const MAX_NAME_BYTES: usize = 160;

/// Marks a copy saved by a conflict, before its hash.
const CONFLICT: &str = ".conflict-";

/// Maximum number of copies of a file.
const MAX_COPIES: usize = 1_000;

/// How many digits of its hash are in the name of a new text.
const NAMED_DIGITS: usize = 16;

const PART: &str = ".sync-part";
const SWAP: &str = ".sync-swap";
const GONE: &str = ".sync-gone";

/// Creates a file if there is none, for those who may read the file `like` beside it, if there is that.
pub(in crate::cli) fn create(tree: &Tree, path: &str, bytes: &[u8], like: &str) -> io::Result<bool> {
    let (folder, name) = tree.parent(path, true)?.ok_or_else(no_folder)?;
    let part = format!(".{name}{PART}");
    tree.write_part(&folder, &part, bytes, like)?;
    match rename_new(&folder, &part, name) {
        Ok(()) => synced(&folder).map(|()| true),
        Err(error) => {
            unlink(&folder, &part)?;
            is_taken(error)?;
            match kind_of(&folder, name)? {
                // It will be there in the next round, too.
                Some((FileType::Directory, _)) => Err(io::Error::other("is a folder here")),
                // As will this one, in a file system that ignores case.
                Some(_)
                    if !tree
                        .names(&path[..path.len() - name.len()])?
                        .iter()
                        .any(|there| there == name) =>
                {
                    Err(io::Error::other("differs only in case from a file here"))
                }
                _ => Ok(false),
            }
        }
    }
}

/// Replaces a file that has a text with this hash.
pub(in crate::cli) fn replace(tree: &Tree, path: &str, bytes: &[u8], expected: &str) -> io::Result<bool> {
    let Some((folder, name)) = tree.parent(path, false)? else {
        return Ok(false);
    };
    let part = format!(".{name}{PART}");
    let swap = format!(".{name}.{}{SWAP}", &hash(bytes)[..NAMED_DIGITS]);
    tree.write_part(&folder, &part, bytes, name)?;
    rustix::fs::renameat(&folder, &part, &folder, &swap)?;
    let exchange = || rustix::fs::renameat_with(&folder, &swap, &folder, name, RenameFlags::EXCHANGE);
    let is_done = match exchange() {
        Ok(()) if has_hash(tree, &beside(path, &swap), expected) => true,
        Ok(()) => {
            exchange()?;
            // The file that comes out now is the new text, unless it was changed in between.
            if !has_hash(tree, &beside(path, &swap), &hash(bytes)) {
                keep_as_copy(tree, &folder, path, &swap)?;
            }
            false
        }
        // A file system without exchange: a short interval between check and rename remains.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if has_hash(tree, path, expected) => {
            rustix::fs::renameat(&folder, &swap, &folder, name)?;
            true
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOENT) => false,
        Err(error) => {
            unlink(&folder, &swap)?;
            return Err(error.into());
        }
    };
    unlink(&folder, &swap)?;
    synced(&folder).map(|()| is_done)
}

/// Removes a file that has a text with this hash, and folders that become empty.
pub(in crate::cli) fn remove(tree: &Tree, path: &str, expected: &str) -> io::Result<bool> {
    let Some((folder, name)) = tree.parent(path, false)? else {
        return Ok(false);
    };
    let moved_aside = format!(".{name}{GONE}");
    match rename_new(&folder, name, &moved_aside) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    if has_hash(tree, &beside(path, &moved_aside), expected) {
        unlink(&folder, &moved_aside)?;
        synced(&folder)?;
        remove_empty(tree, path);
        return Ok(true);
    }
    put_back(tree, &folder, path, &moved_aside)?;
    Ok(false)
}

/// Saves a copy of the text of a file beside it, and returns its path: the first that is free or has that text, of those that
/// `named` makes of the ends of names. It is never the file itself, which may be a copy.
pub(in crate::cli) fn keep(
    tree: &Tree,
    path: &str,
    named: impl Fn(&str) -> String,
    bytes: &[u8],
) -> io::Result<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    for number in 1..=MAX_COPIES {
        let end = match number {
            1 => String::new(),
            _ => format!("-{number}"),
        };
        let copy = named(&end);
        if copy == path {
            continue;
        }
        if create(tree, &copy, bytes, name)? || tree.read(&copy)?.as_deref() == Some(bytes) {
            return Ok(copy);
        }
    }
    Err(io::Error::other("there are too many copies of it already"))
}

/// Cleans up what a killed program left behind in a folder (`""`, or a path that ends in `/`). `is_known` tells whether a
/// text of a file, by its hash, is one that the other side has. Returns the files for which this failed, and why: they are
/// to be left alone, since a text of theirs may be in what was left behind.
pub(in crate::cli) fn recover(
    tree: &Tree,
    above: &str,
    is_known: impl Fn(&str, &str) -> bool,
) -> BTreeMap<String, String> {
    let mut failed = BTreeMap::new();
    let names = tree.names(above).unwrap_or_default();
    for name in names.iter().filter(|name| is_left_behind(name)) {
        match recovered(tree, above, name, &is_known) {
            Ok(None) => {}
            Ok(Some(kept)) => note(&format!(
                "an earlier run was interrupted; a text of it is kept as {kept}"
            )),
            Err(error) => {
                let why = format!("an earlier run was interrupted; its {name} {error}");
                failed.insert(format!("{above}{}", file_of(name)), why);
            }
        }
    }
    failed
}

/// The name of the file that a hidden file was made for; of a text that was being written, which is nothing to the file, it
/// is that itself.
fn file_of(hidden: &str) -> &str {
    let inner = hidden.strip_prefix('.').unwrap_or(hidden);
    let swapped = || Some(inner.strip_suffix(SWAP)?.rsplit_once('.')?.0);
    inner.strip_suffix(GONE).or_else(swapped).unwrap_or(hidden)
}

/// Cleans up one such file; returns the copy that was kept.
fn recovered(
    tree: &Tree,
    above: &str,
    name: &str,
    is_known: impl Fn(&str, &str) -> bool,
) -> io::Result<Option<String>> {
    let path = format!("{above}{name}");
    let Some((folder, _)) = tree.parent(&path, false)? else {
        return Ok(None);
    };
    let inner = name.strip_prefix('.').unwrap_or(name);
    if inner.ends_with(PART) {
        unlink(&folder, name)?;
    } else if let Some(file) = inner.strip_suffix(GONE) {
        return put_back(tree, &folder, &format!("{above}{file}"), name);
    } else if let Some((file, named)) = inner.strip_suffix(SWAP).and_then(|rest| rest.rsplit_once('.')) {
        let file = format!("{above}{file}");
        let bytes = tree.read(&path)?.unwrap_or_default();
        let sha256 = hash(&bytes);
        let is_elsewhere =
            sha256.starts_with(named) || is_known(&file, &sha256) || has_hash(tree, &file, &sha256);
        if !is_elsewhere {
            return keep_as_copy(tree, &folder, &file, name).map(Some);
        }
        unlink(&folder, name)?;
    }
    Ok(None)
}

/// Whether a hidden file is a temporary file of this program.
fn is_left_behind(name: &str) -> bool {
    name.starts_with('.') && [PART, SWAP, GONE].iter().any(|end| name.ends_with(end))
}

/// Restores a file or, if another one exists there by now, makes it a copy beside that.
fn put_back(tree: &Tree, folder: &OwnedFd, path: &str, hidden: &str) -> io::Result<Option<String>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match rename_new(folder, hidden, name) {
        Ok(()) => synced(folder).map(|()| None),
        Err(error) => {
            is_taken(error)?;
            keep_as_copy(tree, folder, path, hidden).map(Some)
        }
    }
}

/// Makes a hidden file a copy beside the file at `path`.
fn keep_as_copy(tree: &Tree, folder: &OwnedFd, path: &str, hidden: &str) -> io::Result<String> {
    let bytes = tree.read(&beside(path, hidden))?.unwrap_or_default();
    let sha256 = hash(&bytes);
    let copy = keep(tree, hidden, |end| conflict_path(path, &sha256, end), &bytes)?;
    unlink(folder, hidden).map(|()| copy)
}

/// Whether a file can be read, and its text has this hash.
fn has_hash(tree: &Tree, path: &str, sha256: &str) -> bool {
    matches!(tree.read(path), Ok(Some(bytes)) if hash(&bytes) == sha256)
}

/// The path of another name in the same folder.
fn beside(path: &str, name: &str) -> String {
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    }
}

/// Renames to a name that must not exist.
fn rename_new(folder: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(folder, from, folder, to, AtFlags::empty())?;
            rustix::fs::unlinkat(folder, from, AtFlags::empty())
        }
        other => other,
    }
}

/// Ok if an error says that a name exists.
fn is_taken(error: Errno) -> io::Result<()> {
    match error {
        Errno::EXIST | Errno::NOTEMPTY | Errno::ISDIR => Ok(()),
        other => Err(other.into()),
    }
}

/// Syncs new names in a folder to disk.
fn synced(folder: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::fsync(folder)?)
}

/// Removes the folders of a file that are empty now.
fn remove_empty(tree: &Tree, path: &str) {
    let mut rest = path;
    while let Some((folder, _)) = rest.rsplit_once('/') {
        let Ok(Some((above, name))) = tree.parent(folder, false) else {
            return;
        };
        if rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
        rest = folder;
    }
}

/// The path for a text that lost a conflict: beside its file, with a name derived from its hash, so that the same text is
/// saved once, and this end.
pub(in crate::cli) fn conflict_path(relative: &str, sha256: &str, end: &str) -> String {
    let (folder, name) = match relative.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), relative),
    };
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    // The name of a copy that conflicts again does not grow.
    let stem = stem.split_once(CONFLICT).map_or(stem, |(stem, _)| stem);
    let stem = &stem[..stem.floor_char_boundary(MAX_NAME_BYTES - 40)];
    let hash = sha256.get(..8).unwrap_or(sha256);
    format!("{folder}{stem}{CONFLICT}{hash}{end}{extension}")
}

#[cfg(test)]
mod tests;
