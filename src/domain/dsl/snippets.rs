//! Finds the end of a snippet and extracts its bytes.
//!
//! # Indentation
//!
//! The indentation removed from a snippet: one prefix for all of its lines, so that they keep their relative
//! positions.
//!
//! - **On the lines below the bullet**: the longest run of blanks or tabs that all lines share. Lines
//!   indented by the other character than the first one (a recipe's tab below a target that was shifted by
//!   blanks) are left as they are. If a line is not indented, nothing is shared.
//! - **After `=>`**: the prefix shared by the lines below, but at most what the form would add: two columns
//!   more than the bullet, or one tab more than a bullet indented by tabs. If the lines share less, they were
//!   not shifted and lose nothing, unless the first of the least indented lines contains only closing
//!   brackets: it closes what the line after `=>` opens, so it shows the column of that line.
//! - **Fenced**: the fences lose their whole indentation; the lines between them lose the prefix they share,
//!   at most that of the opening fence. The same applies to the lines after the closing fence.

use super::headers::{self, Opens};
use super::items::{after_because, begins_as_item, is_unmarked_addition};
use super::lines::{Line, bullet};
use super::parser::Parser;
use crate::domain::document::{Fence, TAB, indentation};
use crate::domain::text::lines::offset_in;
use std::ops::Range;

/// A snippet extracted from the input.
pub(super) struct Snippet {
    /// Its bytes, without the end of its last line; empty if there is none.
    pub(super) text: String,
    /// Byte offset after it.
    pub(super) end: usize,
    /// Byte range of a code fence on its first line that never closes.
    pub(super) unclosed: Option<Range<usize>>,
}

/// How the end of a snippet is detected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The snippet is indented, or begins after `=>`: it ends at prose in column 0 and at a bullet or header
    /// that is not deeper than its bullet.
    Indented,
    /// The model did not indent it: it ends only at a header or at a bullet that begins with `because`.
    Unindented,
    /// After a closed fence: it ends at any line that is not deeper than the bullet.
    Fenced,
}

/// The bullet is that of the line just read.
impl<'t> Parser<'t> {
    /// Reads the snippet of the bullet, and the lines that belong to it; `from` is the byte offset after its `=>`.
    pub(super) fn snippet(&mut self, from: usize) -> Snippet {
        let (text, at, until) = (self.text, self.at - 1, self.until.max(self.at));
        let lines = &self.lines;
        let bullet = lines[at];
        let after = &text[from..bullet.end];
        let starts_on_arrow_line = !after.trim().is_empty();
        let below = (at + 1..until).find(|index| !lines[*index].is_blank());
        let (first, first_content) = match below {
            _ if starts_on_arrow_line => (at, after.trim()),
            Some(below) if !self.ends(Ending::Unindented, below) => (below, lines[below].content(text)),
            _ => {
                return Snippet {
                    text: String::new(),
                    end: bullet.last,
                    unclosed: None,
                };
            }
        };
        let fence = Fence::opened_by(first_content);
        let closings = &mut self.closings;
        let closing = fence.and_then(|fence| closings.find(text, lines, first + 1..until, fence));
        let unclosed = (fence.is_some() && closing.is_none()).then(|| {
            let start = offset_in(text, first_content);
            start..start + first_content.len()
        });
        let (ending, scan_from) = match closing {
            Some(closing) => (Ending::Fenced, closing + 1),
            None if starts_on_arrow_line || lines[first].indent > bullet.indent => {
                (Ending::Indented, first + 1)
            }
            None => (Ending::Unindented, first + 1),
        };
        let written = (scan_from..until).filter(|index| !lines[*index].is_blank());
        let inside = written.take_while(|index| !self.ends(ending, *index));
        let last = inside.last().unwrap_or(scan_from - 1);
        // The prefixes that lines lose up to the closing fence, and after it. The line of the bullet is already complete.
        let (inside, behind) = match closing {
            Some(closing) => (
                self.prefix(first, first + 1..closing),
                self.prefix(first, closing + 1..last + 1),
            ),
            None => (self.prefix(first, first.max(at + 1)..last + 1), [].as_slice()),
        };
        let mut snippet = String::with_capacity(lines[last].end - from);
        if starts_on_arrow_line {
            // Exactly one blank after the arrow is a separator.
            let skipped = usize::from(after.starts_with([' ', '\t']));
            let end = if last > at { bullet.next } else { bullet.end };
            snippet.push_str(&text[from + skipped..end]);
        }
        for (index, line) in lines.iter().enumerate().take(last + 1).skip(at + 1) {
            let removed = match closing {
                Some(closing) if index == first || index == closing => self.indent(line),
                Some(closing) if index > closing => behind,
                _ => inside,
            };
            // A blank line loses as much of the prefix as it has.
            let start = line.start + in_common(&text.as_bytes()[line.start..line.end], removed);
            let end = if index < last { line.next } else { line.end };
            snippet.push_str(&text[start..end]);
        }
        let end = lines[last].last;
        self.at = last + 1;
        Snippet {
            text: snippet,
            end,
            unclosed,
        }
    }

    /// Whether a non-blank line ends the snippet. Deeper lines never do.
    fn ends(&self, ending: Ending, index: usize) -> bool {
        let line = &self.lines[index];
        if line.indent > self.bullet_line().indent {
            return false;
        }
        let content = line.content(self.text);
        if ending == Ending::Fenced || is_header(ending, content) {
            return true;
        }
        // In a diff, `+` is no bullet.
        let is_item = |item: &&str| !content.starts_with('+') || after_because(item).is_some();
        match bullet(content).filter(is_item) {
            Some(_) if ending == Ending::Indented => true,
            Some(item) => after_because(item).is_some(),
            None => ending == Ending::Indented && (line.indent == 0 || is_unmarked_addition(content, false)),
        }
    }

    /// The prefix to remove from these lines of a snippet whose first line is `first`.
    fn prefix(&self, first: usize, range: Range<usize>) -> &'t [u8] {
        let lines = &self.lines[range];
        if first >= self.at {
            // The snippet's first line: that of its fence, or the first of these.
            return self.shared(lines, &self.lines[first]);
        }
        // Between fences there may be only blank lines.
        let is_indented = |line: &&Line| line.first > line.start;
        let written = lines.iter().find(|line| !line.is_blank());
        let Some(first) = written.or_else(|| lines.iter().find(is_indented)) else {
            return &[];
        };
        let shared = self.shared(lines, first);
        let (most, by_tabs) = self.form_indent();
        let (_, width) = indentation(shared, usize::MAX);
        if width < most {
            return if self.closes_first_line(lines) {
                shared
            } else {
                &[]
            };
        }
        let (mut bytes, _) = indentation(shared, most);
        if !by_tabs {
            // A form indented by blanks added no tab: the tab belongs to the content, such as a recipe.
            bytes = shared[..bytes].iter().take_while(|byte| **byte == b' ').count();
        }
        &shared[..bytes]
    }

    /// The prefix that these lines share with the indentation of one of them, or of the fence above them.
    fn shared(&self, lines: &[Line], first: &Line) -> &'t [u8] {
        let mut shared = self.indent(first);
        for line in lines.iter().filter(|line| !line.is_blank()) {
            let own = self.indent(line);
            let is_otherwise = matches!((own.first(), shared.first()), (Some(a), Some(b)) if a != b);
            if !is_otherwise {
                shared = &shared[..in_common(own, shared)];
            }
        }
        shared
    }

    fn bullet_line(&self) -> &Line {
        &self.lines[self.at - 1]
    }

    fn indent(&self, line: &Line) -> &'t [u8] {
        &self.text.as_bytes()[line.start..line.first]
    }

    /// The column at which the form places the lines below the first line of a snippet, and whether it
    /// indents by tabs.
    fn form_indent(&self) -> (usize, bool) {
        let bullet = self.bullet_line();
        if self.indent(bullet).contains(&b'\t') {
            (bullet.indent - bullet.indent % TAB + TAB, true)
        } else {
            (bullet.indent + 2, false)
        }
    }

    /// Whether the first of the least indented lines contains only closing brackets.
    fn closes_first_line(&self, lines: &[Line]) -> bool {
        let written = lines.iter().filter(|line| !line.is_blank());
        written.min_by_key(|line| line.indent).is_some_and(|line| {
            let is_closing = |c: char| matches!(c, ')' | ']' | '}') || c.is_whitespace();
            line.content(self.text).chars().all(is_closing)
        })
    }
}

/// Length in bytes of the common prefix of two byte strings.
fn in_common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Whether a line is a header that ends the snippet. Lists of progress belong to another section, a line such as
/// `add: value` is code, and among unindented lines so is a bare word.
fn is_header(ending: Ending, content: &str) -> bool {
    headers::known(content).is_some_and(|header| {
        let behind = bullet(header.after).unwrap_or(header.after);
        let is_list = || header.list_behind().is_some_and(|list| list.is_set_apart);
        (behind.is_empty() || begins_as_item(behind) || is_list())
            && match header.opens {
                Opens::Section(_) => true,
                Opens::List(list) => {
                    !list.is_of_progress() && (header.is_set_apart || ending == Ending::Indented)
                }
            }
    })
}
