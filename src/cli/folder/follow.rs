//! A folder that follows texts: its files are written by this program. What others wrote there is copied beside them first,
//! and a file that is no longer needed is removed only if it is still as it was written.

use super::hash;
use super::swap;
use super::tree::{Tree, unlink};
use crate::cli::client::{Failure, note};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The name of the state file.
const NAME: &str = ".working-memory-folder.json";

/// By path, the SHA-256 of the text that this program wrote there.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OwnFiles {
    files: BTreeMap<String, String>,
}

/// What was done.
#[derive(Debug, Default, Serialize)]
pub(in crate::cli) struct Followed {
    /// The files that have another text now.
    pub(in crate::cli) written: Vec<String>,
    /// The files that are gone.
    pub(in crate::cli) removed: Vec<String>,
    /// The copies of the texts of others.
    pub(in crate::cli) kept: Vec<String>,
}

/// Brings the files of a folder up to date. `may_go` tells which paths this program may have written and no longer needs: the
/// state file came with the folder and is not trusted.
///
/// # Errors
/// An I/O error, or an entry in the folder is not a regular file or folder.
pub(in crate::cli) fn follow(
    shown: &Path,
    texts: &BTreeMap<String, String>,
    may_go: fn(&str) -> bool,
) -> Result<Followed, Failure> {
    let failed = |error| Failure::failed(format!("{} {error}", shown.display()));
    let tree = Tree::create(shown).map_err(failed)?;
    tree.lock(FlockOperation::LockExclusive).map_err(failed)?;
    // In a file of another form nothing is known, so that every file counts as written by others.
    let last: OwnFiles = match tree.state(NAME) {
        Err(error) if error.kind() != ErrorKind::InvalidData => return Err(tree.failed(NAME, &error)),
        last => last.ok().flatten().unwrap_or_default(),
    };
    // Nothing is written if a file cannot be read.
    for path in texts.keys() {
        tree.read(path).map_err(|error| tree.failed(path, &error))?;
    }
    let mut done = Followed::default();
    let mut now = OwnFiles::default();
    for (path, text) in texts {
        write(&tree, path, text, last.files.get(path), &mut done)
            .map_err(|error| tree.failed(path, &error))?;
        now.files.insert(path.clone(), hash(text.as_bytes()));
    }
    for (path, sha256) in &last.files {
        if !texts.contains_key(path) && may_go(path) {
            remove(&tree, path, sha256, &mut done).map_err(|error| tree.failed(path, &error))?;
        }
    }
    if now != last {
        tree.save(NAME, &now)?;
    }
    Ok(done)
}

/// Writes a text in place of another one, and keeps that if it is not the last one that this program wrote.
fn write(tree: &Tree, path: &str, text: &str, last: Option<&String>, done: &mut Followed) -> io::Result<()> {
    let there = tree.read(path)?;
    if there.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    if let Some(there) = there.filter(|there| Some(&hash(there)) != last) {
        let copy = swap::keep(tree, path, |end| format!("{path}.kept{end}"), &there)?;
        note(&format!(
            "{path} was not written by this command; its text is kept as {copy}"
        ));
        done.kept.push(copy);
    }
    tree.replace(path, text.as_bytes())?;
    done.written.push(path.to_owned());
    Ok(())
}

/// Removes a file that is no longer needed, unless its text is not the last one that this program wrote.
fn remove(tree: &Tree, path: &str, last: &str, done: &mut Followed) -> io::Result<()> {
    match tree.read(path) {
        Ok(None) => {}
        Ok(Some(there)) if hash(&there) == last => {
            if let Some((folder, name)) = tree.parent(path, false)? {
                unlink(&folder, name)?;
            }
            done.removed.push(path.to_owned());
        }
        // It was changed, or is no file any more.
        _ => note(&format!(
            "{path} is no longer needed but was changed by others: it is kept"
        )),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_text_is_kept_unless_this_program_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let follow_text = |text: &str| {
            let texts = BTreeMap::from([("a.md".to_owned(), text.to_owned())]);
            follow(folder.path(), &texts, |_| true).unwrap()
        };
        assert!(follow_text("1").kept.is_empty());
        assert!(follow_text("3").kept.is_empty());
        fs::write(at("a.md"), "mine").unwrap();
        assert_eq!(follow_text("3").kept, ["a.md.kept"]);
        fs::write(at("a.md"), "mine, too").unwrap();
        assert_eq!(follow_text("3").kept, ["a.md.kept-2"]);
        assert_eq!(fs::read_to_string(at("a.md")).unwrap(), "3");
        assert_eq!(fs::read_to_string(at("a.md.kept")).unwrap(), "mine");
        // What is no longer needed goes if it is as it was written.
        let done = follow(folder.path(), &BTreeMap::new(), |_| true).unwrap();
        assert_eq!(done.removed, ["a.md"]);
        assert!(!at("a.md").exists());
    }
}
