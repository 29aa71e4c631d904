//! What a text says: operations and faults.

use crate::domain::faults::{MOST_ITEMS, Omitted, keep};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use std::ops::Range;

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The good items, in the order of the input.
    pub items: Vec<Item>,
    /// What is wrong, in the order of the input: the first [`KEPT_FAULTS`](crate::domain::faults::KEPT_FAULTS).
    pub faults: Vec<Fault>,
    /// How much else is wrong.
    pub omitted: Omitted,
    /// The sections that appear, in the order of their first appearance.
    pub sections: Vec<Role>,
}

impl Parsed {
    pub(super) fn accept(&mut self, operation: Operation, range: Range<usize>) {
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

    pub(super) fn fault(&mut self, fault: Fault) {
        keep(&mut self.faults, &mut self.omitted, fault);
    }
}
