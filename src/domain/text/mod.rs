//! Text as the rest of the domain treats it: lines, words, and what must not be stored.
//!
//! | | for | compares |
//! |---|---|---|
//! | `lines` | texts of one line, duplicates | whole texts, without regard to blanks, case or punctuation |
//! | `words` | search, budgets | words without accents and case, each a lexeme |
//! | `content_words` | evidence, handoffs | words that mean something, by their first six characters |
//! | `credentials` | all that is stored or quoted | |

pub(in crate::domain) mod content_words;
mod credentials;
pub(in crate::domain) mod lines;
pub mod words;

pub use content_words::shares_a_word;
pub(in crate::domain) use credentials::{MASK, secrets, secrets_with_kind};
pub use credentials::{has_secret, masked};
pub use lines::{
    bare_words, folded, has_nul, is_nothing, one_line, single_blanks, visible_line, write_out_numbers,
};
