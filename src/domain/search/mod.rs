//! Full-text search: the words of a document, the words of a query, and extracts that show the matches.
//!
//! Documents, queries and extracts are split into words by the same rule ([`crate::domain::text::words`]), so they always agree,
//! regardless of the language of the text and the locale of the database. The database receives finished
//! lexemes and does the matching and ranking.
//!
//! The query syntax follows web search engines:
//!
//! ```text
//! query  = branch { "or" branch }        either of them
//! branch = term { term }                 all of them
//! term   = [ "-" ] ( chunk | '"' text '"' )
//! ```
//!
//! `-` excludes. The words of a quoted text, and those of a chunk without blanks such as `src/main.rs`, must
//! be adjacent. The last word of a query also matches longer words that begin with it, unless it is quoted,
//! excluded or a single letter.

mod extract;
pub mod passages;
mod query;
mod ranked;

pub use extract::extract;
pub use passages::{Passage, PassageHash};
pub use query::{Query, vector};
pub use ranked::{fused, ranked};
