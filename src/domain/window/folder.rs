//! Converts the window and its archive to a folder of Markdown files and back:
//!
//! ```text
//! CONTEXT.md                    the rules
//! active/current_status.md      goal, blocker, recent tasks
//! active/decisions.log.md       decisions
//! archive/history.md            older tasks, one line each
//! archive/epics/<name>.md       the same by epic
//! archive/weekly/2026-W47.md    the same by ISO week
//! ```
//!
//! [`parse`] restores exactly what [`render`] wrote. If a line alone cannot represent an entry (several lines
//! of text, an outcome, a colon in an intent), an HTML comment after it contains the rest as JSON. If a
//! person has changed such a line since, the line takes precedence.
//!
//! The line of a task begins with its ids: the record id and the caller's (`T-7 task-1: [failed] intent:
//! summary`).
//!
//! Folders written by people are parsed as far as possible: bullets and headings that begin with a date
//! (`2026-11-21`, `[2026-11-21]`, `### 2026-11-21 — title`, RFC 3339) are entries, and so are bullets without
//! one; goal, blocker and time of the status are lines or headings (`Current Goal:`, `## Active Blocker`,
//! `Last Updated:`); everything else is reported as unplaced.

mod contents;
mod entry;
mod files;
mod parse;
mod render;
#[cfg(test)]
mod tests;

pub use contents::{Folder, Parsed, Unplaced};
pub use files::{EPICS, FILES, RULES, WEEKLY};
pub use parse::parse;
pub use render::render;
