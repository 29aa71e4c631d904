//! The items and faults collected while parsing.

use super::headers::List;
use super::items::ItemFault;
use super::lines::Line;
use super::parsed::Parsed;
use super::progress::Block;
use crate::domain::faults::cut;
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use std::ops::Range;

/// Items and faults so far, and the progress block being read.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) parsed: Parsed,
    block: Option<Block>,
    last_progress_bullet: Option<usize>,
    /// The last valid progress, and the fault of a later invalid one.
    progress: Option<Item>,
    invalid_progress: Option<Fault>,
}

impl Collected {
    /// Opens a section.
    pub(super) fn open_section(&mut self, role: Role, line: &Line) {
        self.close_block();
        if !self.parsed.sections.contains(&role) {
            self.parsed.sections.push(role);
        }
        if role == Role::Progress {
            self.block = Some(Block::new(line.first..line.last));
        }
    }

    /// Adds a progress bullet.
    pub(super) fn progress_bullet(&mut self, list: Option<List>, line: &Line, text: &str) {
        if let Some(block) = &mut self.block {
            block.bullet(list, line.indent, text, line.first..line.last);
            self.last_progress_bullet = block.last_bullet;
        }
    }

    /// Folds a line into the progress bullet above it, if it is indented deeper.
    pub(super) fn continues_progress(&mut self, line: &Line, text: &str) -> bool {
        let block = self.block.as_mut();
        block.is_some_and(|block| block.continues(line.indent, text, line.last))
    }

    /// Whether a line would be folded into a progress bullet.
    pub(super) fn is_within_progress_bullet(&self, line: &Line) -> bool {
        let block = self.block.as_ref();
        block.is_some_and(|block| block.is_open_above(line.indent))
    }

    /// Closes the progress bullet above.
    pub(super) fn finish_progress_bullet(&mut self) {
        if let Some(block) = &mut self.block {
            block.finish_bullet();
        }
    }

    fn close_block(&mut self) {
        let Some(block) = self.block.take() else { return };
        let finished = block.finish();
        // The last block counts; a block without a bullet means that nothing changed.
        if finished.item.is_some() || finished.missing.is_some() {
            self.progress = finished.item;
            self.invalid_progress = finished.missing;
        }
        for fault in finished.faults {
            self.parsed.fault(fault);
        }
        self.parsed.omitted.merge(&finished.omitted);
    }

    pub(super) fn accept(&mut self, operation: Operation, range: Range<usize>) {
        self.parsed.accept(operation, range);
    }

    pub(super) fn reject(&mut self, section: Role, range: Range<usize>, (kind, detail): ItemFault) {
        self.fault(kind, Some(section), range, detail);
    }

    pub(super) fn fault(
        &mut self,
        kind: FaultKind,
        section: Option<Role>,
        range: Range<usize>,
        detail: String,
    ) {
        self.parsed.fault(Fault {
            kind,
            section,
            id: None,
            range,
            detail,
        });
    }

    /// Returns all items and faults, in input order.
    pub(super) fn finish(mut self, text: &str, is_cut_off: bool) -> Parsed {
        self.close_block();
        self.parsed.items.extend(self.progress.take());
        self.parsed.faults.extend(self.invalid_progress.take());
        if self.parsed.sections.is_empty() {
            let detail = "no section header was found: CURRENT_PROGRESS, KEY_LEARNINGS or VERBATIM_CONTEXT";
            self.fault(FaultKind::NoSection, None, 0..text.len(), detail.to_owned());
        }
        cut(&mut self.parsed.faults, &mut self.parsed.omitted);
        if is_cut_off {
            self.distrust_last_item(text);
        }
        let mut parsed = self.parsed;
        parsed.items.sort_by_key(|item| item.range.start);
        parsed.faults.sort_by_key(|fault| fault.range.start);
        parsed
    }

    /// The model stopped at its token limit: its last item may be incomplete.
    fn distrust_last_item(&mut self, text: &str) {
        let is_progress = |item: &Item| matches!(item.operation, Operation::RewriteProgress(_));
        let starts = |item: &Item| {
            if is_progress(item) {
                None
            } else {
                Some(item.range.start)
            }
        };
        let of_items = self.parsed.items.iter().filter_map(starts).max();
        let rejected = self.parsed.faults.iter().filter(|fault| !fault.kind.is_warning());
        let of_faults = rejected.map(|fault| fault.range.start).max();
        let of_faults = of_faults.max(self.parsed.omitted.last_rejected());
        let last = of_items.max(of_faults).max(self.last_progress_bullet);
        let mut truncated = (None, text.len()..text.len());
        self.parsed.items.retain(|item| {
            let start = if is_progress(item) {
                self.last_progress_bullet
            } else {
                Some(item.range.start)
            };
            let is_last = start == last;
            if is_last {
                truncated = (item.operation.role(), item.range.clone());
            }
            !is_last
        });
        let detail = "the model stopped at its token limit, so its last item was not taken".to_owned();
        // Kept even beyond the limit: it concerns the whole text.
        self.parsed.faults.push(Fault {
            kind: FaultKind::Truncated,
            section: truncated.0,
            id: None,
            range: truncated.1,
            detail,
        });
    }
}
