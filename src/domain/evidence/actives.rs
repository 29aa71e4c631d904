//! The active records that an answer is compared with.

use crate::domain::document::{Record, records_of};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{Item, Operation};
use crate::domain::text::content_words::{Key, Word, content_words};
use foldhash::fast::RandomState;
use std::collections::{BTreeSet, HashMap};

/// A word that occurs in at most this many records is distinctive.
const FEW_RECORDS: usize = 2;

/// The active records of the kinds that an answer archives, or copies snippets from.
#[derive(Debug)]
pub(super) struct Actives {
    records: Vec<Record>,
    /// The words of the records to be archived.
    pub(super) archived: HashMap<RecordId, Vec<Word>>,
    /// Number of records of a kind that contain a word.
    frequency: HashMap<(RecordKind, Key), usize, RandomState>,
    counts: HashMap<RecordKind, usize>,
}

pub(super) fn words_of(record: &Record) -> Vec<Word> {
    let label = record.label.as_deref().unwrap_or_default();
    content_words(&format!("{label}\n{}", record.content))
}

impl Actives {
    pub(super) fn of(document: &str, items: &[Item]) -> Self {
        let named: BTreeSet<RecordId> = items
            .iter()
            .filter_map(|item| match &item.operation {
                Operation::Archive { id, .. } => Some(*id),
                _ => None,
            })
            .collect();
        let kinds: BTreeSet<RecordKind> = items
            .iter()
            .filter_map(|item| item.operation.role()?.record_kind())
            .collect();
        let records = records_of(document, |kind| kinds.contains(&kind));
        let mut actives = Self {
            archived: HashMap::new(),
            frequency: HashMap::default(),
            counts: HashMap::new(),
            records: Vec::new(),
        };
        if !named.is_empty() {
            for record in &records {
                let words = words_of(record);
                *actives.counts.entry(record.id.kind).or_default() += 1;
                for word in &words {
                    *actives.frequency.entry((record.id.kind, word.key)).or_default() += 1;
                }
                if named.contains(&record.id) {
                    actives.archived.insert(record.id, words);
                }
            }
        }
        actives.records = records;
        actives
    }

    pub(super) fn archived_words(&self) -> impl Iterator<Item = Key> {
        self.archived.values().flatten().map(|word| word.key)
    }

    pub(super) fn snippets(&self) -> impl Iterator<Item = &str> {
        self.records
            .iter()
            .filter(|record| record.id.kind == RecordKind::Verbatim)
            .map(|record| record.content.as_str())
    }

    /// Whether a word distinguishes a record from most others of its section.
    pub(super) fn is_distinctive(&self, kind: RecordKind, word: &Word) -> bool {
        let holding = self.frequency.get(&(kind, word.key)).copied().unwrap_or(0);
        let all = self.counts.get(&kind).copied().unwrap_or(0);
        holding <= FEW_RECORDS || holding * 3 <= all
    }
}
