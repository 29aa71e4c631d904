//! What carries a change: which words of an update's input stand behind each item of a role's answer.
//!
//! Form is not enough: small models under a grammar archive what no task touched, and add the examples of their own
//! instructions. So an item of a role's answer is held to the update's task and messages (the [`Input`]), by words
//! that mean something (`words`), by text that stands there (`verbatim`) and by what may not be stored at all
//! (`secrets`). What is found is told as [`Evidence`]: the sentences that share most.
//!
//! Pure, and linear in the input: it is read once an answer, for the words and texts that the answer asks about.

mod actives;
mod archives;
mod examples;
mod function_words;
mod input;
mod items;
mod judge;
mod passage;
mod plain_words;
mod progress;
mod quotes;
mod replacements;
mod ruling;
mod scripts;
mod secrets;
mod sharing;
mod verbatim;
mod word;
mod words;

pub use archives::{Addition, JudgedArchive};
pub use examples::Examples;
pub use input::Input;
pub use judge::{Case, Judge, Judged};
pub use passage::{Evidence, Origin};
pub use replacements::name_replaced;
pub use ruling::Ruling;
pub use secrets::{has_secret, masked};
pub use sharing::shares_a_word;

/// What is done about items that the input does not carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// They are rejected.
    #[default]
    Reject,
    /// They are applied, with a warning; what holds a credential is rejected.
    Warn,
    /// Nothing is compared, and no evidence told.
    Off,
}
