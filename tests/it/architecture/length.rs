//! The maximum length of a file.

use super::sources::sources;
use std::path::Path;

/// The maximum lines of a source file and of a test file.
const MOST_LINES: [usize; 2] = [400, 600];

#[test]
fn no_file_exceeds_its_maximum_length() {
    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    let most = |path: &Path| {
        let inside = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
        let is_test = inside
            .components()
            .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
        MOST_LINES[usize::from(is_test)]
    };
    let long: Vec<String> = files
        .iter()
        .map(|path| (path, std::fs::read_to_string(path).unwrap().lines().count()))
        .filter(|(path, lines)| *lines > most(path))
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "split these: {}", long.join(", "));
}
