//! External text on a terminal: it must not move the cursor, colour other text, or reorder it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every character that controls a terminal escaped as `\u001b` (which JSON parses as the same
/// character). Line feeds and tabs stay; a carriage return is removed if it only ends a line.
pub(in crate::cli) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !is_obeyed(c) {
            shown.push(c);
        } else if c != '\r' || rest.peek() != Some(&'\n') {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        }
    }
    Cow::Owned(shown)
}

/// Controls (C0, DEL, C1) and the characters that reorder text.
fn is_obeyed(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || (c.is_control() && c != '\n' && c != '\t')
}

/// `text` on one line: its lines joined by single blanks.
pub(in crate::cli) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out_and_the_rest_stays() {
        for (text, shown) in [
            ("plain ä 漢 🙂\n\ttabbed\n", "plain ä 漢 🙂\n\ttabbed\n"),
            (
                "\x1b[31mred\x1b]0;title\x07",
                "\\u001b[31mred\\u001b]0;title\\u0007",
            ),
            ("over\rwritten", "over\\u000dwritten"),
            ("two\r\nlines\r\n", "two\nlines\n"),
            ("\u{9b}31m\u{7f}\u{0}", "\\u009b31m\\u007f\\u0000"),
            ("a\u{202e}b\u{2069}", "a\\u202eb\\u2069"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_obeyed_is_left(text in "(\\PC|\\p{Cc}|\u{202e}|\r\n){0,60}") {
            prop_assert!(!visible(&text).chars().any(is_obeyed));
        }
    }
}
