//! A model that stopped at its token limit: the last item is dropped.

use crate::expect::{
    archive, kinds, learning, learnings_add, learnings_archive, operations, progress, read, read_cut_off,
    verbatim, verbatim_add,
};
use working_memory::domain::operation::FaultKind::{MissingInProgress, Truncated};
use working_memory::domain::operation::Operation;

/// The result for a text that was truncated; exactly one warning says so.
#[track_caller]
fn cut<const N: usize>(text: &str, expected: [Operation; N]) {
    let parsed = read_cut_off(text);
    assert_eq!(operations(&parsed), expected, "operations of:\n{text}");
    let warnings = kinds(&parsed)
        .into_iter()
        .filter(|&kind| kind == Truncated)
        .count();
    assert_eq!(warnings, 1, "{:?}", parsed.faults);
}

#[test]
fn the_last_addition_is_dropped() {
    cut(
        &learnings_add("    - because a: b\n    - because c: d"),
        [learning("a", "b")],
    );
    cut(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - because c: d and so",
        [learning("a", "b")],
    );
    cut("KEY_LEARNINGS:\n  ADD:\n    - because a: b", []);
}

#[test]
fn the_last_archive_is_dropped() {
    cut(
        &learnings_archive("    - KL-1 because a\n    - KL-2 because b"),
        [archive("KL-1", "a")],
    );
}

#[test]
fn all_ids_of_the_last_archive_are_dropped() {
    cut(
        &learnings_archive("    - KL-1 because a\n    - KL-2, KL-3 because it was"),
        [archive("KL-1", "a")],
    );
}

#[test]
fn the_last_snippet_is_dropped() {
    cut(
        &verbatim_add("    - because a: l => x\n    - because b: m =>\n      fn main() {"),
        [verbatim("a", "l", "x")],
    );
    cut(
        &verbatim_add("    - because a: l => x\n    - because b: m =>\n      ```rust\n      fn main() {"),
        [verbatim("a", "l", "x")],
    );
}

#[test]
fn a_faulty_last_item_does_not_drop_a_valid_one() {
    cut(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - because CI has",
        [learning("a", "b")],
    );
    cut(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - be",
        [learning("a", "b")],
    );
    cut(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  ARCHIVE:\n    - KL-",
        [learning("a", "b")],
    );
    cut(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: b => c\n    - because d: Makefi",
        [verbatim("a", "b", "c")],
    );
    cut(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: b => c\n    - because d: e =>",
        [verbatim("a", "b", "c")],
    );
}

#[test]
fn a_progress_whose_bullet_is_last_is_dropped_completely() {
    cut(
        "CURRENT_PROGRESS:\n  Completed:\n    - a\n  In Progress:\n    - b\n  Remaining:\n    - write the",
        [],
    );
    cut(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\nCURRENT_PROGRESS:\n  In Progress:\n    - c\n",
        [learning("a", "b")],
    );
}

#[test]
fn a_cut_progress_is_not_also_a_missing_one() {
    let parsed = read_cut_off("CURRENT_PROGRESS:\n  Completed:\n    - a\n    - wrote th");
    assert_eq!(operations(&parsed), []);
    assert!(
        kinds(&parsed)
            .iter()
            .any(|kind| [Truncated, MissingInProgress].contains(kind))
    );
}

#[test]
fn a_progress_before_the_last_item_is_accepted() {
    cut(
        "CURRENT_PROGRESS:\n  In Progress:\n    - a\nKEY_LEARNINGS:\n  ADD:\n    - because b: c\n    - because d: e",
        [progress(&[], &["a"], &[]), learning("b", "c")],
    );
}

#[test]
fn the_last_item_is_the_last_of_the_text_not_of_a_section() {
    cut(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: b => c\nKEY_LEARNINGS:\n  ADD:\n    - because d: e\n",
        [verbatim("a", "b", "c")],
    );
}

#[test]
fn a_complete_text_is_accepted_to_its_end() {
    let parsed = read(&learnings_add("    - because a: b"));
    assert_eq!(
        (operations(&parsed), kinds(&parsed)),
        (vec![learning("a", "b")], vec![])
    );
}
