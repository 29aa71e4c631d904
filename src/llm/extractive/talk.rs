//! Talk that says nothing lasting, or nothing by itself.

use super::cues::{Hit, Language, Sign};
use super::said::Said;

/// Talk about whoever listens, what others want or say, and what is over tomorrow.
pub(super) fn is_of_the_moment(said: &Said) -> bool {
    let outright = said
        .hits
        .iter()
        .find(|hit| matches!(hit.sign, Sign::Rule | Sign::Decision));
    let of_others = said.first(Sign::Others);
    let is_told = of_others.is_some_and(|told| outright.is_none_or(|hit| told.start < hit.start));
    // "No larch, my daughter bites everything at the moment": what passes is why, not what.
    let passes = said.first(Sign::Passing).is_some_and(|passing| {
        let said_first = |hit: &&Hit| {
            matches!(hit.sign, Sign::Rule | Sign::Decision | Sign::Limit)
                && hit.end < passing.start
                && said.line.folded[hit.end..passing.start].contains([',', ';', ':', '、'])
        };
        !said.hits.iter().any(|hit| said_first(&hit))
    });
    is_told || passes || said.opens_with(Sign::Listener)
}

/// "It closes at six": nobody knows what, who has not heard the sentence before.
pub(super) fn points_back(said: &Said) -> bool {
    let words = said.language.words();
    if said.language == Language::Japanese {
        return words
            .pronouns
            .split('|')
            .any(|word| said.body().starts_with(word));
    }
    let mut opening = said.words().map(|(_, word)| word);
    let first = opening.next().unwrap_or_default();
    let both = format!("{first} {}", opening.next().unwrap_or_default());
    let lists = |list| Language::lists(list, first) || Language::lists(list, &both);
    lists(words.pronouns) && !lists(words.expletives)
}

/// "They decided to strike": no decision that binds whoever speaks.
pub(super) fn is_of_others(said: &Said) -> bool {
    let Some(hit) = said.first(Sign::Decision) else {
        return false;
    };
    let others = said.language.words().others;
    let before = said.line.folded[..hit.start].trim_end();
    let mut last = before.rsplit(' ').take(2);
    last.any(|word| Language::lists(others, word))
}
