//! Splits sentences into clauses and finds the parts that describe something outdated.

use crate::llm::extractive::cues::{Hit, Language, Sign, is_month, is_small, weekday};
use crate::llm::extractive::said::Said;
use crate::llm::extractive::terms::Terms;

/// The terms that a sentence says do not hold any more.
pub(super) fn old(said: &Said) -> Option<Terms> {
    let span = |sign: Sign| longest(said, sign);
    let behind = span(Sign::Old)
        .map(|hit| behind(said, hit))
        .filter(|terms| !terms.is_empty());
    let denies = || said.has_any(&[Sign::Negation, Sign::Denial]);
    let over = || {
        let hit = span(Sign::AnyMore).filter(|_| denies())?;
        Some(Terms::of(before(said, hit.start))).filter(|terms| !terms.is_empty())
    };
    // In "Not at Ramón's any more" they precede the cue.
    behind
        .or_else(|| {
            span(Sign::OldBefore)
                .or(span(Sign::Old))
                .map(|hit| Terms::of(before(said, hit.start)))
                .filter(|terms| !terms.is_empty())
        })
        .or_else(over)
        .or_else(|| from_to(said))
}

/// The original text after the cue.
pub(super) fn old_text(said: &Said) -> Option<&str> {
    longest(said, Sign::Old).map(|hit| said.line.between(hit.end, span_end(said, hit.end)))
}

/// A word with at least this many letters is specific.
const LONG_WORD: usize = 8;

/// Whether one of the words identifies a specific thing: it is spelled like a name (capitalised, or in a
/// script without capitals), or it is long. In German every noun is capitalised, and a name has no article.
pub(super) fn is_named(said: &Said, terms: &Terms) -> bool {
    if said.language == Language::Japanese {
        return true;
    }
    let mut before = "";
    said.line.words().any(|(at, word)| {
        let is_noun = said.language == Language::German && is_small(std::mem::replace(&mut before, word));
        let of_word = Terms::of_folded(word).words;
        if of_word.is_empty() || !of_word.is_subset(&terms.words) || weekday(word).is_some() || is_month(word)
        {
            return false;
        }
        let written = said.line.between(at, at + word.len());
        let first = written.chars().find(|c| c.is_alphabetic());
        word.chars().count() >= LONG_WORD || (!is_noun && first.is_some_and(|first| !first.is_lowercase()))
    })
}

/// The terms that a sentence says are given up.
pub(in crate::llm::extractive) fn retired(said: &Said) -> Option<Terms> {
    Some(Terms::of(retired_text(said)?)).filter(|terms| !terms.is_empty())
}

/// The name at the beginning of a text: "we left Sentry last month".
pub(super) fn leading_name(text: &str) -> Option<Terms> {
    let words = text
        .split_whitespace()
        .skip_while(|word| is_small(&word.to_lowercase()));
    let name: Vec<&str> = words
        .take_while(|word| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()))
        .collect();
    Some(Terms::of(&name.join(" "))).filter(|terms| !terms.is_empty())
}

pub(super) fn retired_text(said: &Said) -> Option<&str> {
    let hit = longest(said, Sign::Retired);
    let behind = hit.map(|hit| said.line.between(hit.end, thing_end(said, hit.end)));
    behind.or_else(|| given_up_apart(said))
}

/// "Wir lassen Budapest weg": the text between a separable verb and its prefix.
fn given_up_apart(said: &Said) -> Option<&str> {
    let groups = said.language.words().separable;
    if groups.is_empty() {
        return None;
    }
    let words: Vec<(usize, &str)> = said.line.words().collect();
    let is_mark = |word: &str| matches!(word, "," | ";" | ":" | "." | "!" | "und");
    words.iter().enumerate().find_map(|(at, (start, verb))| {
        let mut groups = groups.lines().filter_map(|group| group.split_once(" / "));
        let (_, parts) = groups.find(|(verbs, _)| Language::lists(verbs, verb))?;
        let clause = words[at + 1..].iter().take_while(|(_, word)| !is_mark(word));
        let (end, last) = clause.last()?;
        Language::lists(parts, last).then(|| said.line.between(start + verb.len(), *end))
    })
}

/// The end of the name of a thing: at a mark, or at a word that begins a time, place or reason.
fn thing_end(said: &Said, start: usize) -> usize {
    let circumstances = said.language.words().circumstances;
    let mut words = said.line.words().skip_while(|(at, _)| *at < start);
    // "the", "our old"
    let first = words.by_ref().find(|(_, word)| !is_small(word));
    let end = words.find(|(_, word)| Language::lists(circumstances, word));
    let mark = span_end(said, start);
    first.and(end).map_or(mark, |(at, _)| at.min(mark))
}

fn longest(said: &Said, sign: Sign) -> Option<&Hit> {
    let hits = said.hits.iter().filter(|hit| hit.sign == sign);
    hits.max_by_key(|hit| hit.end - hit.start)
}

fn behind(said: &Said, hit: &Hit) -> Terms {
    Terms::of(said.line.between(hit.end, span_end(said, hit.end)))
}

/// The parts of a sentence between commas and conjunctions.
pub(super) fn clauses(said: &Said) -> impl Iterator<Item = &str> {
    let folded = &said.line.folded;
    let joins = said.language.words().joins;
    let mut cuts = vec![0];
    for (at, word) in said.line.words() {
        if matches!(word, "," | ";" | ":" | "、") || Language::lists(joins, word) {
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
    parts.into_iter()
}

/// The end of an outdated part: at a mark, or where the new part begins.
fn span_end(said: &Said, start: usize) -> usize {
    let folded = &said.line.folded;
    let new_begins = said.language.words().new_begins;
    let ends = |word: &str| matches!(word, "," | ";" | "(" | "!") || Language::lists(new_begins, word);
    said.line
        .words()
        .find(|(at, word)| *at >= start && ends(word))
        .map_or(folded.len() - 1, |(at, _)| at)
}

/// The text before an offset: in Japanese back to a particle or mark, otherwise all.
fn before(said: &Said, end: usize) -> &str {
    let text = said.line.between(0, end);
    let start = text
        .rfind(['は', 'が', '、', '。', ','])
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

/// The old value in "from X to Y" with a sign of change.
fn from_to(said: &Said) -> Option<Terms> {
    if !said.has_any(&[Sign::Change, Sign::Moved]) {
        return None;
    }
    let froms = said.hits.iter().filter(|hit| hit.sign == Sign::From);
    froms.clone().find_map(|from| {
        let rest = &said.line.folded[from.end..];
        let to = match said.language {
            Language::Japanese => rest.find(said.language.words().to)?,
            _ => {
                let tos = said.language.words().to.split('|');
                tos.filter_map(|to| rest.find(&format!(" {to} "))).min()?
            }
        };
        let is_japanese = rest.as_bytes().get(to) != Some(&b' ');
        let old = if is_japanese {
            before(said, from.start)
        } else {
            said.line.between(from.end, from.end + to)
        };
        if old.contains([',', ';', ':']) {
            return None;
        }
        let terms = Terms::of(old);
        (!terms.is_empty() && terms.count() <= 6).then_some(terms)
    })
}
