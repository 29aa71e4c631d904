//! Full text: which words a document has, which ones a query asks for, and an extract that shows them.
//!
//! One rule divides documents, queries and extracts into words ([`words`]), so that the three always agree, whatever
//! language the text is in and whatever locale the database has. The database gets finished lexemes and does what it
//! is good at: finding and ranking them.
//!
//! A query is written as on the web:
//!
//! ```text
//! query  = branch { "or" branch }        either of them
//! branch = term { term }                 all of them
//! term   = [ "-" ] ( chunk | '"' text '"' )
//! ```
//!
//! `-` excludes. The words of a quoted text, and those of a chunk without blanks such as `src/main.rs`, stand next to
//! each other. The last word of a query also finds longer words that begin with it, unless it is quoted, excluded or
//! a single letter.

mod extract;
pub mod fusion;
mod matches;
pub mod passages;
mod query;
mod ranked;
mod vector;
pub mod vectors;
pub mod words;

pub use extract::{Extractor, extract};
pub use passages::{Passage, PassageHash};
pub use query::Query;
pub use ranked::ranked;
pub use vector::vector;
