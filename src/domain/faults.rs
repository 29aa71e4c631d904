//! Limits the number of faults that are kept. The author of a text needs the first faults to correct it; the
//! rest are only counted. A text full of faults therefore costs no more than one with a few.

use super::operation::{Fault, FaultKind};
use std::collections::BTreeMap;

/// Maximum number of faults kept per text.
pub const MAX_KEPT_FAULTS: usize = 200;

/// Maximum number of items accepted per text, and of bullets in its progress: far more than a document can
/// hold.
pub const MAX_TEXT_ITEMS: usize = 10_000;

/// Maximum number of lines parsed per text: each needs several times its size in memory, and a text with more
/// lines is mostly empty lines.
pub const MAX_TEXT_LINES: usize = 300_000;

/// Counts of faults that were not kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Omitted {
    counts: BTreeMap<FaultKind, usize>,
    /// Byte offset of the last counted fault that rejects something.
    last_rejected: Option<usize>,
}

impl Omitted {
    /// Counts a fault.
    pub fn add(&mut self, fault: &Fault) {
        *self.counts.entry(fault.kind).or_default() += 1;
        if !fault.kind.is_warning() {
            self.last_rejected = self.last_rejected.max(Some(fault.range.start));
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, others: &Self) {
        for (kind, count) in &others.counts {
            *self.counts.entry(*kind).or_default() += count;
        }
        self.last_rejected = self.last_rejected.max(others.last_rejected);
    }

    /// Number of counted faults that reject something.
    #[must_use]
    pub fn rejections(&self) -> usize {
        self.sum(|kind| !kind.is_warning())
    }

    /// Number of counted warnings.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.sum(FaultKind::is_warning)
    }

    /// Whether one of them is a reason for a repair request.
    #[must_use]
    pub fn needs_repair(&self) -> bool {
        self.counts.keys().any(|kind| kind.causes_repair())
    }

    /// Byte offset of the last counted fault that rejects something.
    #[must_use]
    pub fn last_rejected(&self) -> Option<usize> {
        self.last_rejected
    }

    fn sum(&self, which: impl Fn(FaultKind) -> bool) -> usize {
        let counted = self.counts.iter().filter(|(kind, _)| which(**kind));
        counted.map(|(_, count)| count).sum()
    }
}

/// Keeps a fault, or counts it if enough are kept.
pub fn keep(kept: &mut Vec<Fault>, omitted: &mut Omitted, fault: Fault) {
    if kept.len() < MAX_KEPT_FAULTS {
        kept.push(fault);
    } else {
        omitted.add(&fault);
    }
}

/// Counts the faults beyond the maximum that is kept.
pub fn cut(kept: &mut Vec<Fault>, omitted: &mut Omitted) {
    for fault in kept.drain(MAX_KEPT_FAULTS.min(kept.len())..) {
        omitted.add(&fault);
    }
}
