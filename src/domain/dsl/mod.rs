//! The update DSL (DESIGN §2): the text that a model or an agent writes to change a memory.
//!
//! ```text
//! CURRENT_PROGRESS:
//!   Completed:
//!     - <bullet>
//!   In Progress:
//!     - <bullet>
//!   Remaining:
//!     - <bullet>
//!
//! KEY_LEARNINGS:
//!   ADD:
//!     - because <reason>: <one-line insight>
//!   ARCHIVE:
//!     - KL-<n> because <reason>
//!     - KL-<n> duplicate of KL-<n> because <reason>
//!   MERGE:
//!     - KL-<n>, KL-<n> because <reason>: <one-line insight that says all of them>
//!   MARK:
//!     - KL-<n> pinned, until <date> because <reason>
//!
//! VERBATIM_CONTEXT:
//!   ADD:
//!     - because <reason>: <label> => <snippet, to the next bullet of this list>
//!   ARCHIVE:
//!     - VC-<n> because <reason>
//! ```
//!
//! # Grammar
//!
//! Each line shows one production; `…+` are the deeper-indented lines below it. The right column names the
//! file that parses it.
//!
//! ```text
//! answer         = [ fence ] { section | item | prose } [ fence ]                        parser
//! section        = section-header { list | item | no-change | prose }                    parser
//! section-header = CURRENT_PROGRESS: | KEY_LEARNINGS: | VERBATIM_CONTEXT:                 headers
//! list           = list-header { item | no-change | prose }                              parser
//! list-header    = Completed: | In Progress: | Remaining: | ADD: | ARCHIVE: | MERGE: | MARK:      headers
//! item           = bullet ( progress | learning | snippet-item | archiving | merge | mark )  parser
//! progress       = text …+                                                               progress
//! learning       = [ "[" marks "]" ] because reason ":" insight …+                       items
//! snippet-item   = [ "[" marks "]" ] because reason ":" label "=>" snippet               parser
//! archiving      = id { "," id } [ ground ] [ ":" ] because reason …+                    items
//! ground         = "duplicate of" id | "superseded by" id | "expired"                    items
//! merge          = id "," id { "," id } because reason ":" insight …+                    items
//! mark           = id marks because reason …+                                           items
//! marks          = pinned | unpinned | until ( date | time | never ), with "," between  items
//! snippet        = { line } | fence { line } fence { deeper line }                       snippets
//! no-change      = none | no change | no changes | n/a, in or out of brackets            lines
//! bullet         = "-" | "*" | "+" | "•" | … | number ( "." | ")" )                      lines
//! ```
//!
//! - A **header** is matched by its words, in any case, decoration and indentation, with or without its
//!   colon. An unknown line in the form of a header drops the items below it, and so does any line that ends with a
//!   colon in a list of progress or of records to archive.
//! - An item of records may lack its **bullet**.
//! - A **reason** ends at the first colon followed by a blank (any Unicode white space) or the end of the line, or else at
//!   the first colon.
//! - A **snippet** ends at a header or bullet that is not deeper than its own bullet (`snippets`). The same
//!   indentation is removed from all of its lines:
//!
//! ```
//! use working_memory::domain::dsl::parse;
//! use working_memory::domain::operation::Operation;
//!
//! let text = "VERBATIM_CONTEXT:\n  ADD:\n    - because it is called: a.py => def a():\n    return 1\n";
//! let snippet = Operation::snippet("it is called", "a.py", "def a():\n    return 1");
//! assert_eq!(parse(text).items[0].operation, snippet);
//! ```
//!
//! [`parse`] reads line by line: pure, deterministic, linear in its input, never panicking. It reads
//! structure through a normalised view of each line (no CR, tabs expanded to multiples of four columns, no
//! trailing blanks) and slices snippets from the original input. A fault never hides a valid item: the result
//! is a list of operations *and* a list of faults with their positions. The first
//! [`MAX_KEPT_FAULTS`](super::faults::MAX_KEPT_FAULTS) faults are kept and the others counted; at most
//! [`MAX_TEXT_ITEMS`](super::faults::MAX_TEXT_ITEMS) valid items are kept.
//!
//! The parser does not know the memory. Checks that need it (unknown ids, duplicates, limits) are in
//! [`crate::domain::memory::validate`]. [`requests`] reads operations given as JSON instead of text.
//!
//! ```
//! use working_memory::domain::dsl::parse;
//! use working_memory::domain::operation::{FaultKind, Operation};
//!
//! let parsed = parse(
//!     "KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n    - remember this\n",
//! );
//! assert_eq!(
//!     parsed.items[0].operation,
//!     Operation::learning("CI has no database", "commit the query data"),
//! );
//! assert_eq!(parsed.faults[0].kind, FaultKind::MissingReason);
//! ```

mod headers;
mod items;
mod lines;
mod parser;
mod progress;
pub mod requests;
mod snippets;
pub mod structured;

pub use super::faults::Parsed;
pub(crate) use items::begins_with_id;
pub(in crate::domain) use lines::bullet;
pub use parser::{parse, parse_answer};
