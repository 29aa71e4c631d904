//! Parses search queries, and makes the PostgreSQL `tsvector` of a document that they are matched with.

use crate::domain::ids::VaultId;
use crate::domain::text::words::{folded_word, is_single_char_word, words};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The last position that a `tsvector` can store: later words are found, but not as adjacent.
const LAST_POSITION: usize = 16_383;

/// Maximum number of positions that a `tsvector` stores per word.
const MAX_POSITIONS: usize = 255;

/// A `tsvector` must be smaller than 1 MiB; words beyond this limit are not found. A document of 100 KiB
/// needs at most half of it.
const MAX_BYTES: usize = 900_000;

/// What a word takes in it besides its bytes, with its first position.
const WORD_BYTES: usize = 6;

/// A lexeme of documents in which some positions could not be stored, so that adjacent words may be unknown. It is no word.
const SOME_LEFT_OUT: &str = "'//'";

/// A lexeme that every document of a vault contains and that cannot be a word, because it contains a
/// separator. With it a search reads only its own vault, however many others share the index.
pub(super) fn vault_lexeme(vault: &VaultId) -> String {
    format!("'/{vault}'")
}

/// The document's words as the text of a `tsvector`.
#[must_use]
pub fn vector(vault: &VaultId, text: &str) -> String {
    let mut lexemes: HashMap<String, Vec<usize>, RandomState> = HashMap::default();
    let (mut bytes, mut is_left_out) = (0, false);
    for (index, place) in words(text).enumerate() {
        let word = folded_word(&text[place]);
        let needed = word.len() + WORD_BYTES;
        let positions = lexemes.entry(word).or_default();
        is_left_out |= positions.len() >= MAX_POSITIONS || index >= LAST_POSITION;
        if positions.len() < MAX_POSITIONS && bytes < MAX_BYTES {
            bytes += if positions.is_empty() { needed } else { 2 };
            positions.push((index + 1).min(LAST_POSITION));
        }
    }
    let mut vector = vault_lexeme(vault);
    if is_left_out {
        vector.push(' ');
        vector.push_str(SOME_LEFT_OUT);
    }
    for (lexeme, positions) in lexemes.iter().filter(|(_, positions)| !positions.is_empty()) {
        let positions: Vec<String> = positions.iter().map(usize::to_string).collect();
        // A lexeme contains only letters and digits, so nothing needs escaping.
        vector.push_str(&format!(" '{lexeme}':{}", positions.join(",")));
    }
    vector
}

/// A parsed query; the grammar is in the documentation of the parent module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The alternatives: at least one must match, and within it all terms.
    pub(super) branches: Vec<Vec<Term>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// Whether a text with these words is excluded.
    pub(super) excluded: bool,
    /// Its words, which must be adjacent; at least one.
    pub(super) words: Vec<String>,
    /// Whether the last word also matches longer words.
    pub(super) prefix: bool,
}

/// Adjacent words, and whether the last one also matches longer words.
pub(super) type Marked<'a> = (&'a [String], bool);

impl Query {
    /// Parses a query. Every text is valid; tokens without words are ignored.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let terms = terms(text);
        let count = terms.len();
        let mut branches: Vec<Vec<Term>> = vec![Vec::new()];
        let mut joined = false;
        for (index, (mut term, is_or)) in terms.into_iter().enumerate() {
            let is_last = index + 1 == count;
            term.prefix &= is_last;
            let any = branches.last().is_some_and(|branch| !branch.is_empty());
            if is_or && !is_last && any && !joined {
                joined = true;
                continue;
            }
            if std::mem::take(&mut joined) {
                branches.push(Vec::new());
            }
            if let Some(branch) = branches.last_mut() {
                branch.push(term);
            }
        }
        branches.retain(|branch| !branch.is_empty());
        Self { branches }
    }

    /// Whether it has no terms, and so matches nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Whether it excludes texts by their words, which no meaning tells.
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.branches.iter().flatten().any(|term| term.excluded)
    }

    /// The query as the text of a `tsquery`, for ranks.
    #[must_use]
    pub fn tsquery(&self) -> String {
        self.written(None, |term| Some(term.joined(" <-> ")))
    }

    /// The query for the index of one vault: the same without adjacency. It matches everything that the query
    /// matches, and more only if [`Self::has_neighbours`].
    #[must_use]
    pub fn candidates(&self, vault: &VaultId) -> String {
        self.written(Some(vault_lexeme(vault)), Term::candidates)
    }

    /// What documents must match: the query, or, if adjacent words may be unknown in them, the same without adjacency.
    #[must_use]
    pub fn matching(&self) -> String {
        if !self.has_neighbours() {
            return self.tsquery();
        }
        let exactly = self.written(Some(format!("!{SOME_LEFT_OUT}")), |term| {
            Some(term.joined(" <-> "))
        });
        let anywhere = self.written(Some(SOME_LEFT_OUT.to_owned()), |term| Some(term.joined(" & ")));
        format!("{exactly} | {anywhere}")
    }

    /// Its alternatives, each with `first` before its terms.
    fn written(&self, first: Option<String>, of_term: impl Fn(&Term) -> Option<String>) -> String {
        let branches = self.branches.iter().map(|branch| {
            let terms = branch.iter().filter_map(&of_term);
            let terms: Vec<_> = first.iter().cloned().chain(terms).collect();
            format!("({})", terms.join(" & "))
        });
        branches.collect::<Vec<_>>().join(" | ")
    }

    /// Whether words must be adjacent, which only the document itself can show.
    #[must_use]
    pub fn has_neighbours(&self) -> bool {
        self.branches.iter().flatten().any(|term| term.words.len() > 1)
    }

    /// What an extract shows, at most so many words of a term together, each with whether the last one also matches longer
    /// words.
    pub(super) fn marked(&self, together: usize) -> Vec<Marked<'_>> {
        let wanted = self.branches.iter().flatten().filter(|term| !term.excluded);
        wanted
            .flat_map(|term| {
                let last = term.words.len().div_ceil(together) - 1;
                let parts = term.words.chunks(together).enumerate();
                parts.map(move |(index, words)| (words, term.prefix && index == last))
            })
            .collect()
    }
}

impl Term {
    /// A document may contain the words of an excluded text if they are not adjacent.
    fn candidates(&self) -> Option<String> {
        let tells = !self.excluded || self.words.len() == 1;
        tells.then(|| self.joined(" & "))
    }

    fn joined(&self, by: &str) -> String {
        let words: Vec<_> = self.words.iter().map(|word| format!("'{word}'")).collect();
        let not = if self.excluded { "!" } else { "" };
        let prefix = if self.prefix { ":*" } else { "" };
        format!("{not}({}{prefix})", words.join(by))
    }
}

/// The terms of a text, each as if it were the last, and whether it is the bare word `or`. They are separated by blanks, except
/// in quoted texts; a quote that is not closed extends to the end.
fn terms(text: &str) -> Vec<(Term, bool)> {
    let mut terms = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let bare = rest.trim_start_matches('-');
        let excluded = bare.len() < rest.len();
        let (text, quoted, after) = match bare.strip_prefix('"') {
            Some(inside) => {
                let (text, after) = inside.split_once('"').unwrap_or((inside, ""));
                (text, true, after)
            }
            None => {
                let end = bare
                    .find(|c: char| c.is_whitespace() || c == '"')
                    .unwrap_or(bare.len());
                (&bare[..end], false, &bare[end..])
            }
        };
        let words: Vec<_> = words(text).map(|place| folded_word(&text[place])).collect();
        if let Some(last) = words.last() {
            let grows = last.chars().nth(1).is_some() && !last.chars().any(is_single_char_word);
            let is_or = !quoted && !excluded && text.eq_ignore_ascii_case("or");
            let term = Term {
                excluded,
                prefix: grows && !quoted && !excluded,
                words,
            };
            terms.push((term, is_or));
        }
        rest = after.trim_start();
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use unicode_normalization::char::is_combining_mark;

    proptest! {
        #[test]
        fn every_word_is_in_it_as_it_is_compared(text in "([a-cA-C0-9]{1,3}[ ./]|\\PC|[éÉ記\u{301}]){0,80}") {
            let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (place, position) in words(&text).zip(1..) {
                defined.entry(folded_word(&text[place])).or_default().push(position.to_string());
            }
            let defined = defined.iter().map(|(lexeme, positions)| format!("'{lexeme}':{}", positions.join(",")));
            let vector = vector(&"acme".parse().unwrap(), &text);
            let mut parts: Vec<_> = vector.split(' ').skip(1).map(str::to_owned).collect();
            parts.sort_unstable();
            let mut defined: Vec<_> = defined.collect();
            defined.sort_unstable();
            prop_assert_eq!(parts, defined);
        }
    }

    fn read(text: &str) -> String {
        Query::parse(text).tsquery()
    }

    #[test]
    fn only_the_bare_word_or_joins_alternatives() {
        assert_eq!(read("red OR blue"), "(('red')) | (('blue':*))");
        for text in ["red or, blue", "red ör blue", "red \"or\" blue"] {
            assert_eq!(read(text), "(('red') & ('or') & ('blue':*))", "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_out_of_its_quotes(text in "[\\PC'\"\\\\:&|!()<>*-]{0,60}") {
            let query = read(&text);
            for (index, part) in query.split('\'').enumerate() {
                if index % 2 == 1 {
                    let of_a_word = |c: char| c.is_alphanumeric() || is_combining_mark(c);
                    prop_assert!(part.chars().all(of_a_word), "{}", part);
                }
            }
        }
    }
}
