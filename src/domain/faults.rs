//! Limits the number of faults that are kept. The author of a text needs the first faults to correct it; the
//! rest are only counted. A text full of faults therefore costs no more than one with a few.

use super::operation::Fault;

/// Maximum number of faults kept per text.
pub const MAX_KEPT_FAULTS: usize = 200;

/// Maximum number of items accepted per text, and of bullets in its progress: far more than a document can
/// hold.
pub const MAX_TEXT_ITEMS: usize = 10_000;

/// Maximum number of lines parsed per text: each needs several times its size in memory, and a text with more
/// lines is mostly empty lines.
pub const MAX_TEXT_LINES: usize = 300_000;

/// Numbers of faults that were not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Omitted {
    /// Those that reject something.
    pub rejections: usize,
    /// The warnings.
    pub warnings: usize,
    /// Whether one of them is a reason for a repair request.
    pub needs_repair: bool,
    /// Byte offset of the last one that rejects something.
    pub last_rejected: Option<usize>,
}

impl Omitted {
    /// Counts a fault.
    pub fn add(&mut self, fault: &Fault) {
        let is_warning = fault.kind.is_warning();
        let start = (!is_warning).then_some(fault.range.start);
        self.merge(Self {
            rejections: usize::from(!is_warning),
            warnings: usize::from(is_warning),
            needs_repair: fault.kind.causes_repair(),
            last_rejected: start,
        });
    }

    /// Adds the numbers of another.
    pub fn merge(&mut self, others: Self) {
        self.rejections += others.rejections;
        self.warnings += others.warnings;
        self.needs_repair |= others.needs_repair;
        self.last_rejected = self.last_rejected.max(others.last_rejected);
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
