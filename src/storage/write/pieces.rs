//! Splits the statement that saves versions into several statements, for a database that is distributed by vault.
//!
//! Citus does not push down an `INSERT` inside a common table expression: it would collect each expression's rows on
//! the coordinator, send them to the nodes again, and commit in two phases. The pieces are generated from the same
//! text: first the statement that locks and moves the heads, then each insert, joined with the moved row of the memory.
//! Each piece runs on the node of its vault, and one node commits.

use std::sync::LazyLock;

/// The statements, in order of execution. Each has the parameters of the whole statement, and as `$7` the vault of the versions.
pub(super) struct Pieces {
    /// Moves the heads, and returns the places of the moved ones.
    pub(super) moves: String,
    pub(super) inserts: Vec<String>,
}

pub(super) static PIECES: LazyLock<Pieces> = LazyLock::new(|| Pieces::of(include_str!("save_versions.sql")));

/// The single vault of the versions: a condition that selects a node before planning.
const VAULT: &str = "vault_id = $7::text";

/// The moved memories, as seen by the following statements.
const MOVED: &str = "SELECT memories.vault_id, version.place
    FROM memories
    JOIN version ON version.memory_id = memories.memory_id AND version.context_id = memories.head_context_id
    WHERE memories.vault_id = $7::text";

impl Pieces {
    fn of(whole: &str) -> Self {
        let whole = whole
            .replace("vault_id = version.vault_id", VAULT)
            .replace("vault_id = record.vault_id", VAULT)
            .replace("LIMIT (SELECT $5::bigint)", "LIMIT $5::bigint");
        let expressions = expressions(&whole);
        let of = |name: &str| -> &str {
            let found = expressions.iter().find(|(other, _)| *other == name);
            found.map_or("", |(_, text)| text)
        };
        let moves = format!(
            "WITH version AS ({}),\nlocked AS ({}),\nmoved AS ({})\nSELECT array_agg(place) FROM moved",
            of("version"),
            of("locked"),
            of("moved"),
        );
        let inserts = expressions.iter().map(|(_, text)| *text);
        let inserts = inserts.filter(|text| text.contains("INSERT INTO"));
        // Inlined, so that the planner knows where the joined rows are.
        let inserts = inserts.map(|insert| {
            let record = match insert.contains("FROM record\n") {
                true => format!(",\nrecord AS NOT MATERIALIZED ({})", of("record")),
                false => String::new(),
            };
            format!(
                "WITH version AS NOT MATERIALIZED ({}),\nmoved AS NOT MATERIALIZED ({MOVED}){record}\n{insert}",
                of("version"),
            )
        });
        Self {
            moves,
            inserts: inserts.collect(),
        }
    }
}

/// The names and bodies of the common table expressions of a statement. Each begins with `name AS (` at the end of a
/// line, and ends with a bracket at the beginning of one.
fn expressions(statement: &str) -> Vec<(&str, &str)> {
    let expression = |part| {
        let (before, body) = str::split_once(part, " AS (\n")?;
        Some((before.lines().last()?.trim_start_matches("WITH "), body))
    };
    statement.split("\n)").filter_map(expression).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_insert_of_the_statement_is_a_piece() {
        let whole = include_str!("save_versions.sql");
        assert_eq!(PIECES.inserts.len(), whole.matches("INSERT INTO").count());
        let names: Vec<&str> = expressions(whole).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "version", "locked", "moved", "saved", "counted", "happened", "record", "changed", "kept"
            ]
        );
        for insert in &PIECES.inserts {
            assert_eq!(insert.matches("INSERT INTO").count(), 1, "{insert}");
            assert!(
                insert.contains(VAULT) && !insert.contains("vault_id = version."),
                "{insert}"
            );
            assert!(insert.contains("moved.vault_id"), "{insert}");
        }
        let moves = &PIECES.moves;
        assert!(moves.contains("FOR UPDATE SKIP LOCKED") && moves.contains("UPDATE memories"));
        assert_eq!(moves.matches(VAULT).count(), 2, "{moves}");
    }

    #[test]
    fn expressions_are_found_by_their_outer_brackets() {
        let statement = "-- a\nWITH one AS (\n    SELECT x\n    FROM (SELECT 1) AS (\n        x)\n),\n-- b\ntwo AS (\n    INSERT\n)\nSELECT";
        assert_eq!(
            expressions(statement),
            [
                ("one", "    SELECT x\n    FROM (SELECT 1) AS (\n        x)"),
                ("two", "    INSERT")
            ]
        );
    }
}
