//! What the update DSL accepts and what it rejects (DESIGN §2), as inline texts and as property tests. No database.
//!
//! The cases follow the specification: a file for each part of the grammar, complete responses as small models write them, and
//! laws that hold for any text.

mod archive;
mod canonical;
mod expect;
mod faults;
mod generated;
mod headers;
mod indentation;
mod indentation_laws;
mod laws;
mod learnings;
mod leniency;
mod linear_time;
mod no_change;
mod placeholder;
mod print;
mod progress;
mod requests;
mod snippet_ends;
mod snippet_fences;
mod structured;
mod truncated;
mod verbatim_snippets;
mod whole_answers;
