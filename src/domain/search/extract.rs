//! The part of a document that shows what was searched for.

use super::query::Query;
use super::words::{matches, words};
use std::collections::VecDeque;

/// How many words an extract shows.
const WORDS: usize = 32;

/// How many of them stand before the first match.
const WORDS_BEFORE: usize = 6;

/// How many matches are looked at to find the best place.
const MATCHES: usize = 1_000;

/// The characters of one word, or between two words, that are shown.
const PART_CHARS: usize = 80;

/// The bytes of most extracts, with their marks.
const ROOM: usize = 512;

/// A word of the text that was searched for.
struct Match {
    /// Which word of the text.
    index: usize,
    /// Where it begins.
    at: usize,
    /// Where the extract begins that is shown if this is the best place.
    from: usize,
}

/// The words that are marked.
struct Terms<'q> {
    /// Each with whether longer ones that begin with it are too.
    words: Vec<(&'q str, bool)>,
    /// By its first byte, whether a word of a text may be one of them. Most words are not looked at further.
    first: [bool; 256],
}

impl<'q> Terms<'q> {
    fn of(query: &'q Query) -> Self {
        let words = query.marked();
        let mut first = [false; 256];
        // What is not ASCII may be an accented form of what is.
        first[0x80..].fill(true);
        for (word, _) in &words {
            if let Some(&byte) = word.as_bytes().first() {
                first[usize::from(byte.to_ascii_lowercase())] = true;
                first[usize::from(byte.to_ascii_uppercase())] = true;
            }
        }
        Self { words, first }
    }

    /// Which of them a word of a text is.
    fn position(&self, word: &str) -> Option<usize> {
        let first = *word.as_bytes().first()?;
        if !self.first[usize::from(first)] {
            return None;
        }
        self.words
            .iter()
            .position(|(term, prefix)| matches(word, term, *prefix))
    }
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
    let terms = Terms::of(query);
    let best = best_place(text, &terms);
    let mut html = String::with_capacity(ROOM);
    let mut at = match &best {
        Some(best) if best.index > WORDS_BEFORE => {
            html.push_str("… ");
            best.from
        }
        _ => text.len() - text.trim_start().len(),
    };
    let mut rest = words(&text[at..]);
    let from = at;
    for place in rest.by_ref().take(WORDS) {
        let place = from + place.start..from + place.end;
        push(&mut html, &text[at..place.start]);
        let word = &text[place.clone()];
        let marked = terms.position(word).is_some();
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
    (html, best.map(|best| best.at))
}

/// The match from which most different words of the query are in sight; of several the first. The text is read only as
/// far as a better one can come.
fn best_place(text: &str, terms: &Terms<'_>) -> Option<Match> {
    let mut best: Option<(usize, Match)> = None;
    // Matches whose sight may still grow, with the words that are in it.
    let mut open: VecDeque<(Vec<usize>, Match)> = VecDeque::new();
    let mut before = [0; WORDS_BEFORE];
    let mut seen = 0;
    let mut close = |(in_sight, found): (Vec<usize>, Match)| {
        if best.as_ref().is_none_or(|(most, _)| in_sight.len() > *most) {
            best = Some((in_sight.len(), found));
        }
    };
    for (index, place) in words(text).enumerate() {
        let word = &text[place.clone()];
        let out_of_sight = |(_, found): &(Vec<usize>, Match)| index - found.index >= WORDS - WORDS_BEFORE;
        while let Some(over) = open.pop_front_if(|oldest| out_of_sight(oldest)) {
            close(over);
        }
        let slot = index % WORDS_BEFORE;
        if let Some(term) = terms.position(word) {
            let from = if index < WORDS_BEFORE { 0 } else { before[slot] };
            let at = place.start;
            open.push_back((Vec::new(), Match { index, at, from }));
            for (in_sight, _) in &mut open {
                if !in_sight.contains(&term) {
                    in_sight.push(term);
                }
            }
            seen += 1;
            // Nothing can be better than a place with all of them, and nothing before it has as many.
            let all = open
                .iter()
                .any(|(in_sight, _)| in_sight.len() == terms.words.len());
            if all || seen == MATCHES {
                break;
            }
        }
        before[slot] = place.start;
    }
    open.into_iter().for_each(close);
    best.map(|(_, found)| found)
}

/// Adds text, escaped and shortened.
fn push(html: &mut String, text: &str) {
    if text.len() <= PART_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        html.push_str(text);
        return;
    }
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

    /// The definition: of all matches the first from which most different words are in sight.
    fn defined(text: &str, terms: &Terms<'_>) -> Option<usize> {
        let words: Vec<_> = words(text).collect();
        let found: Vec<_> = words
            .iter()
            .enumerate()
            .filter_map(|(index, place)| Some((index, place.start, terms.position(&text[place.clone()])?)))
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
        fn the_place_is_the_first_with_most_words(text in "([a-d] |[x-z]{1,3} ?|[-.] ){0,150}", query in "[a-e]( [a-e]){0,3}") {
            let query = Query::parse(&query);
            prop_assert_eq!(extract_at(&text, &query).1, defined(&text, &Terms::of(&query)));
        }

        #[test]
        fn nothing_but_marks_is_html(text in "[a-c<>&\"' \n/=]{0,300}", query in "[a-c ]{0,9}") {
            let shown = show(&text, &query).replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!shown.contains(['<', '>', '"', '\'']), "{}", shown);
        }
    }
}
