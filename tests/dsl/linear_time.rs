//! Parsing time is linear in the text, also for inputs in which every line causes a lookahead.

use std::hint::black_box;
use std::time::{Duration, Instant};
use working_memory::domain::dsl::parse;

/// The bytes of the smaller text; the larger has eight times as many.
const SMALL: usize = 100_000;

/// A machine under load may be slow for a moment: a shorter measurement is ignored.
const FLOOR: Duration = Duration::from_millis(50);

fn time_of(text: &str) -> Duration {
    let start = Instant::now();
    black_box(parse(black_box(text)));
    start.elapsed()
}

/// Eight times the text takes about eight times as long; quadratic work would take sixty-four times as long.
#[track_caller]
fn is_linear(text_of: impl Fn(usize) -> String) {
    let (small, large) = (text_of(SMALL), text_of(SMALL * 8));
    let base = time_of(&small).max(FLOOR);
    let is_slow = || time_of(&large) >= base * 40;
    // Only a text that is slow repeatedly is slow.
    assert!(
        !(is_slow() && is_slow() && is_slow()),
        "{} bytes take at most {base:?}, {} bytes forty times that",
        small.len(),
        large.len()
    );
}

fn repeated(head: &str, piece: &str) -> impl Fn(usize) -> String {
    move |bytes| format!("{head}{}", piece.repeat(bytes / piece.len()))
}

const LEARNINGS: &str = "KEY_LEARNINGS:\n  ADD:\n";
const VERBATIM: &str = "VERBATIM_CONTEXT:\n  ADD:\n";

#[test]
fn nothing_but_fences() {
    is_linear(repeated("", "```\n"));
    is_linear(repeated(VERBATIM, "```\n"));
    is_linear(repeated(VERBATIM, "```rust\n"));
    is_linear(repeated("KEY_LEARNINGS:\n", "~~~\n```\n"));
}

#[test]
fn items_that_open_a_fence_and_never_close_it() {
    is_linear(repeated(VERBATIM, "- because a: b => ```\n"));
    is_linear(repeated(VERBATIM, "- because a: b =>\n  ```rust\n"));
    is_linear(repeated(
        VERBATIM,
        "- because a: b => ```\n- because a: b => ~~~\n",
    ));
    is_linear(|bytes| {
        // Each fence is longer than all before it, so that none closes another.
        let fences = (3..).map(|length| format!("- because a: b => {}\n", "`".repeat(length)));
        let mut text = VERBATIM.to_owned();
        for fence in fences {
            if text.len() > bytes {
                return text;
            }
            text.push_str(&fence);
        }
        text
    });
}

#[test]
fn fences_that_grow_shorter() {
    is_linear(|bytes| {
        let longest = 2 * bytes.isqrt();
        let fences = (3..longest)
            .rev()
            .map(|length| format!("- because a: b => {}\n", "`".repeat(length)));
        format!("{VERBATIM}{}", fences.collect::<String>())
    });
}

#[test]
fn deep_indentation() {
    is_linear(|bytes| {
        let deepest = bytes.isqrt();
        let lines = (0..deepest).map(|depth| format!("{}x\n", " ".repeat(depth)));
        format!("{VERBATIM}- because a: b =>\n{}", lines.collect::<String>())
    });
    is_linear(|bytes| {
        let deepest = bytes.isqrt();
        let lines = (0..deepest).map(|depth| format!("{}- because a: b\n", "\t".repeat(depth)));
        format!("{LEARNINGS}{}", lines.collect::<String>())
    });
}

#[test]
fn one_huge_line() {
    is_linear(repeated("", "a"));
    is_linear(repeated("KEY_LEARNINGS:\n  ADD:\n    - because ", "a:"));
    is_linear(repeated("VERBATIM_CONTEXT:\n  ADD:\n    - because a: ", "= >"));
    is_linear(repeated("KEY_LEARNINGS:\n  ARCHIVE:\n    - ", "KL-1, "));
    is_linear(repeated("KEY_LEARNINGS:\n  ADD:\n    - because a: <", "b "));
    is_linear(repeated("", "\t"));
    is_linear(repeated("", "**"));
    is_linear(repeated("", "["));
    is_linear(repeated("", "\r"));
}

#[test]
fn very_many_bullets_and_headers() {
    is_linear(repeated("KEY_LEARNINGS:\n  ADD:\n", "- because a: b\n"));
    is_linear(repeated("KEY_LEARNINGS:\n  ADD:\n", "- x\n"));
    is_linear(repeated("CURRENT_PROGRESS:\n  In Progress:\n", "- x\n"));
    is_linear(repeated("", "CURRENT_PROGRESS:\n  In Progress:\n    - a\n"));
    is_linear(repeated("", "KEY_LEARNINGS:\n"));
    is_linear(repeated("", "UNKNOWN:\n"));
}

#[test]
fn insights_and_snippets_of_very_many_lines() {
    is_linear(repeated("KEY_LEARNINGS:\n  ADD:\n- because a: b\n", "  c\n"));
    is_linear(repeated(
        "VERBATIM_CONTEXT:\n  ADD:\n- because a: b =>\n",
        "  c\n",
    ));
    is_linear(repeated("VERBATIM_CONTEXT:\n  ADD:\n- because a: b =>\n", "c\n"));
    is_linear(repeated("VERBATIM_CONTEXT:\n  ADD:\n- because a: b => c\n", "\n"));
    is_linear(repeated("VERBATIM_CONTEXT:\n  ADD:\n", "- because a: b =>\n\n\n"));
}
