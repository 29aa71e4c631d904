//! What other systems keep for an agent, read from their files and added to a document. Pure.
//!
//! Every format is read into the same list of [`Piece`]s: [`markdown()`] reads CLAUDE.md, AGENTS.md, other Markdown and
//! the notes of basic-memory, [`mem0()`] and [`letta()`] read JSON. [`plan()`] adds the pieces that a document does not
//! have, and [`as_markdown()`] is the way back.
//!
//! Nothing in a file can act: a piece becomes one record line or one free section, and [`plan()`] refuses a result in
//! which anything else of the document changed.

mod back;
mod file;
mod json;
mod markdown;
mod plan;

pub use back::as_markdown;
pub use file::{BadInput, SourceFile};
pub use json::{letta, mem0};
pub use markdown::{Note, markdown};
pub use plan::{Added, Plan, plan};

use crate::domain::document::{closing_fence, outline};
use crate::domain::ids::MemoryId;
use crate::domain::text::lines::clipped;
use crate::domain::text::{has_secret, one_line};
use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

/// The longest part of a heading or an id that a reason quotes, in characters: it is repeated for each record.
const DETAIL_CHARS: usize = 120;

/// One thing that a system kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Piece {
    /// The memory of the user or agent that it belongs to; `None` for the memory that the command names.
    pub memory: Option<MemoryId>,
    /// The title of a section; `None` for a learning.
    pub title: Option<String>,
    /// The learning in one line, or the body of the section.
    pub text: String,
    /// Its file and line, such as `CLAUDE.md:12`; of JSON the file.
    pub place: String,
    /// What else is known of it: the headings above it, or ids, tags and metadata.
    pub detail: String,
    /// When it was made, if the file says so.
    pub time: Option<DateTime<Utc>>,
}

impl Piece {
    /// The reason of its record.
    #[must_use]
    pub fn reason(&self) -> String {
        match self.detail.as_str() {
            "" => format!("from {}", self.place),
            detail => format!("from {}, {detail}", self.place),
        }
    }

    /// Whether it contains a credential, also one that its file has in another spelling, as JSON may.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        let title = self.title.as_deref().unwrap_or_default();
        [title, &self.text, &self.detail].into_iter().any(has_secret)
    }

    /// A section whose text is only text: a line that would open a section becomes a heading below it, an open code
    /// fence is closed, and the title is none that the service maintains.
    fn section(title: &str, text: &str, file: &SourceFile, place: String) -> Self {
        let (whole, mut text, mut at) = (text.trim_end(), String::new(), 0);
        for section in outline(whole) {
            text.push_str(&whole[at..section.range.start]);
            text.push('#');
            at = section.range.start;
        }
        text.push_str(&whole[at..]);
        if let Some(closing) = closing_fence(&text) {
            text = format!("{text}\n{}", closing.trim_end());
        }
        let file = &file.name;
        let read = outline(&format!("# {}\n", one_line(title))).pop();
        let title = match read {
            Some(section) if section.managed.is_some() => format!("{} ({file})", section.title),
            Some(section) if !section.title.is_empty() => section.title,
            _ => file.clone(),
        };
        Self {
            title: Some(title),
            text,
            place,
            ..Self::default()
        }
    }
}

/// What was read of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces {
    /// In the order of the file, or of their times.
    pub pieces: Vec<Piece>,
    /// What a memory does not keep, each with its place.
    pub left: Vec<String>,
}

/// The memory of a user or an agent of another system. An id that is none here keeps its letters and digits, and a hash
/// of all of it keeps it apart from others.
fn memory_of(kind: &str, id: &str) -> MemoryId {
    let whole = format!("{kind}-{id}");
    whole.parse().unwrap_or_else(|_| {
        let letters = id.chars().take(64);
        let letters: String = letters
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let hash = hex::encode(&Sha256::digest(id)[..4]);
        // Letters, digits and dashes are always an id; if not, a hash is.
        format!("{kind}-{letters}-{hash}")
            .parse()
            .unwrap_or_else(|_| uuid::Uuid::nil().into())
    })
}

/// A text in one line, cut if it is long.
fn brief(text: &str) -> String {
    clipped(&one_line(text), DETAIL_CHARS)
}

#[cfg(test)]
mod tests;
