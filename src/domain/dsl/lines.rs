//! Lines with their byte offsets in the input and their indentation in the normalised view; bullets, "no change",
//! placeholders, and the ends of code fences.

use crate::domain::document::{Fence, TAB, indentation, lines};
use std::ops::Range;

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

/// Splits a text into lines, as a document is split.
pub(super) fn split(text: &str) -> Vec<Line> {
    let mut split = Vec::with_capacity(text.len() / 48 + 1);
    split.extend(lines(text).map(|line| {
        let (width, indent) = indentation(line.text.as_bytes(), usize::MAX);
        let first = line.start + width;
        Line {
            start: line.start,
            end: line.start + line.text.len(),
            next: line.end,
            first,
            last: first + line.text[width..].trim_end().len(),
            indent,
        }
    }));
    split
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

/// Marks of bullets, besides numbers.
const MARKS: [char; 13] = ['-', '*', '+', '•', '–', '—', '◦', '▪', '●', '·', '‣', '・', '－'];

/// Returns the text after a bullet's mark, without surrounding blanks.
pub(in crate::domain) fn bullet(content: &str) -> Option<&str> {
    let number = || {
        let bare = content.strip_prefix('(').unwrap_or(content);
        let digits = bare.bytes().take(6).take_while(u8::is_ascii_digit).count();
        let letters = usize::from(digits == 0 && bare.starts_with(|c: char| c.is_ascii_lowercase()));
        let after = bare[digits + letters..].strip_prefix(')');
        let after = after.or_else(|| bare[digits..].strip_prefix('.'));
        after.filter(|_| (1..=5).contains(&(digits + letters)))
    };
    let after = content.strip_prefix(MARKS).or_else(number)?;
    // A mark needs a blank after it: `--flag`, `**bold**` and `1.5` are text.
    if after.is_empty() || after.starts_with(char::is_whitespace) {
        Some(after.trim())
    } else {
        None
    }
}

/// Whether a text means that there is nothing to change: `(none)`, `none`, `no change`, `no changes`, `n/a`,
/// in any case, optionally in round or square brackets, with or without full stop or emphasis.
pub(super) fn is_no_change(text: &str) -> bool {
    const WORDS: [&str; 4] = ["none", "no change", "no changes", "n/a"];
    // Longer than any of the words with their decoration.
    if text.is_empty() || text.len() > 24 {
        return false;
    }
    let bare = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '*' | '_' | '`'));
    let unbracketed = match (bare.chars().next(), bare.chars().last()) {
        (Some('('), Some(')')) | (Some('['), Some(']')) => &bare[1..bare.len() - 1],
        _ => bare,
    };
    let bare = unbracketed.trim_matches(|c: char| c.is_whitespace() || c == '.');
    WORDS.iter().any(|word| {
        bare.len() == word.len()
            && bare.bytes().zip(word.bytes()).all(|(written, wanted)| {
                written.eq_ignore_ascii_case(&wanted) || (wanted == b' ' && matches!(written, b'_' | b'-'))
            })
    })
}

/// Whether a text is a single `<…>` of letters, digits, blanks and `-_|(),.`: a template placeholder, not
/// content.
pub(super) fn is_placeholder(text: &str) -> bool {
    let inner = text
        .trim()
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| {
        !inner.is_empty()
            && inner
                .chars()
                .all(|c| c.is_alphanumeric() || c.is_whitespace() || "-_|(),.".contains(c))
    })
}

/// Whether a snippet is a template placeholder. `<div>` is a valid snippet, `<snippet>` is not.
pub(super) fn is_template_snippet(snippet: &str) -> bool {
    is_placeholder(snippet)
        && ["<snippet", "<verbatim", "<code", "<exact"].iter().any(|start| {
            snippet
                .trim()
                .get(..start.len())
                .is_some_and(|written| written.eq_ignore_ascii_case(start))
        })
        && !snippet.trim().eq_ignore_ascii_case("<code>")
}

/// Finds closing fences in linear total time: an unsuccessful search is not repeated from a later line.
#[derive(Debug, Default)]
pub(super) struct Closings {
    /// For backtick and tilde: the length of the shortest fence that has no closing line in the rest of the
    /// text.
    none_for: [Option<usize>; 2],
}

impl Closings {
    /// Returns the first of these lines that closes the fence.
    pub(super) fn find(
        &mut self,
        text: &str,
        lines: &[Line],
        mut within: Range<usize>,
        fence: Fence,
    ) -> Option<usize> {
        let known = &mut self.none_for[usize::from(fence.mark == '~')];
        if known.is_some_and(|length| fence.length >= length) {
            return None;
        }
        let found = within.find(|index| fence.is_closed_by(lines[*index].content(text)));
        if found.is_none() {
            *known = Some(fence.length);
        }
        found
    }
}
