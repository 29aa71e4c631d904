//! Finds the end of a snippet and extracts its bytes.

use super::bullets;
use super::fences::{self, Closings};
use super::headers::{self, List, Opens};
use super::indentation::{Extent, RemovedIndent};
use super::items::after_because;
use super::lines::Line;
use std::ops::Range;

/// A snippet extracted from the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snippet {
    /// Its bytes, without the end of its last line; empty if there is none.
    pub(super) text: String,
    /// Index of the line after it.
    pub(super) next: usize,
    /// Byte offset after it.
    pub(super) end: usize,
    /// Byte range of a code fence on its first line that never closes.
    pub(super) unclosed: Option<Range<usize>>,
}

/// The position to read from.
pub(super) struct SnippetStart<'t> {
    pub(super) text: &'t str,
    pub(super) lines: &'t [Line],
    /// Index of the bullet's line.
    pub(super) at: usize,
    /// Byte offset after `=>`.
    pub(super) from: usize,
    /// Index of the line that bounds the snippet: the fence around the answer, or the end.
    pub(super) until: usize,
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

/// Extracts the snippet of a bullet.
pub(super) fn read(place: &SnippetStart<'_>, closings: &mut Closings) -> Snippet {
    let SnippetStart {
        text,
        lines,
        at,
        from,
        until,
    } = *place;
    let bullet = &lines[at];
    let after = &text[from..bullet.end];
    let starts_on_arrow_line = !after.trim().is_empty();
    let below = (at + 1..until).find(|index| !lines[*index].is_blank());
    let first_content = match below {
        _ if starts_on_arrow_line => after.trim(),
        Some(index) if !ends(Ending::Unindented, place, index) => lines[index].content(text),
        _ => {
            return Snippet {
                text: String::new(),
                next: at + 1,
                end: bullet.last,
                unclosed: None,
            };
        }
    };
    let first_line = if starts_on_arrow_line {
        at
    } else {
        below.unwrap_or(at)
    };
    let fence = fences::opening(first_content);
    let closing = fence.and_then(|fence| closings.find(text, lines, first_line + 1, until, fence));
    let unclosed = (fence.is_some() && closing.is_none()).then(|| {
        let start = first_content.as_ptr() as usize - text.as_ptr() as usize;
        start..start + first_content.len()
    });
    let (ending, scan_from) = match closing {
        Some(closing) => (Ending::Fenced, closing + 1),
        None if starts_on_arrow_line || lines[first_line].indent > bullet.indent => {
            (Ending::Indented, first_line + 1)
        }
        None => (Ending::Unindented, first_line + 1),
    };
    let mut last = scan_from - 1;
    for (index, line) in lines.iter().enumerate().take(until).skip(scan_from) {
        if line.is_blank() {
            continue;
        }
        if ends(ending, place, index) {
            break;
        }
        last = index;
    }
    let removed = RemovedIndent::of(&Extent {
        text,
        lines,
        bullet: at,
        first: first_line,
        last,
        closing,
    });
    let mut snippet = String::with_capacity(lines[last].end - from);
    if starts_on_arrow_line {
        // Exactly one blank after the arrow is a separator.
        let skipped = usize::from(after.starts_with([' ', '\t']));
        let end = if last > at { bullet.next } else { bullet.end };
        snippet.push_str(&text[from + skipped..end]);
    }
    for (index, line) in lines.iter().enumerate().take(last + 1).skip(at + 1) {
        let end = if index < last { line.next } else { line.end };
        snippet.push_str(&text[line.start + removed.bytes(text, line, index)..end]);
    }
    Snippet {
        text: snippet,
        next: last + 1,
        end: lines[last].last,
        unclosed,
    }
}

/// Whether a non-blank line ends the snippet. Deeper lines never do.
fn ends(ending: Ending, place: &SnippetStart<'_>, index: usize) -> bool {
    let line = &place.lines[index];
    if line.indent > place.lines[place.at].indent {
        return false;
    }
    let content = line.content(place.text);
    if ending == Ending::Fenced || is_header(ending, content) {
        return true;
    }
    match bullets::text(content) {
        Some(_) if ending == Ending::Indented => true,
        Some(item) => after_because(item).is_some(),
        None => ending == Ending::Indented && line.indent == 0,
    }
}

/// Whether a line is a header that ends the snippet. Progress lists belong to another section, a line such as
/// `add: value` is code, and among unindented lines so is a bare word.
fn is_header(ending: Ending, content: &str) -> bool {
    headers::known(content).is_some_and(|header| {
        header.after.is_empty()
            && match header.opens {
                Opens::Section(_) => true,
                Opens::List(List::Add | List::Archive | List::Mark) => {
                    header.is_set_apart || ending == Ending::Indented
                }
                Opens::List(_) => false,
            }
    })
}
