//! Prompt items, and the system prompt assembled of them and the document (DESIGN §6).
//!
//! # The order of the parts
//!
//! What changes least stands first, so that a provider can cache the beginning, and what changes with every
//! request stands last:
//!
//! ```text
//! rules, user_information, tool_guidance     items; the stable prefix
//! other categories, by the bytes of the name items
//! free                                       the document's text before its first heading, and its free sections
//! key_learnings, verbatim_context, decisions sections of the document
//! active_context, recent_tasks               sections of the document
//! workflow                                   items
//! current_progress                           a section of the document
//! datetime                                   made when it is asked for
//! ```
//!
//! # What a part is
//!
//! A category is one part: the vault's items before the memory's, each in the order they were added. The content of
//! an item and a section of the document stand there as their author wrote them, but for blank lines around them; a
//! section keeps its heading, a category has none unless an item writes it. One empty line stands between two items,
//! two free sections, and two parts. A part without text is no part: a managed section with a bare heading, say.
//!
//! Where an author left a code fence open, the line that closes it is added, so that no part swallows the one
//! behind it. Nothing else is marked: a text can look like another part, and which part a byte came from is told by
//! the receipt, not by the text.
//!
//! # What a budget drops
//!
//! [`drops`] lists it: records of the document from the oldest on, then whole parts, never `rules`.

mod assembly;
mod budget;
mod category;
mod datetime;
mod document_parts;
mod item;
mod joined;
mod part;
mod relevance;
mod selection;
#[cfg(test)]
mod tests;

pub use assembly::{Assembly, Material, assemble};
pub use budget::{Drop, Dropped, OverBudget, drops};
pub use category::{PARTS, RULES, ReservedCategory, check_writable};
pub use item::{InvalidItem, ItemLimits, MAX_METADATA_BYTES, NewItem, PromptItem, TooManyItems};
pub use joined::Count;
pub use part::{Part, PartSource, Piece, PieceId};
pub use relevance::Relevance;
pub use selection::Selection;
