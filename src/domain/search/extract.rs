//! Extracts of a document that show the search matches.

use super::query::{Marked, Query};
use crate::domain::text::words::{folded_word, matches, words};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Number of words in an extract.
const WORDS: usize = 32;

/// Number of words before the first match.
const WORDS_BEFORE: usize = 6;

/// Number of words from the first match to the end of an extract.
const WINDOW_WORDS: usize = WORDS - WORDS_BEFORE;

/// Maximum number of matches examined to find the best position.
const MATCHES: usize = 1_000;

/// Maximum number of characters shown of one word, or between two words.
const PART_CHARS: usize = 80;

/// Usual size of an extract with its marks, in bytes.
const EXTRACT_BYTES: usize = 512;

/// Returns the part of `text` with most distinct terms of the query, or of their words if these are nowhere adjacent, as
/// HTML: matches are in `<mark>…</mark>`, everything else is escaped, and whitespace is folded. Also returns the byte offset
/// of the best match; `None` if there is none, and then the part is the beginning of the text.
#[must_use]
pub fn extract(text: &str, query: &Query) -> (String, Option<usize>) {
    let words_of_terms = query.marked(1);
    let adjacent = query.has_neighbours().then(|| query.marked(usize::MAX));
    let best = adjacent.and_then(|terms| best_match(text, &terms));
    let best = best.or_else(|| best_match(text, &words_of_terms));
    let mut html = String::with_capacity(EXTRACT_BYTES);
    let mut at = match best {
        Some((_, Some(from))) => {
            html.push_str("… ");
            from
        }
        _ => text.len() - text.trim_start().len(),
    };
    let mut rest = words(&text[at..]);
    let from = at;
    for place in rest.by_ref().take(WORDS) {
        let place = from + place.start..from + place.end;
        push(&mut html, &text[at..place.start]);
        let word = &text[place.clone()];
        let marked = term_of(&[folded_word(word)].into(), &words_of_terms).is_some();
        html.push_str(if marked { "<mark>" } else { "" });
        push(&mut html, word);
        html.push_str(if marked { "</mark>" } else { "" });
        at = place.end;
    }
    if rest.next().is_some() {
        html.push_str(" …");
    } else {
        push(&mut html, text[at..].trim_end());
    }
    (html, best.map(|(at, _)| at))
}

/// The index of the longest term that ends with a word of a text, which is the first of `latest`: it and those before it.
fn term_of(latest: &VecDeque<String>, terms: &[Marked<'_>]) -> Option<usize> {
    let ends = |term: &usize| {
        let (wanted, prefix) = terms[*term];
        let pairs = latest.iter().zip(wanted.iter().rev()).enumerate();
        let mut same = pairs.map(|(back, (word, wanted))| matches(word, wanted, prefix && back == 0));
        latest.len() >= wanted.len() && same.all(|same| same)
    };
    let ending = (0..terms.len()).filter(ends);
    ending.max_by_key(|term| (terms[*term].0.len(), Reverse(*term)))
}

/// The match whose window contains most distinct terms; the first among equals. Returns its byte offset, and
/// where an extract begins that shows some words before it, `None` for the beginning of the text. Stops reading when no
/// better match is possible.
fn best_match(text: &str, terms: &[Marked<'_>]) -> Option<(usize, Option<usize>)> {
    // Terms from 63 on share the last bit.
    let bit = |term: usize| 1_u64 << term.min(63);
    let all = (0..terms.len()).fold(0, |all, term| all | bit(term));
    let longest = terms.iter().map(|(words, _)| words.len()).max()?;
    let mut latest: VecDeque<String> = VecDeque::new();
    let mut starts: Vec<usize> = Vec::new();
    // The indices of the words that end a match, each with its term.
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, word) in words(text).enumerate() {
        starts.push(word.start);
        latest.truncate(longest - 1);
        latest.push_front(folded_word(&text[word]));
        let Some(term) = term_of(&latest, terms) else {
            continue;
        };
        found.push((index, term));
        let near = found
            .iter()
            .rev()
            .take_while(|(before, _)| index - before < WINDOW_WORDS);
        // A window with all terms cannot be improved, and no earlier one has as many.
        if found.len() == MATCHES || near.fold(0_u64, |terms, (_, term)| terms | bit(*term)) == all {
            break;
        }
    }
    let terms_from = |place: usize| {
        let (first, _) = found[place];
        let near = found[place..]
            .iter()
            .take_while(|(index, _)| index - first < WINDOW_WORDS);
        near.fold(0_u64, |terms, (_, term)| terms | bit(*term))
            .count_ones()
    };
    let best = (0..found.len()).max_by_key(|place| (terms_from(*place), Reverse(*place)))?;
    let (end, term) = found[best];
    let index = end + 1 - terms[term].0.len();
    let from = (index > WORDS_BEFORE).then(|| starts[index - WORDS_BEFORE]);
    Some((starts[index], from))
}

/// Appends text, escaped and shortened.
fn push(html: &mut String, text: &str) {
    let mut shown = 0;
    for c in text.chars() {
        if shown == PART_CHARS {
            html.push('…');
            return;
        }
        match c {
            c if c.is_whitespace() || c.is_control() => {
                if html.ends_with(' ') {
                    continue;
                }
                html.push(' ');
            }
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
        shown += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(text: &str, query: &str) -> String {
        extract(text, &Query::parse(query)).0
    }

    #[test]
    fn of_a_long_text_the_place_with_most_words_is_shown() {
        let filler = "filler ".repeat(50);
        let text = format!("cat {filler} cat near dog {filler}");
        let shown = show(&text, "dog cat");
        assert!(shown.starts_with("… filler"), "{shown}");
        assert!(
            shown.contains("<mark>cat</mark> near <mark>dog</mark>"),
            "{shown}"
        );
        assert!(shown.ends_with("filler …"), "{shown}");
        assert!(show(&text, "-x").starts_with("cat filler"));
    }

    #[test]
    fn an_extract_is_short_whatever_the_text() {
        for text in [
            "x".repeat(100_000),
            "=".repeat(100_000),
            "x ".repeat(100_000),
            "<".repeat(90_000) + "x",
        ] {
            assert!(show(&text, "x").len() < 5_000);
        }
    }

    /// Reference implementation: of all matches the first with most distinct terms in its window.
    fn defined(text: &str, terms: &[Marked<'_>]) -> Option<usize> {
        let words: Vec<_> = words(text).collect();
        let found: Vec<_> = (0..words.len())
            .filter_map(|end| {
                let latest = words[..=end].iter().rev().take(9);
                let latest = latest.map(|place| folded_word(&text[place.clone()]));
                let term = term_of(&latest.collect(), terms)?;
                Some((end, words[end + 1 - terms[term].0.len()].start, term))
            })
            .collect();
        let in_sight = |(from, ..): (usize, usize, usize)| {
            let near = found
                .iter()
                .filter(|found| (from..from + WORDS - WORDS_BEFORE).contains(&found.0));
            near.map(|found| found.2)
                .collect::<std::collections::HashSet<_>>()
                .len()
        };
        let most = found.iter().map(|found| in_sight(*found)).max()?;
        let first = found.iter().find(|found| in_sight(**found) == most)?;
        Some(first.1)
    }

    proptest! {
        #[test]
        fn the_place_is_the_first_with_most_terms(
            text in "([a-dA-B]{1,2} |[x-z]{1,3} ?|[-.] |[aäé—記\u{301}カ]{1,4} ?){0,150}",
            query in "[a-eé記][ab]?([ -][a-e][ab]?){0,3}",
        ) {
            let query = Query::parse(&query);
            let (shown, place) = extract(&text, &query);
            let terms = [usize::MAX, 1].map(|together| query.marked(together));
            prop_assert_eq!(place, terms.iter().find_map(|terms| defined(&text, terms)));
            let before = place.map_or(0, |place| words(&text[..place]).count());
            prop_assert_eq!(shown.starts_with("… "), before > WORDS_BEFORE);
            if before > WORDS_BEFORE {
                let begin = words(&text).nth(before - WORDS_BEFORE).unwrap();
                let best = terms.iter().find_map(|terms| best_match(&text, terms));
                prop_assert_eq!(best.unwrap().1, Some(begin.start));
            }
        }

        #[test]
        fn nothing_but_marks_is_html(text in "[a-c<>&\"' \n/=]{0,300}", query in "[a-c ]{0,9}") {
            let shown = show(&text, &query).replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!shown.contains(['<', '>', '"', '\'']), "{}", shown);
        }
    }
}
