//! The rooms call each other along the arrows and no other way:
//! `main → cli → {http, mcp, dashboard, pipeline} → {storage, llm} → domain`, and `http → {mcp, dashboard}`.

use std::path::{Path, PathBuf};

/// A room and what it may not name.
const FORBIDDEN: [(&str, &[&str]); 12] = [
    (
        "domain",
        &[
            "crate::storage",
            "crate::llm",
            "crate::pipeline",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "crate::config",
            "crate::clock",
            "crate::telemetry",
            "axum",
            "sqlx",
            "reqwest",
            "tokio",
            "utoipa",
            "Utc::now",
            "std::fs",
            "std::net",
            "std::env",
            "std::time::Instant",
            "std::time::SystemTime",
        ],
    ),
    (
        "storage",
        &[
            "crate::llm",
            "crate::pipeline",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "axum",
            "reqwest",
            "utoipa",
        ],
    ),
    (
        "llm",
        &[
            "crate::storage",
            "crate::pipeline",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "axum",
            "sqlx",
            "utoipa",
        ],
    ),
    (
        "pipeline",
        &[
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "axum",
            "sqlx",
            "reqwest",
        ],
    ),
    ("http", &["crate::cli", "crate::llm::", "sqlx", "reqwest"]),
    (
        "dashboard",
        &[
            "crate::llm",
            "crate::pipeline",
            "crate::http",
            "crate::mcp",
            "crate::cli",
            "crate::config",
            "sqlx",
            "reqwest",
        ],
    ),
    (
        "mcp",
        &[
            "crate::storage",
            "crate::llm",
            "crate::pipeline",
            "crate::http",
            "crate::cli",
            "crate::config",
            "axum",
            "sqlx",
            "reqwest",
        ],
    ),
    (
        "background",
        &[
            "crate::llm",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "axum",
            "sqlx",
            "reqwest",
        ],
    ),
    (
        "telemetry",
        &[
            "crate::storage",
            "crate::llm",
            "crate::pipeline",
            "crate::background",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "axum::",
            "sqlx::",
            "reqwest",
        ],
    ),
    ("cli", &["crate::dashboard", "sqlx", "axum", "utoipa"]),
    (
        "config",
        &[
            "crate::storage",
            "crate::llm",
            "crate::pipeline",
            "crate::background",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "crate::telemetry",
            "sqlx::",
        ],
    ),
    (
        "fair",
        &[
            "crate::storage",
            "crate::llm",
            "crate::pipeline",
            "crate::background",
            "crate::http",
            "crate::mcp",
            "crate::dashboard",
            "crate::cli",
            "crate::config",
            "crate::domain",
            "axum",
            "sqlx",
        ],
    ),
];

/// What only these rooms may name, wherever else it would stand.
const RESERVED: [(&str, &[&str]); 4] = [
    ("sqlx::query", &["storage"]),
    ("axum::", &["http", "dashboard"]),
    ("rmcp::", &["mcp", "http", "cli"]),
    ("reqwest::", &["llm", "cli"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
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
fn code(path: &Path) -> Vec<(usize, String)> {
    let is_test = path
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "stub.rs")));
    if is_test {
        return Vec::new();
    }
    code_of(&std::fs::read_to_string(path).unwrap())
}

/// An item of tests ends where the formatter puts its end: at the end of a line before anything was opened, or at a
/// closing bracket that stands under its beginning.
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

/// Whether a line names a path or crate as a whole word.
fn names(line: &str, wanted: &str) -> bool {
    line.match_indices(wanted).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        !line[..at].ends_with(is_word)
            && (wanted.ends_with(':') || !line[at + wanted.len()..].starts_with(is_word))
    })
}

fn room(path: &Path) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let inside = path.strip_prefix(source).unwrap();
    let first = inside.components().next()?;
    Some(first.as_os_str().to_str()?.trim_end_matches(".rs").to_owned())
}

#[test]
fn the_arrows_between_the_rooms_hold() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut broken = Vec::new();
    for path in &files {
        let Some(room) = room(path) else { continue };
        let forbidden = FORBIDDEN
            .iter()
            .find(|(name, _)| *name == room)
            .map_or(&[][..], |(_, list)| list);
        for (number, line) in code(path) {
            let reserved = RESERVED
                .iter()
                .filter(|(_, owners)| !owners.contains(&room.as_str()))
                .map(|(name, _)| name);
            for name in forbidden.iter().chain(reserved).filter(|name| names(&line, name)) {
                broken.push(format!("{}:{number}: {room} names {name}", path.display()));
            }
        }
    }
    assert!(files.len() > 50, "the sources were not found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The statements that choose by `parameter IS NULL OR column > parameter`. In a plan that is kept for all values of
/// the parameters that is no condition of an index: the page behind a million rows reads the million. What says the
/// same and is one: `column > parameter`, which for the first page is what stands before all.
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
fn a_page_is_found_by_an_index() {
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

/// The lines that a file of the service may have, and one of tests.
const MOST_LINES: [usize; 2] = [400, 600];

#[test]
fn no_file_is_too_long() {
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

#[test]
fn code_behind_what_is_for_tests_is_read() {
    let text = "use a;\n#[cfg(test)]\nuse b;\nuse c;\n// d\nimpl E {\n    #[cfg(test)]\n    fn f() {\n        g();\n    }\n    \
                fn h() {}\n}\n#[cfg(test)]\nmod tests {\n    use i;\n}\nuse j;\n";
    let code = code_of(text);
    let lines: Vec<&str> = code.iter().map(|(_, line)| line.trim()).collect();
    assert_eq!(
        lines,
        ["use a;", "use c;", "impl E {", "fn h() {}", "}", "use j;"]
    );
    assert_eq!(code.last().unwrap().0, 17);
}

#[test]
fn a_name_is_found_as_a_whole_word_only() {
    assert!(names("use tokio::time;", "tokio"));
    assert!(!names("let tokio_like = 1;", "tokio"));
    assert!(!names("use my_tokio::time;", "tokio"));
    assert!(names("    axum::Json(x)", "axum::"));
}
