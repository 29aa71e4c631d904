//! A cursor over the lines of an answer.

use super::bullets;
use super::fences::{self, Closings};
use super::headers;
use super::items::{after_because, begins_with_id};
use super::lines::{self, Line};
use super::snippets::{self, Snippet, SnippetStart};
use std::borrow::Cow;

/// A position between two lines of an answer.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    lines: Vec<Line>,
    /// Index of the next line.
    at: usize,
    /// Index of the line that closes the fence around the answer, or the number of lines. No snippet extends
    /// past it.
    until: usize,
    in_outer_fence: bool,
    closings: Closings,
}

/// A line joined with its continuation lines.
pub(super) struct Folded {
    pub(super) text: String,
    /// Byte offset of the end of the last joined line.
    pub(super) end: usize,
    /// Whether more than one line was joined.
    pub(super) is_multi_line: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let lines = lines::split(text);
        Self {
            text,
            at: 0,
            until: lines.len(),
            lines,
            in_outer_fence: false,
            closings: Closings::default(),
        }
    }

    /// Returns the next line and advances past it.
    pub(super) fn next_line(&mut self) -> Option<Line> {
        let line = *self.lines.get(self.at)?;
        self.at += 1;
        if self.at > self.until {
            // After the fence around the answer snippets need no bound.
            self.until = self.lines.len();
        }
        Some(line)
    }

    /// Consumes the line just read if it is a fence around the answer (only before the first header) or
    /// around a section.
    pub(super) fn outer_fence(&mut self, content: &str, is_before_sections: bool) -> bool {
        let Some(fence) = fences::opening(content) else {
            return false;
        };
        if is_before_sections && !self.in_outer_fence {
            self.in_outer_fence = true;
            let closing = fences::last_closing(self.text, &self.lines, self.at - 1, fence);
            self.until = closing.unwrap_or(self.lines.len());
        }
        true
    }

    /// Reads the snippet of the bullet on the line just read; `from` is the byte offset after its `=>`.
    pub(super) fn snippet(&mut self, from: usize) -> Snippet {
        let place = SnippetStart {
            text: self.text,
            lines: &self.lines,
            at: self.at - 1,
            from,
            until: self.until.max(self.at),
        };
        let snippet = snippets::read(&place, &mut self.closings);
        self.at = snippet.next.max(self.at);
        snippet
    }

    /// Joins the deeper-indented lines below an item with single blanks. Stops at a deeper bullet that starts
    /// an item of its own and at a header in full form.
    pub(super) fn fold(&mut self, line: &Line, item: &str) -> Folded {
        let mut folded = Folded {
            text: self.normalised(line, item).into_owned(),
            end: line.last,
            is_multi_line: false,
        };
        let mut index = self.at;
        while let Some(next) = self.lines.get(index) {
            index += 1;
            if next.is_blank() {
                continue;
            }
            let content = next.content(self.text);
            if next.indent <= line.indent || index > self.until.max(self.at) || self.starts_item(content) {
                break;
            }
            if !folded.text.is_empty() {
                folded.text.push(' ');
            }
            folded.text.push_str(&self.normalised(next, content));
            (folded.end, folded.is_multi_line, self.at) = (next.last, true, index);
        }
        folded
    }

    fn starts_item(&self, content: &str) -> bool {
        match bullets::text(content) {
            Some(item) => after_because(item).is_some() || begins_with_id(item),
            None => headers::known(content).is_some_and(|header| header.is_set_apart),
        }
    }

    /// Byte offset of a slice of the input.
    pub(super) fn offset(&self, part: &str) -> usize {
        part.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// A slice of a line in the normalised view.
    pub(super) fn normalised<'p>(&self, line: &Line, part: &'p str) -> Cow<'p, str> {
        if part.contains('\t') {
            let start = self.offset(part);
            Cow::Owned(lines::expanded(self.text, line, start..start + part.len()))
        } else {
            Cow::Borrowed(part)
        }
    }
}
