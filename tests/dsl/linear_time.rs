//! Parsing time is linear in the text, also for inputs in which every line causes a lookahead.

use std::hint::black_box;
use std::time::{Duration, Instant};
use working_memory::domain::dsl::parse;

/// The bytes of the smaller text; the larger has eight times as many.
const SMALL: usize = 50_000;

/// A machine under load may be slow for a moment: a shorter measurement is ignored.
const FLOOR: Duration = Duration::from_millis(50);

fn time_of(text: &str) -> Duration {
    let start = Instant::now();
    black_box(parse(black_box(text)));
    start.elapsed()
}

/// Eight times the text takes about eight times as long; quadratic work would take sixty-four times as long.
#[track_caller]
fn is_linear(rule: &str, text_of: impl Fn(usize) -> String) {
    let (small, large) = (text_of(SMALL), text_of(SMALL * 8));
    let base = time_of(&small).max(FLOOR);
    let is_slow = || time_of(&large) >= base * 40;
    // Only a text that is slow repeatedly is slow.
    let is_always_slow = is_slow() && is_slow() && is_slow();
    assert!(
        !is_always_slow,
        "{rule:?}: {SMALL} bytes take at most {base:?}, eight times as many forty times that"
    );
}

const LEARNINGS: &str = "KEY_LEARNINGS:\n  ADD:\n";
const VERBATIM: &str = "VERBATIM_CONTEXT:\n  ADD:\n";

#[test]
fn repeated_pieces_are_parsed_in_linear_time() {
    for (head, piece) in [
        ("", "```\n"),
        (VERBATIM, "```rust\n"),
        ("KEY_LEARNINGS:\n", "~~~\n```\n"),
        // Fences that are opened and never closed.
        (VERBATIM, "- because a: b => ```\n"),
        (VERBATIM, "- because a: b =>\n  ```rust\n"),
        (VERBATIM, "- because a: b => ```\n- because a: b => ~~~\n"),
        // One huge line.
        ("", "a"),
        ("KEY_LEARNINGS:\n  ADD:\n    - because ", "a:"),
        ("VERBATIM_CONTEXT:\n  ADD:\n    - because a: ", "= >"),
        ("KEY_LEARNINGS:\n  ARCHIVE:\n    - ", "KL-1, "),
        ("KEY_LEARNINGS:\n  ADD:\n    - because a: <", "b "),
        ("", "\t"),
        ("", "**"),
        ("", "["),
        ("", "\r"),
        ("", "KEY_LEARNINGS: "),
        ("", "KEY_LEARNINGS: ADD: "),
        // Very many bullets and headers.
        (LEARNINGS, "- because a: b\n"),
        (LEARNINGS, "- x\n"),
        ("CURRENT_PROGRESS:\n  In Progress:\n", "- x\n"),
        ("", "CURRENT_PROGRESS:\n  In Progress:\n    - a\n"),
        ("", "UNKNOWN:\n"),
        // Insights and snippets of very many lines.
        ("KEY_LEARNINGS:\n  ADD:\n- because a: b\n", "  c\n"),
        ("VERBATIM_CONTEXT:\n  ADD:\n- because a: b =>\n", "  c\n"),
        ("VERBATIM_CONTEXT:\n  ADD:\n- because a: b => c\n", "\n"),
        (VERBATIM, "- because a: b =>\n\n\n"),
    ] {
        is_linear(piece, |bytes| {
            format!("{head}{}", piece.repeat(bytes / piece.len()))
        });
    }
}

#[test]
fn growing_pieces_are_parsed_in_linear_time() {
    let fence = |length| format!("- because a: b => {}\n", "`".repeat(length));
    // Fences of which none closes another, in both directions.
    let fences = |bytes: usize| 3..2 * bytes.isqrt();
    is_linear("longer fences", |bytes| {
        VERBATIM.to_owned() + &fences(bytes).map(fence).collect::<String>()
    });
    is_linear("shorter fences", |bytes| {
        VERBATIM.to_owned() + &fences(bytes).rev().map(fence).collect::<String>()
    });
    is_linear("deeper lines of a snippet", |bytes| {
        let lines = (0..bytes.isqrt()).map(|depth| format!("{}x\n", " ".repeat(depth)));
        format!("{VERBATIM}- because a: b =>\n{}", lines.collect::<String>())
    });
    is_linear("deeper bullets", |bytes| {
        let lines = (0..bytes.isqrt()).map(|depth| format!("{}- because a: b\n", "\t".repeat(depth)));
        format!("{LEARNINGS}{}", lines.collect::<String>())
    });
}
