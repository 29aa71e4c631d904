//! The context document: sections, records, rendering of service-written text, diff, and the origin of each
//! line (DESIGN §1).
//!
//! The document text is the source of truth: everything here reads it or produces text for it. The service
//! never renders a whole document; it edits bytes in place (see [`crate::domain::memory::Edit`]), so free
//! text cannot change.
//!
//! # How a document is parsed
//!
//! A document is read line by line, once, in linear time. Only LF ends a line; a CR before it is part of the
//! line end. A byte order mark before the first line occupies no column. A blank line contains only spaces,
//! tabs and CRs. A tab advances to the next multiple of four columns.
//!
//! ```text
//! in a fence     a closing line ends the fence; nothing else has a meaning
//! blank          belongs to whatever contains it
//! in a bullet    a line indented by two or more belongs to the bullet; any other line ends it, and:
//! # …            in column 0 opens a section; ## to ###### are headings inside it
//! ``` or ~~~     in columns 0 to 3 opens a fence, which its like or the end of the text closes
//! - …            in column 0 of a managed section is a bullet
//! ```
//!
//! If several headings have the same managed title, the first opens the managed section and the others are
//! free.
//!
//! The first line of a bullet in a section with records has this form:
//!
//! ```text
//! - KL-3 [2026-11-21T02:00:00Z] because <reason>: <content>
//! - VC-3 [2026-11-21T02:00:00Z] because <reason>: <label> => <snippet>
//! ```
//!
//! An id counts only in the section of its kind and in its exact spelling. The time may use any RFC 3339
//! form. The brackets may hold marks behind it, or marks alone: `pinned`, and `until` with a date or a time. `because` is matched in any case and needs a colon after the reason. Anything that does not match is
//! content.
//!
//! ```
//! use working_memory::domain::document::records;
//!
//! let text = "# Verbatim Context\n- VC-1 because it is next: Makefile =>\n  test:\n  \tcargo test\n";
//! let record = &records(text)[0];
//! assert_eq!(record.id.to_string(), "VC-1");
//! assert_eq!(record.label.as_deref(), Some("Makefile"));
//! assert_eq!(record.content, "test:\n\tcargo test");
//! ```

mod check;
mod lines;
mod origins;
mod outline;
mod progress;
mod record;
mod render;
#[cfg(test)]
mod tests;

pub use check::{InvalidDocument, check, check_file, estimated_tokens, is_blank};
pub use origins::{Origins, Run, unified_diff};
pub use outline::{
    Headings, ManagedSection, Section, SectionsChanged, closing_fence, find_section, has_free_progress,
    headings, managed_body, outline, sections_changed,
};
pub use progress::{plain_progress_of, progress_of};
pub use record::{Record, location_of, record_ranges, records};
pub use render::{Expiry, Marks, NotATime, Until, written_time};

pub use lines::Fence;
pub(in crate::domain) use lines::{TAB, indentation, lines};
pub(in crate::domain) use outline::{Layout, heading_of};
pub(in crate::domain) use progress::whole_progress_of;
pub(in crate::domain) use record::{
    Entry, end_of_reason, entries, entries_of, normalised_snippet, pinned, reason_end, record_at,
};
pub(in crate::domain) use render::{
    brackets, changed_marks, leading_marks, progress_body, record_lines, written_lists,
};
