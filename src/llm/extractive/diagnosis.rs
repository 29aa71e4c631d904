//! Explanations of a fault by the assistant without an explicit cue such as "cause".

use super::annotated::AnnotatedSentence;
use super::cues::Sign;
use super::done::is_done;
use super::session::Session;
use super::worth::{CAUSE, UNSURE, Worth};

/// "It's the elevation tiles: the cache stores an empty file", in a session that looks for a fault.
pub(super) fn explains(sentence: &AnnotatedSentence, session: &Session) -> Worth {
    let first = sentence.words().next().map_or("", |(_, word)| word);
    let points = matches!(first, "it's" | "it" | "es" | "das" | "c'est" | "era" | "son");
    let sure = !sentence.has_any(&UNSURE)
        && !sentence.has_any(&[Sign::Plan, Sign::Refuted, Sign::NotYet, Sign::Done]);
    let says_how = sentence.line.folded.contains(" : ") && sentence.terms().count() >= 4;
    (session.seeks_a_fault && points && sure && says_how).then_some((7, CAUSE, true))
}

/// "The old certificate was still in the store. I imported the new one.", or "Both jobs start at two: they
/// lock each other out", after a tool output and with its words, in a session that looks for a fault.
pub(super) fn diagnoses(sentence: &AnnotatedSentence, session: &Session) -> Worth {
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
    let mended = session.is_then_fixed(sentence);
    let concludes =
        mended || sentence.has_any(&[Sign::Because, Sign::Hence]) || sentence.line.folded.contains(" : ");
    let of_output = mended
        || session.seen_values.shares_words_with_output(sentence)
        || session.seen_values.was_in_output(sentence);
    let fits = session.follows_output(sentence)
        && concludes
        && of_output
        && sentence.terms().count() >= 5
        && !sentence.has_any(&UNSURE)
        && !sentence.has_any(&other)
        && !is_done(sentence);
    (session.seeks_a_fault && fits).then_some((5, CAUSE, true))
}
