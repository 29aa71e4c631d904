//! What the session makes wrong in the memory.
//!
//! A record is outdated when it is named as such; when a sentence says what is no longer so and the record says
//! just that; when a sentence gives a new value to the thing that the record gives another one; when somebody
//! moved and the record says where they lived; when a thing is given up and the record tells how to use it; and
//! when a record waits for an end that is reported.

use super::MAX_ARCHIVES;
use super::cues::{Hit, Sign};
use super::done::is_done;
use super::said::Said;
use super::session::Session;
use super::terms::{Kind, Stem, Terms, Value, values};
use super::transcript::Voice;
use crate::domain::document::Record;
use crate::domain::ids::RecordId;

/// A record that no longer holds, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outdated {
    pub(super) id: RecordId,
    pub(super) reason: &'static str,
}

const NAMED: &str = "the user said that it no longer holds";
const REPLACED: &str = "the user gave what holds instead";
const GIVEN_UP: &str = "the user said that it is no longer used";
const ENDED: &str = "what it waits for was reported";

/// Statements that are held against the records, the newest ones: each costs a look at every record.
const MAX_STATEMENTS: usize = 200;

/// The records that no longer hold, at most [`MAX_ARCHIVES`], in the order of the memory.
pub(super) fn outdated(session: &Session, records: &[Record]) -> Vec<Outdated> {
    let mut known: Vec<Known> = records.iter().map(Known::of).collect();
    let statements: Vec<_> = statements(session).collect();
    let newest = statements.len().saturating_sub(MAX_STATEMENTS);
    for &(said, changes, ends) in &statements[newest..] {
        let statement = Statement::of(said);
        let mut matches: Vec<(usize, &'static str)> = Vec::new();
        if changes {
            matches.extend(statement.revalued(&known));
        }
        for (at, record) in known
            .iter()
            .enumerate()
            .filter(|(_, record)| record.outdated.is_none())
        {
            let reason = if changes { statement.outdates(record) } else { None };
            let reason = reason.or_else(|| (ends && statement.ends(record)).then_some(ENDED));
            matches.extend(reason.map(|reason| (at, reason)));
        }
        for (at, reason) in matches {
            known[at].outdated = Some(reason);
        }
    }
    let gone = known.into_iter().zip(records).filter_map(|(known, record)| {
        known.outdated.map(|reason| Outdated {
            id: record.id,
            reason,
        })
    });
    gone.take(MAX_ARCHIVES).collect()
}

/// What may make a record wrong: each sentence with whether it changes something and whether it reports an end.
fn statements(session: &Session) -> impl Iterator<Item = (&Said, bool, bool)> {
    let denied = session.denied();
    let sure = |said: &&Said| !said.asks && !said.has_any(&[Sign::Hypothesis, Sign::Hedge]);
    session.meant().filter(sure).filter_map(move |said| {
        let changes = said.voice != Voice::Assistant
            && said.has_any(&[
                Sign::Change,
                Sign::Old,
                Sign::OldBefore,
                Sign::Retired,
                Sign::Obsolete,
                Sign::Moved,
            ]);
        let ends = is_done(said) && denied.binary_search(&said.message).is_err();
        (changes || ends).then_some((said, changes, ends))
    })
}

/// A record taken apart.
struct Known {
    id: String,
    terms: Terms,
    values: Vec<Value>,
    places: bool,
    waits: bool,
    outdated: Option<&'static str>,
}

impl Known {
    fn of(record: &Record) -> Self {
        let text = match &record.label {
            Some(label) => format!("{label}: {}", record.content),
            None => record.content.clone(),
        };
        let signs = super::cues::any_signs(&text);
        Self {
            id: record.id.to_string().to_lowercase(),
            terms: Terms::of(&text),
            values: values(&text),
            places: signs.contains(&Sign::Place),
            waits: signs.contains(&Sign::Waiting),
            outdated: None,
        }
    }
}

/// A sentence that changes something.
struct Statement<'s> {
    said: &'s Said,
    clauses: Vec<Clause>,
}

/// A part between commas.
struct Clause {
    terms: Terms,
    /// What is no longer so.
    old: Option<Terms>,
    /// What is given up.
    retired: Option<Terms>,
    changes: bool,
    values: Vec<Value>,
    /// The first thing it speaks of.
    subject: Option<Stem>,
}

impl<'s> Statement<'s> {
    fn of(said: &'s Said) -> Self {
        let clauses = clauses(said)
            .into_iter()
            .map(|part| Clause::of(&said.part(part)))
            .collect();
        Self { said, clauses }
    }

    fn outdates(&self, record: &Known) -> Option<&'static str> {
        if self.said.terms().numbers.contains(&record.id) && self.said.has(Sign::Obsolete) {
            return Some(NAMED);
        }
        if self.said.has(Sign::Moved)
            && record.places
            && self.said.terms().without_numbers().shared(&record.terms) > 0
        {
            return Some(REPLACED);
        }
        for (at, clause) in self.clauses.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| self.clauses.get(at));
            if let Some(retired) = &clause.retired
                && !retired.is_empty()
                && retired.is_within(&record.terms)
            {
                return Some(GIVEN_UP);
            }
            if clause.replaces(record, before) {
                return Some(REPLACED);
            }
        }
        None
    }

    /// The records to whose things a part gives another value: for each part the one that it shares most with, if
    /// there is one.
    fn revalued(&self, records: &[Known]) -> Vec<(usize, &'static str)> {
        let best = |clause: &Clause| {
            let shared = |record: &Known| self.said.terms().shared(&record.terms);
            let fits: Vec<usize> = (0..records.len())
                .filter(|at| records[*at].outdated.is_none() && clause.revalues(&records[*at]))
                .collect();
            let most = fits.iter().map(|at| shared(&records[*at])).max()?;
            let mut closest = fits.into_iter().filter(|at| shared(&records[*at]) == most);
            closest.next().filter(|_| closest.next().is_none())
        };
        let found = self.clauses.iter().filter_map(best);
        found.map(|at| (at, REPLACED)).collect()
    }

    /// Whether it reports the end that the record waits for.
    fn ends(&self, record: &Known) -> bool {
        record.waits
            && !self
                .said
                .has_any(&[Sign::NotYet, Sign::Open, Sign::Plan, Sign::Next, Sign::Negation])
            && self.said.terms().shared(&record.terms) >= 2
    }
}

impl Clause {
    fn of(said: &Said) -> Self {
        let span = |sign: Sign| {
            said.hits
                .iter()
                .filter(|hit| hit.sign == sign)
                .max_by_key(|hit| hit.end - hit.start)
        };
        let behind = |hit: &Hit| Terms::of(said.line.between(hit.end, span_end(said, hit.end)));
        let old = span(Sign::Old).map(behind).filter(|terms| !terms.is_empty());
        // "Not at Ramón's any more" has it before.
        let old = old
            .or_else(|| {
                span(Sign::OldBefore)
                    .or(span(Sign::Old))
                    .map(|hit| Terms::of(before(said, hit.start)))
                    .filter(|terms| !terms.is_empty())
            })
            .or_else(|| from_to(said));
        let retired = span(Sign::Retired).map(behind).filter(|terms| !terms.is_empty());
        let text = &said.line.text;
        Self {
            subject: subject(said),
            terms: said.terms().clone(),
            old,
            retired,
            changes: said.has(Sign::Change),
            values: values(text),
        }
    }

    /// The record says what this says to be no longer so, of the same thing.
    fn replaces(&self, record: &Known, before: Option<&Self>) -> bool {
        let Some(old) = &self.old else { return false };
        if !old.numbers.is_subset(&record.terms.numbers) {
            return false;
        }
        let words = old.words.intersection(&record.terms.words).count();
        let says_old = if old.numbers.is_empty() {
            words * 2 >= old.words.len() && words > 0
        } else {
            true
        };
        let rest = self.terms.without(old);
        let about = |terms: &Terms| terms.without(old).shared(&record.terms);
        let same_thing = about(&rest) > 0 || before.is_some_and(|before| about(&before.terms) > 0);
        // A name says itself what it is about, also one with a number in it.
        says_old && (same_thing || (words > 0 && words == old.words.len()))
    }

    /// The record gives another value of the same kind to the same thing.
    fn revalues(&self, record: &Known) -> bool {
        if !self.changes || self.old.is_some() {
            return false;
        }
        let differs = |kind: &Kind| {
            let of = |values: &[Value]| {
                values
                    .iter()
                    .filter(|(of, _)| of == kind)
                    .map(|(_, text)| text.clone())
                    .collect::<Vec<_>>()
            };
            let (new, old) = (of(&self.values), of(&record.values));
            !new.is_empty() && !old.is_empty() && !new.iter().any(|value| old.contains(value))
        };
        let kinds = self.values.iter().any(|(kind, _)| differs(kind));
        let shared = self.terms.without_numbers().shared(&record.terms);
        let subject = self
            .subject
            .as_ref()
            .is_some_and(|subject| record.terms.words.contains(subject));
        kinds && (shared >= 2 || subject)
    }
}

/// The parts of a sentence between commas and conjunctions.
fn clauses(said: &Said) -> Vec<&str> {
    let folded = &said.line.folded;
    let mut cuts = vec![0];
    for (at, word) in said.line.words() {
        if matches!(
            word,
            "," | ";" | ":" | "、" | "and" | "und" | "et" | "y" | "but" | "aber" | "mais" | "pero"
        ) {
            cuts.push(at);
        }
    }
    cuts.push(folded.len());
    let mut parts = Vec::new();
    for pair in cuts.windows(2) {
        for part in said.line.between(pair[0], pair[1]).split_inclusive(['。', '、']) {
            parts.push(part);
        }
    }
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// Where a span ends that names something old: at a mark, or where the new one begins.
fn span_end(said: &Said, start: usize) -> usize {
    let folded = &said.line.folded;
    let ends = |word: &str| {
        matches!(
            word,
            "," | ";"
                | "("
                | "!"
                | "but"
                | "sondern"
                | "mais"
                | "sino"
                | "to"
                | "because"
                | "as"
                | "any"
                | "than"
                | "can"
                | "is"
                | "are"
                | "weil"
                | "wie"
                | "comme"
                | "como"
                | "since"
                | "now"
                | "anymore"
                | "mehr"
                | "nach"
                | "auf"
        )
    };
    said.line
        .words()
        .find(|(at, word)| *at >= start && ends(word))
        .map_or(folded.len() - 1, |(at, _)| at)
}

/// What stands before: the words of Japanese up to a particle or mark, otherwise all.
fn before(said: &Said, end: usize) -> &str {
    let text = said.line.between(0, end);
    let start = text
        .rfind(['は', 'が', '、', '。', ','])
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

/// "from X to Y" with a word of change.
fn from_to(said: &Said) -> Option<Terms> {
    if !said.has_any(&[Sign::Change, Sign::Moved]) {
        return None;
    }
    let froms = said.hits.iter().filter(|hit| hit.sign == Sign::From);
    froms.clone().find_map(|from| {
        let rest = &said.line.folded[from.end..];
        let to = [" to ", " auf ", " zu ", " nach ", " à ", " au ", " a ", "に"]
            .iter()
            .filter_map(|to| rest.find(to))
            .min()?;
        let is_japanese = rest.as_bytes().get(to) != Some(&b' ');
        let old = if is_japanese {
            before(said, from.start)
        } else {
            said.line.between(from.end, from.end + to)
        };
        let terms = Terms::of(old);
        (!terms.is_empty() && terms.count() <= 6).then_some(terms)
    })
}

/// The first thing that a sentence speaks of.
fn subject(said: &Said) -> Option<Stem> {
    said.words()
        .find_map(|(_, word)| Terms::of(word).words.into_iter().next())
}
