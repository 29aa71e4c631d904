//! The lines of a handoff, before rendering.

use super::citation::Citation;
use super::part::Part;
use std::collections::BTreeMap;

/// Size limits of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Maximum number of lines per section.
    pub section_lines: usize,
    /// Maximum number of characters quoted per line.
    pub line_chars: usize,
}

impl Default for Caps {
    /// What a person reads before they continue: about a page.
    fn default() -> Self {
        Self {
            section_lines: 20,
            line_chars: 240,
        }
    }
}

/// One line of a section: safe Markdown without a line break, and its citations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// Its citations; at least one.
    pub citations: Vec<Citation>,
}

/// The lines of the sections, before rendering.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// The lines by section.
    pub lines: BTreeMap<Part, Vec<Line>>,
    /// Number of lines that were left out, by section.
    pub left_out: BTreeMap<Part, usize>,
}

impl Draft {
    /// The lines of a section.
    #[must_use]
    pub fn of(&self, part: Part) -> &[Line] {
        self.lines.get(&part).map(Vec::as_slice).unwrap_or_default()
    }
}
