use super::*;
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

fn folder() -> (TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    (folder, tree)
}

/// The files of a folder, hidden ones too.
fn files(folder: &TempDir) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn of(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

fn h(text: &str) -> String {
    hash(text.as_bytes())
}

#[test]
fn only_what_was_seen_is_replaced_or_removed() {
    let (folder, tree) = folder();
    assert!(create(&tree, "a.md", b"1", "").unwrap());
    assert!(!create(&tree, "a.md", b"2", "").unwrap());
    assert!(!replace(&tree, "a.md", b"2", &h("other")).unwrap());
    assert_eq!(files(&folder), of(&[("a.md", "1")]));
    assert!(replace(&tree, "a.md", b"2", &h("1")).unwrap());
    assert!(!replace(&tree, "b.md", b"2", &h("1")).unwrap());
    assert!(!remove(&tree, "a.md", &h("1")).unwrap());
    assert_eq!(files(&folder), of(&[("a.md", "2")]));
    assert!(remove(&tree, "a.md", &h("2")).unwrap());
    assert!(!remove(&tree, "a.md", &h("2")).unwrap());
    assert_eq!(files(&folder), of(&[]));
}

#[test]
fn a_folder_goes_with_its_last_file_and_a_link_is_not_followed() {
    let (folder, tree) = folder();
    assert!(create(&tree, "x/y/a.md", b"1", "").unwrap());
    assert!(create(&tree, "x/b.md", b"1", "").unwrap());
    assert!(remove(&tree, "x/y/a.md", &h("1")).unwrap());
    assert!(!folder.path().join("x/y").exists() && folder.path().join("x/b.md").exists());
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link")).unwrap();
    assert!(create(&tree, "link/a.md", b"1", "").is_err());
    assert!(create(&tree, "../a.md", b"1", "").is_err());
    fs::write(elsewhere.path().join("secret"), "1").unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("secret"), folder.path().join("c.md")).unwrap();
    // The file that comes out of the exchange does not have that text: the exchange is reverted.
    assert!(!replace(&tree, "c.md", b"2", &h("1")).unwrap());
    assert_eq!(fs::read_to_string(elsewhere.path().join("secret")).unwrap(), "1");
    assert!(folder.path().join("c.md").is_symlink());
}

#[test]
fn a_text_is_kept_once_and_never_over_another() {
    let (folder, tree) = folder();
    let keep = |path: &str| keep(&tree, path, |end| conflict_path(path, &h("mine"), end), b"mine").unwrap();
    let copy = keep("a.md");
    assert_eq!(keep("a.md"), copy);
    fs::write(folder.path().join(&copy), "edited").unwrap();
    let second = keep("a.md");
    assert_eq!(files(&folder), of(&[(&copy, "edited"), (&second, "mine")]));
    // A copy is not its own copy, since something else is about to replace it.
    let third = keep(&second);
    assert!(third != second && files(&folder).len() == 3, "{third}");
}

#[test]
fn leftovers_of_a_killed_program_are_repaired() {
    let swap = |new: &str| format!(".a.md.{}{SWAP}", &h(new)[..NAMED_DIGITS]);
    let copy = |text: &str| conflict_path("a.md", &h(text), "");
    // What is left, what is there, and the files afterwards.
    let table = "
        .a.md.sync-part | 1 | a.md=1
        SWAP-left | 1 | a.md=1
        SWAP-new | new | a.md=new COPY=left
        SWAP-new | left | a.md=left
        .a.md.sync-gone |  | a.md=left
        .a.md.sync-gone | new | a.md=new COPY=left";
    for row in table.trim().lines() {
        let [left, there, expected]: [&str; 3] =
            row.trim().split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let left = left.strip_prefix("SWAP-").map_or_else(|| left.to_owned(), swap);
        let (folder, tree) = folder();
        fs::write(folder.path().join(&left), "left").unwrap();
        if !there.is_empty() {
            fs::write(folder.path().join("a.md"), there).unwrap();
        }
        assert!(is_left_behind(&left));
        let kept = recovered(&tree, "", &left, |_, _| false).unwrap();
        let expected = expected.replace("COPY", &copy("left"));
        let named: Vec<_> = expected
            .split(' ')
            .map(|file| file.split_once('=').unwrap())
            .collect();
        assert_eq!(files(&folder), of(&named), "{row}");
        assert_eq!(kept.is_some(), named.len() == 2, "{row}");
    }
    // A text that the service has as a version needs no copy.
    let (folder, tree) = folder();
    fs::write(folder.path().join(swap("new")), "old").unwrap();
    let kept = recovered(&tree, "", &swap("new"), |_, sha256| sha256 == h("old"));
    assert_eq!(kept.unwrap(), None);
    assert_eq!(files(&folder), of(&[]));
}

#[test]
fn a_conflict_has_one_name_for_one_text() {
    let hash = "0123456789abcdef";
    for (path, end, copy) in [
        ("a.md", "", "a.conflict-01234567.md"),
        ("n/a.b.md", "-2", "n/a.b.conflict-01234567-2.md"),
        ("n/a", "", "n/a.conflict-01234567"),
        ("a.conflict-ffffffff.md", "", "a.conflict-01234567.md"),
    ] {
        assert_eq!(conflict_path(path, hash, end), copy);
    }
}
