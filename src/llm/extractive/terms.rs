//! The terms of a text: word stems, numbers and identifiers.

use std::collections::BTreeSet;

use super::cues::{is_month, is_small, weekday};
use super::line::folded_through;

/// Stems are compared by their first characters, so that "migrated" and "migration" match.
const STEM_CHARS: usize = 6;

/// The terms of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// Stems of significant words; for Chinese and Japanese pairs of neighbouring characters.
    pub(super) words: BTreeSet<Stem>,
    /// Words with a digit. Texts with different numbers are different.
    pub(super) numbers: BTreeSet<String>,
}

/// The first characters of a word: up to [`STEM_CHARS`], 21 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Stem(u128);

impl Stem {
    pub(super) fn of(chars: impl Iterator<Item = char>) -> Self {
        Self(
            chars
                .take(STEM_CHARS)
                .fold(0, |key, c| (key << 21) | u128::from(u32::from(c))),
        )
    }

    /// Its characters as text.
    pub(super) fn text(self) -> String {
        let code = |at: usize| u32::try_from((self.0 >> (21 * at)) & 0x1F_FFFF).unwrap_or(0);
        let chars = (0..STEM_CHARS).rev().map(code).filter(|code| *code > 0);
        chars.filter_map(char::from_u32).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Word,
    Han,
    Katakana,
    Other,
}

pub(super) fn script(c: char) -> Script {
    match c {
        'a'..='z' | '0'..='9' | '_' | '\'' | '-' | '.' | '/' | ':' | '+' | '@' | '#' | '&' | ',' => {
            Script::Word
        }
        _ if c.is_ascii() => Script::Other,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '々' => Script::Han,
        '\u{3040}'..='\u{309f}' => Script::Other,
        _ if c.is_alphanumeric() => Script::Word,
        _ => Script::Other,
    }
}

/// Splits a folded text into runs of one script.
pub(super) fn pieces(folded: &str) -> impl Iterator<Item = (Script, &str)> {
    let mut rest = folded;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let of = script(first);
        let end = rest
            .char_indices()
            .find(|(_, c)| script(*c) != of)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((of, piece))
    })
}

impl Terms {
    pub(super) fn of(text: &str) -> Self {
        // Text in backticks or quotation marks counts as content.
        Self::of_folded(&folded_through(text))
    }

    /// Like [`Self::of`], for a folded text.
    pub(super) fn of_folded(folded: &str) -> Self {
        let mut terms = Self::default();
        for (script, piece) in pieces(folded) {
            match script {
                Script::Word => terms.word(piece.trim_matches(|c: char| !c.is_alphanumeric())),
                Script::Katakana if piece.chars().count() > 1 => {
                    terms.words.insert(Stem::of(piece.chars()));
                }
                Script::Han => terms.pairs(piece),
                _ => {}
            }
        }
        terms
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() || (is_small(word) && !is_month(word)) {
            return;
        }
        if word.chars().any(|c| c.is_ascii_digit()) {
            self.numbers.insert(number(word));
        } else if word.chars().count() > 1 {
            self.words.insert(stem(without_elision(word)));
        }
    }

    fn pairs(&mut self, run: &str) {
        let mut before = None;
        for c in run.chars() {
            if let Some(before) = before {
                self.words.insert(Stem::of([before, c].into_iter()));
            }
            before = Some(c);
        }
        // Units of dates and counts are not significant alone.
        if let Some(only) = before.filter(|only| only.len_utf8() == run.len())
            && !"月日年時分回人日間円個本枚".contains(only)
        {
            self.words.insert(Stem::of(std::iter::once(only)));
        }
    }

    pub(super) fn count(&self) -> usize {
        self.words.len() + self.numbers.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of shared words and numbers.
    pub(super) fn shared(&self, other: &Self) -> usize {
        self.words.intersection(&other.words).count() + self.numbers.intersection(&other.numbers).count()
    }

    /// Whether this is a subset of the other.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.words.is_subset(&other.words) && self.numbers.is_subset(&other.numbers)
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        Self {
            words: self.words.difference(&other.words).copied().collect(),
            numbers: self.numbers.difference(&other.numbers).cloned().collect(),
        }
    }

    /// The union of both.
    pub(super) fn with(mut self, other: &Self) -> Self {
        self.words.extend(other.words.iter().copied());
        self.numbers.extend(other.numbers.iter().cloned());
        self
    }

    /// Whether these terms include all, or nearly all, of an item's. Numbers must be equal.
    pub(super) fn covers(&self, item: &Self) -> bool {
        if item.is_empty() || !item.numbers.is_subset(&self.numbers) {
            return false;
        }
        let shared = self.shared(item);
        let named = item.numbers.iter().any(|number| number.len() >= 3);
        named || (shared * 3 >= item.count() * 2 && (shared >= 2 || item.count() == 1))
    }

    /// Whether two texts mean the same.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.numbers == other.numbers
            && !self.is_empty()
            && self.shared(other) * 5 >= self.count().max(other.count()) * 4
    }
}

const ELIDED: [&str; 9] = ["l'", "d'", "j'", "n'", "s'", "m'", "t'", "c'", "qu'"];

/// Strips an elided French article.
fn without_elision(word: &str) -> &str {
    ELIDED
        .iter()
        .find_map(|start| word.strip_prefix(start))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(word)
}

/// A number without thousands separators.
pub(super) fn number(word: &str) -> String {
    let grouped = word
        .split([',', '.'])
        .enumerate()
        .all(|(index, group)| group.bytes().all(|b| b.is_ascii_digit()) && (index == 0 || group.len() == 3));
    if grouped {
        word.replace([',', '.'], "")
    } else {
        word.to_owned()
    }
}

/// A word without its endings of tense and number.
pub(super) fn stem(word: &str) -> Stem {
    let word = match word {
        "wrote" | "written" => "write",
        "built" => "build",
        "made" => "make",
        "ran" => "run",
        "sent" => "send",
        "bought" => "buy",
        "paid" => "pay",
        "aged" => "age",
        _ => word,
    };
    let word = word.strip_suffix("'s").unwrap_or(word);
    let cut = ["ing", "ed", "es", "en", "s", "e", "n"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.chars().count() >= 3))
        .unwrap_or(word);
    // `planned` and `plan`, `wiring` and `wire`, `copied` and `copy`.
    let letters = cut.trim_end_matches('e');
    let mut count = letters.chars().count();
    let mut ends = letters.chars().rev();
    let (mut last, before) = (ends.next(), ends.next());
    if count > 3 && last == before {
        count -= 1;
        last = before;
    }
    let ends_in_y = count > 2 && last == Some('i');
    Stem::of(letters.chars().take(count).enumerate().map(|(at, c)| match c {
        _ if ends_in_y && at + 1 == count => 'y',
        c => c,
    }))
}

/// Number of names in a text: capitalised words that do not begin it.
pub(super) fn names(text: &str) -> usize {
    let mut begins = true;
    let mut count = 0;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = bare.starts_with(char::is_uppercase)
            && bare != "I"
            && !bare.starts_with("I'")
            && !bare.starts_with("I’");
        let is_day = || weekday(&bare.to_lowercase()).is_some() || is_month(&bare.to_lowercase());
        count += usize::from(capital && !begins && !is_day());
        begins = word.ends_with(['.', '!', '?', ':']);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tense_and_number_do_not_hide_that_two_texts_speak_of_one_thing() {
        for (sentence, item) in [
            (
                "The parser is wired to the update route",
                "Wire the parser to the update route",
            ),
            (
                "Fixed the flaky login test by awaiting the store",
                "Fix the flaky login test",
            ),
            ("Data copied, 81,204 of 81,204 rows", "Copy the data"),
            ("512 is closed", "Fix issue 512"),
            ("レジャーシートを買いました", "レジャーシート"),
        ] {
            assert!(
                Terms::of(sentence).covers(&Terms::of(item)),
                "{sentence} / {item}"
            );
        }
        for (sentence, item) in [
            ("Added a test for the login bug", "Fix the upload bug"),
            ("Fixed the parser", "Wire the parser to the update route"),
            ("Tables 1 to 6 are done", "Table 7"),
            ("The port is 8113", "The port is 8103"),
            ("", ""),
        ] {
            assert!(
                !Terms::of(sentence).covers(&Terms::of(item)),
                "{sentence} / {item}"
            );
        }
    }
}
