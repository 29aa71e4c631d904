//! The modules depend on each other only along these arrows: `main → cli → {http, mcp, dashboard, pipeline} → {storage, llm} →
//! domain`, and `http → {mcp, dashboard}`. Pages of the dashboard read the types that routes answer with, and no more of `http`.

use super::sources::{code, sources};
use std::path::Path;

/// A module and what it may not name.
const FORBIDDEN: [(&str, &[&str]); 13] = [
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
    ("route_request", &["crate::", "axum", "sqlx", "reqwest"]),
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

/// A module and the only part of another one that it may name.
const ALLOWED: [(&str, &str); 2] = [
    ("dashboard", "crate::http::responses"),
    ("dashboard", "crate::pipeline::report"),
];

/// Names that only these modules may use.
const RESERVED: [(&str, &[&str]); 5] = [
    ("sqlx::query", &["storage"]),
    ("axum::", &["http", "dashboard"]),
    ("utoipa", &["http", "pipeline", "storage", "domain"]),
    ("rmcp::", &["mcp", "http", "cli"]),
    ("reqwest::", &["llm", "cli"]),
];

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
fn modules_depend_on_each_other_only_along_the_arrows() {
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
            let others = ALLOWED.iter().filter(|(name, _)| *name == room);
            for (_, allowed) in others {
                let other = allowed.rsplit_once("::").unwrap().0;
                if names(&line, other) && !names(&line, allowed) {
                    broken.push(format!(
                        "{}:{number}: {room} names more of {other}",
                        path.display()
                    ));
                }
            }
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

#[test]
fn a_name_is_found_as_a_whole_word_only() {
    assert!(names("use tokio::time;", "tokio"));
    assert!(!names("let tokio_like = 1;", "tokio"));
    assert!(!names("use my_tokio::time;", "tokio"));
    assert!(names("    axum::Json(x)", "axum::"));
}
