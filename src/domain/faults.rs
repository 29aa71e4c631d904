//! What is read of operations, and its limits. The author of a text needs the first faults to correct it; the
//! rest are only counted. A text full of faults therefore costs no more than one with a few.

use super::ids::RecordId;
use super::operation::{Fault, FaultKind, Item, Operation};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Maximum number of faults kept per text.
pub const MAX_KEPT_FAULTS: usize = 200;

/// Maximum number of items accepted per text, and of bullets in its progress: far more than a document can
/// hold.
pub const MAX_TEXT_ITEMS: usize = 10_000;

/// Maximum number of lines parsed per text: each needs several times its size in memory, and a text with more
/// lines is mostly empty lines.
pub const MAX_TEXT_LINES: usize = 300_000;

/// The operations that were read, or that are accepted of those, and what is wrong with the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The valid items, in input order.
    pub items: Vec<Item>,
    /// The faults, in input order: the first [`MAX_KEPT_FAULTS`].
    pub faults: Vec<Fault>,
    /// Numbers of those beyond the limits.
    pub omitted: Omitted,
}

impl Parsed {
    /// Operations that were not read from a text: the range of each item is its position in the list.
    #[must_use]
    pub fn of(operations: impl IntoIterator<Item = Operation>) -> Self {
        let items = operations.into_iter();
        Self::of_items(items.map(|operation| Item::new(operation, 0..0)).collect())
    }

    /// Items of any texts: the range of each becomes its position in the list.
    #[must_use]
    pub fn of_items(mut items: Vec<Item>) -> Self {
        for (index, item) in items.iter_mut().enumerate() {
            item.range = index..index;
        }
        Self {
            items,
            ..Self::default()
        }
    }

    pub(super) fn accept(&mut self, operation: Operation, range: Range<usize>) {
        if self.items.len() < MAX_TEXT_ITEMS {
            return self.items.push(Item::new(operation, range));
        }
        let detail = format!(
            "at most {MAX_TEXT_ITEMS} items are accepted at once; this one and those after it were not"
        );
        let wrong = Fault::new(FaultKind::TooLarge, detail).of(operation.archives());
        self.fault(wrong.at(operation.role(), range));
    }

    /// Keeps a fault, or counts it if enough are kept.
    pub(super) fn fault(&mut self, fault: Fault) {
        match self.faults.len() < MAX_KEPT_FAULTS {
            true => self.faults.push(fault),
            false => self.omitted.add(&fault),
        }
    }

    /// Drops the warnings about the form of items that are rejected for another reason. `rejected` maps the start to the end
    /// of the ranges of such items.
    pub fn drop_warnings_within(&mut self, rejected: &BTreeMap<usize, usize>) {
        self.faults.retain(|fault| {
            let is_of_form = matches!(fault.kind, FaultKind::MultiLineInsight | FaultKind::UnclosedFence);
            let before = rejected.range(..=fault.range.start).next_back();
            !(is_of_form && before.is_some_and(|(_, end)| fault.range.end <= *end))
        });
    }

    /// Drops the faults of archivings that repeat a rejected one: its record was not archived before, and its fault is told.
    pub fn drop_repeated_archives(&mut self) {
        let is_rejected = |fault: &&Fault| {
            let kinds = [FaultKind::UncalledArchive, FaultKind::TooManyArchives];
            !fault.is_notice && kinds.contains(&fault.kind)
        };
        let rejected = self.faults.iter().filter(is_rejected);
        let stays: BTreeSet<RecordId> = rejected.filter_map(|fault| fault.id).collect();
        let is_repeated = |fault: &Fault| fault.id.is_some_and(|id| stays.contains(&id));
        self.faults
            .retain(|fault| fault.kind != FaultKind::AlreadyArchived || !is_repeated(fault));
    }

    /// Counts the faults above the limit and drops them, but for the one of a text that was cut off, which concerns all of it.
    pub fn keep_few(&mut self) {
        for fault in self.faults.split_off(MAX_KEPT_FAULTS.min(self.faults.len())) {
            match fault.kind {
                FaultKind::Truncated => self.faults.push(fault),
                _ => self.omitted.add(&fault),
            }
        }
    }
}

/// Numbers of faults that were not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Omitted {
    /// Those that reject something.
    pub rejections: usize,
    /// The warnings.
    pub warnings: usize,
    /// Whether one of them is a reason for a repair request.
    pub needs_repair: bool,
}

impl Omitted {
    /// Counts a fault.
    pub fn add(&mut self, fault: &Fault) {
        self.needs_repair |= fault.needs_repair();
        if fault.is_warning() {
            self.warnings += 1;
        } else {
            self.rejections += 1;
        }
    }
}
