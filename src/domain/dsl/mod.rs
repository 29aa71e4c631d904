//! The update DSL (DESIGN §2): what a model, or an agent, writes to change a memory.
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
//! A line is what one production takes; `…+` are the deeper-indented lines below it. The file that reads a production
//! is named behind it.
//!
//! ```text
//! answer         = [ fence ] { section | item | prose } [ fence ]                        answer
//! section        = section-header { list | item | no-change | prose }                    section
//! section-header = CURRENT_PROGRESS: | KEY_LEARNINGS: | VERBATIM_CONTEXT:                 headers
//! list           = list-header { item | no-change | prose }                              section
//! list-header    = Completed: | In Progress: | Remaining: | ADD: | ARCHIVE:               headers
//! item           = bullet ( progress | learning | snippet-item | archiving )             item
//! progress       = text …+                                                               progress
//! learning       = because reason ":" insight …+                                         items
//! snippet-item   = because reason ":" label "=>" snippet                                 item
//! archiving      = id { "," id } [ ":" ] because reason …+                               items
//! snippet        = { line } | fence { line } fence { deeper line }                       snippets
//! no-change      = none | no change | no changes | n/a, in or out of brackets            bullets
//! bullet         = "-" | "*" | "•" | number ( "." | ")" )                                bullets
//! ```
//!
//! - A **header** is known by its words; case, decoration, colon and indentation are forgiven by [`Options`]. A line
//!   in the form of one that is none drops the items below it (`standing`).
//! - A **reason** ends at the first colon that a blank or the line's end follows, or else at the first colon.
//! - A **snippet** ends at a header or bullet that is not deeper than its own bullet (`snippets`), and loses one
//!   indentation for all of its lines (`indentation`):
//!
//! ```
//! use working_memory::domain::dsl::{Options, parse};
//! use working_memory::domain::operation::Operation;
//!
//! let text = "VERBATIM_CONTEXT:\n  ADD:\n    - because it is called: a.py => def a():\n    return 1\n";
//! let Operation::AddVerbatim { snippet, .. } = &parse(text, &Options::default()).items[0].operation else {
//!     panic!("a snippet");
//! };
//! assert_eq!(snippet, "def a():\n    return 1");
//! ```
//!
//! [`parse`] reads line by line: pure, deterministic, linear in its input, never panicking. It reads structure through
//! a normalised view of each line (no CR, tabs to the next multiple of four, no trailing blanks) and slices snippets
//! from the untouched input. One fault never hides a good item: the result is a list of operations *and* a list of
//! faults, each with its place. Of faults the first [`KEPT_FAULTS`](super::faults::KEPT_FAULTS) are kept and the others counted; of good items
//! [`MOST_ITEMS`] are taken.
//!
//! It does not know the memory; what needs it (ids that never existed, duplicates, limits) is found by
//! [`crate::domain::memory::validate`]. [`requests`] reads operations that are no text.
//!
//! ```
//! use working_memory::domain::dsl::{Options, parse};
//! use working_memory::domain::operation::{FaultKind, Operation};
//!
//! let parsed = parse(
//!     "KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n    - remember this\n",
//!     &Options::default(),
//! );
//! assert_eq!(
//!     parsed.items[0].operation,
//!     Operation::AddLearning {
//!         reason: "CI has no database".to_owned(),
//!         content: "commit the query data".to_owned(),
//!         replaces: None,
//!     },
//! );
//! assert_eq!(parsed.faults[0].kind, FaultKind::MissingReason);
//! ```

mod answer;
mod bullets;
mod cursor;
mod fences;
mod found;
pub mod grammar;
mod headers;
mod indentation;
mod item;
mod items;
mod lines;
mod print;
mod progress;
pub mod requests;
mod section;
mod snippets;
mod standing;
pub mod structured;

pub use print::print;

use super::faults::{MOST_ITEMS, Omitted, keep};
use super::operation::{Fault, FaultKind, Item, Operation, Role};
use std::ops::Range;

/// What is forgiven: each leniency that real models need, by name. All are on by default and off in
/// [`Options::strict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Text before the first header, between items, and after the last item. Where it is off, each such
    /// line is an `unknown_header`: it stands where a header or an item has to.
    pub text_around: bool,
    /// A code fence around the whole answer, or around each section.
    pub fence_around_answer: bool,
    /// Headers in bold, in backticks, or as Markdown headings.
    pub decorated_headers: bool,
    /// Headers in another case.
    pub header_case: bool,
    /// Headers with a blank or dash for the underscore, and the other way round.
    pub header_blanks: bool,
    /// Headers with the colon outside of their decoration, or without one.
    pub colon_placement: bool,
    /// `*`, `•`, `1.` and `1)` as bullets.
    pub other_bullets: bool,
    /// Any indentation, down to none. Where it is off, section headers stand in column 0, list headers
    /// in column 2, bullets in column 4.
    pub any_indentation: bool,
    /// Ids written `[KL-3]`, `**KL-3**`, `` `KL-3` `` or `kl-3`; `KL-1: because`, `because:`, and
    /// several ids in one item.
    pub decorated_ids: bool,
    /// An item behind its list header on the same line, and additions of a section without a list header.
    /// An archiving always needs its `ARCHIVE`.
    pub missing_list_headers: bool,
    /// Not a leniency: the model stopped at its token limit, so the last item is not trusted.
    pub stopped_at_limit: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            text_around: true,
            fence_around_answer: true,
            decorated_headers: true,
            header_case: true,
            header_blanks: true,
            colon_placement: true,
            other_bullets: true,
            any_indentation: true,
            decorated_ids: true,
            missing_list_headers: true,
            stopped_at_limit: false,
        }
    }
}

impl Options {
    /// Forgives nothing: only the canonical form of [`print()`] is read.
    #[must_use]
    pub fn strict() -> Self {
        Self {
            text_around: false,
            fence_around_answer: false,
            decorated_headers: false,
            header_case: false,
            header_blanks: false,
            colon_placement: false,
            other_bullets: false,
            any_indentation: false,
            decorated_ids: false,
            missing_list_headers: false,
            stopped_at_limit: false,
        }
    }
}

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The good items, in the order of the input.
    pub items: Vec<Item>,
    /// What is wrong, in the order of the input: the first [`KEPT_FAULTS`](super::faults::KEPT_FAULTS).
    pub faults: Vec<Fault>,
    /// How much else is wrong.
    pub omitted: Omitted,
    /// The sections that appear, in the order of their first appearance.
    pub sections: Vec<Role>,
}

impl Parsed {
    fn accept(&mut self, operation: Operation, range: Range<usize>) {
        if self.items.len() < MOST_ITEMS {
            return self.items.push(Item { operation, range });
        }
        let id = match operation {
            Operation::Archive { id, .. } => Some(id),
            _ => None,
        };
        self.fault(Fault {
            kind: FaultKind::TooLarge,
            section: operation.role(),
            id,
            range,
            detail: format!(
                "at most {MOST_ITEMS} items are taken at once; this one and those behind it were not"
            ),
        });
    }

    fn fault(&mut self, fault: Fault) {
        keep(&mut self.faults, &mut self.omitted, fault);
    }
}

/// Reads a text. Total: every input has a result.
#[must_use]
pub fn parse(text: &str, options: &Options) -> Parsed {
    answer::read(text, options)
}
