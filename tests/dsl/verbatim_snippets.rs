//! `VERBATIM_CONTEXT / ADD`: label and snippet bytes.

use crate::expect::{accepts, case, operations, read, rejects, verbatim, verbatim_add};
use working_memory::domain::operation::FaultKind::{EmptyContent, MissingLabel, MissingReason};

/// One item of the list; its bullet is in column 4.
#[track_caller]
fn snippet(item: &str, label: &str, expected: &str) {
    accepts(
        &verbatim_add(&format!("    - because a: {item}")),
        [verbatim("a", label, expected)],
    );
}

#[test]
fn a_snippet_may_be_after_the_arrow() {
    snippet(
        "the command => cargo test --all",
        "the command",
        "cargo test --all",
    );
}

#[test]
fn a_snippet_may_begin_on_the_next_line() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because the next step edits it: Makefile test target =>
      test:
      \tcargo test
    - because b: m => n
",
        [
            verbatim(
                "the next step edits it",
                "Makefile test target",
                "test:\n\tcargo test",
            ),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn the_reason_ends_where_it_does_in_a_learning() {
    accepts(
        &verbatim_add("    - because std::fs blocks: fs::read: usage => fs::read(path)"),
        [verbatim("std::fs blocks", "fs::read: usage", "fs::read(path)")],
    );
    accepts(
        &verbatim_add("    - BECAUSE a:b: c => d"),
        [verbatim("a:b", "c", "d")],
    );
}

#[test]
fn the_label_ends_at_the_first_arrow() {
    snippet("match arm => Some(x) => x,", "match arm", "Some(x) => x,");
    snippet("  padded   => x", "padded", "x");
}

#[test]
fn exactly_one_blank_after_the_arrow_is_removed() {
    snippet("l => x", "l", "x");
    snippet("l =>x", "l", "x");
    snippet("l =>  x", "l", " x");
    snippet("l =>    x", "l", "   x");
    snippet("l => \tx", "l", "\tx");
    snippet("l=> x", "l", "x");
}

#[test]
fn snippet_bytes_stay_as_they_are() {
    snippet("l => a\tb  ", "l", "a\tb  ");
    snippet("l =>\n      a\tb \t \n      \tc  ", "l", "a\tb \t \n\tc  ");
    snippet("l => \u{a0}x\u{3000}", "l", "\u{a0}x\u{3000}");
    snippet(
        "l => <div>&amp;</div> \"q\" \\n",
        "l",
        "<div>&amp;</div> \"q\" \\n",
    );
}

#[test]
fn carriage_returns_inside_a_snippet_stay_and_the_last_line_end_goes() {
    accepts(
        "VERBATIM_CONTEXT:\r\n  ADD:\r\n    - because a: l =>\r\n      x\r\n\r\n      y\r\n    - because b: m => z\r\n",
        [verbatim("a", "l", "x\r\n\r\ny"), verbatim("b", "m", "z")],
    );
    accepts(
        "VERBATIM_CONTEXT:\r\n  ADD:\r\n    - because a: l => x\r\n      y\r\n",
        [verbatim("a", "l", "x\r\ny")],
    );
    accepts(
        &verbatim_add("    - because a: l =>\n      x\r\n      y\n      z"),
        [verbatim("a", "l", "x\r\ny\nz")],
    );
}

#[test]
fn a_snippet_at_the_end_of_the_text_needs_no_line_end() {
    accepts(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: l => x",
        [verbatim("a", "l", "x")],
    );
    accepts(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: l =>\n      x\n      y",
        [verbatim("a", "l", "x\ny")],
    );
}

#[test]
fn empty_lines_inside_stay_and_trailing_ones_go() {
    snippet("l =>\n      x\n\n\n      y\n\n\n", "l", "x\n\n\ny");
    snippet("l => x\n\n      y\n  \n", "l", "x\n\ny");
    accepts(
        &verbatim_add("    - because a: l =>\n      x\n\n    - because b: m => y\n\n"),
        [verbatim("a", "l", "x"), verbatim("b", "m", "y")],
    );
}

#[test]
fn a_snippet_that_is_not_first_keeps_its_own_bytes() {
    let text = verbatim_add("    - because é: ü => ä\n    - because 日: 本 =>\n      語\n        🦀");
    let parsed = read(&text);
    assert_eq!(
        operations(&parsed),
        [verbatim("é", "ü", "ä"), verbatim("日", "本", "語\n  🦀")]
    );
    assert!(text[parsed.items[1].range.clone()].contains('語'));
    assert!(!text[parsed.items[1].range.clone()].contains('ä'));
}

#[test]
fn a_label_stays_one_line_with_its_marks() {
    snippet("`src/main.rs`, lines 3–9 => x", "`src/main.rs`, lines 3–9", "x");
}

#[test]
fn without_an_arrow_or_a_label_the_label_is_missing() {
    for item in [
        "x",
        "cargo test",
        "=> x",
        "  => x",
        "\u{3000}=> x",
        "a -> b",
        "a = > b",
    ] {
        rejects(&verbatim_add(&format!("    - because a: {item}")), [MissingLabel]);
    }
    rejects(&verbatim_add("    - because a: =>\n      x"), [MissingLabel]);
}

#[test]
fn without_a_snippet_the_content_is_empty() {
    for item in [
        "l =>",
        "l => ",
        "l =>   ",
        "l => \u{3000}\u{a0}",
        "l =>\n\n",
        "l =>\n      \u{3000}\n      \t",
    ] {
        rejects(&verbatim_add(&format!("    - because a: {item}")), [EmptyContent]);
    }
    rejects(&verbatim_add("    - because a:"), [EmptyContent]);
    rejects(&verbatim_add("    - because a"), [EmptyContent]);
}

#[test]
fn an_empty_snippet_contains_nothing_of_the_next_item() {
    let text = "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
    - because b: m => x
    - because c: n =>
  ARCHIVE:
    - VC-1 because d
";
    let parsed = read(case(text));
    assert_eq!(
        operations(&parsed),
        [verbatim("b", "m", "x"), crate::expect::archive("VC-1", "d")]
    );
    assert_eq!(crate::expect::kinds(&parsed), [EmptyContent, EmptyContent]);
}

#[test]
fn an_item_that_does_not_begin_because_has_no_reason() {
    for item in [
        "- l => x",
        "- reason: l => x",
        "- because: l => x",
        "- because : l =>",
        "- l =>\n      x",
    ] {
        rejects(&verbatim_add(&format!("    {item}")), [MissingReason]);
    }
}
