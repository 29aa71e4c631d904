//! Explanations of a fault by the assistant without an explicit cue such as "cause".

use super::cues::Sign;
use super::done::is_done;
use super::said::Said;
use super::session::Session;
use super::worth::{CAUSE, UNSURE, Worth};

/// "It's the elevation tiles: the cache stores an empty file", in a session that looks for a fault.
pub(super) fn explains(said: &Said, session: &Session) -> Worth {
    let first = said.words().next().map_or("", |(_, word)| word);
    let points = matches!(first, "it's" | "it" | "es" | "das" | "c'est" | "era" | "son");
    let sure =
        !said.has_any(&UNSURE) && !said.has_any(&[Sign::Plan, Sign::Refuted, Sign::NotYet, Sign::Done]);
    let says_how = said.line.folded.contains(" : ") && said.terms().count() >= 4;
    (session.seeks_a_fault && points && sure && says_how).then_some((7, CAUSE, true))
}

/// "The old certificate was still in the store. I imported the new one.", or "Both jobs start at two: they
/// lock each other out", after a tool output and with its words, in a session that looks for a fault.
pub(super) fn diagnoses(said: &Said, session: &Session) -> Worth {
    let other = [
        Sign::Plan,
        Sign::Refuted,
        Sign::NotYet,
        Sign::Open,
        Sign::Next,
        Sign::Request,
        Sign::Meta,
        Sign::Condition,
        Sign::Injection,
    ];
    let mended = session.is_mended(said);
    let concludes = mended || said.has_any(&[Sign::Because, Sign::Hence]) || said.line.folded.contains(" : ");
    let of_output = mended || session.shown.tells_of(said) || session.shown.bears_out(said);
    let fits = session.is_behind_output(said)
        && concludes
        && of_output
        && said.terms().count() >= 5
        && !said.has_any(&UNSURE)
        && !said.has_any(&other)
        && !is_done(said);
    (session.seeks_a_fault && fits).then_some((5, CAUSE, true))
}
