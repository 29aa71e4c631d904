//! Texts as one line, and texts compared without regard to blanks, case and punctuation.

use serde_json::{Number, Value};

/// What ends a line, in any of the ways that Unicode knows.
pub(in crate::domain) const LINE_ENDS: [char; 7] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// A text as one line: its lines without the blanks around them, joined by single blanks, with U+FFFD for NUL. Blanks
/// within a line stay. Doing it twice changes nothing more.
#[must_use]
pub fn one_line(text: &str) -> String {
    let lines = text.split(LINE_ENDS).map(str::trim);
    joined(lines).replace('\0', "\u{fffd}")
}

/// The first characters of a line.
pub(in crate::domain) fn start_of(line: &str, max_chars: usize) -> &str {
    line.char_indices()
        .nth(max_chars)
        .map_or(line, |(end, _)| &line[..end])
}

/// A line, or its first characters, without a blank at their end, and an ellipsis.
pub(in crate::domain) fn clipped(line: &str, max_chars: usize) -> String {
    match start_of(line, max_chars) {
        start if start.len() < line.len() => format!("{}…", start.trim_end()),
        whole => whole.to_owned(),
    }
}

/// A text as one line of a document: its lines without the blanks around them, joined by single blanks, with U+FFFD for
/// NUL. Unlike in [`one_line`] only a line feed ends a line, as in documents, and all other characters stay.
pub(in crate::domain) fn document_line(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.trim_matches([' ', '\t', '\r']));
    joined(lines).replace('\0', "\u{fffd}")
}

/// A text as one line that hides nothing: each run of blanks, controls and invisible characters is one blank.
#[must_use]
pub fn visible_line(text: &str) -> String {
    joined(text.split(|c: char| c.is_whitespace() || is_hidden(c)))
}

/// Controls and characters that are not seen, including those that reorder text.
pub(in crate::domain) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A text with each run of blanks as one, and none around it.
#[must_use]
pub fn single_blanks(text: &str) -> String {
    joined(text.split_whitespace())
}

/// A text in lower case with [`single_blanks`]: equal for texts that differ in case and blanks only.
#[must_use]
pub fn folded(text: &str) -> String {
    single_blanks(&text.to_lowercase())
}

/// The words of a text in lower case: equal for texts that differ in case, blanks and punctuation only. A text without
/// letters and digits stays, without the blanks around it.
#[must_use]
pub fn bare_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = joined(lower.split(|c: char| !c.is_alphanumeric()));
    match words.is_empty() {
        true => text.trim().to_owned(),
        false => words,
    }
}

/// Whether a text says that there is nothing: it has no letter and no digit, or is `none`, `n/a`, `no` or `nothing`, in or
/// out of brackets.
#[must_use]
pub fn is_nothing(text: &str) -> bool {
    let bare = text.trim_matches(['(', ')', '[', ']', '.', ' ']);
    let words = ["none", "n/a", "no", "nothing"];
    !bare.contains(char::is_alphanumeric) || words.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// Whether a text of a JSON value has a NUL. The recursion depth is bounded by the JSON parser.
#[must_use]
pub fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// From here on a number is written with an exponent, such as `1e16`, which the database writes out.
const SHOWN_WITH_EXPONENT: f64 = 1e16;

/// Makes large numbers of JSON the integers that the database returns, so that what is sent again equals what is kept. The
/// recursion depth is bounded by the JSON parser.
pub fn write_out_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let large = number.as_f64().filter(|float| float.abs() >= SHOWN_WITH_EXPONENT);
            let written_out = large.and_then(|float| float.to_string().parse::<Number>().ok());
            if let Some(integer) = written_out.filter(|number| !number.is_f64()) {
                *number = integer;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(write_out_numbers),
        Value::Object(members) => members.values_mut().for_each(write_out_numbers),
        _ => {}
    }
}

/// Joins the words that are not empty with single blanks.
fn joined<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let mut line = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The byte offset of a part of a text.
pub(in crate::domain) fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_keeps_the_blanks_within_it_or_folds_them_or_hides_nothing() {
        let text = " a  b\r\n\n\tc\u{2028}d\u{200b}e\u{202e} ";
        assert_eq!(one_line(text), "a  b c d\u{200b}e\u{202e}");
        assert_eq!(single_blanks(text), "a b c d\u{200b}e\u{202e}");
        assert_eq!(visible_line(text), "a b c d e");
        assert_eq!(one_line("a\0b"), "a\u{fffd}b");
    }

    #[test]
    fn texts_are_compared_without_case_blanks_and_punctuation() {
        assert_eq!(folded(" The  LAMP\nis Red. "), "the lamp is red.");
        assert_eq!(bare_words("The *LAMP*, is `red`!"), "the lamp is red");
        assert_eq!(bare_words(" -- "), "--");
    }

    proptest! {
        #[test]
        fn a_line_is_one_line_and_stays_as_it_is(text in any::<String>()) {
            for of in [one_line, visible_line, single_blanks, folded, bare_words] {
                let line = of(&text);
                let has_end = line.contains(['\n', '\r', '\u{2028}']);
                prop_assert!(!has_end);
                prop_assert_eq!(of(&line), line);
            }
        }
    }
}
