//! The canonical form: what printing writes, and reading takes without a fault.

use crate::expect::{archive, case, kinds, learning, operations, progress, read, verbatim};
use crate::print::print;
use working_memory::domain::operation::Operation;

const CANONICAL: &str = "
CURRENT_PROGRESS:
  Completed:
    - Wrote the parser
  In Progress:
    - Wire it to the route
  Remaining:
    - Benchmarks

KEY_LEARNINGS:
  ADD:
    - because CI has no database: commit the query data
  ARCHIVE:
    - KL-1 because it was fixed

VERBATIM_CONTEXT:
  ADD:
    - because the next step edits it: Makefile test target =>
      test:
      \tcargo test
    - because it is short: command => cargo test
  ARCHIVE:
    - VC-2 because the step is done
";

fn canonical_operations() -> Vec<Operation> {
    vec![
        progress(&["Wrote the parser"], &["Wire it to the route"], &["Benchmarks"]),
        learning("CI has no database", "commit the query data"),
        archive("KL-1", "it was fixed"),
        verbatim(
            "the next step edits it",
            "Makefile test target",
            "test:\n\tcargo test",
        ),
        verbatim("it is short", "command", "cargo test"),
        archive("VC-2", "the step is done"),
    ]
}

#[test]
fn the_canonical_text_is_read() {
    let parsed = read(case(CANONICAL));
    assert_eq!(operations(&parsed), canonical_operations());
    assert_eq!(kinds(&parsed), []);
}

#[test]
fn printed_operations_are_accepted() {
    let printed = print(&canonical_operations());
    let parsed = read(&printed);
    assert_eq!(operations(&parsed), canonical_operations(), "{printed}");
    assert_eq!(kinds(&parsed), [], "{printed}");
}

#[test]
fn printed_operations_have_the_specified_form() {
    let printed = print(&canonical_operations());
    for line in case(CANONICAL)
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.contains("=>") && !line.contains("test"))
    {
        assert!(
            printed.lines().any(|other| other == line),
            "{line:?} is not a line of:\n{printed}"
        );
    }
}

#[test]
fn no_operation_prints_as_a_text_that_changes_nothing() {
    assert!(read(&print(&[])).items.is_empty());
}

#[test]
fn absent_sections_and_empty_lists_are_still_no_change() {
    for text in [
        "KEY_LEARNINGS:\n  ADD:\n  ARCHIVE:\n",
        "CURRENT_PROGRESS:\n",
        "VERBATIM_CONTEXT:\n",
    ] {
        let parsed = read(text);
        assert_eq!((operations(&parsed), kinds(&parsed)), (vec![], vec![]), "{text}");
    }
}

#[test]
fn the_spellings_of_an_archive_are_grammar_and_no_leniency() {
    for line in ["- KL-1: because x", "- KL-1 because: x", "- KL-1 because x"] {
        let text = format!("KEY_LEARNINGS:\n  ARCHIVE:\n    {line}\n");
        let parsed = read(&text);
        assert_eq!(
            (operations(&parsed), kinds(&parsed)),
            (vec![archive("KL-1", "x")], vec![]),
            "{text}"
        );
    }
    let parsed = read("KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1, KL-2 because x\n");
    assert_eq!(operations(&parsed), [archive("KL-1", "x"), archive("KL-2", "x")]);
}

#[test]
fn a_faulty_line_hides_no_good_item() {
    let text = case(CANONICAL).replacen(
        "    - because it is short",
        "    - no reason: x\n    - because it is short",
        1,
    );
    let parsed = read(&text);
    assert_eq!(operations(&parsed), canonical_operations());
    assert_eq!(parsed.faults.len(), 1);
}
