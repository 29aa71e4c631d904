//! Headers are recognized by their words; a line that only looks like one is an unknown header.

use crate::expect::{
    accepts, archive, faults_at, kinds, learning, operations, progress, read, reads, rejects, verbatim,
};
use working_memory::domain::operation::FaultKind::{NoSection, UnknownHeader};
use working_memory::domain::operation::Role;

#[test]
fn an_unknown_section_drops_its_items_and_no_others() {
    for header in [
        "DECISIONS:",
        "KEY_INSIGHTS:",
        "OPEN_QUESTIONS:",
        "**NOTES:**",
        "## RECENT_TASKS",
    ] {
        reads(
            &format!(
                "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n{header}\n  ADD:\n    - because c: d\n    - x\nVERBATIM_CONTEXT:\n  ADD:\n    - because e: f => g\n"
            ),
            [learning("a", "b"), verbatim("e", "f", "g")],
            [UnknownHeader],
        );
    }
}

#[test]
fn an_unknown_list_drops_its_items_and_no_others() {
    for header in ["UPDATE:", "REMOVE:", "DELETE:", "MODIFY:"] {
        reads(
            &format!(
                "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  {header}\n    - because c: d\n    - KL-1 because x\n  ARCHIVE:\n    - KL-2 because y\n"
            ),
            [learning("a", "b"), archive("KL-2", "y")],
            [UnknownHeader],
        );
    }
}

#[test]
fn an_unknown_list_of_progress_drops_its_bullets_and_no_others() {
    reads(
        "
CURRENT_PROGRESS:
  Completed:
    - a
  In Progress:
    - b
  Blocked:
    - c
  Remaining:
    - d
",
        [progress(&["a"], &["b"], &["d"])],
        [UnknownHeader],
    );
}

#[test]
fn an_unknown_header_is_reported_with_its_line() {
    let fault = faults_at(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  REPLACE:\n    - KL-1 because c\n  ARCHIVE:\n    - KL-2 because d\n",
        UnknownHeader,
        "REPLACE",
        &["because a", "KL-2"],
    );
    assert_eq!(fault.section, Some(Role::Learnings));
}

#[test]
fn an_unknown_header_after_an_indented_snippet_ends_it() {
    reads(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: l =>\n      x\nDECISIONS:\n  - because b: c\n",
        [verbatim("a", "l", "x")],
        [UnknownHeader],
    );
}

#[test]
fn each_unknown_header_is_reported_once() {
    reads(
        "KEY_LEARNINGS:\n  CHANGE:\n    - x\n    - y\n  ADD:\n    - because a: b\nDECISIONS:\n  - z\nRISKS:\n  - w\n",
        [learning("a", "b")],
        [UnknownHeader, UnknownHeader, UnknownHeader],
    );
}

#[test]
fn items_below_a_list_of_another_section_are_dropped() {
    for text in [
        "CURRENT_PROGRESS:\n  ADD:\n    - because a: b\n",
        "VERBATIM_CONTEXT:\n  Completed:\n    - because a: b => c\n",
    ] {
        let parsed = read(text);
        assert_eq!(operations(&parsed), [], "{text}");
        assert!(!parsed.faults.is_empty(), "{text}");
    }
}

#[test]
fn prose_with_a_colon_is_not_a_header() {
    accepts(
        "
Here is the update:

KEY_LEARNINGS:
  ADD:
    - because a: b

I added one learning. Please note: nothing was archived.
",
        [learning("a", "b")],
    );
    accepts(
        "Sure! Based on the messages, this is my answer:\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\n",
        [learning("a", "b")],
    );
}

#[test]
fn a_bullet_that_ends_in_a_colon_is_a_bullet() {
    accepts(
        "CURRENT_PROGRESS:\n  In Progress:\n    - Wire these routes:\n    - b\n",
        [progress(&[], &["Wire these routes:", "b"], &[])],
    );
}

#[test]
fn a_text_without_a_known_header_has_no_section() {
    rejects("", [NoSection]);
    rejects(" \n\n\t\n", [NoSection]);
    rejects("\u{feff}", [NoSection]);
    rejects("I see nothing worth keeping in these messages.\n", [NoSection]);
    rejects(
        "I looked at everything.\n\nNothing changed, so nothing is to be done.",
        [NoSection],
    );
    assert!(kinds(&read("NOTES:\n  - a\n")).contains(&NoSection));
    assert!(kinds(&read("```\n```\n")).contains(&NoSection));
}

#[test]
fn the_sections_of_a_text_are_returned_also_without_items() {
    let sections = |text: &str| {
        let mut sections = read(text).sections;
        sections.sort();
        sections.dedup();
        sections
    };
    assert_eq!(sections("KEY_LEARNINGS: none\n"), [Role::Learnings]);
    assert_eq!(
        sections("CURRENT_PROGRESS:\nVERBATIM_CONTEXT:\n  ADD:\n"),
        [Role::Progress, Role::Verbatim]
    );
    assert_eq!(
        sections("VERBATIM_CONTEXT:\nKEY_LEARNINGS:\nCURRENT_PROGRESS:\n"),
        Role::ALL
    );
    assert_eq!(sections("nothing"), []);
}

#[test]
fn sections_come_in_any_order_and_items_in_the_order_of_the_text() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: b => c
KEY_LEARNINGS:
  ARCHIVE:
    - KL-1 because d
CURRENT_PROGRESS:
  In Progress:
    - e
",
        [
            verbatim("a", "b", "c"),
            archive("KL-1", "d"),
            progress(&[], &["e"], &[]),
        ],
    );
}
