//! The lines of a handoff, before they are written.

use super::citation::Citation;
use super::part::Part;
use std::collections::BTreeMap;

/// How large a handoff may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Lines of one section (`handoff.section_lines`).
    pub section_lines: usize,
    /// Characters quoted in one line (`handoff.line_chars`).
    pub line_chars: usize,
}

/// One line of a section: safe Markdown without a line break, and what it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub text: String,
    /// At least one.
    pub citations: Vec<Citation>,
}

/// The lines of the sections, before they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// By section.
    pub lines: BTreeMap<Part, Vec<Line>>,
    /// How many more there would have been.
    pub left_out: BTreeMap<Part, usize>,
}

impl Draft {
    /// The lines of a section.
    #[must_use]
    pub fn of(&self, part: Part) -> &[Line] {
        self.lines.get(&part).map(Vec::as_slice).unwrap_or_default()
    }
}
