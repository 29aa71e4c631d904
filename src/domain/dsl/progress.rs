//! Accumulates one `CURRENT_PROGRESS` block.

use super::headers::List;
use super::items::{ItemFault, placeholder};
use super::lines::is_placeholder;
use super::parser::Parsed;
use crate::domain::faults::MAX_TEXT_ITEMS;
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
}

impl Block {
    pub(super) fn new(header: Range<usize>) -> Self {
        Self {
            range: header,
            open: None,
            progress: Progress::default(),
            bullets: 0,
            faulty_in_progress: 0,
        }
    }

    /// Adds a bullet. A bullet outside any list is counted but not stored.
    pub(super) fn bullet(
        &mut self,
        list: Option<List>,
        indent: usize,
        text: &str,
        range: Range<usize>,
        parsed: &mut Parsed,
    ) {
        self.finish_bullet(parsed);
        self.range.end = range.end;
        self.open = Some(Open {
            list,
            indent,
            text: text.to_owned(),
            range,
        });
    }

    /// Appends a line to the open bullet, if it is indented deeper.
    pub(super) fn continues(&mut self, indent: usize, text: &str, end: usize) -> bool {
        let Some(open) = self.open.as_mut().filter(|open| indent > open.indent) else {
            return false;
        };
        if !open.text.is_empty() {
            open.text.push(' ');
        }
        open.text.push_str(text);
        open.range.end = end;
        self.range.end = end;
        true
    }

    /// Whether a line with this indentation would extend the open bullet.
    pub(super) fn is_open_above(&self, indent: usize) -> bool {
        self.open.as_ref().is_some_and(|open| indent > open.indent)
    }

    /// Closes the open bullet.
    pub(super) fn finish_bullet(&mut self, parsed: &mut Parsed) {
        let Some(open) = self.open.take().filter(|open| !open.text.is_empty()) else {
            return;
        };
        self.bullets += 1;
        let mut reject = |wrong: ItemFault| parsed.reject(Some(Role::Progress), open.range.clone(), wrong);
        if is_placeholder(&open.text) {
            self.faulty_in_progress += usize::from(open.list == Some(List::InProgress));
            return reject(placeholder());
        }
        if self.bullets > MAX_TEXT_ITEMS {
            let detail = format!(
                "at most {MAX_TEXT_ITEMS} bullets are accepted at once; this one and those after it were not"
            );
            return reject(ItemFault::new(FaultKind::TooLarge, detail));
        }
        match open.list {
            Some(List::Completed) => self.progress.completed.push(open.text),
            Some(List::InProgress) => self.progress.in_progress.push(open.text),
            Some(List::Remaining) => self.progress.remaining.push(open.text),
            _ => {}
        }
    }

    /// Returns the progress, or the fault if there are bullets, but none in `In Progress`; nothing if it has no bullet
    /// or its only fault was reported.
    pub(super) fn finish(mut self, parsed: &mut Parsed) -> Option<Result<Item, Fault>> {
        self.finish_bullet(parsed);
        if !self.progress.in_progress.is_empty() {
            return Some(Ok(Item {
                operation: Operation::RewriteProgress(self.progress),
                range: self.range,
            }));
        }
        (self.bullets > 0 && self.faulty_in_progress == 0).then(|| {
            Err(Fault {
                kind: FaultKind::MissingInProgress,
                section: Some(Role::Progress),
                id: None,
                range: self.range,
                detail: "`In Progress` needs at least one bullet; the previous progress stays as it is"
                    .to_owned(),
            })
        })
    }
}
