//! Splits text into lines with byte offsets and classifies single lines: blank, indented, fence.
//!
//! Only LF ends a line; a CR before it is part of the line end. A lone CR and Unicode line separators are
//! ordinary text.

use memchr::memchr;

/// The characters that count as blanks inside a line.
pub(super) const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// One line of a text.
#[derive(Debug, Clone, Copy)]
pub(in crate::domain) struct Line<'t> {
    /// Byte offset of its first byte.
    pub(in crate::domain) start: usize,
    /// Byte offset after its line end.
    pub(in crate::domain) end: usize,
    /// Its text without the line end.
    pub(in crate::domain) text: &'t str,
}

/// Iterates over the lines of a text. A byte order mark at its beginning belongs to none. Linear.
pub(in crate::domain) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = begin_of(text);
    std::iter::from_fn(move || {
        let rest = &text[start..];
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

/// Where the first line of a text begins: after a byte order mark, if there is one.
pub(super) fn begin_of(text: &str) -> usize {
    match text.starts_with('\u{feff}') {
        true => '\u{feff}'.len_utf8(),
        false => 0,
    }
}

/// Strips LF or CRLF from a line.
pub(super) fn without_end(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    }
}

/// Whether the byte is one of [`BLANKS`].
pub(super) fn is_blank_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Whether the line contains only blanks.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(is_blank_byte)
}

/// Columns per tab stop.
pub(in crate::domain) const TAB: usize = 4;

/// The longest indentation of a line within `most` columns, in bytes and in columns.
pub(in crate::domain) fn indentation(line: &[u8], most: usize) -> (usize, usize) {
    let mut column = 0;
    for (index, byte) in line.iter().enumerate() {
        let after = match byte {
            b' ' => column + 1,
            b'\t' => column - column % TAB + TAB,
            _ => return (index, column),
        };
        if after > most {
            return (index, column);
        }
        column = after;
    }
    (line.len(), column)
}

/// The column of the first character that is neither space nor tab.
pub(super) fn indent(line: &str) -> usize {
    indentation(line.as_bytes(), usize::MAX).1
}

/// An open code fence. Its character and length determine which line closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// A backtick or a tilde.
    pub mark: char,
    /// How many of them.
    pub length: usize,
}

impl Fence {
    /// Returns the fence that a line opens. A line with more backticks after the opening run is inline code,
    /// not a fence.
    #[must_use]
    pub fn opened_by(line: &str) -> Option<Self> {
        let rest = fence_text(line)?;
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    /// Whether a line closes the fence: the same character, at least as many, and nothing else.
    #[must_use]
    pub fn is_closed_by(self, line: &str) -> bool {
        fence_text(line).is_some_and(|rest| {
            let tail = rest.trim_start_matches(self.mark);
            rest.len() - tail.len() >= self.length && is_blank(tail)
        })
    }

    /// The line that closes the fence, with its line end.
    pub(super) fn closing_line(self) -> String {
        let mut line: String = std::iter::repeat_n(self.mark, self.length).collect();
        line.push('\n');
        line
    }
}

/// The text of a line if it starts in columns 0 to 3, where a fence is recognised.
fn fence_text(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}
