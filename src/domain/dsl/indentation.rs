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

use super::lines::{Line, TAB, indentation};
use std::ops::Range;

/// The lines of a snippet in the input, before indentation is removed.
#[derive(Debug, Clone)]
pub(super) struct Extent<'t> {
    pub(super) text: &'t str,
    pub(super) lines: &'t [Line],
    /// Index of the bullet's line.
    pub(super) bullet: usize,
    /// Index of the first line that is not blank: the bullet's own if the snippet starts after `=>`.
    pub(super) first: usize,
    /// Index of the last line.
    pub(super) last: usize,
    /// Index of the line of the closing fence; the first line opened it.
    pub(super) closing: Option<usize>,
}

/// The prefixes removed from the lines of a snippet.
#[derive(Debug, Clone)]
pub(super) struct RemovedIndent<'t> {
    /// The lines of the fences, which lose their whole indentation.
    fences: Option<(usize, usize)>,
    /// Prefix removed up to the closing fence; for a snippet without fences, from all lines.
    inside: &'t [u8],
    /// Prefix removed after the closing fence.
    after: &'t [u8],
}

impl<'t> RemovedIndent<'t> {
    /// Determines what to remove.
    pub(super) fn of(extent: &Extent<'t>) -> Self {
        let Extent { first, last, .. } = *extent;
        // The line of the bullet is already complete.
        let own = first.max(extent.bullet + 1);
        let Some(closing) = extent.closing else {
            return Self {
                fences: None,
                inside: extent.prefix(own..last + 1),
                after: &[],
            };
        };
        Self {
            fences: Some((first, closing)),
            inside: extent.prefix(first + 1..closing),
            after: extent.prefix(closing + 1..last + 1),
        }
    }

    /// Number of bytes removed from a line below the bullet. A blank line loses as much of the prefix as it
    /// has.
    pub(super) fn bytes(&self, text: &str, line: &Line, index: usize) -> usize {
        let prefix = match self.fences {
            Some((opening, closing)) if index == opening || index == closing => {
                return line.first - line.start;
            }
            Some((_, closing)) if index > closing => self.after,
            _ => self.inside,
        };
        in_common(&text.as_bytes()[line.start..line.end], prefix)
    }
}

impl<'t> Extent<'t> {
    /// The prefix to remove from these lines.
    fn prefix(&self, range: Range<usize>) -> &'t [u8] {
        let lines = &self.lines[range];
        if self.first > self.bullet {
            // The snippet's first line: that of its fence, or the first of these.
            return self.shared(lines, &self.lines[self.first]);
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

    fn indent(&self, line: &Line) -> &'t [u8] {
        &self.text.as_bytes()[line.start..line.first]
    }

    /// The column at which the form places the lines below the first line of a snippet, and whether it
    /// indents by tabs.
    fn form_indent(&self) -> (usize, bool) {
        let bullet = &self.lines[self.bullet];
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
