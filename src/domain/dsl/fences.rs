//! Code fences: three or more backticks or tildes, closed by at least as many of the same character.

use super::lines::Line;

/// A line that opens a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    character: u8,
    length: usize,
}

/// Returns the fence that a line's content opens, with or without an info string.
pub(super) fn opening(content: &str) -> Option<Fence> {
    let bytes = content.as_bytes();
    let character = *bytes.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = bytes.iter().take_while(|byte| **byte == character).count();
    // A backtick in the info string makes it inline code.
    let is_inline = character == b'`' && bytes[length..].contains(&b'`');
    (length >= 3 && !is_inline).then_some(Fence { character, length })
}

impl Fence {
    /// Whether a line's content closes the fence.
    fn is_closed_by(self, content: &str) -> bool {
        let bytes = content.as_bytes();
        bytes.len() >= self.length && bytes.iter().all(|byte| *byte == self.character)
    }
}

/// Finds closing fences in linear total time: an unsuccessful search is not repeated from a later line.
#[derive(Debug, Default)]
pub(super) struct Closings {
    /// For backtick and tilde: the length of the shortest fence that has no closing line in the rest of the
    /// text.
    none_for: [Option<usize>; 2],
}

impl Closings {
    /// Returns the first line of `from..until` that closes the fence.
    pub(super) fn find(
        &mut self,
        text: &str,
        lines: &[Line],
        from: usize,
        until: usize,
        fence: Fence,
    ) -> Option<usize> {
        let known = &mut self.none_for[usize::from(fence.character == b'~')];
        if known.is_some_and(|length| fence.length >= length) {
            return None;
        }
        let found = (from..until).find(|index| fence.is_closed_by(lines[*index].content(text)));
        if found.is_none() {
            *known = Some(fence.length);
        }
        found
    }
}

/// Returns the last line that closes a fence opened at line `opened` and is not indented deeper than it.
pub(super) fn last_closing(text: &str, lines: &[Line], opened: usize, fence: Fence) -> Option<usize> {
    let indent = lines[opened].indent;
    (opened + 1..lines.len())
        .rev()
        .find(|index| lines[*index].indent <= indent && fence.is_closed_by(lines[*index].content(text)))
}
