//! The modules depend on each other only along these arrows: `main → cli → {http, mcp, dashboard, pipeline} → {storage, llm} →
//! domain`, and `http → {mcp, dashboard}`. Files of one module may know each other.

use super::sources::{code, sources};
use std::path::Path;

/// A module and what it may name of the crate. A module is in the list of those below it only, so that there is no circle;
/// a path is the only part of a module that it may name, wherever that module is.
const MODULES: [(&str, &str); 18] = [
    ("lib", ""),
    ("domain", ""),
    ("random", ""),
    ("tokens", ""),
    ("clock", ""),
    ("route_request", ""),
    ("config", "domain"),
    ("telemetry", "config telemetry"),
    ("fair", "telemetry"),
    ("llm", "config domain fair telemetry"),
    ("storage", "clock config domain fair random telemetry tokens"),
    (
        "pipeline",
        "clock config domain fair llm random storage telemetry tokens",
    ),
    ("mcp", "domain route_request telemetry"),
    (
        "dashboard",
        "clock domain http::dashboard http::responses pipeline::report random route_request storage telemetry",
    ),
    (
        "http",
        "clock config dashboard domain fair mcp pipeline random route_request storage telemetry tokens",
    ),
    (
        "background",
        "clock config domain fair pipeline random storage telemetry",
    ),
    (
        "cli",
        "background clock config domain fair http llm mcp pipeline random route_request storage telemetry tokens",
    ),
    ("main", "cli"),
];

/// Names that only these modules may use.
const RESERVED: [(&str, &str); 5] = [
    ("sqlx::", "storage"),
    ("axum::", "http dashboard"),
    ("utoipa", "http pipeline storage domain"),
    ("rmcp::", "mcp http cli"),
    ("reqwest::", "llm cli"),
];

/// What would make the domain depend on more than its arguments.
const NOT_IN_DOMAIN: [&str; 8] = [
    "tokio",
    "reqwest",
    "Utc::now",
    "std::fs",
    "std::net",
    "std::env",
    "std::time::Instant",
    "std::time::SystemTime",
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What comes after each occurrence of a path or crate as a whole word.
fn after<'l>(line: &'l str, wanted: &str) -> Vec<&'l str> {
    let places = line.match_indices(wanted);
    let places = places.filter(|(at, _)| !line[..*at].ends_with(is_word));
    let rests = places.map(|(at, _)| &line[at + wanted.len()..]);
    rests
        .filter(|rest| wanted.ends_with(':') || !rest.starts_with(is_word))
        .collect()
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// What a line of a module names against the rules.
fn broken(module: &str, allowed: &str, line: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for path in ["crate::", "working_memory::"]
        .iter()
        .flat_map(|root| after(line, root))
    {
        let end = path.find(|c| !is_word(c)).unwrap_or(path.len());
        let parts = allowed.split(' ').filter(|allowed| allowed.contains("::"));
        let is_allowed = path[..end].is_empty()
            || path[..end] == *module
            || has(allowed, &path[..end])
            || parts.into_iter().any(|part| path.starts_with(part));
        if !is_allowed && MODULES.iter().any(|(other, _)| *other == &path[..end]) {
            broken.push(format!("crate::{path}"));
        }
    }
    let others = RESERVED.iter().filter(|(_, owners)| !has(owners, module));
    let in_domain = NOT_IN_DOMAIN.iter().filter(|_| module == "domain");
    let names = others.map(|(name, _)| name).chain(in_domain);
    broken.extend(
        names
            .filter(|name| !after(line, name).is_empty())
            .map(|&name| name.into()),
    );
    broken
}

#[test]
fn modules_depend_on_each_other_only_along_the_arrows() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    assert!(files.len() > 50, "the sources were not found");
    let mut faults = Vec::new();
    for path in &files {
        let first = path.strip_prefix(&source).unwrap().components().next().unwrap();
        let module = first.as_os_str().to_str().unwrap().trim_end_matches(".rs");
        let row = MODULES.iter().find(|(name, _)| *name == module);
        let (_, allowed) = row.unwrap_or_else(|| panic!("no row for the module {module}"));
        for (number, line) in code(path) {
            for name in broken(module, allowed, &line) {
                faults.push(format!("{}:{number}: {module} names {name}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_arrows_have_no_circle_and_a_line_against_them_is_found() {
    for (at, (module, allowed)) in MODULES.iter().enumerate() {
        for below in allowed.split_whitespace().filter(|name| !name.contains("::")) {
            let is_below = MODULES[..at].iter().any(|(name, _)| *name == below);
            assert!(is_below || below == *module, "{module} may name {below}");
        }
    }
    for (module, allowed, line, is_broken) in [
        ("domain", "", "use tokio::time;", true),
        ("domain", "", "let tokio_like = my_tokio::x;", false),
        ("storage", "domain", "use crate::domain::ids::VaultId;", false),
        ("storage", "domain", "    crate::http::x()", true),
        (
            "dashboard",
            "http::responses",
            "use crate::http::responses::A;",
            false,
        ),
        (
            "dashboard",
            "http::responses",
            "use crate::http::problem::A;",
            true,
        ),
        ("cli", "http", "    axum::Json(x)", true),
    ] {
        assert_eq!(
            !broken(module, allowed, line).is_empty(),
            is_broken,
            "{module}: {line}"
        );
    }
}
