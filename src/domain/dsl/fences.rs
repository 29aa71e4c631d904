//! Code fences: three or more backticks or tildes, closed by the same character at least as long.

use super::lines::Line;

/// A line that opens a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    character: u8,
    length: usize,
}

/// The fence that a content opens, with or without an info string behind it.
pub(super) fn opening(content: &str) -> Option<Fence> {
    let bytes = content.as_bytes();
    let character = *bytes.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = bytes.iter().take_while(|byte| **byte == character).count();
    // A backtick in the info string makes it inline code.
    let is_inline = character == b'`' && bytes[length..].contains(&b'`');
    (length >= 3 && !is_inline).then_some(Fence { character, length })
}

impl Fence {
    /// Whether a content closes it.
    fn is_closed_by(self, content: &str) -> bool {
        let bytes = content.as_bytes();
        bytes.len() >= self.length && bytes.iter().all(|byte| *byte == self.character)
    }
}

/// Finds closing fences in linear time over all: a search that found none is not made again from further
/// behind.
#[derive(Debug, Default)]
pub(super) struct Closings {
    /// For backtick and tilde: the shortest fence for which the rest of the text has no closing one.
    none_for: [Option<usize>; 2],
}

impl Closings {
    /// The first line of `from..until` that closes the fence.
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

/// The last line that closes a fence opened at `opened`, not indented deeper than it.
pub(super) fn last_closing(text: &str, lines: &[Line], opened: usize, fence: Fence) -> Option<usize> {
    let indent = lines[opened].indent;
    (opened + 1..lines.len())
        .rev()
        .find(|index| lines[*index].indent <= indent && fence.is_closed_by(lines[*index].content(text)))
}
