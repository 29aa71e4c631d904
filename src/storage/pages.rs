//! Pages of lists that are limited in bytes and in entries: five hundred entries of a megabyte each would be too much.

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;

/// Once a page has this many bytes, no further entry is read.
const PAGE_BYTES: usize = 1 << 20;

/// A page of a list, in order.
#[derive(Debug)]
pub struct Rows<T> {
    /// The entries; at least one if there are any.
    pub items: Vec<T>,
    /// Whether more entries follow although the page has fewer than the limit.
    pub is_cut: bool,
}

/// Deserializes the time in the key of a page, which a client may have changed. Like every stored time it has a year of four
/// digits: PostgreSQL refuses one before 4713 BC.
pub(super) fn key_time<'de, D: Deserializer<'de>>(key: D) -> Result<DateTime<Utc>, D::Error> {
    let time = String::deserialize(key)?;
    let time = DateTime::parse_from_rfc3339(&time).map_err(D::Error::custom)?;
    Ok(time.to_utc())
}

/// Reads a page in batches: while [`Self::next`] returns a number, the caller reads that many entries after the last of
/// [`Self::items`] and passes them to [`Self::add`].
#[derive(Debug)]
pub(super) struct Reading<T> {
    pub(super) items: Vec<T>,
    limit: i64,
    bytes: usize,
    /// How many entries to read next; `None` when the page is complete.
    next: Option<i64>,
    is_cut: bool,
}

impl<T> Reading<T> {
    /// `first` is the number of entries read before their size is known.
    pub(super) fn new(limit: i64, first: i64) -> Self {
        Self {
            items: Vec::new(),
            limit,
            bytes: 0,
            next: Some(first.min(limit)),
            is_cut: false,
        }
    }

    /// How many entries to read next; `None` when the page is complete.
    pub(super) fn next(&self) -> Option<i64> {
        self.next
    }

    /// Adds entries that were read.
    pub(super) fn add(&mut self, read: Vec<T>, size: impl Fn(&T) -> usize) {
        let asked = self.next.take();
        let is_last = Some(count(read.len())) < asked;
        for item in read {
            if self.bytes > PAGE_BYTES {
                self.is_cut = true;
                return;
            }
            self.bytes += size(&item);
            self.items.push(item);
        }
        let left = self.limit - count(self.items.len());
        if !is_last && left > 0 {
            let average = (self.bytes / self.items.len().max(1)).max(1);
            // Where no more fit, one more is read, to know whether the page is cut.
            let fits = count(PAGE_BYTES.saturating_sub(self.bytes) / average) + 1;
            self.next = Some(fits.min(left));
        }
    }

    pub(super) fn rows(self) -> Rows<T> {
        Rows {
            is_cut: self.is_cut,
            items: self.items,
        }
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The approximate size of a value in bytes.
pub(super) fn size_of(value: &Value) -> usize {
    const VALUE: usize = 32;
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(size_of).sum(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| name.len() + size_of(value))
                .sum(),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a list of entries with these sizes, page by page.
    fn pages(sizes: &[usize], limit: i64) -> Vec<Vec<usize>> {
        let mut pages = Vec::new();
        let mut at = 0;
        loop {
            let mut reading = Reading::new(limit, 2);
            while let Some(batch) = reading.next() {
                let from = at + reading.items.len();
                let read = sizes[from..]
                    .iter()
                    .copied()
                    .take(usize::try_from(batch).unwrap());
                reading.add(read.collect(), |size| *size);
            }
            let rows = reading.rows();
            at += rows.items.len();
            let more = rows.is_cut;
            pages.push(rows.items);
            if !more {
                return pages;
            }
        }
    }

    #[test]
    fn pages_hold_all_entries_once_and_few_bytes() {
        for (sizes, limit) in [
            (vec![], 501),
            (vec![10; 300], 501),
            (vec![1 << 20; 30], 501),
            (vec![3 << 20, 1, 1, 3 << 20, 1], 501),
            (vec![200_000; 100], 501),
        ] {
            let pages = pages(&sizes, limit);
            assert_eq!(pages.concat(), sizes);
            let largest = sizes.iter().copied().max().unwrap_or_default();
            for page in &pages {
                let bytes: usize = page.iter().sum();
                assert!(bytes <= PAGE_BYTES + largest, "{bytes}");
            }
        }
        assert_eq!(pages(&[10; 300], 100), [vec![10; 100]]);
    }
}
