//! Prompt items, and the system prompt assembled of them and the document (DESIGN §6).
//!
//! # The order of the parts
//!
//! The most stable parts come first, so that a provider can cache the prefix; parts that change with every
//! request come last:
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
//! A category is one part: the vault's items before the memory's, each in insertion order. Items and sections
//! are included unchanged, except that surrounding blank lines are removed. A section keeps its heading; a
//! category has none unless an item contains it. Items, free sections and parts are separated by one empty
//! line. A part without text is omitted, for example a managed section with only a heading.
//!
//! If a text ends inside an open code fence, the closing line is added, so that the fence does not extend
//! into the next part. Nothing else is marked: a text can look like another part, and only the receipt, not
//! the text, tells which part a byte belongs to.
//!
//! # What a budget drops
//!
//! [`drops`] defines the order: records of the document, oldest first, then whole parts, never `rules`.

mod assembly;
mod budget;
mod item;
mod part;
#[cfg(test)]
mod tests;

pub use assembly::{Assembly, Material, Relevance, Selection, assemble};
pub use budget::{DropStep, Dropped, OverBudget, drops};
pub use item::{InvalidItem, MAX_ITEM_BYTES, NewItem, PromptItem, TooManyItems, check_total};
pub use part::{Count, PARTS, Part, PartSource, Piece, PieceId, RULES, check_writable};
