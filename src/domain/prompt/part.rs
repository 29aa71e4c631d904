//! A part of a prompt, and the pieces that can be dropped from it.

use crate::domain::ids::{ItemId, RecordId};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The separator between two parts and between two items: the end of a line and an empty line.
pub(super) const EMPTY_LINE: &str = "\n\n";

/// The source of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum PartSource {
    /// Items of a category.
    Items,
    /// Text of the document.
    Document,
    /// The current time.
    Clock,
}

/// The kind of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceId {
    /// Text that is dropped only with its part.
    Text,
    /// An item.
    Item(ItemId),
    /// A bullet of a section with records; without an id it is not a record yet.
    Record(Option<RecordId>),
}

/// Some lines of a part, without surrounding blank lines and without the last line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its kind.
    pub id: PieceId,
    /// Its text.
    pub text: String,
    /// The separator before the next piece of its part: line ends and blank lines.
    pub(super) gap: String,
}

/// A part of a prompt. It has at least one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The category of its items, or its built-in name.
    pub name: String,
    /// Its source.
    pub source: PartSource,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
}

impl Piece {
    /// A piece followed by an empty line; `None` if the text contains only blanks. `closing` is the line that
    /// closes a code fence left open at its end.
    pub(super) fn of(id: PieceId, text: &str, closing: Option<String>) -> Option<Self> {
        let mut text = without_blank_edges(text).to_owned();
        if text.is_empty() {
            return None;
        }
        if let Some(line) = closing {
            text.push('\n');
            text.push_str(line.trim_end());
        }
        Some(Self {
            id,
            text,
            gap: EMPTY_LINE.to_owned(),
        })
    }
}

/// Removes leading and trailing blank lines and the last line end. A line is blank if it contains only
/// Unicode whitespace; at the start a CR alone also ends a line, and a byte order mark is removed. The result
/// begins at a non-blank line, where a tokenizer starts a new token, so pieces can be counted separately.
pub(super) fn without_blank_edges(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let Some(first) = text.find(|c: char| !c.is_whitespace()) else {
        return "";
    };
    let start = text[..first].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let written = text.trim_end().len();
    let end = text[written..].find('\n').map_or(text.len(), |lf| written + lf);
    let shown = &text[start..end];
    shown.strip_suffix('\r').unwrap_or(shown)
}
