//! Detects small talk: statements that are temporary or not meaningful by themselves.

use super::annotated::AnnotatedSentence;
use super::cues::{Hit, Language, Sign};
use super::terms::{Terms, names};

/// A part of a sentence with more terms than this is more than a mood.
const MOOD_TERMS: usize = 4;

/// Talk about the assistant, about what others want or say, and about temporary states.
pub(super) fn is_of_the_moment(sentence: &AnnotatedSentence) -> bool {
    let outright = sentence
        .hits
        .iter()
        .find(|hit| matches!(hit.sign, Sign::Rule | Sign::Decision));
    let of_others = sentence.first(Sign::Others);
    let is_reported = of_others.is_some_and(|others| outright.is_none_or(|hit| others.start < hit.start));
    // "No larch, my daughter bites everything at the moment": the reason is temporary, not the statement.
    let passes = sentence.first(Sign::Passing).is_some_and(|passing| {
        let said_first = |hit: &&Hit| {
            matches!(hit.sign, Sign::Rule | Sign::Decision | Sign::Limit)
                && hit.end < passing.start
                && sentence.line.folded[hit.end..passing.start].contains([',', ';', ':', '、'])
        };
        !sentence.hits.iter().any(|hit| said_first(&hit))
    });
    is_reported || passes || sentence.opens_with(Sign::Listener)
}

/// "It closes at six": not understandable without the sentence before.
pub(super) fn refers_back(sentence: &AnnotatedSentence) -> bool {
    let words = sentence.language.words();
    if sentence.language == Language::Japanese {
        return words
            .pronouns
            .split('|')
            .any(|word| sentence.body().starts_with(word));
    }
    let mut opening = sentence.words().map(|(_, word)| word);
    let first = opening.next().unwrap_or_default();
    let both = format!("{first} {}", opening.next().unwrap_or_default());
    let lists = |list| Language::lists(list, first) || Language::lists(list, &both);
    lists(words.pronouns) && !lists(words.expletives)
}

/// "I'm knackered", "estoy molido": a mood, not work, even if it looks like a participle.
pub(super) fn is_mood(piece: &AnnotatedSentence) -> bool {
    let says_more = [
        Sign::Personal,
        Sign::Done,
        Sign::Closing,
        Sign::Open,
        Sign::Request,
        Sign::Condition,
    ];
    if piece.has_any(&says_more) || !piece.terms().numbers.is_empty() {
        return false;
    }
    if piece.has(Sign::Feeling) {
        return piece.terms().count() <= MOOD_TERMS;
    }
    let opens = |hit: &Hit| hit.sign == Sign::Speaker && hit.start == piece.body_start();
    let Some(speaker) = piece
        .hits
        .iter()
        .filter(|hit| opens(hit))
        .max_by_key(|hit| hit.end)
    else {
        return false;
    };
    let rest = &piece.line.folded[speaker.end..];
    let connectors = piece.language.words().connectors;
    let goes_on = |word: &str| word.ends_with("ing") || connectors.contains(&format!(" {word} "));
    let named = names(piece.body()) > 0 && piece.language != Language::German;
    !named && !rest.split_whitespace().any(goes_on) && (1..=2).contains(&Terms::of_folded(rest).count())
}

/// "They decided to strike": not a decision of the user.
pub(super) fn is_of_others(sentence: &AnnotatedSentence) -> bool {
    let Some(hit) = sentence.first(Sign::Decision) else {
        return false;
    };
    let others = sentence.language.words().others;
    let before = sentence.line.folded[..hit.start].trim_end();
    let mut last = before.rsplit(' ').take(2);
    last.any(|word| Language::lists(others, word))
}
