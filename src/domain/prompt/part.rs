//! A part of a prompt, and the pieces it can lose.

use crate::domain::ids::{ItemId, RecordId};
use strum::{IntoStaticStr, VariantNames};

/// What stands between two parts, and between two items: the end of a line and an empty line.
pub(super) const EMPTY_LINE: &str = "\n\n";

/// What a part is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum PartSource {
    /// Items of a category.
    Items,
    /// Text of the document.
    Document,
    /// The clock.
    Clock,
}

/// What a piece of a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceId {
    /// Text that goes only with its part.
    Text,
    /// An item.
    Item(ItemId),
    /// A bullet of a section that holds records; without an id it is not a record yet.
    Record(Option<RecordId>),
}

/// Some lines of a part, without blank lines around them and without the end of the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub id: PieceId,
    /// Its text.
    pub text: String,
    /// What stands between it and the next piece of its part: line ends and blank lines.
    pub(super) gap: String,
}

/// A part of a prompt. It has at least one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The category of its items, or the name of what it is.
    pub name: String,
    /// What it is made of.
    pub source: PartSource,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
}

impl Piece {
    /// A piece that an empty line follows; `None` if the text holds nothing but blanks. `closing` is the line that
    /// closes a code fence which is open at its end.
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

/// A text without the blank lines at its beginning and end, and without the end of its last line. A line is blank
/// if it holds nothing but Unicode blanks; in front a CR alone ends one, and a byte order mark goes too. What is left
/// begins on a line that says something: there a tokenizer begins anew, so that pieces can be counted one by one.
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
