//! Detects next steps that are expressed by their order.

use super::annotated::AnnotatedSentence;
use super::cues::Sign;
use super::done::is_done;
use super::sentence::Voice;
use super::session::Session;
use super::work_state::State;

/// Whether it describes a next step.
pub(super) fn is_next(piece: &AnnotatedSentence, session: &Session, before: Option<State>) -> bool {
    let strong = piece
        .hits
        .iter()
        .copied()
        .find(|hit| hit.sign == Sign::Next && !is_weak_next(&piece.line.folded[hit.start..hit.end]));
    let Some(hit) = strong.or_else(|| piece.first(Sign::Next)) else {
        return piece.voice == Voice::Assistant
            && piece.message == session.last_answer
            && piece
                .holds(Sign::Plan, &[Sign::Negation, Sign::Condition])
                .is_some()
            && piece.terms().count() >= 2
            // "I will look again in an hour" is not work.
            && !piece.has(Sign::Waits)
            && !is_done(piece)
            && !piece.has(Sign::Negation);
    };
    let folded = &piece.line.folded;
    let cue = &folded[hit.start..hit.end];
    let begins = hit.start <= piece.body_start() + 1;
    let rest = folded[hit.end..].trim_start();
    let weak = is_weak_next(cue);
    if piece.has(Sign::Negation) && !begins {
        return false;
    }
    if weak {
        let goes_on = matches!(
            before,
            Some(State::Doing | State::Open | State::Asked | State::Done)
        ) || piece.has(Sign::Plan);
        return begins
            && goes_on
            && !rest.starts_with([':', ','])
            && piece.terms().count() >= 1
            && !is_done(piece);
    }
    let noun = matches!(cue, "next")
        && matches!(
            rest.split(' ').next().unwrap_or_default(),
            "week" | "month" | "year" | "day" | "time" | "to" | "door" | "monday" | "tuesday" | "friday"
        );
    !noun && piece.terms().count() >= 1 && (begins || cue.contains("next") || cue.len() > 5)
}

/// Words that express an order only among other steps.
fn is_weak_next(cue: &str) -> bool {
    matches!(
        cue,
        "then"
            | "dann"
            | "puis"
            | "luego"
            | "entonces"
            | "after the"
            | "later"
            | "later on"
            | "finally"
            | "enfin"
            | "tomorrow"
            | "morgen"
            | "demain"
            | "mañana"
    )
}
