//! The part of a document that shows what was searched for.

use super::query::Query;
use super::words::{matches, words};
use std::ops::Range;

/// How many words an extract shows.
const WORDS: usize = 32;

/// How many of them stand before the first match.
const WORDS_BEFORE: usize = 6;

/// How many matches are looked at to find the best place.
const MATCHES: usize = 1_000;

/// The characters of one word, or between two words, that are shown.
const PART_CHARS: usize = 80;

struct Match {
    /// Which word of the text.
    index: usize,
    /// Which word of the query.
    term: usize,
}

/// The part of `text` with most different words of the query, as HTML: the words stand in `<mark>…</mark>`, everything
/// else is escaped, blanks and line breaks are single blanks. The beginning of the text if none is in it.
#[must_use]
pub fn extract(text: &str, query: &Query) -> String {
    extract_at(text, query).0
}

/// As [`extract`], with the byte at which what was searched for stands; `None` where nothing of it does.
#[must_use]
pub fn extract_at(text: &str, query: &Query) -> (String, Option<usize>) {
    let terms = query.marked();
    let places: Vec<Range<usize>> = words(text).collect();
    let found: Vec<Match> = places
        .iter()
        .enumerate()
        .filter_map(|(index, place)| {
            let word = &text[place.clone()];
            let term = terms
                .iter()
                .position(|(term, prefix)| matches(word, term, *prefix))?;
            Some(Match { index, term })
        })
        .take(MATCHES)
        .collect();
    let best = best(&found);
    let at_byte = best.map(|found| places[found.index].start);
    let first = best.map_or(0, |found| found.index.saturating_sub(WORDS_BEFORE));
    let end = places.len().min(first + WORDS);
    let mut html = String::new();
    let mut at = match places.get(first) {
        Some(place) if first > 0 => {
            html.push_str("… ");
            place.start
        }
        _ => text.len() - text.trim_start().len(),
    };
    for (index, place) in places.iter().enumerate().take(end).skip(first) {
        push(&mut html, &text[at..place.start]);
        let marked = found.binary_search_by_key(&index, |found| found.index).is_ok();
        html.push_str(if marked { "<mark>" } else { "" });
        push(&mut html, &text[place.clone()]);
        html.push_str(if marked { "</mark>" } else { "" });
        at = place.end;
    }
    if end < places.len() {
        html.push_str(" …");
    } else {
        push(&mut html, text[at..].trim_end());
    }
    (html, at_byte)
}

/// The match from which most different words of the query are in sight; of several the first.
fn best(found: &[Match]) -> Option<&Match> {
    let in_sight = |start: usize| {
        let from = found[start].index;
        let near = found[start..]
            .iter()
            .take_while(|found| found.index < from + WORDS - WORDS_BEFORE);
        let mut terms: Vec<_> = near.map(|found| found.term).collect();
        terms.sort_unstable();
        terms.dedup();
        terms.len()
    };
    let start = (0..found.len()).max_by_key(|start| (in_sight(*start), std::cmp::Reverse(*start)))?;
    found.get(start)
}

/// Adds text, escaped and shortened.
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
        extract(text, &Query::parse(query))
    }

    #[test]
    fn what_was_searched_for_is_marked_and_the_rest_escaped() {
        assert_eq!(
            show("# A <b>\n\n  \"Parser\" & parsing's\n", "a pars"),
            "# <mark>A</mark> &lt;b&gt; &quot;<mark>Parser</mark>&quot; &amp; <mark>parsing</mark>&#39;s"
        );
        assert_eq!(show("a b", "-b"), "a b");
        assert_eq!(show("", "x"), "");
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

    proptest! {
        #[test]
        fn nothing_but_marks_is_html(text in "[a-c<>&\"' \n/=]{0,300}", query in "[a-c ]{0,9}") {
            let shown = show(&text, &query).replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!shown.contains(['<', '>', '"', '\'']), "{}", shown);
        }
    }
}
