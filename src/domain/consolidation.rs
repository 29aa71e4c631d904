//! Consolidation: which records of a memory can go because nothing is lost with them, and the checks that this is so.
//!
//! A record is archived on a [`Ground`]: another record says the same, a newer one takes its place, or it has expired. The
//! ground is checked against the document wherever the operation is validated, so also on the head that it is saved on,
//! whoever proposes it. [`find`] proposes what can be found without a model.
//!
//! A record says what another one says if all values of the other stand in it, in their order: numbers, dates, names,
//! identifiers, paths; as many negations; and its content words. Records that differ in any of these are different.

use super::document::{Marks, Record, records};
use super::ids::{RecordId, RecordKind};
use super::operation::Operation;
use super::text::content_words::{Key, content_words};
use super::text::{bare_words, folded};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Of the active records of a kind, one run archives at most one in this many, but at least one.
const SHARE: usize = 5;

/// With how many records that have a record's rarest word it is compared: where more have it, it says little.
const MAX_CANDIDATES: usize = 200;

/// Words without which a text says the same.
const ARTICLES: &str = "the a an is are was were that this der die das den dem ein eine einen ist sind le la les un une est \
    el los las una es son";

/// Words that turn a statement round. Two records say the same only if they have the same ones.
const NEGATIONS: &str = "not no never none nothing nor neither without cannot except unless only avoid stop forbidden \
    prohibited wrong false kein keine keinen keiner nicht nie niemals nichts ohne nur außer verboten \
    falsch ne pas jamais rien aucun aucune sans sauf seulement nunca jamás nada ningún ninguna sin salvo \
    solo sólo ない 不 没";

/// Words that give the order of what they join a meaning.
const RELATIONS: &str = "instead before after from to than over into via until by if when because vor nach statt von zu als \
    bis wenn avant après de à que si antes después en vez hasta cuando";

/// Why a record can be archived without losing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// The record says all that it says.
    DuplicateOf(RecordId),
    /// The newer record takes its place.
    SupersededBy(RecordId),
    /// Its own end is past.
    Expired,
}

impl Ground {
    /// The record that stays in its place.
    #[must_use]
    pub fn kept(self) -> Option<RecordId> {
        match self {
            Self::DuplicateOf(id) | Self::SupersededBy(id) => Some(id),
            Self::Expired => None,
        }
    }
}

/// What a text states, for comparison.
struct Statement {
    /// Numbers, dates, names, identifiers and paths, in order.
    values: Vec<String>,
    negations: Vec<String>,
    /// Content words, in order.
    keys: Vec<Key>,
    /// Words that join others in an order, in order.
    relations: Vec<String>,
    /// All words but articles, in order.
    words: Vec<String>,
    tokens: HashSet<String>,
}

impl Statement {
    fn of(record: &Record) -> Self {
        let text = &record.content;
        let mut statement = Self {
            values: Vec::new(),
            negations: Vec::new(),
            keys: content_words(text).iter().map(|word| word.key).collect(),
            relations: Vec::new(),
            words: Vec::new(),
            tokens: HashSet::new(),
        };
        for written in text.split_whitespace() {
            let written = written.trim_matches(|c: char| !c.is_alphanumeric() && !"/_#$@%+-<>=".contains(c));
            let token = written.to_lowercase();
            let is_word = written.chars().all(|c| c.is_alphabetic() && !c.is_uppercase());
            if token.is_empty() || is_one_of(ARTICLES, &token) {
                continue;
            }
            if is_one_of(NEGATIONS, &token) || token.ends_with("n't") || token.ends_with("n’t") {
                statement.negations.push(token.clone());
            } else if !is_word {
                statement.values.push(token.clone());
            }
            if is_one_of(RELATIONS, &token) {
                statement.relations.push(token.clone());
            }
            statement.words.push(token.clone());
            statement.tokens.insert(token);
        }
        statement.negations.sort_unstable();
        statement
    }

    /// What of another statement is missing here; `None` if this one says all of it.
    fn misses(&self, other: &Self) -> Option<String> {
        if let Some(value) = other.values.iter().find(|value| !self.tokens.contains(*value)) {
            return Some(format!("`{value}` is missing in it"));
        }
        if !is_subsequence(&other.values, self.words.iter()) {
            return Some("it names the same values in another order".to_owned());
        }
        if self.negations != other.negations {
            return Some("one of them negates what the other does not".to_owned());
        }
        let keys: HashSet<Key> = self.keys.iter().copied().collect();
        let missing = other.keys.iter().filter(|key| !keys.contains(key)).count();
        if missing > 0 {
            return Some(format!("{missing} of its words are missing in it"));
        }
        let is_ordered = is_subsequence(&other.keys, self.keys.iter())
            && is_subsequence(&other.relations, self.relations.iter());
        (!other.relations.is_empty() && !is_ordered)
            .then(|| "its words are joined in another way or order".to_owned())
    }
}

/// Whether a word is one of those of a list, which blanks separate.
fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn is_subsequence<'t, T: PartialEq + 't>(parts: &[T], mut whole: impl Iterator<Item = &'t T>) -> bool {
    parts.iter().all(|part| whole.any(|other| other == part))
}

/// Why a record says not all that another one says; `None` if it does. Each comes with its statement.
fn difference(
    (archived, stated): (&Record, &Statement),
    (kept, stated_by_kept): (&Record, &Statement),
) -> Option<String> {
    if !outlives(&kept.marks, &archived.marks) {
        return Some("it expires earlier".to_owned());
    }
    if archived.id.kind == RecordKind::Verbatim {
        let same = archived.content == kept.content && label(archived) == label(kept);
        return (!same).then(|| "snippets are duplicates only if they are equal".to_owned());
    }
    stated_by_kept.misses(stated)
}

fn label(record: &Record) -> String {
    folded(record.label.as_deref().unwrap_or_default())
}

/// Whether a record holds at least as long as another one.
fn outlives(kept: &Marks, archived: &Marks) -> bool {
    match (kept.until, archived.until) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(kept), Some(archived)) => kept.end() >= archived.end(),
    }
}

/// Whether a record names another one as what it takes the place of.
fn supersedes(newer: &Record, older: RecordId) -> bool {
    const VERBS: [&str; 10] = [
        "supersede",
        "replace",
        "instead of",
        "ersetzt",
        "löst",
        "remplace",
        "substitu",
        "reemplaza",
        "sustituye",
        "取代",
    ];
    let text = format!(
        "{} {}",
        newer.reason.as_deref().unwrap_or_default(),
        newer.content
    );
    let name = older.to_string();
    let names = text
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .any(|word| word == name);
    let text = text.to_lowercase();
    names && VERBS.iter().any(|verb| text.contains(verb))
}

/// Checks the ground of an archiving against the records of the head.
///
/// # Errors
///
/// A sentence that says what does not hold.
pub(in crate::domain) fn check(
    archived: &Record,
    ground: Ground,
    kept: Option<&Record>,
) -> Result<(), String> {
    let id = archived.id;
    let Some(other) = ground.kept() else {
        return match archived.marks.until {
            Some(_) => Ok(()),
            None => Err(format!("{id} has no end, so it cannot have expired.")),
        };
    };
    let Some(kept) = kept.filter(|kept| kept.id != id && kept.id.kind == id.kind) else {
        return Err(format!(
            "{other} is no active record of the same kind, so {id} stays."
        ));
    };
    match ground {
        Ground::DuplicateOf(_) => {
            match difference((archived, &Statement::of(archived)), (kept, &Statement::of(kept))) {
                None => Ok(()),
                Some(difference) => Err(format!("{other} does not say all that {id} says: {difference}.")),
            }
        }
        Ground::SupersededBy(_) if kept.id.number < id.number => Err(format!("{other} is older than {id}.")),
        Ground::SupersededBy(_) if supersedes(kept, id) => Ok(()),
        _ => Err(format!("{other} does not say that it takes the place of {id}.")),
    }
}

/// Finds what can go without a model: what has expired, exact and near duplicates, and decisions that a newer one names as
/// superseded. Never a pinned record. Deterministic.
#[must_use]
pub fn find(document: &str, now: DateTime<Utc>) -> Vec<Operation> {
    let records = records(document);
    let mut counts: BTreeMap<RecordKind, usize> = BTreeMap::new();
    for record in &records {
        *counts.entry(record.id.kind).or_default() += 1;
    }
    let mut found = Found {
        left: counts
            .into_iter()
            .map(|(kind, count)| (kind, (count / SHARE).max(1)))
            .collect(),
        operations: Vec::new(),
        archived: BTreeSet::new(),
        kept: BTreeSet::new(),
    };
    let open: Vec<&Record> = records.iter().filter(|record| !record.marks.pinned).collect();
    for record in &open {
        if let Some(until) = record.marks.until.filter(|_| record.marks.has_expired(now)) {
            found.archive(record, Ground::Expired, format!("expired on {until}"));
        }
    }
    for record in &open {
        let is_later =
            |newer: &&Record| newer.id.kind == record.id.kind && newer.id.number > record.id.number;
        if record.id.kind == RecordKind::Decision
            && let Some(newer) = records
                .iter()
                .filter(is_later)
                .find(|newer| supersedes(newer, record.id))
        {
            let reason = format!("{} supersedes it", newer.id);
            found.archive(record, Ground::SupersededBy(newer.id), reason);
        }
    }
    for (record, kept) in duplicates(&records) {
        let reason = format!("duplicate of {}", kept.id);
        found.archive(record, Ground::DuplicateOf(kept.id), reason);
    }
    found.operations
}

struct Found {
    /// How many more of a kind may go.
    left: BTreeMap<RecordKind, usize>,
    operations: Vec<Operation>,
    archived: BTreeSet<RecordId>,
    kept: BTreeSet<RecordId>,
}

impl Found {
    /// Archives a record, unless it is kept for another one, or what it is kept by goes.
    fn archive(&mut self, record: &Record, ground: Ground, reason: String) {
        let id = record.id;
        let left = self.left.entry(id.kind).or_default();
        let goes = ground.kept().is_some_and(|kept| self.archived.contains(&kept));
        if *left == 0 || goes || self.kept.contains(&id) || !self.archived.insert(id) {
            return;
        }
        *left -= 1;
        self.kept.extend(ground.kept());
        self.operations.push(Operation::Archive {
            id,
            reason,
            ground: Some(ground),
        });
    }
}

/// Records and others that say all that they say: learnings and snippets that are not pinned, newest first. Of two that say the
/// same the older stays.
fn duplicates(records: &[Record]) -> Vec<(&Record, &Record)> {
    let of_kinds = |record: &&Record| matches!(record.id.kind, RecordKind::Learning | RecordKind::Verbatim);
    let statements: Vec<(&Record, Statement)> = records
        .iter()
        .filter(of_kinds)
        .map(|record| (record, Statement::of(record)))
        .collect();
    // A record that says all that another one says has its rarest word.
    let mut with_key: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut with_text: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, (record, statement)) in statements.iter().enumerate() {
        for key in statement.keys.iter().collect::<HashSet<_>>() {
            with_key.entry(*key).or_default().push(place);
        }
        with_text
            .entry(bare_words(&record.content))
            .or_default()
            .push(place);
    }
    let mut found = Vec::new();
    for (place, (record, statement)) in statements.iter().enumerate().rev() {
        if record.marks.pinned {
            continue;
        }
        let rarest = statement
            .keys
            .iter()
            .filter_map(|key| with_key.get(key))
            .min_by_key(|places| places.len());
        let same = with_text.get(&bare_words(&record.content));
        // The same text first: it is found however many records have the same words.
        let rarest = rarest.into_iter().flatten().take(MAX_CANDIDATES);
        let kept = same.into_iter().flatten().chain(rarest).copied().find(|other| {
            let (kept, stated_by_kept) = &statements[*other];
            let (one, another) = ((*record, statement), (*kept, stated_by_kept));
            // Of two that can both go the older stays.
            let stays = || *other < place || kept.marks.pinned || difference(another, one).is_some();
            *other != place && kept.id.kind == record.id.kind && difference(one, another).is_none() && stays()
        });
        found.extend(kept.map(|kept| (*record, statements[kept].0)));
    }
    found
}

#[cfg(test)]
mod tests;
