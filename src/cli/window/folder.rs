//! Converts the window and its archive to a folder of Markdown files and back:
//!
//! ```text
//! CONTEXT.md                    the rules
//! active/current_status.md      goal, blocker, recent tasks
//! active/decisions.log.md       decisions
//! archive/history.md            older tasks, one line each
//! archive/epics/<name>.md       the same by epic
//! archive/epics/2026-W47.md     the same by ISO week
//! ```
//!
//! [`parse`] restores exactly what [`render`] wrote. The lines of a longer text are quoted below the line of its entry
//! (`  > …`); what lines cannot represent (an outcome, an epic, a colon in an intent) is JSON in an HTML comment behind
//! it. If a person has changed such a line since, the line takes precedence.
//!
//! The line of a task begins with its ids: the record id and the caller's (`T-7 task-1: [failed] intent:
//! summary`).
//!
//! Folders written by people are parsed as far as possible, and everything else is reported as unplaced:
//!
//! - entries are bullets, numbered lines, headings with a date or an id, and rows of tables; ids may be bold, in
//!   backticks, and followed by a colon or a dash; deeper lines and named parts (`Intent:`, `Summary:`, `Reason:`)
//!   belong to the entry above them;
//! - goal, blocker and time of the status are lines or headings (`Current Goal:`, `## Active Blocker`, `Last Updated:`);
//! - every section of the rules is one, below the headings that it stands under.

mod contents;
mod entry;
mod items;
mod parse;
mod render;
#[cfg(test)]
mod tests;

pub(super) use contents::{By, EPICS, End, FILES, Folder, Newest, Parsed, RULES, Unplaced};
pub(super) use parse::parse;
pub(super) use render::render;
