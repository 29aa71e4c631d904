//! Detects sentences that report finished work.

use super::annotated::AnnotatedSentence;
use super::cues::{Language, Sign};
use super::sentence::Voice;
use super::terms::Terms;

/// Maximum distance from an auxiliary to its participle, in words.
const REACH: usize = 4;
/// The same for German, where the participle comes last.
const FAR_REACH: usize = 14;

/// Reports of finished work by users: their own deeds and completed work, not habits.
pub(super) fn is_done_by_user(piece: &AnnotatedSentence) -> bool {
    if !is_done(piece)
        || piece.has_any(&[Sign::Wish, Sign::Request])
        || (piece.opens_with(Sign::Anaphor)
            && piece.content().count() < 2
            && !piece.has_any(&[Sign::Done, Sign::Closing]))
    {
        return false;
    }
    let folded = &piece.line.folded;
    let own = piece.has(Sign::Own);
    let ended = piece.holds(Sign::Done, &AGAINST).is_some()
        || piece.has(Sign::Closing)
        || piece.language == Language::Japanese;
    let reports_completion = [" : ", " , ", " . ", " ! ", " since "].iter().any(|mark| {
        piece.line.words().any(|(at, word)| {
            (piece.language.words().is_done)(word) && folded[at + word.len()..].starts_with(mark)
        })
    });
    let own_past = piece.words().any(|(_, word)| {
        (piece.language.words().needs_no_auxiliary)(word) && (piece.language.words().is_done)(word)
    });
    own || own_past || ended || (reports_completion && !piece.has(Sign::Change))
}

/// Signs that invalidate a report.
const AGAINST: [Sign; 7] = [
    Sign::NotYet,
    Sign::Negation,
    Sign::Condition,
    Sign::Hedge,
    Sign::Hypothesis,
    Sign::Hearsay,
    Sign::Plan,
];

/// Whether it reports finished work: in the past tense, or a state that ends the work.
pub(super) fn is_done(piece: &AnnotatedSentence) -> bool {
    reports_done(piece, true)
}

/// The same for a part of a sentence; a participle alone counts only in the first part.
pub(super) fn reports_done(piece: &AnnotatedSentence, first: bool) -> bool {
    if piece.language == Language::Japanese {
        return japanese_done(piece);
    }
    if is_now_so(piece) {
        return true;
    }
    if piece.holds(Sign::Done, &AGAINST).is_some()
        || piece.hits.iter().any(|hit| {
            hit.sign == Sign::Closing && piece.content().is_empty() && hit.start <= piece.body_start()
        })
    {
        return true;
    }
    let is_participle = piece.language.words().is_done;
    let reach = if piece.language == Language::German {
        FAR_REACH
    } else {
        REACH
    };
    let words: Vec<(usize, &str)> = piece.line.words().collect();
    let start = piece.body_start();
    for (at, (place, word)) in words.iter().enumerate() {
        if !is_participle(word) {
            continue;
        }
        let against_before = piece
            .hits
            .iter()
            .any(|hit| AGAINST.contains(&hit.sign) && hit.start <= *place);
        if against_before {
            return false;
        }
        let next = words.get(at + 1).map_or(".", |(_, next)| *next);
        let ends = matches!(next, "," | "." | "!");
        let begins = (*place <= start.max(1) || *place <= 1) && (first || !ends);
        let nearby = &words[at.saturating_sub(reach)..at];
        let is_elided = |(_, word): &(usize, &str)| word.ends_with("'s");
        let helped = at.checked_sub(1).is_some_and(|at| is_elided(&words[at]))
            || nearby.iter().any(|(place, _)| {
                piece
                    .hits
                    .iter()
                    .any(|hit| hit.sign == Sign::Aux && hit.start <= *place && hit.end > *place)
            });
        // "Menu of the week changed: …", "TTL raised."
        let by_assistant = piece.voice == Voice::Assistant && !piece.has(Sign::Aux);
        // "Request sent today, 3 April"
        let day = |(place, _): &(usize, &str)| {
            let mut hits = piece.hits.iter();
            hits.any(|hit| hit.sign == Sign::Day && hit.start == *place)
        };
        let is_dated = words.get(at + 1).is_some_and(day);
        let ends_clause = (is_dated || matches!(next, "," | "." | ":" | ";"))
            && !piece.has(Sign::Says)
            && ((first && at <= 3) || (by_assistant && at <= 6 && (first || next == ".")));
        // "wird geprüft", "to be checked", "being checked", "should be checked"
        let passive = nearby
            .iter()
            .any(|(_, word)| matches!(*word, "be" | "being" | "gets" | "get" | "always" | "wird" | "werden" | "sera" | "seront" | "será" | "serán" | "to" | "was" if piece.voice == Voice::User && *word == "was"));
        let finite = (piece.language.words().needs_no_auxiliary)(word);
        if !passive && (begins || helped || ends_clause || finite) {
            return true;
        }
    }
    false
}

/// "stg_counters now reads either name", from the assistant: it made the change.
fn is_now_so(piece: &AnnotatedSentence) -> bool {
    let unfinished = [Sign::Open, Sign::Trouble, Sign::Next];
    let now = piece.first(Sign::Now);
    let names_thing = |now: super::cues::Hit| {
        let before = Terms::of(piece.line.between(piece.body_start(), now.start));
        !before.is_empty() && !piece.line.folded[..now.start].contains([',', ':', ';'])
    };
    piece.voice == Voice::Assistant
        && !piece.asks
        && !piece.has_any(&AGAINST)
        && !piece.has_any(&unfinished)
        && now.is_some_and(names_thing)
}

fn japanese_done(piece: &AnnotatedSentence) -> bool {
    let folded = piece.line.folded.as_str();
    if piece.has_any(&[
        Sign::NotYet,
        Sign::Open,
        Sign::Request,
        Sign::Hedge,
        Sign::Hypothesis,
    ]) {
        return false;
    }
    let deed = folded.match_indices("ました").any(|(at, _)| {
        (piece.language.words().is_done)(folded[..at].rsplit([' ', '、', '。']).next().unwrap_or_default())
    });
    let voice = piece.voice != Voice::User;
    (deed && voice)
        || piece
            .hits
            .iter()
            .any(|hit| hit.sign == Sign::Done && !folded[hit.end..].starts_with("する必要"))
}
