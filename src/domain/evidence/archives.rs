//! Judges archivings: the input must call for them, or an addition must replace the record. Matches additions to the
//! records that they replace.

use super::input::Evidence;
use super::judge::{Judge, Judged};
use crate::domain::document::{Entry, Record, entries_of, records};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{Fault, FaultKind, Item, Operation};
use crate::domain::text::content_words::{Key, Word, content_words, keys, shared};
use foldhash::fast::RandomState;
use regex::Regex;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// A word that occurs in at most this many records is distinctive.
const FEW_RECORDS: usize = 2;

/// The active records of the kinds that an answer archives, or copies snippets from.
#[derive(Debug, Default)]
pub(super) struct Actives {
    pub(super) snippets: Vec<String>,
    /// The words of the records to be archived.
    archived: HashMap<RecordId, Vec<Word>>,
    /// Number of records of a kind that contain a word.
    frequency: HashMap<(RecordKind, Key), usize, RandomState>,
    counts: HashMap<RecordKind, usize>,
}

fn words_of(record: &Record) -> Vec<Word> {
    let label = record.label.as_deref().unwrap_or_default();
    content_words(&format!("{label}\n{}", record.content))
}

impl Actives {
    pub(super) fn of(document: &str, items: &[Item]) -> Self {
        let named: BTreeSet<RecordId> = items
            .iter()
            .filter_map(|item| item.operation.archives())
            .collect();
        let kind_of = |operation: &Operation| operation.archives().map(|id| id.kind).or(operation.adds());
        let kinds: BTreeSet<RecordKind> = items.iter().filter_map(|item| kind_of(&item.operation)).collect();
        let entries = entries_of(document, |kind| kinds.contains(&kind));
        let mut actives = Self::default();
        for record in entries.filter_map(Entry::into_record) {
            let kind = record.id.kind;
            if !named.is_empty() {
                let words = words_of(&record);
                *actives.counts.entry(kind).or_default() += 1;
                for word in &words {
                    *actives.frequency.entry((kind, word.key)).or_default() += 1;
                }
                if named.contains(&record.id) {
                    actives.archived.insert(record.id, words);
                }
            }
            if kind == RecordKind::Verbatim {
                actives.snippets.push(record.content);
            }
        }
        actives
    }

    pub(super) fn archived_words(&self) -> impl Iterator<Item = Key> {
        self.archived.values().flatten().map(|word| word.key)
    }

    /// Whether a word distinguishes a record from most others of its section.
    fn is_distinctive(&self, kind: RecordKind, word: &Word) -> bool {
        let holding = self.frequency.get(&(kind, word.key)).copied().unwrap_or(0);
        let all = self.counts.get(&kind).copied().unwrap_or(0);
        holding <= FEW_RECORDS || holding * 3 <= all
    }
}

/// Number of archivings that are compared with all additions although they are too many.
const MAX_COMPARED: usize = 100;

/// Number of words that an addition must share with the record it replaces.
const PAIR_WORDS: usize = 2;

/// What may be an id, in any case, and is no part of a word. Text without blanks may follow: `KL-3は`.
static WRITTEN_ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^\p{Alphabetic}\p{N}])([A-Za-z]{1,2}-[0-9]+)(?-u:\b)").expect("a form")
});

/// The words of an addition.
struct Words {
    keys: HashSet<Key, RandomState>,
    kind: RecordKind,
    is_applied: bool,
}

impl Words {
    /// `None` if the operation adds nothing.
    fn of(operation: &Operation, is_applied: bool) -> Option<Self> {
        let added = operation.addition()?;
        let texts = [added.label.as_deref().unwrap_or_default(), &added.content];
        Some(Self {
            keys: texts.into_iter().flat_map(keys).collect(),
            kind: added.kind(),
            is_applied,
        })
    }

    /// Number of words shared with a record of a kind, if enough to count as its replacement.
    fn in_common(&self, kind: RecordKind, words: &[Word]) -> Option<usize> {
        let shared = (self.kind == kind).then(|| shared(words, &self.keys));
        shared.filter(|count| *count >= PAIR_WORDS)
    }
}

impl Judge<'_> {
    /// Judges the archivings of an otherwise valid answer, once it is known which of its `additions` are applied, or equal an
    /// existing record; other items pass. `before` were accepted from an earlier text of the same update: their additions are
    /// applied, and the records that they archive count towards the limit.
    #[must_use]
    pub fn archives<'o>(
        &self,
        items: Vec<Item>,
        additions: impl Iterator<Item = (&'o Operation, bool)>,
        before: &'o [Item],
    ) -> Vec<Judged> {
        let earlier = before.iter().map(|item| (&item.operation, true));
        let additions: Vec<Words> = additions
            .chain(earlier)
            .filter_map(|(operation, is_applied)| Words::of(operation, is_applied))
            .collect();
        let archived = items.iter().chain(before);
        let archived: BTreeSet<RecordId> = archived.flat_map(|item| item.operation.leaving()).collect();
        let mut counts: HashMap<RecordKind, usize> = HashMap::new();
        for id in archived {
            *counts.entry(id.kind).or_default() += 1;
        }
        let named = self.named();
        let mut place = 0;
        let judged = items.into_iter().map(|mut item| {
            let Some(first) = item.operation.leaving().next() else {
                return Judged::of(item, None);
            };
            let (of_section, most) = (counts[&first.kind], self.case.max_archives);
            place += 1;
            let mut fault = None;
            if let Some(id) = item.operation.archives()
                && (of_section <= most || place <= MAX_COMPARED)
            {
                (item.evidence, fault) = self.archive(id, &additions, named.get(&id).copied());
            }
            let fault = fault.or_else(|| {
                let detail = format!(
                    "The answers archive {of_section} records of this section, more than the {most} of one update, so \
                     this one stays; archive only what the messages make wrong."
                );
                (of_section > most).then(|| self.fault(FaultKind::TooManyArchives, detail))
            });
            Judged::of(item, fault)
        });
        judged.collect()
    }

    /// The evidence of an archiving, and its fault.
    fn archive(
        &self,
        id: RecordId,
        additions: &[Words],
        named: Option<(usize, usize)>,
    ) -> (Vec<Evidence>, Option<Fault>) {
        // Validation reports records that are not active.
        let none: &[Word] = &[];
        let words = self.actives.archived.get(&id).map_or(none, Vec::as_slice);
        let mut evidence = Vec::from_iter(named.map(|(place, at)| self.index.sentence_at(place, at)));
        for passage in self.index.evidence(words.iter().map(|word| word.key)) {
            if evidence.len() < 2 && !evidence.contains(&passage) {
                evidence.push(passage);
            }
        }
        let mut partners = additions
            .iter()
            .filter(|addition| addition.in_common(id.kind, words).is_some())
            .peekable();
        let detail = if partners.peek().is_some() && !partners.any(|partner| partner.is_applied) {
            Some(format!(
                "The addition that belongs to it was rejected, so {id} stays."
            ))
        } else if named.is_some() || self.is_called(id, words, additions) {
            None
        } else {
            Some(format!(
                "Neither the task nor the messages nor an addition of this answer mention {id}; archive only what \
                 they make wrong."
            ))
        };
        let fault = detail.map(|detail| self.fault(FaultKind::UncalledArchive, detail));
        (evidence, fault)
    }

    fn is_called(&self, id: RecordId, words: &[Word], additions: &[Words]) -> bool {
        let is_said = |word: &Word| {
            let mut applied = additions.iter().filter(|addition| addition.is_applied);
            self.index.has(word.key) || applied.any(|addition| addition.keys.contains(&word.key))
        };
        let mut words = words.iter();
        words.any(|word| self.actives.is_distinctive(id.kind, word) && is_said(word))
    }

    /// The records that the input names, each with the text and the byte offset of the first occurrence.
    fn named(&self) -> HashMap<RecordId, (usize, usize)> {
        let mut named = HashMap::new();
        if self.actives.archived.is_empty() {
            return named;
        }
        for (place, text) in self.case.input.texts().enumerate() {
            for found in WRITTEN_ID.captures_iter(text).filter_map(|found| found.get(1)) {
                if let Ok(id) = found.as_str().to_ascii_uppercase().parse() {
                    named.entry(id).or_insert((place, found.start()));
                }
            }
        }
        named
    }
}

/// Sets `replaces` on additions that share words with a record archived in the same answer. Pairs that share
/// most words are matched first; an addition replaces at most one record, and a record is replaced at most
/// once. Existing `replaces` values are kept.
pub fn name_replaced(document: &str, operations: &mut [&mut Operation]) {
    let replaced: HashSet<RecordId> = operations.iter().filter_map(|it| it.replaces()).collect();
    let archived: HashSet<RecordId> = operations
        .iter()
        .filter_map(|operation| operation.archives())
        .filter(|id| !replaced.contains(id))
        .collect();
    let open = operations.iter().enumerate();
    let open = open.filter(|(_, operation)| operation.replaces().is_none());
    let additions: Vec<(usize, Words)> = open
        .filter_map(|(place, operation)| Some((place, Words::of(operation, true)?)))
        .collect();
    if archived.is_empty() || additions.is_empty() {
        return;
    }
    let mut pairs = Vec::new();
    for record in records(document) {
        if archived.contains(&record.id) {
            let words = words_of(&record);
            pairs.extend(additions.iter().filter_map(|(place, addition)| {
                let in_common = addition.in_common(record.id.kind, &words)?;
                Some((Reverse(in_common), record.id, *place))
            }));
        }
    }
    pairs.sort_unstable();
    let mut done: HashSet<RecordId> = HashSet::new();
    for (_, id, place) in pairs {
        if operations[place].replaces().is_none() && done.insert(id) {
            operations[place].set_replaced(Some(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Key Learnings\n- KL-1 because it fails: the parser drops the last bullet\n\
        - KL-2 because it is slow: the index is built twice at start\n";

    fn learning(content: &str) -> Operation {
        Operation::learning("it is so now", content)
    }

    fn archive(id: &str) -> Operation {
        Operation::Archive {
            id: id.parse().unwrap(),
            reason: "it is wrong".to_owned(),
            ground: None,
        }
    }

    fn named(mut operations: Vec<Operation>) -> Vec<Option<String>> {
        name_replaced(DOCUMENT, &mut operations.iter_mut().collect::<Vec<_>>());
        let ids = operations.iter().map(|it| it.replaces().map(|id| id.to_string()));
        ids.collect()
    }

    #[test]
    fn an_addition_names_the_archived_record_whose_words_it_shares() {
        let found = named(vec![
            archive("KL-2"),
            archive("KL-1"),
            learning("a whale sings"),
            learning("the parser keeps the last bullet"),
            learning("the parser keeps the last bullet without a line end"),
        ]);
        assert_eq!(found[2], None);
        assert_eq!(found[3].as_deref(), Some("KL-1"), "the first of equal ones");
        assert_eq!(found[4], None, "a record is replaced once");
        let bullet = learning("the parser keeps the last bullet");
        let found = named(vec![archive("KL-2"), bullet]);
        assert_eq!(found, [None, None], "what is not archived is not replaced");
    }
}
