//! Texts as one line.

/// What ends a line, in any of the ways that Unicode knows.
pub(super) const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// A text as one line: its lines without the blanks around them, joined by single blanks. Doing it twice changes
/// nothing more.
#[must_use]
pub fn one_line(text: &str) -> String {
    let lines = text
        .split(LINE_ENDS)
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}
