//! The largest id number used per kind of record, so that no id is reused.

use crate::domain::document::RecordLines;
use crate::domain::ids::{RecordId, RecordKind};

/// The largest number ever used for each kind of record of one memory; 0 if none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters([i64; RecordKind::ALL.len()]);

/// All numbers of a kind are used. The message may be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no number is left for a new {} record: {} is taken", kind.prefix(), RecordId::new(*kind, i64::MAX))]
pub struct IdsExhausted {
    /// The kind of record.
    pub kind: RecordKind,
}

impl Counters {
    /// Reads the largest numbers on the record lines of a document. Ids in free text or in snippets do not
    /// count.
    #[must_use]
    pub fn seen_in(text: &str) -> Self {
        Self::seen_on(&RecordLines::of(text))
    }

    /// Like [`Self::seen_in`], for record lines that were already found.
    pub(super) fn seen_on(lines: &RecordLines<'_>) -> Self {
        Self(lines.largest_numbers())
    }

    /// The largest number of a kind, 0 for none.
    #[must_use]
    pub fn get(&self, kind: RecordKind) -> i64 {
        self.0[kind as usize]
    }

    /// All of them, in the order of [`RecordKind::ALL`].
    #[must_use]
    pub fn numbers(&self) -> [i64; RecordKind::ALL.len()] {
        self.0
    }

    /// Counters by their numbers in the order of [`RecordKind::ALL`]. Absent ones are 0, and surplus ones are of kinds
    /// that are not known here.
    #[must_use]
    pub fn of_numbers(numbers: &[i64]) -> Self {
        let mut counters = Self::default();
        for (kind, number) in RecordKind::ALL.into_iter().zip(numbers) {
            counters.raise(kind, *number);
        }
        counters
    }

    /// Raises the counter of a kind to at least `number`.
    pub fn raise(&mut self, kind: RecordKind, number: i64) {
        let counter = &mut self.0[kind as usize];
        *counter = number.max(*counter);
    }

    /// Raises every counter to at least that of `other`.
    #[must_use]
    pub fn raised_by(mut self, other: &Self) -> Self {
        for kind in RecordKind::ALL {
            self.raise(kind, other.get(kind));
        }
        self
    }

    /// Allocates the next id of a kind.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] if the number 2^63-1 is in use.
    pub fn give(&mut self, kind: RecordKind) -> Result<RecordId, IdsExhausted> {
        let number = self.get(kind).checked_add(1).ok_or(IdsExhausted { kind })?;
        self.raise(kind, number);
        Ok(RecordId::new(kind, number))
    }
}
