//! The indentation that a snippet loses: one prefix for all of its lines, so that they keep their place to each other.
//!
//! - **On the lines below the bullet**: the longest run of blanks or tabs that all lines have in common. Of lines that
//!   are indented by the other character than the first one (a recipe's tab below a target that was shifted by
//!   blanks) nothing is known, so they stay as they are. A line that is not indented leaves nothing in common.
//! - **Behind `=>`**: the same of the lines below, but no more than a form would indent them, which is two columns
//!   deeper than the bullet, or a tab deeper than one that is indented by tabs. Lines that have less in common were
//!   not shifted at all, unless the first of the least indented ones holds closing brackets only: it closes what the
//!   line behind `=>` opens, so it shows where that line stands.
//! - **Fenced**: the fences lose their own indentation; the lines between them what they have in common, at most the
//!   opening fence's. So do those behind the closing fence.

use super::lines::{Line, TAB, indentation};
use std::ops::Range;

/// A snippet in the input, before anything is taken off.
#[derive(Debug, Clone)]
pub(super) struct Extent<'t> {
    pub(super) text: &'t str,
    pub(super) lines: &'t [Line],
    /// The line of the bullet.
    pub(super) bullet: usize,
    /// Its first line that is not blank: the bullet's where it starts behind `=>`.
    pub(super) first: usize,
    /// Its last line.
    pub(super) last: usize,
    /// The line of its closing fence; its first line opened it.
    pub(super) closing: Option<usize>,
}

/// What the lines of a snippet lose.
#[derive(Debug, Clone)]
pub(super) struct Taken<'t> {
    /// The lines of the fences, which lose all of their indentation.
    fences: Option<(usize, usize)>,
    /// What the lines lose up to the closing fence; of a snippet without fences all of them.
    inside: &'t [u8],
    /// What the lines behind the closing fence lose.
    behind: &'t [u8],
}

impl<'t> Taken<'t> {
    /// What a snippet loses.
    pub(super) fn of(extent: &Extent<'t>) -> Self {
        let Extent { first, last, .. } = *extent;
        // The line of the bullet is written to its end already.
        let own = first.max(extent.bullet + 1);
        let Some(closing) = extent.closing else {
            return Self {
                fences: None,
                inside: extent.prefix(own..last + 1),
                behind: &[],
            };
        };
        Self {
            fences: Some((first, closing)),
            inside: extent.prefix(first + 1..closing),
            behind: extent.prefix(closing + 1..last + 1),
        }
    }

    /// How many bytes a line below the bullet loses. A blank line loses what it has of them.
    pub(super) fn bytes(&self, text: &str, line: &Line, index: usize) -> usize {
        let prefix = match self.fences {
            Some((opening, closing)) if index == opening || index == closing => {
                return line.first - line.start;
            }
            Some((_, closing)) if index > closing => self.behind,
            _ => self.inside,
        };
        in_common(&text.as_bytes()[line.start..line.end], prefix)
    }
}

impl<'t> Extent<'t> {
    /// What these lines lose.
    fn prefix(&self, range: Range<usize>) -> &'t [u8] {
        let lines = &self.lines[range];
        if self.first > self.bullet {
            // The snippet's own first line: that of its fence, or the first of these.
            return self.shared(lines, &self.lines[self.first]);
        }
        // Between fences there may be blank lines only.
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
            // A form that indents by blanks put no tab there: it is a recipe's.
            bytes = shared[..bytes].iter().take_while(|byte| **byte == b' ').count();
        }
        &shared[..bytes]
    }

    /// What the lines have in common of the indentation of one of them, or of the fence above them.
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

    /// The column in which a form lets the lines begin that stand below a snippet's first one, and whether it
    /// indents by tabs.
    fn form_indent(&self) -> (usize, bool) {
        let bullet = &self.lines[self.bullet];
        if self.indent(bullet).contains(&b'\t') {
            (bullet.indent - bullet.indent % TAB + TAB, true)
        } else {
            (bullet.indent + 2, false)
        }
    }

    /// Whether the first of the least indented lines holds closing brackets only.
    fn closes_first_line(&self, lines: &[Line]) -> bool {
        let written = lines.iter().filter(|line| !line.is_blank());
        written.min_by_key(|line| line.indent).is_some_and(|line| {
            let is_closing = |c: char| matches!(c, ')' | ']' | '}') || c.is_whitespace();
            line.content(self.text).chars().all(is_closing)
        })
    }
}

/// How many bytes two texts have in common at their beginning.
fn in_common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
