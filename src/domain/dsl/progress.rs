//! Accumulates one `CURRENT_PROGRESS` block.

use super::bullets::is_placeholder;
use super::headers::List;
use super::items::{ItemFault, placeholder};
use crate::domain::faults::{MAX_TEXT_ITEMS, Omitted, keep};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Progress, Role};
use std::ops::Range;

/// The bullet that deeper-indented lines still extend.
#[derive(Debug)]
struct Open {
    list: Option<List>,
    indent: usize,
    text: String,
    range: Range<usize>,
}

/// The result of a block.
#[derive(Debug)]
pub(super) struct Finished {
    /// The valid progress.
    pub(super) item: Option<Item>,
    /// The fault if there are bullets, but none in `In Progress`.
    pub(super) missing: Option<Fault>,
    /// Faulty bullets.
    pub(super) faults: Vec<Fault>,
    /// Number of further faults that were only counted.
    pub(super) omitted: Omitted,
}

/// A block, starting at its header.
#[derive(Debug)]
pub(super) struct Block {
    range: Range<usize>,
    open: Option<Open>,
    progress: Progress,
    /// Number of bullets in any list or none, including faulty ones.
    bullets: usize,
    /// Number of faulty bullets in `In Progress`.
    faulty_in_progress: usize,
    /// Byte offset of the last bullet.
    pub(super) last_bullet: Option<usize>,
    faults: Vec<Fault>,
    omitted: Omitted,
}

impl Block {
    pub(super) fn new(header: Range<usize>) -> Self {
        Self {
            range: header,
            open: None,
            progress: Progress::default(),
            bullets: 0,
            faulty_in_progress: 0,
            last_bullet: None,
            faults: Vec::new(),
            omitted: Omitted::default(),
        }
    }

    /// Adds a bullet. A bullet outside any list is counted but not stored.
    pub(super) fn bullet(&mut self, list: Option<List>, indent: usize, text: &str, range: Range<usize>) {
        self.finish_bullet();
        self.range.end = range.end;
        self.last_bullet = Some(range.start);
        self.open = Some(Open {
            list,
            indent,
            text: text.to_owned(),
            range,
        });
    }

    /// Appends a line to the open bullet, if it is indented deeper.
    pub(super) fn continues(&mut self, indent: usize, text: &str, end: usize) -> bool {
        match &mut self.open {
            Some(open) if indent > open.indent => {
                if !open.text.is_empty() {
                    open.text.push(' ');
                }
                open.text.push_str(text);
                open.range.end = end;
                self.range.end = end;
                true
            }
            _ => false,
        }
    }

    /// Whether a line with this indentation would extend the open bullet.
    pub(super) fn is_open_above(&self, indent: usize) -> bool {
        self.open.as_ref().is_some_and(|open| indent > open.indent)
    }

    /// Closes the open bullet.
    pub(super) fn finish_bullet(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.text.is_empty() {
            return;
        }
        self.bullets += 1;
        if is_placeholder(&open.text) {
            self.faulty_in_progress += usize::from(open.list == Some(List::InProgress));
            return self.fault(placeholder(), open.range);
        }
        if self.bullets > MAX_TEXT_ITEMS {
            let detail = format!(
                "at most {MAX_TEXT_ITEMS} bullets are accepted at once; this one and those after it were not"
            );
            return self.fault((FaultKind::TooLarge, detail), open.range);
        }
        match open.list {
            Some(List::Completed) => self.progress.completed.push(open.text),
            Some(List::InProgress) => self.progress.in_progress.push(open.text),
            Some(List::Remaining) => self.progress.remaining.push(open.text),
            _ => {}
        }
    }

    fn fault(&mut self, (kind, detail): ItemFault, range: Range<usize>) {
        let fault = Fault {
            kind,
            section: Some(Role::Progress),
            id: None,
            range,
            detail,
        };
        keep(&mut self.faults, &mut self.omitted, fault);
    }

    /// Returns the result of the block; empty if it has no bullet.
    pub(super) fn finish(mut self) -> Finished {
        self.finish_bullet();
        let mut finished = Finished {
            item: None,
            missing: None,
            faults: self.faults,
            omitted: self.omitted,
        };
        if !self.progress.in_progress.is_empty() {
            finished.item = Some(Item {
                operation: Operation::RewriteProgress(self.progress),
                range: self.range,
            });
        } else if self.bullets > 0 && self.faulty_in_progress == 0 {
            finished.missing = Some(Fault {
                kind: FaultKind::MissingInProgress,
                section: Some(Role::Progress),
                id: None,
                range: self.range,
                detail: "`In Progress` needs at least one bullet; the previous progress stays as it is"
                    .to_owned(),
            });
        }
        finished
    }
}
