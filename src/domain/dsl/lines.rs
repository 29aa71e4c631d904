//! Lines with their byte offsets in the input and their indentation in the normalised view.

use std::ops::Range;

/// Columns per tab stop.
pub(super) const TAB: usize = 4;

/// One line. All offsets are byte offsets in the input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Start of the line.
    pub(super) start: usize,
    /// End of its text, before LF or CRLF.
    pub(super) end: usize,
    /// Start of the next line.
    pub(super) next: usize,
    /// Start of its content, after blanks and tabs.
    pub(super) first: usize,
    /// End of its content, before trailing blanks. Equal to `first` for a blank line.
    pub(super) last: usize,
    /// Column of its content.
    pub(super) indent: usize,
}

impl Line {
    pub(super) fn is_blank(&self) -> bool {
        self.first == self.last
    }

    /// The content without surrounding blanks.
    pub(super) fn content<'t>(&self, text: &'t str) -> &'t str {
        // Unicode whitespace that does not count as indentation may precede it.
        text[self.first..self.last].trim_start()
    }
}

/// Splits a text into lines. A leading byte order mark belongs to no line.
pub(super) fn split(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut lines = Vec::with_capacity(bytes.len() / 48 + 1);
    let mut start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    while start < bytes.len() {
        let (mut end, next) = match text[start..].find('\n') {
            Some(length) => (start + length, start + length + 1),
            None => (bytes.len(), bytes.len()),
        };
        if end > start && end < next && bytes[end - 1] == b'\r' {
            end -= 1;
        }
        let (width, indent) = indentation(&bytes[start..end], usize::MAX);
        let first = start + width;
        let last = first + text[first..end].trim_end().len();
        lines.push(Line {
            start,
            end,
            next,
            first,
            last,
            indent,
        });
        start = next;
    }
    lines
}

/// The longest indentation of a line within `most` columns, in bytes and in columns.
pub(super) fn indentation(line: &[u8], most: usize) -> (usize, usize) {
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

/// A slice of a line in the normalised view: tabs expanded to multiples of four columns.
pub(super) fn expanded(text: &str, line: &Line, part: Range<usize>) -> String {
    let raw = &text[part.clone()];
    let mut column = text[line.first..part.start].chars().fold(line.indent, advance);
    let mut expanded = String::with_capacity(raw.len() + 2 * TAB);
    for c in raw.chars() {
        let next = advance(column, c);
        if c == '\t' {
            expanded.extend(std::iter::repeat_n(' ', next - column));
        } else {
            expanded.push(c);
        }
        column = next;
    }
    expanded
}

fn advance(column: usize, c: char) -> usize {
    if c == '\t' {
        column - column % TAB + TAB
    } else {
        column + 1
    }
}
