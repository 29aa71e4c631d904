//! Strict mode: the canonical form is accepted, each leniency is rejected separately.

use crate::expect::{archive, case, kinds, learning, operations, progress, read, read_with, verbatim};
use working_memory::domain::dsl::{Options, print};
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

/// In strict mode, the text does not have its lenient result, and a fault is reported.
#[track_caller]
fn refuses(text: &str) {
    let text = case(text);
    let lenient = read(text);
    assert!(
        !lenient.items.is_empty() && lenient.faults.is_empty(),
        "leniently good:\n{text}\n{:?}",
        lenient.faults
    );
    let strict = read_with(text, &Options::strict());
    assert!(
        !strict.faults.is_empty(),
        "strict mode says nothing about:\n{text}\n{:?}",
        strict.items
    );
}

/// The canonical text with one thing written differently.
#[track_caller]
fn refuses_with(canonical: &str, other: &str) {
    let text = case(CANONICAL);
    assert!(text.contains(canonical));
    refuses(&text.replacen(canonical, other, 1));
}

#[test]
fn the_canonical_text_is_read() {
    let parsed = read_with(case(CANONICAL), &Options::strict());
    assert_eq!(operations(&parsed), canonical_operations());
    assert_eq!(kinds(&parsed), []);
}

#[test]
fn printed_operations_are_accepted() {
    let printed = print(&canonical_operations());
    let parsed = read_with(&printed, &Options::strict());
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
        let parsed = read_with(text, &Options::strict());
        assert_eq!((operations(&parsed), kinds(&parsed)), (vec![], vec![]), "{text}");
    }
}

#[test]
fn the_spellings_of_an_archive_are_grammar_and_no_leniency() {
    for line in ["- KL-1: because x", "- KL-1 because: x", "- KL-1 because x"] {
        let text = format!("KEY_LEARNINGS:\n  ARCHIVE:\n    {line}\n");
        let parsed = read_with(&text, &Options::strict());
        assert_eq!(
            (operations(&parsed), kinds(&parsed)),
            (vec![archive("KL-1", "x")], vec![]),
            "{text}"
        );
    }
    let parsed = read_with(
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1, KL-2 because x\n",
        &Options::strict(),
    );
    assert_eq!(operations(&parsed), [archive("KL-1", "x"), archive("KL-2", "x")]);
}

#[test]
fn text_before_the_first_header_is_refused() {
    refuses(&format!("Here is the update.\n\n{}", case(CANONICAL)));
}

#[test]
fn text_after_the_last_item_is_refused() {
    refuses("KEY_LEARNINGS:\n  ADD:\n    - because a: b\n\nI hope this helps.\n");
    refuses(&format!("{}\nI hope this helps.\n", case(CANONICAL)));
}

#[test]
fn a_fence_around_the_answer_is_refused() {
    refuses(&format!("```\n{}```\n", case(CANONICAL)));
}

#[test]
fn decorated_headers_are_refused() {
    refuses_with("KEY_LEARNINGS:", "**KEY_LEARNINGS:**");
    refuses_with("KEY_LEARNINGS:", "`KEY_LEARNINGS:`");
    refuses_with("KEY_LEARNINGS:", "# KEY_LEARNINGS:");
    refuses_with("  ADD:", "  **ADD:**");
    refuses_with("  In Progress:", "  `In Progress:`");
}

#[test]
fn headers_in_another_case_are_refused() {
    refuses_with("KEY_LEARNINGS:", "Key_Learnings:");
    refuses_with("  ADD:", "  Add:");
    refuses_with("  In Progress:", "  IN PROGRESS:");
}

#[test]
fn headers_with_a_blank_for_the_underscore_are_refused() {
    refuses_with("KEY_LEARNINGS:", "KEY LEARNINGS:");
    refuses_with("CURRENT_PROGRESS:", "CURRENT PROGRESS:");
}

#[test]
fn headers_without_a_colon_are_refused() {
    refuses_with("KEY_LEARNINGS:", "KEY_LEARNINGS");
    refuses_with("  ADD:", "  ADD");
}

#[test]
fn other_bullets_are_refused() {
    refuses_with("    - because CI", "    * because CI");
    refuses_with("    - because CI", "    • because CI");
    refuses_with("    - because CI", "    1. because CI");
}

#[test]
fn other_indentation_is_refused() {
    refuses("KEY_LEARNINGS:\nADD:\n- because a: b\n");
    refuses("KEY_LEARNINGS:\n    ADD:\n        - because a: b\n");
}

#[test]
fn decorated_ids_are_refused() {
    refuses_with("KL-1", "[KL-1]");
    refuses_with("KL-1", "**KL-1**");
    refuses_with("KL-1", "kl-1");
}

#[test]
fn a_refused_line_hides_no_good_item() {
    let text = case(CANONICAL).replacen(
        "    - because it is short",
        "    - no reason: x\n    - because it is short",
        1,
    );
    let parsed = read_with(&text, &Options::strict());
    assert_eq!(operations(&parsed), canonical_operations());
    assert_eq!(parsed.faults.len(), 1);
}
