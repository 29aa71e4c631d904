//! What the update DSL accepts and what it rejects (DESIGN §2), as inline text and as laws. No database.
//!
//! The cases are read from the contract: a file per part of the grammar, whole answers as small models
//! write them, and laws that hold for any text.

mod archive;
mod expect;
mod faults;
mod gbnf;
mod generated;
mod grammar;
mod headers;
mod indentation;
mod indentation_laws;
mod laws;
mod learnings;
mod leniency;
mod linear_time;
mod no_change;
mod placeholder;
mod progress;
mod requests;
mod snippet_ends;
mod snippet_fences;
mod strict;
mod structured;
mod truncated;
mod verbatim_snippets;
mod whole_answers;
