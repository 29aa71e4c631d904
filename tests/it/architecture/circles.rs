//! Imports between the modules of the crate have no cycles, direct or indirect. Files of one module may know each other.

use super::imports::{Arrows, arrows};
use super::sources::{code, code_of, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Sources by their paths below the folder of `lib.rs`.
type Sources = BTreeMap<String, String>;

/// The imports within each strongly connected group of files.
fn circles(arrows: &Arrows) -> Vec<Arrows> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        targets.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = targets
        .keys()
        .map(|file| (*file, reached_from(file, &targets)))
        .collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|reached| reached.contains(to));
    let mut circles: BTreeMap<&str, Arrows> = BTreeMap::new();
    for (arrow @ (from, to), names) in arrows {
        if leads(to, from) {
            // The first file by name represents the group.
            let first = reached[from.as_str()].iter().find(|file| leads(file, from));
            let circle = circles.entry(first.copied().unwrap_or(from)).or_default();
            circle.insert(arrow.clone(), names.clone());
        }
    }
    circles.into_values().collect()
}

fn reached_from<'a>(file: &'a str, targets: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![file];
    while let Some(file) = ahead.pop() {
        let next = targets.get(file).into_iter().flatten();
        ahead.extend(next.filter(|to| reached.insert(**to)));
    }
    reached
}

fn printed(circles: &[Arrows]) -> String {
    let mut text = String::new();
    for (number, circle) in (1..).zip(circles) {
        writeln!(text, "circle {number}").unwrap();
        for ((from, to), names) in circle {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            writeln!(text, "  {from} -> {to}: {}", names.join(", ")).unwrap();
        }
    }
    text
}

#[test]
fn imports_between_modules_have_no_cycles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&folder, &mut paths);
    let inside = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    let files: Sources = paths
        .iter()
        .map(|path| (inside(path), joined(code(path))))
        .collect();
    let arrows = arrows(&files);
    assert!(arrows.len() > files.len(), "the imports were not read");
    let mut circles = circles(&arrows);
    circles.retain(|circle| {
        let modules: BTreeSet<&str> = circle.keys().map(|(from, _)| module(from)).collect();
        modules.len() > 1
    });
    assert!(circles.is_empty(), "{}", printed(&circles));
}

/// The module of a file: `http` of `http/routes/log.rs` and of `http.rs`.
fn module(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.trim_end_matches(".rs")
}

fn joined(code: Vec<(usize, String)>) -> String {
    code.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The cycles of given sources.
fn circles_of(files: &[(&str, &str)]) -> String {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), joined(code_of(text)));
    let files: Sources = files.iter().map(file).collect();
    printed(&circles(&arrows(&files)))
}

#[test]
fn a_cycle_is_reported_with_its_imports_and_names() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        (
            "a.rs",
            "use crate::{b::{self, make as made}, c::C};\npub struct A(C, b::B);\n",
        ),
        (
            "b.rs",
            "pub struct B;\npub fn make() -> super::c::C {\n    crate::c::C::new()\n}\n",
        ),
        (
            "c.rs",
            "pub struct C;\nimpl C {\n    fn of(a: &crate::a::A) {}\n}\n",
        ),
    ];
    assert_eq!(
        circles_of(&files),
        "circle 1\n  a.rs -> b.rs: B, make\n  a.rs -> c.rs: C\n  b.rs -> c.rs: C\n  c.rs -> a.rs: A\n"
    );
}

#[test]
fn a_re_export_is_no_import_and_resolves_to_the_declaring_file() {
    let parent = "mod door;\nmod wall;\npub use door::{Door, door};\npub use wall::Wall;\n";
    let door = "use super::Wall;\npub struct Door(Wall);\npub fn door() {}\n";
    let rooms = |parent, wall| {
        circles_of(&[
            ("lib.rs", "mod room;\n"),
            ("room/mod.rs", parent),
            ("room/door.rs", door),
            ("room/wall.rs", wall),
        ])
    };
    assert_eq!(rooms(parent, "pub struct Wall;\n"), "");
    let tested = "pub struct Wall;\n#[cfg(test)]\nmod tests {\n    use crate::room::Door;\n}\n";
    assert_eq!(rooms(parent, tested), "");
    let circle = "circle 1\n  room/door.rs -> room/wall.rs: Wall\n  room/wall.rs -> room/door.rs: door\n";
    assert_eq!(
        rooms(parent, "use crate::room::door;\npub struct Wall;\n"),
        circle
    );
    let needy = "mod door;\nmod wall;\npub use door::{Door, door};\npub struct Wall(Door);\n";
    let circle = "circle 1\n  room/door.rs -> room/mod.rs: Wall\n  room/mod.rs -> room/door.rs: Door\n";
    assert_eq!(rooms(needy, ""), circle);
}
