//! Splits the statement that saves versions into several statements, for a database that is distributed by vault.
//!
//! Citus does not push down an `INSERT` inside a common table expression: it would collect each expression's rows on
//! the coordinator, send them to the nodes again, and commit in two phases. The pieces are generated from the same
//! text: first the statement that locks and moves the heads, then each insert, joined with the moved row of the memory.
//! Each piece runs on the node of its vault, and one node commits.

use std::sync::LazyLock;

/// The statements, in order of execution.
pub(super) struct Pieces {
    /// Moves the heads, and returns the places of the moved ones.
    pub(super) moves: Piece,
    pub(super) inserts: Vec<Piece>,
}

/// A statement that has all parameters of the whole statement and reads some of them.
pub(super) struct Piece {
    pub(super) text: String,
    /// One bit for each parameter. Expressions before an insert may name others, which it does not use.
    reads: u32,
}

impl Piece {
    /// Whether a parameter is read, by its number; others may be empty.
    pub(super) fn reads(&self, parameter: u32) -> bool {
        self.reads & 1 << parameter != 0
    }
}

pub(super) static PIECES: LazyLock<Pieces> = LazyLock::new(|| Pieces::of(include_str!("save_versions.sql")));

/// The single vault of the versions: a condition that selects a node before planning.
const VAULT: &str = "= ($1::text[])[1]";

/// The moved memories, as seen by the following statements.
const MOVED: &str = "SELECT memories.vault_id, version.place
    FROM memories
    JOIN version ON version.memory_id = memories.memory_id AND version.context_id = memories.head_context_id
    WHERE memories.vault_id = ($1::text[])[1]";

impl Pieces {
    fn of(whole: &str) -> Self {
        let whole = whole
            .replace("= ANY ($1::text[])", VAULT)
            .replace("= ANY ($1)", VAULT)
            .replace("LIMIT (SELECT $6::bigint)", "LIMIT $6");
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
        let moves = Piece {
            reads: parameters(&moves),
            text: moves,
        };
        // Inlined, so that the planner knows where the joined rows are.
        let before = format!(
            "WITH version AS NOT MATERIALIZED ({}),\nmoved AS NOT MATERIALIZED ({MOVED}),\n\
             record AS NOT MATERIALIZED ({})\n",
            of("version"),
            of("record"),
        );
        let inserts = expressions.iter().map(|(_, text)| *text);
        let inserts = inserts.filter(|text| text.contains("INSERT INTO"));
        let inserts = inserts.map(|text| {
            let of_record = match text.contains("FROM record\n") {
                true => parameters(of("record")),
                false => 0,
            };
            Piece {
                text: format!("{before}{text}"),
                reads: parameters(of("version")) | parameters(MOVED) | of_record | parameters(text),
            }
        });
        Self {
            moves,
            inserts: inserts.collect(),
        }
    }
}

/// The parameters in a text, one bit for each.
fn parameters(text: &str) -> u32 {
    let numbers = text.split('$').skip(1).filter_map(|after| {
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after[..end].parse::<u32>().ok()
    });
    numbers.fold(0, |all, number| all | 1 << number)
}

/// The names and bodies of the common table expressions of a statement. Each begins with `name AS (` at the end of a
/// line, and ends with a bracket at the beginning of one.
fn expressions(statement: &str) -> Vec<(&str, &str)> {
    let mut rest = statement;
    let mut found = Vec::new();
    while let Some((before, body)) = rest.split_once(" AS (\n") {
        let name = before
            .rsplit(|c: char| c.is_whitespace())
            .next()
            .unwrap_or_default();
        // Nested expressions are indented.
        let is_outer = before
            .lines()
            .last()
            .is_some_and(|line| line.trim_start_matches("WITH ") == name);
        let Some(end) = body.find("\n)").filter(|_| is_outer) else {
            rest = body;
            continue;
        };
        found.push((name, &body[..end]));
        rest = &body[end..];
    }
    found
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
                "version",
                "locked",
                "moved",
                "saved",
                "counted",
                "instructed",
                "ran",
                "happened",
                "record",
                "changed",
                "kept"
            ]
        );
        for insert in &PIECES.inserts {
            assert_eq!(insert.text.matches("INSERT INTO").count(), 1, "{}", insert.text);
            assert!(!insert.text.contains("ANY ($1"), "{}", insert.text);
            assert!(insert.text.contains("moved.vault_id"), "{}", insert.text);
        }
        let moves = &PIECES.moves.text;
        assert!(moves.contains("FOR UPDATE SKIP LOCKED") && moves.contains("UPDATE memories"));
    }

    #[test]
    fn a_piece_gets_the_parameters_it_reads() {
        let read = |piece: &Piece| (1..=9).filter(|number| piece.reads(*number)).collect::<Vec<_>>();
        assert_eq!(read(&PIECES.moves), [1, 2, 6]);
        let inserts: Vec<_> = PIECES.inserts.iter().map(read).collect();
        assert_eq!(
            inserts,
            [
                vec![1, 2, 3, 6],
                vec![1, 2, 6],
                vec![1, 2, 6, 8],
                vec![1, 2, 6, 7],
                vec![1, 2, 6, 9],
                vec![1, 2, 4, 6],
                vec![1, 2, 4, 6],
            ]
        );
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
