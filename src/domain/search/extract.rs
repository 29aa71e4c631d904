//! The part of a document that shows what was searched for.

use super::query::Query;
use super::words::{BYTES, Byte, matches, word_from, words};
use std::collections::VecDeque;
use std::ops::Range;

/// How many words an extract shows.
const WORDS: usize = 32;

/// How many of them stand before the first match.
const WORDS_BEFORE: usize = 6;

/// From how many words on, the match and those behind it, an extract is made.
const IN_SIGHT: usize = WORDS - WORDS_BEFORE;

/// Bytes that are passed over at once, and of how many words at most the beginnings are known for that.
const BLOCK: usize = 32;
const FIRST: usize = 4;

/// The bit that makes an ASCII letter small; of what is none it makes something else.
const SMALL: u8 = 0x20;

/// How many matches are looked at to find the best place.
const MATCHES: usize = 1_000;

/// The characters of one word, or between two words, that are shown.
const PART_CHARS: usize = 80;

/// The bytes of most extracts, with their marks.
const ROOM: usize = 512;

/// Whether a word that begins with one of these bytes, or a character that is not ASCII, may begin in a block behind its
/// first byte. Without branches, so that it is done for many bytes at once.
fn may_begin(block: &[u8], first: [u8; FIRST]) -> bool {
    let begins = |(before, byte): (&u8, &u8)| {
        let small = byte | SMALL;
        let is_first = first
            .iter()
            .fold(false, |is_first, first| is_first | (small == *first));
        let is_letter = (before | SMALL).wrapping_sub(b'a') < 26;
        let is_digit = before.wrapping_sub(b'0') < 10;
        (is_first & !(is_letter | is_digit)) | !byte.is_ascii()
    };
    let (before, bytes) = (&block[..BLOCK], &block[1..]);
    before
        .iter()
        .zip(bytes)
        .fold(false, |any, pair| any | begins(pair))
}

/// What a byte of a text is to the words that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It divides words.
    Divides,
    /// One of the words may begin with it.
    Begins,
    /// Of a word.
    Word,
    /// Of a character that has to be decoded.
    Other,
}

/// The words that are marked.
#[derive(Debug)]
struct Terms<'q> {
    /// Each with whether longer ones that begin with it are too.
    words: Vec<(&'q str, bool)>,
    /// By the byte.
    roles: [Role; 256],
    /// The bytes that they begin with, with the bit that makes letters small; of fewer also one that is not ASCII. `None`
    /// if they are too many.
    first: Option<[u8; FIRST]>,
}

impl<'q> Terms<'q> {
    fn of(query: &'q Query) -> Self {
        let words = query.marked();
        let mut roles = BYTES.map(|byte| match byte {
            Byte::Divides => Role::Divides,
            Byte::Word => Role::Word,
            Byte::Other => Role::Other,
        });
        for (word, _) in &words {
            if let Some(&byte) = word.as_bytes().first()
                && byte.is_ascii()
            {
                roles[usize::from(byte.to_ascii_lowercase())] = Role::Begins;
                roles[usize::from(byte.to_ascii_uppercase())] = Role::Begins;
            }
        }
        let mut small = words
            .iter()
            .filter_map(|(word, _)| word.bytes().next())
            .map(|byte| byte | SMALL);
        let mut first = [u8::MAX; FIRST];
        first.fill_with(|| small.next().unwrap_or(u8::MAX));
        let first = small.next().is_none().then_some(first);
        Self { words, roles, first }
    }

    fn role(&self, byte: u8) -> Role {
        self.roles[usize::from(byte)]
    }

    /// The beginning of the first block behind `at` in which one of them may begin, or of the last part of the text. Most
    /// of a text is passed over here, some bytes at once.
    fn pass_over(&self, bytes: &[u8], mut at: usize) -> usize {
        let Some(first) = self.first else { return at };
        // What stands before the first byte of a text divides.
        while at > 0
            && let Some(block) = bytes.get(at - 1..at + BLOCK)
            && !may_begin(block, first)
        {
            at += BLOCK;
        }
        at
    }

    /// Which of them a word of a text is.
    fn position(&self, word: &str) -> Option<usize> {
        let first = *word.as_bytes().first()?;
        // What is not ASCII may be an accented form of what is.
        if self.role(first) == Role::Word {
            return None;
        }
        self.words
            .iter()
            .position(|(term, prefix)| matches(word, term, *prefix))
    }
}

/// The words of a text that are among the terms, each with which of them it is. Only a word that may be one is divided
/// from the others.
struct Matches<'t, 'q> {
    text: &'t str,
    terms: &'t Terms<'q>,
    /// Where a word may begin.
    at: usize,
}

impl<'t, 'q> Matches<'t, 'q> {
    fn new(text: &'t str, terms: &'t Terms<'q>) -> Self {
        Self { text, terms, at: 0 }
    }

    /// The next word that has to be looked at.
    fn candidate(&self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            at = self.terms.pass_over(bytes, at);
            let end = bytes.len().min(at + BLOCK);
            if at == end {
                return None;
            }
            for (at, byte) in (at..end).zip(&bytes[at..end]) {
                match self.terms.role(*byte) {
                    Role::Divides | Role::Word => {}
                    Role::Begins if at > self.at && self.terms.role(bytes[at - 1]) != Role::Divides => {}
                    Role::Begins => return word_from(self.text, at),
                    Role::Other => {
                        let before = &bytes[self.at..at];
                        let divider = before
                            .iter()
                            .rposition(|byte| self.terms.role(*byte) == Role::Divides);
                        return word_from(self.text, self.at + divider.map_or(0, |divider| divider + 1));
                    }
                }
            }
            at = end;
        }
    }
}

impl Iterator for Matches<'_, '_> {
    type Item = (Range<usize>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let word = self.candidate()?;
            self.at = word.end;
            if let Some(term) = self.terms.position(&self.text[word.clone()]) {
                return Some((word, term));
            }
        }
    }
}

/// The part of `text` with most different words of the query, as HTML: the words stand in `<mark>…</mark>`, everything
/// else is escaped, blanks and line breaks are single blanks. The beginning of the text if none is in it.
#[must_use]
pub fn extract(text: &str, query: &Query) -> String {
    Extractor::new(query).extract(text).0
}

/// Shows texts of one search.
#[derive(Debug)]
pub struct Extractor<'q> {
    terms: Terms<'q>,
}

impl<'q> Extractor<'q> {
    /// For the words of a query.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        Self {
            terms: Terms::of(query),
        }
    }

    /// As [`extract`], with the byte at which what was searched for stands; `None` where nothing of it does.
    #[must_use]
    pub fn extract(&self, text: &str) -> (String, Option<usize>) {
        let best = best_place(text, &self.terms);
        let mut html = String::with_capacity(ROOM);
        let mut at = match best.and_then(|best| words_before(text, best)) {
            Some(from) => {
                html.push_str("… ");
                from
            }
            None => text.len() - text.trim_start().len(),
        };
        let mut rest = words(&text[at..]);
        let from = at;
        for place in rest.by_ref().take(WORDS) {
            let place = from + place.start..from + place.end;
            push(&mut html, &text[at..place.start]);
            let word = &text[place.clone()];
            let marked = self.terms.position(word).is_some();
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
        (html, best)
    }
}

/// The byte of the match from which most different words of the query are in sight; of several the first. The text is
/// read only as far as a better one can come.
fn best_place(text: &str, terms: &Terms<'_>) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    // Matches whose sight may still grow: which word of the text each is, its byte, and the terms that are in its sight.
    let mut open: VecDeque<(usize, usize, Vec<usize>)> = VecDeque::new();
    let mut close = |(_, at, in_sight): (usize, usize, Vec<usize>)| {
        if best.is_none_or(|(most, _)| in_sight.len() > most) {
            best = Some((in_sight.len(), at));
        }
    };
    let (mut index, mut end) = (0, 0);
    for (word, term) in Matches::new(text, terms).take(MATCHES) {
        // Words that are farther away than one can see are not counted.
        let between = words(&text[end..word.start]).take(IN_SIGHT).count();
        index += between + 1;
        end = word.end;
        while let Some(over) = open.pop_front_if(|(oldest, ..)| index - *oldest >= IN_SIGHT) {
            close(over);
        }
        open.push_back((index, word.start, Vec::new()));
        for (.., in_sight) in &mut open {
            if !in_sight.contains(&term) {
                in_sight.push(term);
            }
        }
        // Nothing can be better than a place with all of them, and nothing before it has as many.
        if open
            .iter()
            .any(|(.., in_sight)| in_sight.len() == terms.words.len())
        {
            break;
        }
    }
    open.into_iter().for_each(close);
    best.map(|(_, at)| at)
}

/// Where an extract begins that shows some words before this one; `None` if the text begins there.
fn words_before(text: &str, word: usize) -> Option<usize> {
    let mut from = word;
    let mut parts = WORDS_BEFORE + 1;
    loop {
        // What ASCII divides are whole words, of some scripts many.
        for _ in 0..parts {
            from = part_before(text, from);
        }
        let before: Vec<_> = words(&text[from..word]).collect();
        if before.len() > WORDS_BEFORE {
            return Some(from + before[before.len() - WORDS_BEFORE].start);
        }
        if from == 0 {
            return None;
        }
        parts *= 2;
    }
}

/// Where the part of a text begins that ends at `end`, with what divides it from what is behind.
fn part_before(text: &str, end: usize) -> usize {
    let divides = |byte: &u8| BYTES[usize::from(*byte)] == Byte::Divides;
    let bytes = &text.as_bytes()[..end];
    let last = bytes
        .iter()
        .rposition(|byte| !divides(byte))
        .map_or(0, |last| last + 1);
    let divider = bytes[..last].iter().rposition(divides);
    divider.map_or(0, |divider| divider + 1)
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
        fn the_place_is_the_first_with_most_words(
            text in "([a-d] |[x-z]{1,3} ?|[-.] |[aäé—記\u{301}カ]{1,4} ?){0,150}",
            query in "[a-eé記]( [a-e]){0,3}",
        ) {
            let query = Query::parse(&query);
            let extractor = Extractor::new(&query);
            let (shown, place) = extractor.extract(&text);
            prop_assert_eq!(place, defined(&text, &extractor.terms));
            let before = place.map_or(0, |place| words(&text[..place]).count());
            prop_assert_eq!(shown.starts_with("… "), before > WORDS_BEFORE);
            if before > WORDS_BEFORE {
                let begin = words(&text).nth(before - WORDS_BEFORE).unwrap();
                prop_assert_eq!(words_before(&text, place.unwrap()), Some(begin.start));
            }
        }

        #[test]
        fn nothing_but_marks_is_html(text in "[a-c<>&\"' \n/=]{0,300}", query in "[a-c ]{0,9}") {
            let shown = show(&text, &query).replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!shown.contains(['<', '>', '"', '\'']), "{}", shown);
        }
    }
}
