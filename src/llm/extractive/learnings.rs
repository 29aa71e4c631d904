//! `Key Learnings`: adds the claims with the highest score and archives outdated records.

use std::cmp::Reverse;

use super::caps::{MAX_ADDITIONS, MAX_ARCHIVES};
use super::claims::Claim;
use super::contradiction::{Outdated, outdated};
use super::cues::Sign;
use super::memory;
use super::said::Said;
use super::session::Session;
use super::terms::Terms;
use super::weights::Scales;
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
    let gone = outdated(&session, &records);
    let chosen = heaviest(fresh(&session, &records, &gone));
    written(&chosen, &gone)
}

fn written(chosen: &[Claim], gone: &[Outdated]) -> Option<String> {
    if chosen.is_empty() && gone.is_empty() {
        return None;
    }
    let mut text = String::from("KEY_LEARNINGS:\n");
    if !chosen.is_empty() {
        text.push_str("  ADD:\n");
    }
    for claim in chosen {
        text.push_str(&format!("    - because {}: {}\n", claim.reason, claim.text));
    }
    text.push_str(&archives(gone));
    Some(text)
}

/// The `ARCHIVE` list in the update DSL; empty if nothing is archived.
pub(super) fn archives(gone: &[Outdated]) -> String {
    let mut text = String::new();
    for (at, outdated) in gone.iter().take(MAX_ARCHIVES).enumerate() {
        if at == 0 {
            text.push_str("  ARCHIVE:\n");
        }
        text.push_str(&format!("    - {} because {}\n", outdated.id, outdated.reason));
    }
    text
}

/// Claims that were not retracted and are not yet in the memory, in order.
fn fresh(session: &Session, records: &[Record], gone: &[Outdated]) -> Vec<Claim> {
    let known: Vec<Terms> = records
        .iter()
        .filter(|record| !gone.iter().any(|gone| gone.id == record.id))
        .map(|record| Terms::of(&record.content))
        .collect();
    let denied = session.denied();
    let mut claims: Vec<Claim> = Vec::new();
    let mut announced: Option<(usize, Sign)> = None;
    let mut before: Option<&Said> = None;
    let mut short: Option<Terms> = None;
    let scales = Scales::of(session);
    let instead: Vec<usize> = gone.iter().filter_map(|gone| gone.instead).collect();
    for (at, said) in session.said.iter().enumerate().filter(|(_, said)| !said.void) {
        if said.has(Sign::Refuted) {
            let refuted = said.content();
            claims.retain(|claim| {
                !claim.is_finding || claim.message == said.message || !refutes(refuted, claim)
            });
        }
        if let Some(terms) = short.take()
            && before.is_some_and(|before| before.message == said.message)
            && said.is_telling()
            && !said.asks
            && let Some(claim) = claims.iter_mut().find(|claim| claim.terms == terms)
        {
            claim.go_on(said);
        }
        // "Found it!" announces the next sentence.
        let carried = announced.take().filter(|(message, _)| *message == said.message);
        announced = [Sign::Cause, Sign::Finding, Sign::Decision]
            .into_iter()
            .find(|sign| said.has(*sign) && said.terms().count() <= 3 && !said.is_telling() && !said.asks)
            .map(|sign| (said.message, sign));
        let behind = before
            .replace(said)
            .filter(|behind| behind.message == said.message);
        let confirmed = behind
            .filter(|_| confirms(said))
            .and_then(|behind| Claim::announced(behind, Sign::Decision));
        // "Why? Because OCT 31 is DEC 25." is rhetorical.
        let answers_itself = behind.is_some_and(|behind| behind.asks) && said.opens_with(Sign::Because);
        if answers_itself {
            continue;
        }
        let own = || {
            let own = Claim::of(said, session).or_else(|| Claim::announced(said, carried?.1));
            own.and_then(|claim| claim.grounded(behind, said))
        };
        let with_before = || behind.and_then(|behind| Claim::of_two(behind, said));
        let instead = || Claim::instead(said).filter(|_| instead.contains(&at));
        let told = || Claim::told(said).and_then(|claim| claim.grounded(behind, said));
        let found = confirmed.or_else(own).or_else(instead).or_else(with_before);
        let Some(mut claim) = found.or_else(told) else {
            continue;
        };
        claim.score = scales.weigh(at, claim.weight, claim.reason);
        if !is_worth_it(&claim, &scales) {
            continue;
        }
        let taken_back = claim.is_finding && denied.binary_search(&claim.message).is_ok();
        if taken_back || known.iter().any(|known| known.equals(&claim.terms)) {
            continue;
        }
        short = claim.is_short(said).then(|| claim.terms.clone());
        match claims
            .iter_mut()
            .find(|earlier| earlier.terms.equals(&claim.terms))
        {
            Some(earlier) if earlier.weight < claim.weight => *earlier = claim,
            Some(_) => {}
            None => claims.push(claim),
        }
        forget_lightest(&mut claims);
    }
    claims
}

/// "That's settled." marks the sentence before as a decision.
fn confirms(said: &Said) -> bool {
    let opens = said
        .hits
        .iter()
        .any(|hit| hit.sign == Sign::Decision && hit.start == said.body_start());
    let names_none = said.terms().numbers.is_empty();
    opens && names_none && !said.asks && !said.has(Sign::NotYet) && said.content().count() <= 1
}

/// Whether a refutation concerns this claim: it has few words and shares most of them.
fn refutes(refuted: &Terms, claim: &Claim) -> bool {
    let shared = refuted.shared(&claim.terms);
    shared > 0 && shared * 2 >= refuted.count() && refuted.count() <= 8
}

/// Whether the score is sufficient. A sentence without a claim by the rules needs the highest score; claims
/// that the user asks to keep and replacements of records need none. Sessions with few messages are not
/// scored; there the rules decide.
fn is_worth_it(claim: &Claim, scales: &Scales<'_>) -> bool {
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
fn forget_lightest(claims: &mut Vec<Claim>) {
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
fn heaviest(claims: Vec<Claim>) -> Vec<Claim> {
    let mut ranked: Vec<(usize, Claim)> = claims.into_iter().enumerate().collect();
    ranked.sort_by_key(|(at, claim)| (Reverse(rank(claim)), Reverse(*at)));
    ranked.truncate(MAX_ADDITIONS);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, claim)| claim).collect()
}
