//! Faults as far as they are kept: whoever wrote a text mends it by the first ones, and of the rest it is enough to know
//! how many they are. So a text of nothing but faults costs no more than one with a few.

use super::operation::{Fault, FaultKind};
use std::collections::BTreeMap;

/// How many faults of a text are kept.
pub const KEPT_FAULTS: usize = 200;

/// How many items of a text are taken, and how many bullets of its progress: far more than a document holds.
pub const MOST_ITEMS: usize = 10_000;

/// How many lines of a text are read: each takes many times its room, and a text of more is mostly empty lines.
pub const MOST_LINES: usize = 300_000;

/// Faults that were found and not kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Omitted {
    counts: BTreeMap<FaultKind, usize>,
    /// Where the last of them begins that rejects something.
    last_rejected: Option<usize>,
}

impl Omitted {
    /// Counts a fault.
    pub fn add(&mut self, fault: &Fault) {
        self.count(fault.kind, fault.range.start);
    }

    /// Counts a fault of a kind that begins there.
    pub fn count(&mut self, kind: FaultKind, start: usize) {
        *self.counts.entry(kind).or_default() += 1;
        if !kind.is_warning() {
            self.last_rejected = self.last_rejected.max(Some(start));
        }
    }

    /// Counts what others counted.
    pub fn merge(&mut self, others: &Self) {
        for (kind, count) in &others.counts {
            *self.counts.entry(*kind).or_default() += count;
        }
        self.last_rejected = self.last_rejected.max(others.last_rejected);
    }

    /// How many of them reject something.
    #[must_use]
    pub fn rejections(&self) -> usize {
        self.sum(|kind| !kind.is_warning())
    }

    /// How many of them are warnings.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.sum(FaultKind::is_warning)
    }

    /// Whether the writer of the text should mend one of them.
    #[must_use]
    pub fn is_to_be_mended(&self) -> bool {
        self.counts.keys().any(|kind| kind.is_asked_again())
    }

    /// Where the last of them begins that rejects something.
    #[must_use]
    pub fn last_rejected(&self) -> Option<usize> {
        self.last_rejected
    }

    fn sum(&self, which: impl Fn(FaultKind) -> bool) -> usize {
        let counted = self.counts.iter().filter(|(kind, _)| which(**kind));
        counted.map(|(_, count)| count).sum()
    }
}

/// Keeps a fault, or counts it where enough are kept.
pub fn keep(kept: &mut Vec<Fault>, omitted: &mut Omitted, fault: Fault) {
    if kept.len() < KEPT_FAULTS {
        kept.push(fault);
    } else {
        omitted.add(&fault);
    }
}

/// Counts those beyond the number that is kept.
pub fn cut(kept: &mut Vec<Fault>, omitted: &mut Omitted) {
    for fault in kept.drain(KEPT_FAULTS.min(kept.len())..) {
        omitted.add(&fault);
    }
}
