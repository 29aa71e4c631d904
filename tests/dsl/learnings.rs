//! `KEY_LEARNINGS / ADD`: where the reason ends, what the content is, and insights over several lines.

use crate::expect::{accepts, faults_at, learning, learnings_add, reads, rejects};
use working_memory::domain::operation::FaultKind::{EmptyContent, MissingReason, MultiLineInsight};
use working_memory::domain::operation::Role;

/// One bullet and the operation it is.
#[track_caller]
fn bullet(line: &str, reason: &str, content: &str) {
    accepts(
        &learnings_add(&format!("    {line}")),
        [learning(reason, content)],
    );
}

#[test]
fn a_reason_and_a_content_are_an_addition() {
    bullet(
        "- because CI has no database: commit the prepared query data",
        "CI has no database",
        "commit the prepared query data",
    );
}

#[test]
fn several_bullets_are_several_additions_in_their_order() {
    accepts(
        &learnings_add("    - because a: b\n    - because c: d\n    - because e: f"),
        [learning("a", "b"), learning("c", "d"), learning("e", "f")],
    );
}

#[test]
fn because_is_recognized_in_any_case() {
    bullet("- BECAUSE a: b", "a", "b");
    bullet("- Because a: b", "a", "b");
    bullet("- bEcAuSe a: b", "a", "b");
}

#[test]
fn the_reason_ends_at_the_first_colon_that_a_blank_follows() {
    bullet(
        "- because std::fs blocks: use tokio",
        "std::fs blocks",
        "use tokio",
    );
    bullet(
        "- because https://ci.example/1 is red: fix it",
        "https://ci.example/1 is red",
        "fix it",
    );
    bullet(
        "- because it runs at 10:30: start early",
        "it runs at 10:30",
        "start early",
    );
    bullet("- because a:b:c: d", "a:b:c", "d");
    bullet("- because a: b: c: d", "a", "b: c: d");
    bullet(
        "- because a: see https://x.example/y",
        "a",
        "see https://x.example/y",
    );
    bullet("- because a:\tb", "a", "b");
}

#[test]
fn without_such_a_colon_the_reason_ends_at_the_first_one() {
    bullet("- because a:b", "a", "b");
    bullet("- because a:b:c", "a", "b:c");
    bullet("- because a :b", "a", "b");
}

#[test]
fn a_colon_at_the_line_end_ends_the_reason_and_leaves_nothing() {
    rejects(&learnings_add("    - because std::fs blocks:"), [EmptyContent]);
    rejects(&learnings_add("    - because a:b:   "), [EmptyContent]);
    rejects("KEY_LEARNINGS:\n  ADD:\n    - because a:", [EmptyContent]);
    rejects(
        "KEY_LEARNINGS:\r\n  ADD:\r\n    - because a:b:\r\n",
        [EmptyContent],
    );
}

#[test]
fn blanks_around_reason_and_content_are_removed() {
    bullet("-    because    a  :    b   ", "a", "b");
    bullet("- because\ta:\tb\t", "a", "b");
}

#[test]
fn tabs_in_a_line_count_to_the_next_multiple_of_four() {
    // `x` is in column 17, so the tab after it reaches from 18 to 20.
    bullet("- because a: x\ty", "a", "x  y");
}

#[test]
fn a_content_keeps_markdown_arrows_and_brackets() {
    bullet(
        "- because a: **b** => `c` [d](e) <f> # g",
        "a",
        "**b** => `c` [d](e) <f> # g",
    );
}

#[test]
fn a_reason_and_a_content_may_be_in_any_language() {
    bullet("- because 接続が切れる: 再試行する", "接続が切れる", "再試行する");
    bullet("- because l’été: déjà vu 🦀", "l’été", "déjà vu 🦀");
}

#[test]
fn an_item_that_does_not_begin_because_has_no_reason() {
    for line in [
        "- commit the prepared query data",
        "- CI has no database: commit the query data",
        "- it fails because of CI: fix it",
        "- becauseful: b",
        "- becaus a: b",
        "- **Insight**: b",
        "- : b",
    ] {
        rejects(&learnings_add(&format!("    {line}")), [MissingReason]);
    }
}

#[test]
fn an_item_with_nothing_between_because_and_the_colon_has_no_reason() {
    for line in [
        "- because: b",
        "- because : b",
        "- because",
        "- because:",
        "- because \u{3000}\u{a0}: b",
        "- BECAUSE  :  b",
    ] {
        rejects(&learnings_add(&format!("    {line}")), [MissingReason]);
    }
}

#[test]
fn nothing_after_the_reason_is_an_empty_content() {
    for line in [
        "- because a:",
        "- because a: ",
        "- because a",
        "- because CI has no database",
        "- because a: \u{a0}",
        "- because a: \u{3000}\u{2003}",
        "- because a:\t \t",
    ] {
        rejects(&learnings_add(&format!("    {line}")), [EmptyContent]);
    }
}

#[test]
fn an_insight_over_several_lines_is_folded() {
    reads(
        "
KEY_LEARNINGS:
  ADD:
    - because a: the first line
      the second line
        and the third
    - because b: c
",
        [
            learning("a", "the first line the second line and the third"),
            learning("b", "c"),
        ],
        [MultiLineInsight],
    );
}

#[test]
fn folding_puts_one_blank_between_lines() {
    reads(
        &learnings_add("    - because a: b   \n\t\t\tc  \r\n      d"),
        [learning("a", "b c d")],
        [MultiLineInsight],
    );
}

#[test]
fn folded_lines_expand_tabs_like_the_first() {
    // `c` is in column 6, so the tab after it reaches from 7 to 8.
    reads(
        &learnings_add("    - because a: b\n      c\td\n      \u{3000}e\u{b}"),
        [learning("a", "b c d e")],
        [MultiLineInsight],
    );
}

#[test]
fn an_insight_that_begins_on_the_next_line_is_an_insight() {
    reads(
        &learnings_add("    - because a:\n      b"),
        [learning("a", "b")],
        [MultiLineInsight],
    );
}

#[test]
fn lines_not_deeper_than_the_bullet_are_not_folded() {
    accepts(
        &learnings_add("    - because a: b\n    c\n  d\ne"),
        [learning("a", "b")],
    );
}

#[test]
fn each_folded_insight_has_its_own_warning() {
    reads(
        &learnings_add("    - because a: b\n      c\n    - because d: e\n      f"),
        [learning("a", "b c"), learning("d", "e f")],
        [MultiLineInsight, MultiLineInsight],
    );
    faults_at(
        &learnings_add("    - because a: b\n      c\n    - because d: e"),
        MultiLineInsight,
        "",
        &["because d"],
    );
}

#[test]
fn a_fault_has_its_section_and_its_position() {
    let fault = faults_at(
        &learnings_add("    - because a: b\n    - no reason here\n    - because c: d"),
        MissingReason,
        "no reason here",
        &["because a", "because c"],
    );
    assert_eq!(fault.section, Some(Role::Learnings));
}

#[test]
fn a_faulty_item_hides_no_good_one() {
    reads(
        &learnings_add("    - x\n    - because a: b\n    - because c:\n    - because d: e\n    - because: f"),
        [learning("a", "b"), learning("d", "e")],
        [MissingReason, EmptyContent, MissingReason],
    );
}

#[test]
fn two_blocks_of_a_section_are_combined() {
    accepts(
        "
KEY_LEARNINGS:
  ADD:
    - because a: b
  ADD:
    - because c: d
KEY_LEARNINGS:
  ADD:
    - because e: f
",
        [learning("a", "b"), learning("c", "d"), learning("e", "f")],
    );
}

#[test]
fn more_additions_than_a_section_accepts_are_still_parsed() {
    let lines: Vec<_> = (0..7).map(|n| format!("    - because a: b{n}")).collect();
    let parsed = crate::expect::read(&learnings_add(&lines.join("\n")));
    assert_eq!((parsed.items.len(), parsed.faults.len()), (7, 0));
}
