//! The result of parsing: operations and faults.

use crate::domain::faults::{MAX_TEXT_ITEMS, Omitted, keep};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use std::ops::Range;

/// The result of parsing a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The valid items, in input order.
    pub items: Vec<Item>,
    /// The faults, in input order: the first [`MAX_KEPT_FAULTS`](crate::domain::faults::MAX_KEPT_FAULTS).
    pub faults: Vec<Fault>,
    /// Number of faults and items beyond the limits.
    pub omitted: Omitted,
    /// The sections in the text, in order of first appearance.
    pub sections: Vec<Role>,
}

impl Parsed {
    pub(super) fn accept(&mut self, operation: Operation, range: Range<usize>) {
        if self.items.len() < MAX_TEXT_ITEMS {
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
                "at most {MAX_TEXT_ITEMS} items are accepted at once; this one and those after it were not"
            ),
        });
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        keep(&mut self.faults, &mut self.omitted, fault);
    }
}
