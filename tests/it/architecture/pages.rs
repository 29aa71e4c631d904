//! Pages of lists are read by an index.

use super::sources::sources;
use std::path::Path;

/// The statements that filter by `parameter IS NULL OR column > parameter`. In a generic plan this is no index condition: the
/// page after a million rows reads the million. An equivalent index condition is `column > parameter`, with a smallest value
/// as the parameter of the first page.
fn pages_that_read_what_is_before_them(text: &str) -> Vec<String> {
    let places = text.match_indices(" IS NULL OR ");
    let chosen = places.filter(|(at, _)| {
        let condition = text[..*at].rsplit('(').next().unwrap_or_default();
        condition.starts_with('$') && !condition.contains(' ')
    });
    let lines = chosen.filter_map(|(at, or)| text[at + or.len()..].lines().next());
    let ways = lines.filter_map(|line| line.split(" AND ").next());
    let pages = ways.filter(|way| [" > ", " < "].iter().any(|order| way.contains(order)));
    pages.map(str::to_owned).collect()
}

#[test]
fn pages_are_read_by_an_index() {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/storage"),
        &mut files,
    );
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let pages = pages_that_read_what_is_before_them(&text);
        assert!(pages.is_empty(), "{}: {}", path.display(), pages.join("\n"));
    }
    let bad = "WHERE a = $1 AND ($2::text IS NULL OR (a, b) > ($2, $3))";
    assert_eq!(pages_that_read_what_is_before_them(bad).len(), 1);
    let good = "WHERE ($1::text IS NULL OR a = $1) AND (b IS NULL OR b > $2)\nAND c > COALESCE($3, '')";
    assert_eq!(pages_that_read_what_is_before_them(good).len(), 0);
}
