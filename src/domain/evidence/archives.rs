//! Judges archivings: the input must call for them, or an addition must replace the record.

use super::judge::Judge;
use super::passage::Evidence;
use super::ruling::Ruling;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{FaultKind, Operation};
use crate::domain::text::content_words::{Key, Word, keys, shared};
use foldhash::fast::RandomState;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Number of words that an addition must share with the record it replaces.
const PAIR_WORDS: usize = 2;

/// An addition of the same answer, and whether it is applied.
#[derive(Debug, Clone)]
pub struct Addition<'o> {
    /// The addition.
    pub operation: &'o Operation,
    /// Whether it is applied, or equals an existing record.
    pub is_applied: bool,
}

/// The result of judging an archiving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedArchive {
    /// The supporting passages.
    pub evidence: Vec<Evidence>,
    /// Why it is rejected, or a warning.
    pub ruling: Option<Ruling>,
}

/// The words of an addition.
pub(super) struct Words {
    keys: HashSet<Key, RandomState>,
    kind: Option<RecordKind>,
    is_applied: bool,
}

impl Words {
    pub(super) fn of(addition: &Addition<'_>) -> Self {
        let keys: HashSet<Key, RandomState> = match addition.operation {
            Operation::AddLearning { content, .. } => keys(content).collect(),
            Operation::AddVerbatim { label, snippet, .. } => keys(label).chain(keys(snippet)).collect(),
            _ => HashSet::default(),
        };
        Self {
            keys,
            kind: addition.operation.role().and_then(|role| role.record_kind()),
            is_applied: addition.is_applied,
        }
    }

    /// Number of words shared with a record of a kind, if enough to count as its replacement.
    pub(super) fn in_common(&self, kind: RecordKind, words: &[Word]) -> Option<usize> {
        (self.kind == Some(kind))
            .then(|| shared(words, &self.keys))
            .filter(|shared| *shared >= PAIR_WORDS)
    }

    fn is_pair(&self, kind: RecordKind, words: &[Word]) -> bool {
        self.in_common(kind, words).is_some()
    }
}

impl Judge<'_> {
    /// Judges the archivings of an otherwise valid answer, once it is known which additions are accepted.
    /// `earlier` are the records that an earlier text of the same update archives: they count towards the
    /// limit.
    #[must_use]
    pub fn archives(
        &self,
        ids: &[RecordId],
        additions: &[Addition<'_>],
        earlier: &BTreeSet<RecordId>,
    ) -> Vec<JudgedArchive> {
        let additions: Vec<Words> = additions.iter().map(Words::of).collect();
        let all: BTreeSet<RecordId> = ids.iter().chain(earlier).copied().collect();
        let named = self.named();
        ids.iter()
            .map(|id| {
                let of_section = all.iter().filter(|other| other.kind == id.kind).count();
                let mut judged = self.archive(*id, &additions, named.get(id).copied());
                let most = self.case.max_archives;
                if judged.ruling.is_none() && of_section > most {
                    let detail = format!(
                        "The answer archives {of_section} records of this section, more than the {most} of one answer, so \
                         none of them counts; archive only what the messages make wrong."
                    );
                    judged.ruling = Some(Ruling::of(FaultKind::TooManyArchives, detail));
                }
                judged.ruling = judged.ruling.map(|ruling| self.downgraded(ruling));
                judged
            })
            .collect()
    }

    fn archive(&self, id: RecordId, additions: &[Words], named: Option<(usize, usize)>) -> JudgedArchive {
        // Validation reports records that are not active.
        let none: &[Word] = &[];
        let words = self.actives.archived.get(&id).map_or(none, Vec::as_slice);
        let mut evidence: Vec<Evidence> = named
            .map(|(place, at)| self.index.sentence_at(place, at))
            .into_iter()
            .collect();
        for passage in self.index.evidence(words.iter().map(|word| word.key)) {
            if evidence.len() < 2 && !evidence.contains(&passage) {
                evidence.push(passage);
            }
        }
        let partners: Vec<bool> = additions
            .iter()
            .filter(|addition| addition.is_pair(id.kind, words))
            .map(|addition| addition.is_applied)
            .collect();
        let ruling = if !partners.is_empty() && !partners.contains(&true) {
            let detail = format!("The addition that belongs to it was rejected, so {id} stays.");
            Some(Ruling::of(FaultKind::UncalledArchive, detail))
        } else if named.is_some() || self.is_called(id, words, additions) {
            None
        } else {
            let detail = format!(
                "Neither the task nor the messages nor an addition of this answer mention {id}; archive only what \
                 they make wrong."
            );
            Some(Ruling::of(FaultKind::UncalledArchive, detail))
        };
        JudgedArchive { evidence, ruling }
    }

    fn is_called(&self, id: RecordId, words: &[Word], additions: &[Words]) -> bool {
        words
            .iter()
            .filter(|word| self.actives.is_distinctive(id.kind, word))
            .any(|word| {
                self.index.has(word.key)
                    || additions
                        .iter()
                        .any(|addition| addition.is_applied && addition.keys.contains(&word.key))
            })
    }

    /// The records that the input names, each with the text and the byte offset of the first occurrence.
    fn named(&self) -> HashMap<RecordId, (usize, usize)> {
        let mut named = HashMap::new();
        if self.actives.archived.is_empty() {
            return named;
        }
        for (place, (_, text)) in self.case.input.texts().enumerate() {
            for dash in memchr::memchr_iter(b'-', text.as_bytes()) {
                if let Some((id, at)) = id_around(text, dash) {
                    named.entry(id).or_insert((place, at));
                }
            }
        }
        named
    }
}

/// The id around a dash, in any case, and its byte offset.
fn id_around(text: &str, dash: usize) -> Option<(RecordId, usize)> {
    let start = dash.checked_sub(2)?;
    let prefix = text.get(start..dash)?.to_ascii_uppercase();
    let kind = prefix.parse().ok()?;
    let is_inside = text[..start]
        .chars()
        .next_back()
        .is_some_and(char::is_alphanumeric);
    let digits = text[dash + 1..].bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = text[dash + 1..dash + 1 + digits].parse().ok()?;
    (!is_inside).then(|| (RecordId::new(kind, number), start))
}
