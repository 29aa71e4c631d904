//! Splits sentences into clauses and finds the parts that describe something outdated.

use crate::llm::extractive::annotated::AnnotatedSentence;
use crate::llm::extractive::cues::{Hit, Language, Sign, is_month, is_small, weekday};
use crate::llm::extractive::terms::Terms;

/// The terms that a sentence says do not hold any more.
pub(super) fn old(sentence: &AnnotatedSentence) -> Option<Terms> {
    let span = |sign: Sign| longest(sentence, sign);
    let after = span(Sign::Old)
        .map(|hit| after(sentence, hit))
        .filter(|terms| !terms.is_empty());
    let denies = || sentence.has_any(&[Sign::Negation, Sign::Denial]);
    let over = || {
        let hit = span(Sign::AnyMore).filter(|_| denies())?;
        Some(Terms::of(before(sentence, hit.start))).filter(|terms| !terms.is_empty())
    };
    // In "Not at Ramón's any more" they precede the cue.
    after
        .or_else(|| {
            span(Sign::OldBefore)
                .or(span(Sign::Old))
                .map(|hit| Terms::of(before(sentence, hit.start)))
                .filter(|terms| !terms.is_empty())
        })
        .or_else(over)
        .or_else(|| from_to(sentence))
}

/// The original text after the cue.
pub(super) fn old_text(sentence: &AnnotatedSentence) -> Option<&str> {
    longest(sentence, Sign::Old).map(|hit| sentence.line.between(hit.end, span_end(sentence, hit.end)))
}

/// A word with at least this many letters is specific.
const LONG_WORD: usize = 8;

/// Whether one of the words identifies a specific thing: it is spelled like a name (capitalised, or in a
/// script without capitals), or it is long. In German every noun is capitalised, and a name has no article.
pub(super) fn is_named(sentence: &AnnotatedSentence, terms: &Terms) -> bool {
    if sentence.language == Language::Japanese {
        return true;
    }
    let mut before = "";
    sentence.line.words().any(|(at, word)| {
        let is_noun = sentence.language == Language::German && is_small(std::mem::replace(&mut before, word));
        let of_word = Terms::of_folded(word).words;
        if of_word.is_empty() || !of_word.is_subset(&terms.words) || weekday(word).is_some() || is_month(word)
        {
            return false;
        }
        let written = sentence.line.between(at, at + word.len());
        let first = written.chars().find(|c| c.is_alphabetic());
        word.chars().count() >= LONG_WORD || (!is_noun && first.is_some_and(|first| !first.is_lowercase()))
    })
}

/// The terms that a sentence says are given up.
pub(in crate::llm::extractive) fn retired(sentence: &AnnotatedSentence) -> Option<Terms> {
    Some(Terms::of(retired_text(sentence)?)).filter(|terms| !terms.is_empty())
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

pub(super) fn retired_text(sentence: &AnnotatedSentence) -> Option<&str> {
    let hit = longest(sentence, Sign::Retired);
    let after = hit.map(|hit| sentence.line.between(hit.end, thing_end(sentence, hit.end)));
    after.or_else(|| given_up_apart(sentence))
}

/// "Wir lassen Budapest weg": the text between a separable verb and its prefix.
fn given_up_apart(sentence: &AnnotatedSentence) -> Option<&str> {
    let groups = sentence.language.words().separable;
    if groups.is_empty() {
        return None;
    }
    let words: Vec<(usize, &str)> = sentence.line.words().collect();
    let is_mark = |word: &str| matches!(word, "," | ";" | ":" | "." | "!" | "und");
    words.iter().enumerate().find_map(|(at, (start, verb))| {
        let mut groups = groups.lines().filter_map(|group| group.split_once(" / "));
        let (_, parts) = groups.find(|(verbs, _)| Language::lists(verbs, verb))?;
        let clause = words[at + 1..].iter().take_while(|(_, word)| !is_mark(word));
        let (end, last) = clause.last()?;
        Language::lists(parts, last).then(|| sentence.line.between(start + verb.len(), *end))
    })
}

/// The end of the name of a thing: at a mark, or at a word that begins a time, place or reason.
fn thing_end(sentence: &AnnotatedSentence, start: usize) -> usize {
    let circumstances = sentence.language.words().circumstances;
    let mut words = sentence.line.words().skip_while(|(at, _)| *at < start);
    // "the", "our old"
    let first = words.by_ref().find(|(_, word)| !is_small(word));
    let end = words.find(|(_, word)| Language::lists(circumstances, word));
    let mark = span_end(sentence, start);
    first.and(end).map_or(mark, |(at, _)| at.min(mark))
}

fn longest(sentence: &AnnotatedSentence, sign: Sign) -> Option<&Hit> {
    let hits = sentence.hits.iter().filter(|hit| hit.sign == sign);
    hits.max_by_key(|hit| hit.end - hit.start)
}

fn after(sentence: &AnnotatedSentence, hit: &Hit) -> Terms {
    Terms::of(sentence.line.between(hit.end, span_end(sentence, hit.end)))
}

/// The parts of a sentence between commas and conjunctions.
pub(super) fn clauses(sentence: &AnnotatedSentence) -> impl Iterator<Item = &str> {
    let folded = &sentence.line.folded;
    let joins = sentence.language.words().joins;
    let mut cuts = vec![0];
    for (at, word) in sentence.line.words() {
        if matches!(word, "," | ";" | ":" | "、") || Language::lists(joins, word) {
            cuts.push(at);
        }
    }
    cuts.push(folded.len());
    let mut parts = Vec::new();
    for pair in cuts.windows(2) {
        for part in sentence
            .line
            .between(pair[0], pair[1])
            .split_inclusive(['。', '、'])
        {
            parts.push(part);
        }
    }
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts.into_iter()
}

/// The end of an outdated part: at a mark, or where the new part begins.
fn span_end(sentence: &AnnotatedSentence, start: usize) -> usize {
    let folded = &sentence.line.folded;
    let new_begins = sentence.language.words().new_begins;
    let ends = |word: &str| matches!(word, "," | ";" | "(" | "!") || Language::lists(new_begins, word);
    sentence
        .line
        .words()
        .find(|(at, word)| *at >= start && ends(word))
        .map_or(folded.len() - 1, |(at, _)| at)
}

/// The text before an offset: in Japanese back to a particle or mark, otherwise all.
fn before(sentence: &AnnotatedSentence, end: usize) -> &str {
    let text = sentence.line.between(0, end);
    let start = text
        .rfind(['は', 'が', '、', '。', ','])
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

/// The old value in "from X to Y" with a sign of change.
fn from_to(sentence: &AnnotatedSentence) -> Option<Terms> {
    if !sentence.has_any(&[Sign::Change, Sign::Moved]) {
        return None;
    }
    let froms = sentence.hits.iter().filter(|hit| hit.sign == Sign::From);
    froms.clone().find_map(|from| {
        let rest = &sentence.line.folded[from.end..];
        let to = match sentence.language {
            Language::Japanese => rest.find(sentence.language.words().to)?,
            _ => {
                let tos = sentence.language.words().to.split('|');
                tos.filter_map(|to| rest.find(&format!(" {to} "))).min()?
            }
        };
        let is_japanese = rest.as_bytes().get(to) != Some(&b' ');
        let old = if is_japanese {
            before(sentence, from.start)
        } else {
            sentence.line.between(from.end, from.end + to)
        };
        if old.contains([',', ';', ':']) {
            return None;
        }
        let terms = Terms::of(old);
        (!terms.is_empty() && terms.count() <= 6).then_some(terms)
    })
}
