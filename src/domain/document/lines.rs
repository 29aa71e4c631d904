//! Lines with their places, and what a single line can be: blank, indented, a fence.
//!
//! Only LF ends a line; a CR before it belongs to the line's end. A lone CR and Unicode's line separators
//! are text.

use memchr::memchr;
use std::ops::Range;

/// The characters that count as blanks inside a line.
pub(super) const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// One line of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// Where it begins.
    pub(super) start: usize,
    /// Behind its line end.
    pub(super) end: usize,
    /// Without its line end.
    pub(super) text: &'t str,
}

/// The lines of a range of a text, which begins at a line's start. Linear.
pub(super) fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = Line<'_>> {
    let Range { mut start, end: last } = range;
    std::iter::from_fn(move || {
        let rest = &text[start..last];
        let end = start + memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |lf| lf + 1);
        let whole = text.get(start..end).filter(|whole| !whole.is_empty())?;
        let line = Line {
            start,
            end,
            text: without_end(whole),
        };
        start = end;
        Some(line)
    })
}

/// A line without its LF or CRLF.
pub(super) fn without_end(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    }
}

/// Whether it is one of [`BLANKS`].
pub(super) fn is_blank_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Whether nothing but blanks stands on the line.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(is_blank_byte)
}

/// The column of the first character that is neither space nor tab; a tab goes to the next multiple of four.
pub(super) fn indent(line: &str) -> usize {
    let mut column = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => break,
        }
    }
    column
}

/// An open code fence: its character and length decide what closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::domain) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence a line opens. Backticks behind backticks on the same line are code in a sentence, no fence.
    pub(in crate::domain) fn opened_by(line: &str) -> Option<Self> {
        let rest = fence_text(line)?;
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    /// Whether a line closes it: the same character, at least as often, and nothing else.
    pub(in crate::domain) fn is_closed_by(self, line: &str) -> bool {
        fence_text(line).is_some_and(|rest| {
            let tail = rest.trim_start_matches(self.mark);
            rest.len() - tail.len() >= self.length && is_blank(tail)
        })
    }

    /// The line that closes it, with its line end.
    pub(super) fn closing_line(self) -> String {
        let mut line: String = std::iter::repeat_n(self.mark, self.length).collect();
        line.push('\n');
        line
    }
}

/// A line's text where a fence counts: in columns 0 to 3.
fn fence_text(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}
