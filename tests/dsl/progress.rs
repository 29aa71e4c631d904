//! `CURRENT_PROGRESS`: three lists, replaced as a whole.

use crate::expect::{accepts, faults_at, kinds, progress, read, reads, rejects};
use working_memory::domain::operation::FaultKind::MissingInProgress;
use working_memory::domain::operation::Role;

#[test]
fn three_lists_replace_the_section() {
    accepts(
        "
CURRENT_PROGRESS:
  Completed:
    - Wrote the parser
    - Wrote its tests
  In Progress:
    - Wire the parser to the update route
  Remaining:
    - Benchmarks
    - Documentation
",
        [progress(
            &["Wrote the parser", "Wrote its tests"],
            &["Wire the parser to the update route"],
            &["Benchmarks", "Documentation"],
        )],
    );
}

#[test]
fn completed_and_remaining_are_optional() {
    accepts(
        "CURRENT_PROGRESS:\n  In Progress:\n    - a\n",
        [progress(&[], &["a"], &[])],
    );
    accepts(
        "CURRENT_PROGRESS:\n  In Progress:\n    - a\n  Remaining:\n    - b\n",
        [progress(&[], &["a"], &["b"])],
    );
    accepts(
        "CURRENT_PROGRESS:\n  Completed:\n    - b\n  In Progress:\n    - a\n",
        [progress(&["b"], &["a"], &[])],
    );
}

#[test]
fn an_empty_list_is_an_absent_list() {
    accepts(
        "CURRENT_PROGRESS:\n  Completed:\n  In Progress:\n    - a\n  Remaining:\n",
        [progress(&[], &["a"], &[])],
    );
}

#[test]
fn the_lists_come_in_any_order() {
    accepts(
        "CURRENT_PROGRESS:\n  Remaining:\n    - c\n  In Progress:\n    - b\n  Completed:\n    - a\n",
        [progress(&["a"], &["b"], &["c"])],
    );
}

#[test]
fn two_blocks_of_a_list_are_combined() {
    accepts(
        "
CURRENT_PROGRESS:
  Completed:
    - a
  In Progress:
    - b
  Completed:
    - c
",
        [progress(&["a", "c"], &["b"], &[])],
    );
}

#[test]
fn of_two_blocks_the_last_is_used() {
    accepts(
        "
CURRENT_PROGRESS:
  Completed:
    - old
  In Progress:
    - older
CURRENT_PROGRESS:
  In Progress:
    - new
",
        [progress(&[], &["new"], &[])],
    );
    let parsed = read(
        "CURRENT_PROGRESS:\n  In Progress:\n    - good\nCURRENT_PROGRESS:\n  Completed:\n    - everything\n",
    );
    assert_eq!(kinds(&parsed), [MissingInProgress]);
}

#[test]
fn blocks_with_another_section_between_are_still_two_blocks() {
    accepts(
        "
CURRENT_PROGRESS:
  In Progress:
    - old
KEY_LEARNINGS:
  ADD: none
CURRENT_PROGRESS:
  In Progress:
    - new
",
        [progress(&[], &["new"], &[])],
    );
}

#[test]
fn bullets_without_one_in_progress_are_a_fault() {
    rejects("CURRENT_PROGRESS:\n  Completed:\n    - a\n", [MissingInProgress]);
    rejects("CURRENT_PROGRESS:\n  Remaining:\n    - a\n", [MissingInProgress]);
    rejects(
        "CURRENT_PROGRESS:\n  Completed:\n    - a\n  In Progress:\n  Remaining:\n    - b\n",
        [MissingInProgress],
    );
    rejects(
        "CURRENT_PROGRESS:\n  Completed:\n    - a\n  In Progress:\n    - none\n",
        [MissingInProgress],
    );
    rejects(
        "CURRENT_PROGRESS:\n  Completed:\n    - a\n  In Progress: (none)\n",
        [MissingInProgress],
    );
}

#[test]
fn bullets_outside_a_list_are_bullets_but_not_in_progress() {
    rejects("CURRENT_PROGRESS:\n  - a\n  - b\n", [MissingInProgress]);
}

#[test]
fn a_missing_in_progress_is_a_fault_of_the_progress_section() {
    let fault = faults_at(
        "CURRENT_PROGRESS:\n  Completed:\n    - a\nKEY_LEARNINGS: none\n",
        MissingInProgress,
        "",
        &["KEY_LEARNINGS"],
    );
    assert_eq!(fault.section, Some(Role::Progress));
    assert_eq!(fault.id, None);
}

#[test]
fn no_bullet_at_all_is_no_change() {
    accepts("CURRENT_PROGRESS:\n", []);
    accepts("CURRENT_PROGRESS:", []);
    accepts(
        "CURRENT_PROGRESS:\n  Completed:\n  In Progress:\n  Remaining:\n",
        [],
    );
    accepts(
        "CURRENT_PROGRESS:\n  Completed: none\n  In Progress:\n    - (none)\n  Remaining: N/A\n",
        [],
    );
}

#[test]
fn a_list_that_says_none_is_empty_beside_lists_with_bullets() {
    accepts(
        "CURRENT_PROGRESS:\n  Completed:\n    - none\n  In Progress:\n    - a\n  Remaining: (none)\n",
        [progress(&[], &["a"], &[])],
    );
}

#[test]
fn a_bullet_keeps_its_marks_colons_and_inner_blanks() {
    accepts(
        "CURRENT_PROGRESS:\n  In Progress:\n    - Run `cargo test`: see **notes**, because CI  fails => later\n",
        [progress(
            &[],
            &["Run `cargo test`: see **notes**, because CI  fails => later"],
            &[],
        )],
    );
}

#[test]
fn a_bullet_belongs_to_the_last_list_header_also_when_indented_less() {
    accepts(
        "
CURRENT_PROGRESS:
  Completed:
      - a
    - b
  - c
- d
  In Progress:
- e
",
        [progress(&["a", "b", "c", "d"], &["e"], &[])],
    );
}

#[test]
fn a_flat_progress_is_read() {
    accepts(
        "CURRENT_PROGRESS:\nCompleted:\n- a\nIn Progress:\n- b\nRemaining:\n- c\n",
        [progress(&["a"], &["b"], &["c"])],
    );
}

#[test]
fn blank_lines_between_bullets_and_lists_are_ignored() {
    accepts(
        "\n\nCURRENT_PROGRESS:\n\n  Completed:\n\n    - a\n\n    - b\n\n\n  In Progress:\n   \n    - c\n\n",
        [progress(&["a", "b"], &["c"], &[])],
    );
}

#[test]
fn a_faulty_progress_hides_no_other_section() {
    reads(
        "
CURRENT_PROGRESS:
  Completed:
    - a
KEY_LEARNINGS:
  ADD:
    - because b: c
",
        [crate::expect::learning("b", "c")],
        [MissingInProgress],
    );
}
