//! `Key Learnings`: adds the claims with the highest score and archives outdated records.

use std::cmp::Reverse;

use super::annotated::AnnotatedSentence;
use super::caps::{MAX_ADDITIONS, MAX_ARCHIVES};
use super::claims::Claim;
use super::contradiction::{Outdated, outdated};
use super::cues::Sign;
use super::memory;
use super::session::Session;
use super::terms::Terms;
use super::weights::Scorer;
use super::worth::INSTEAD;
use crate::domain::document::Record;
use crate::domain::ids::RecordKind;
use crate::llm::Source;

/// The weight of a claim that the user asks to keep.
const ASKED_FOR: u8 = 10;

/// Sessions with fewer messages than this are not scored.
const FEW_MESSAGES: usize = 4;

/// The section in the update DSL; `None` if there is nothing clear to record.
pub(super) fn section(source: &Source) -> Option<String> {
    let session = Session::of(source);
    let records = memory::records_of(&source.document, RecordKind::Learning);
    let outdated_records = outdated(&session, &records);
    let chosen = highest_scored(fresh(&session, &records, &outdated_records));
    written(&chosen, &outdated_records)
}

fn written(chosen: &[Claim], outdated_records: &[Outdated]) -> Option<String> {
    if chosen.is_empty() && outdated_records.is_empty() {
        return None;
    }
    let mut text = String::from("KEY_LEARNINGS:\n");
    if !chosen.is_empty() {
        text.push_str("  ADD:\n");
    }
    for claim in chosen {
        text.push_str(&format!("    - because {}: {}\n", claim.reason, claim.text));
    }
    text.push_str(&archives(outdated_records));
    Some(text)
}

/// The `ARCHIVE` list in the update DSL; empty if nothing is archived.
pub(super) fn archives(outdated_records: &[Outdated]) -> String {
    let mut text = String::new();
    for (at, outdated) in outdated_records.iter().take(MAX_ARCHIVES).enumerate() {
        if at == 0 {
            text.push_str("  ARCHIVE:\n");
        }
        text.push_str(&format!("    - {} because {}\n", outdated.id, outdated.reason));
    }
    text
}

/// Claims that were not retracted and are not yet in the memory, in order.
fn fresh(session: &Session, records: &[Record], outdated_records: &[Outdated]) -> Vec<Claim> {
    let known: Vec<Terms> = records
        .iter()
        .filter(|record| {
            !outdated_records
                .iter()
                .any(|outdated_records| outdated_records.id == record.id)
        })
        .map(|record| Terms::of(&record.content))
        .collect();
    let denied = session.denied();
    let mut claims: Vec<Claim> = Vec::new();
    let mut announced: Option<(usize, Sign)> = None;
    let mut before: Option<&AnnotatedSentence> = None;
    let mut short: Option<Terms> = None;
    let scales = Scorer::of(session);
    let instead: Vec<usize> = outdated_records
        .iter()
        .filter_map(|outdated_records| outdated_records.instead)
        .collect();
    for (at, sentence) in session
        .sentences
        .iter()
        .enumerate()
        .filter(|(_, sentence)| !sentence.excluded)
    {
        if sentence.has(Sign::Refuted) {
            let refuted = sentence.content();
            claims.retain(|claim| {
                !claim.is_finding || claim.message == sentence.message || !refutes(refuted, claim)
            });
        }
        if let Some(terms) = short.take()
            && before.is_some_and(|before| before.message == sentence.message)
            && sentence.is_meaningful()
            && !sentence.asks
            && let Some(claim) = claims.iter_mut().find(|claim| claim.terms == terms)
        {
            claim.append(sentence);
        }
        // "Found it!" announces the next sentence.
        let carried = announced
            .take()
            .filter(|(message, _)| *message == sentence.message);
        announced = [Sign::Cause, Sign::Finding, Sign::Decision]
            .into_iter()
            .find(|sign| {
                sentence.has(*sign)
                    && sentence.terms().count() <= 3
                    && !sentence.is_meaningful()
                    && !sentence.asks
            })
            .map(|sign| (sentence.message, sign));
        let previous = before
            .replace(sentence)
            .filter(|previous| previous.message == sentence.message);
        let confirmed = previous
            .filter(|_| confirms(sentence))
            .and_then(|previous| Claim::announced(previous, Sign::Decision));
        // "Why? Because OCT 31 is DEC 25." is rhetorical.
        let answers_itself =
            previous.is_some_and(|previous| previous.asks) && sentence.opens_with(Sign::Because);
        if answers_itself {
            continue;
        }
        let own = || {
            let own = Claim::of(sentence, session).or_else(|| Claim::announced(sentence, carried?.1));
            own.and_then(|claim| claim.grounded(previous, sentence))
        };
        let with_before = || previous.and_then(|previous| Claim::of_two(previous, sentence));
        let instead = || Claim::instead(sentence).filter(|_| instead.contains(&at));
        let without_rule =
            || Claim::without_rule(sentence).and_then(|claim| claim.grounded(previous, sentence));
        let found = confirmed.or_else(own).or_else(instead).or_else(with_before);
        let Some(mut claim) = found.or_else(without_rule) else {
            continue;
        };
        claim.score = scales.score(at, claim.weight, claim.reason);
        if !is_worth_it(&claim, &scales) {
            continue;
        }
        let taken_back = claim.is_finding && denied.binary_search(&claim.message).is_ok();
        if taken_back || known.iter().any(|known| known.equals(&claim.terms)) {
            continue;
        }
        short = claim.is_short(sentence).then(|| claim.terms.clone());
        match claims
            .iter_mut()
            .find(|earlier| earlier.terms.equals(&claim.terms))
        {
            Some(earlier) if earlier.weight < claim.weight => *earlier = claim,
            Some(_) => {}
            None => claims.push(claim),
        }
        drop_lowest_scored(&mut claims);
    }
    claims
}

/// "That's settled." marks the sentence before as a decision.
fn confirms(sentence: &AnnotatedSentence) -> bool {
    let opens = sentence
        .hits
        .iter()
        .any(|hit| hit.sign == Sign::Decision && hit.start == sentence.body_start());
    let names_none = sentence.terms().numbers.is_empty();
    opens && names_none && !sentence.asks && !sentence.has(Sign::NotYet) && sentence.content().count() <= 1
}

/// Whether a refutation concerns this claim: it has few words and shares most of them.
fn refutes(refuted: &Terms, claim: &Claim) -> bool {
    let shared = refuted.shared(&claim.terms);
    shared > 0 && shared * 2 >= refuted.count() && refuted.count() <= 8
}

/// Whether the score is sufficient. A sentence without a claim by the rules needs the highest score; claims
/// that the user asks to keep and replacements of records need none. Sessions with few messages are not
/// scored; there the rules decide.
fn is_worth_it(claim: &Claim, scales: &Scorer<'_>) -> bool {
    let enough = match claim.weight {
        0 => 50,
        1..=7 => 44,
        8..ASKED_FOR => 36,
        ASKED_FOR.. => return true,
    };
    match scales.messages < FEW_MESSAGES {
        true => claim.weight > 0,
        false => claim.reason == INSTEAD || claim.score >= enough,
    }
}

/// Bounds the list, so that the time stays linear for long sessions.
fn drop_lowest_scored(claims: &mut Vec<Claim>) {
    if claims.len() > MAX_ADDITIONS * 8
        && let Some(lightest) = (0..claims.len()).min_by_key(|at| (rank(&claims[*at]), *at))
    {
        claims.remove(lightest);
    }
}

/// Sort key: claims that the user asks to keep first, then by score.
fn rank(claim: &Claim) -> (bool, i32) {
    (claim.weight >= ASKED_FOR, claim.score)
}

/// The claims with the highest score, the latest first among equals; returned in their original order.
fn highest_scored(claims: Vec<Claim>) -> Vec<Claim> {
    let mut ranked: Vec<(usize, Claim)> = claims.into_iter().enumerate().collect();
    ranked.sort_by_key(|(at, claim)| (Reverse(rank(claim)), Reverse(*at)));
    ranked.truncate(MAX_ADDITIONS);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, claim)| claim).collect()
}
