//! What the update DSL accepts and what it rejects (DESIGN §2), as tables of texts and as property tests. No database.
//!
//! A table for each kind of section, tables of what holds for all of them, and laws that hold for any text.

mod all_sections;
mod archive;
mod generated;
mod indentation;
mod indentation_laws;
mod laws;
mod learnings;
mod linear_time;
mod print;
mod progress;
mod requests;
mod snippets;
mod structured;
mod table;
