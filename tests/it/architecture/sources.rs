//! The source files, and which of their lines are code of the service.

use std::path::{Path, PathBuf};

pub(super) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The lines of a file that are code of the service, with their numbers: no comments, no tests.
pub(super) fn code(path: &Path) -> Vec<(usize, String)> {
    let is_test = path
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "stub.rs")));
    if is_test {
        return Vec::new();
    }
    code_of(&std::fs::read_to_string(path).unwrap())
}

/// A test item ends where the formatter puts its end: at the end of a line before any bracket was opened, or at a closing
/// bracket with the indentation of its start.
fn code_of(text: &str) -> Vec<(usize, String)> {
    let mut code = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let content = line.trim_start();
        if content.starts_with("#[cfg(test)]") {
            let closing = format!("{}}}", &line[..line.len() - content.len()]);
            let mut is_open = false;
            for (_, line) in lines.by_ref() {
                is_open |= line.ends_with('{');
                if line.starts_with(&closing) || !is_open && line.ends_with([';', ',']) {
                    break;
                }
            }
        } else if !content.starts_with("//") {
            code.push((number, line.to_owned()));
        }
    }
    code
}
