//! Released migration files never change, and every database can run the new ones.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;

/// `sha256sum migrations/*.sql`, as released.
const LANDED: &str = include_str!("../data/migrations.sha256");

/// Up to this migration, an `ALTER TABLE` may have several subcommands.
const LAST_WITH_SEVERAL: &str = "0013";

fn files() -> BTreeMap<String, String> {
    let entries = fs::read_dir("migrations").unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_released_migration_never_changes_and_a_new_one_is_listed() {
    let landed: BTreeMap<&str, &str> = LANDED
        .lines()
        .map(|line| {
            let (hash, name) = line.split_once("  ").unwrap();
            (name, hash)
        })
        .collect();
    let files = files();
    for (name, text) in &files {
        match landed.get(&**name) {
            Some(known) => assert_eq!(
                hash(text),
                *known,
                "{name} has landed: databases that ran it refuse another text. Write a new migration instead"
            ),
            None => panic!("add to tests/data/migrations.sha256: {}  {name}", hash(text)),
        }
    }
    for name in landed.keys() {
        assert!(
            files.contains_key(*name),
            "{name} has landed and is not there any more"
        );
    }
    for name in files.keys().filter(|name| name.ends_with(".up.sql")) {
        let down = name.replace(".up.sql", ".down.sql");
        assert!(files.contains_key(&down), "{down} is missing");
    }
}

/// The statements of a file, without comments.
fn statements(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join(" ");
    text.split(';')
        .map(|statement| statement.trim().to_owned())
        .collect()
}

/// Subcommands of an `ALTER TABLE`: separated by commas outside brackets and quotes.
fn subcommands(statement: &str) -> usize {
    let (mut depth, mut quoted, mut count) = (0, false, 1);
    for c in statement.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => count += 1,
            _ => {}
        }
    }
    count
}

#[test]
fn an_alter_table_has_one_subcommand() {
    assert_eq!(subcommands("ALTER TABLE t ADD CHECK (a IN ('x', 'y,z'))"), 1);
    assert_eq!(
        subcommands("ALTER TABLE t ADD COLUMN a TEXT, ADD COLUMN b TEXT"),
        2
    );
    for (name, text) in files().iter().filter(|(name, _)| &name[..4] > LAST_WITH_SEVERAL) {
        for statement in statements(text) {
            if statement.to_uppercase().starts_with("ALTER TABLE") {
                let count = subcommands(&statement);
                assert_eq!(
                    count, 1,
                    "{name}: a distributed database takes one subcommand at a time: {statement}"
                );
            }
        }
    }
}
