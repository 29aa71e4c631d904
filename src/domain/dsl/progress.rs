//! Accumulates one `CURRENT_PROGRESS` block.

use super::headers::List;
use super::items::placeholder;
use super::lines::is_placeholder;
use crate::domain::faults::{MAX_TEXT_ITEMS, Parsed};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Progress, Role};
use std::ops::Range;

/// A block, starting at its header.
#[derive(Debug)]
pub(super) struct Block {
    range: Range<usize>,
    progress: Progress,
    /// Number of bullets in any list or none, including faulty ones.
    bullets: usize,
    /// Number of faulty bullets in `In Progress`.
    faulty_in_progress: usize,
    /// The first bullet outside any list.
    unlisted: Option<Range<usize>>,
}

impl Block {
    pub(super) fn new(header: Range<usize>) -> Self {
        Self {
            range: header,
            progress: Progress::default(),
            bullets: 0,
            faulty_in_progress: 0,
            unlisted: None,
        }
    }

    /// Adds a bullet with the lines that belong to it. A bullet outside any list is counted but not stored.
    pub(super) fn bullet(
        &mut self,
        list: Option<List>,
        text: String,
        range: Range<usize>,
        parsed: &mut Parsed,
    ) {
        self.range.end = range.end;
        if text.is_empty() {
            return;
        }
        self.bullets += 1;
        let wrong = if is_placeholder(&text) {
            self.faulty_in_progress += usize::from(list == Some(List::InProgress));
            placeholder()
        } else if self.bullets > MAX_TEXT_ITEMS {
            let detail = format!(
                "at most {MAX_TEXT_ITEMS} bullets are accepted at once; this one and those after it were not"
            );
            Fault::new(FaultKind::TooLarge, detail)
        } else {
            return match list {
                Some(List::Completed) => self.progress.completed.push(text),
                Some(List::InProgress) => self.progress.in_progress.push(text),
                Some(List::Remaining) => self.progress.remaining.push(text),
                _ => {
                    self.unlisted.get_or_insert(range);
                }
            };
        };
        parsed.fault(wrong.at(Some(Role::Progress), range));
    }

    /// Whether it has no bullet.
    pub(super) fn is_empty(&self) -> bool {
        self.bullets == 0
    }

    /// Returns the progress, or the fault if there is no bullet in `In Progress`; nothing if its only fault was reported.
    pub(super) fn finish(self, parsed: &mut Parsed) -> Option<Result<Item, Fault>> {
        if !self.progress.in_progress.is_empty() {
            if let Some(range) = self.unlisted {
                let detail = "a bullet must be below `Completed:`, `In Progress:` or `Remaining:`; those above the first \
                              list were not taken";
                parsed.fault(Fault::new(FaultKind::UnknownHeader, detail).at(Some(Role::Progress), range));
            }
            let operation = Operation::RewriteProgress(self.progress);
            return Some(Ok(Item::new(operation, self.range)));
        }
        (self.faulty_in_progress == 0).then(|| {
            let detail = "`In Progress` needs at least one bullet; this progress was not taken";
            Err(Fault::new(FaultKind::MissingInProgress, detail).at(Some(Role::Progress), self.range))
        })
    }
}
