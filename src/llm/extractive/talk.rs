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
    const PRONOUNS: &str = " it it's its they they're he he's she she's that's er es sie das il elle ils elles ça \
        cela c'est lo la los las eso él ella ellos ellas ";
    const EXPLETIVE: &str = " es gibt | es geht | es ist | es sind | il y | il faut | la plus | c'est ";
    let mut words = said.words().map(|(_, word)| word);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_article = matches!(first, "la" | "las" | "los" | "lo" | "das" | "sie")
        && said.language != Language::English
        && !matches!(
            (first, second),
            ("das" | "sie", "ist" | "sind" | "hat" | "war" | "wird" | "geht")
        );
    let is_empty = EXPLETIVE.contains(&format!(" {first} {second} "));
    let is_japanese = ["それ", "これ", "彼", "あれ"]
        .iter()
        .any(|word| said.body().starts_with(word));
    is_japanese || (PRONOUNS.contains(&format!(" {first} ")) && !is_article && !is_empty)
}

/// "They decided to strike": no decision that binds whoever speaks.
pub(super) fn is_of_others(said: &Said) -> bool {
    let Some(hit) = said.first(Sign::Decision) else {
        return false;
    };
    let before = said.line.folded[..hit.start].trim_end();
    let mut last = before.rsplit(' ').take(2);
    last.any(|word| {
        matches!(
            word,
            "he" | "she" | "they" | "er" | "sie" | "il" | "elle" | "ils" | "elles" | "él" | "ella" | "ellos"
        )
    })
}
