//! A folder that follows texts: its files are written by this program. What others wrote there is copied beside them first,
//! and a file that is no longer needed is removed only if it is still as it was written.

use super::hash;
use super::swap::{self, Placed};
use super::tree::Tree;
use crate::cli::client::{Failure, note};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The name of the state file.
const NAME: &str = ".working-memory-folder.json";

/// How often a file is looked at again because somebody changed it meanwhile.
const MAX_ATTEMPTS: usize = 20;

/// By path, the SHA-256 of the texts that this program wrote there, or was about to write when it was killed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnFiles {
    files: BTreeMap<String, BTreeSet<String>>,
}

/// What was done.
#[derive(Debug, Default, Serialize)]
pub(in crate::cli) struct Followed {
    /// The files that have another text now.
    pub(in crate::cli) written: BTreeSet<String>,
    /// The files that are gone.
    pub(in crate::cli) removed: BTreeSet<String>,
    /// The copies of the texts of others.
    pub(in crate::cli) kept: Vec<String>,
}

/// Brings the files of a folder up to date. `subfolders` are those that it has files in, and `is_own` tells whether a path can
/// be that of one: the list of own files came with the folder and is not trusted.
///
/// # Errors
/// An I/O error, or an entry in the folder is not a regular file or folder.
pub(in crate::cli) fn follow(
    shown: &Path,
    texts: &BTreeMap<String, String>,
    subfolders: &[&str],
    is_own: impl Fn(&str) -> bool,
) -> Result<Followed, Failure> {
    let failed = |error| Failure::failed(format!("{} {error}", shown.display()));
    let tree = Tree::create(shown).map_err(failed)?;
    tree.lock(FlockOperation::LockExclusive).map_err(failed)?;
    // In a file of another form nothing is known, so that every file counts as written by others.
    let mut own: OwnFiles = match tree.state(NAME) {
        Err(error) if error.kind() != ErrorKind::InvalidData => return Err(tree.failed(NAME, &error)),
        own => own.ok().flatten().unwrap_or_default(),
    };
    own.files.retain(|path, _| is_own(path));
    let known = |path: &str, sha256: &str| own.files.get(path).is_some_and(|own| own.contains(sha256));
    swap::recover(&tree, subfolders.iter().copied(), known)?;
    // Nothing is written if a file cannot be read.
    for path in texts.keys() {
        tree.read(path).map_err(|error| tree.failed(path, &error))?;
    }
    let mut is_new = false;
    for (path, text) in texts {
        let hashes = own.files.entry(path.clone()).or_default();
        is_new |= hashes.insert(hash(text.as_bytes()));
    }
    if is_new {
        tree.save(NAME, &own)?;
    }
    let mut done = Followed::default();
    for (path, hashes) in &own.files {
        let placed = match texts.get(path) {
            Some(text) => place(&tree, path, text.as_bytes(), hashes, &mut done),
            None => remove(&tree, path, hashes, &mut done),
        };
        placed.map_err(|error| tree.failed(path, &error))?;
    }
    let now = texts.iter();
    let now = now.map(|(path, text)| (path.clone(), [hash(text.as_bytes())].into()));
    let now = OwnFiles { files: now.collect() };
    if now.files != own.files {
        tree.save(NAME, &now)?;
    }
    Ok(done)
}

/// Writes a text in place of another one.
fn place(
    tree: &Tree,
    path: &str,
    text: &[u8],
    own: &BTreeSet<String>,
    done: &mut Followed,
) -> io::Result<()> {
    for _ in 0..MAX_ATTEMPTS {
        let placed = match tree.read(path)? {
            None => swap::create(tree, path, text, "")?,
            Some(there) if there == text => return Ok(()),
            Some(there) => {
                let sha256 = hash(&there);
                if !own.contains(&sha256) {
                    let copy = swap::keep(tree, path, copies(path), &there)?;
                    note(&format!(
                        "{path} was not written by this command; its text is kept as {copy}"
                    ));
                    done.kept.push(copy);
                }
                swap::replace(tree, path, text, &sha256)?
            }
        };
        if placed == Placed::Done {
            done.written.insert(path.to_owned());
            return Ok(());
        }
    }
    Err(io::Error::other("changes faster than it can be written"))
}

/// The paths of copies of somebody else's text, best first.
fn copies(path: &str) -> impl Iterator<Item = String> {
    let more = (2..).map(move |number| format!("{path}.kept-{number}"));
    std::iter::once(format!("{path}.kept")).chain(more)
}

/// Removes a file that is no longer needed.
fn remove(tree: &Tree, path: &str, own: &BTreeSet<String>, done: &mut Followed) -> io::Result<()> {
    let sha256 = match tree.read(path) {
        Ok(None) => return Ok(()),
        Ok(Some(there)) => hash(&there),
        // It is no file any more.
        Err(_) => String::new(),
    };
    if own.contains(&sha256) && swap::remove(tree, path, &sha256)? == Placed::Done {
        done.removed.insert(path.to_owned());
    } else {
        note(&format!(
            "{path} is no longer needed but was changed by others: it is kept"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    #[test]
    fn a_text_is_kept_unless_this_program_wrote_it_or_was_about_to() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let follow_text = |text: &str| {
            let texts = BTreeMap::from([("a.md".to_owned(), text.to_owned())]);
            follow(folder.path(), &texts, &[""], |path| path == "a.md").unwrap()
        };
        assert!(follow_text("1").kept.is_empty());
        // It was killed after it had written a text, and before it had saved that it is the only one.
        let hashes = [hash(b"1"), hash(b"2")];
        fs::write(at(NAME), json!({ "files": { "a.md": hashes } }).to_string()).unwrap();
        fs::write(at("a.md"), "2").unwrap();
        assert!(follow_text("3").kept.is_empty());
        fs::write(at("a.md"), "mine").unwrap();
        assert_eq!(follow_text("3").kept, ["a.md.kept"]);
        fs::write(at("a.md"), "mine, too").unwrap();
        assert_eq!(follow_text("3").kept, ["a.md.kept-2"]);
        assert_eq!(fs::read_to_string(at("a.md")).unwrap(), "3");
        assert_eq!(fs::read_to_string(at("a.md.kept")).unwrap(), "mine");
        // What is no longer needed goes if it is as it was written.
        let done = follow(folder.path(), &BTreeMap::new(), &[""], |_| true).unwrap();
        assert!(done.removed.contains("a.md") && !at("a.md").exists());
    }
}
