//! Escapes foreign text for a single line of Markdown: it cannot end the line, open a heading, a link, a tag
//! or a citation, or hide anything.

use crate::domain::text::visible_line;

/// Returns the text on one line, at most `max_chars` characters before escaping, with whitespace folded.
///
/// Brackets, backticks, asterisks, tildes and backslashes are escaped with a backslash, as are `_` where it
/// could mean emphasis and `>` at the start; `<` and `&` become entities. Control characters, line and
/// paragraph separators, and invisible characters (including bidirectional controls) count as whitespace.
#[must_use]
pub fn quote(text: &str, max_chars: usize) -> String {
    let line = shortened(&visible_line(text), max_chars);
    let mut safe = String::with_capacity(line.len() + 16);
    let mut before = ' ';
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '<' => safe.push_str("&lt;"),
            // Only at the start of a line `>` opens a quotation; elsewhere it has no meaning without a `<`.
            '>' if safe.is_empty() => safe.push_str("\\>"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | ']' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            '_' => {
                let inside =
                    before.is_alphanumeric() && characters.peek().is_some_and(|c| c.is_alphanumeric());
                if !inside {
                    safe.push('\\');
                }
                safe.push('_');
            }
            other => safe.push(other),
        }
        before = character;
    }
    safe
}

fn shortened(line: &str, max_chars: usize) -> String {
    match line.char_indices().nth(max_chars) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::lines::is_hidden;
    use proptest::prelude::*;

    #[test]
    fn ordinary_text_stays_readable_and_signs_lose_their_meaning() {
        for (text, quoted) in [
            (
                "src/main.rs: use my_name, not _this_",
                "src/main.rs: use my_name, not \\_this\\_",
            ),
            ("a\n# b\r\n\n  - c", "a # b - c"),
            ("[KL-1@2] <b>&", "\\[KL-1@2\\] &lt;b>&amp;"),
            ("a => b -> c", "a => b -> c"),
            ("> quoted", "\\> quoted"),
            ("x\u{202e}y\u{200b}z\u{2028}w", "x y z w"),
        ] {
            assert_eq!(quote(text, 100), quoted);
        }
        assert_eq!(quote("abcdef", 3), "abc…");
    }

    proptest! {
        #[test]
        fn nothing_quoted_ends_its_line_or_is_read_as_a_citation(text in any::<String>(), max in 0..40_usize) {
            let quoted = quote(&text, max);
            let is_harmless = |c: char| !c.is_control() && !is_hidden(c) && c != '<';
            prop_assert!(quoted.chars().all(is_harmless));
            prop_assert!(super::super::citation::citations_in(&quoted).1.is_empty());
        }

        #[test]
        fn brackets_never_make_a_citation(text in r"[\[\]\\KLVCTD@0-9 -]{0,40}") {
            prop_assert!(super::super::citation::citations_in(&quote(&text, 100)).1.is_empty());
        }
    }
}
