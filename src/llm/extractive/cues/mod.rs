//! The cue words that classify sentences, one file per language, and the search for them.
//!
//! An entry is a phrase in lower case; `*` at its end matches any ending, `*` at its beginning any beginning.
//! Punctuation marks are words of their own: `decision :`.

mod de;
mod de_verbs;
mod en;
mod es;
mod fr;
mod ja;
mod language;
mod lexicon;
mod opposites;
mod sign;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::line::Line;
use lexicon::{Lexicon, listed};

pub(super) use language::Language;
pub(super) use opposites::{State, number_word, weekday};
pub(super) use sign::Sign;

/// A sign and its range in the folded line, without surrounding blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) sign: Sign,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Language {
    /// Detects the language of a text by its function words; `None` if there are too few.
    pub(super) fn of(text: &str) -> Option<Self> {
        Self::among(text, Self::English)
    }

    /// Like [`Self::of`]; if several languages share the function words of a text, `usual` is preferred.
    pub(super) fn among(text: &str, usual: Self) -> Option<Self> {
        let mut sample_end = text.len().min(4_000);
        while !text.is_char_boundary(sample_end) {
            sample_end -= 1;
        }
        let sample = &text[..sample_end];
        let kana = sample.chars().filter(|c| is_kana(*c)).count();
        if kana >= 2 && kana * 5 >= sample.chars().filter(|c| c.is_alphabetic()).count() {
            return Some(Self::Japanese);
        }
        let mut counts = [0_usize; 5];
        for (_, word) in Line::of(sample).words() {
            let of = SMALL.get(word).copied().unwrap_or(0);
            for language in Self::ALL {
                counts[language as usize] += usize::from(of & language.bit() != 0);
            }
        }
        let count = |language: &Self| counts[*language as usize];
        let best = Self::ALL[..4]
            .iter()
            .max_by_key(|language| (count(language), **language == usual))?;
        (count(best) >= 1).then_some(*best)
    }

    /// All signs of a line ordered by position, including overlapping ones.
    pub(super) fn signs(self, line: &Line) -> Vec<Hit> {
        let lexicon = &LEXICONS[self as usize];
        let mut hits: Vec<Hit> = lexicon
            .search
            .find_overlapping_iter(&line.folded)
            .map(|found| {
                let (start, end) = (found.start(), found.end());
                let piece = &line.folded[start..end];
                Hit {
                    sign: lexicon.signs[found.pattern().as_usize()],
                    start: start + usize::from(piece.starts_with(' ')),
                    end: end - usize::from(piece.ends_with(' ')),
                }
            })
            .collect();
        hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
        // "Il faut" marks remaining work, "il faut toujours" a rule; likewise "queda" and "queda en" (a
        // change).
        let rules: Vec<Hit> = hits
            .iter()
            .copied()
            .filter(|hit| matches!(hit.sign, Sign::Rule | Sign::Change | Sign::Decision))
            .collect();
        let is_part_of_a_rule = |hit: &Hit| {
            let holds = |rule: &Hit| rule.start <= hit.start && hit.end <= rule.end;
            rules
                .iter()
                .any(|rule| holds(rule) && rule.end - rule.start > hit.end - hit.start)
        };
        hits.retain(|hit| hit.sign != Sign::Open || !is_part_of_a_rule(hit));
        // "Immer noch" and "never happened" are not rules, and "müssen wir noch" marks remaining work.
        let covers_rules = |hit: &Hit| {
            let lasts = [" noch", " still", "encore", "todavía", "muss bis", "müssen bis"];
            let says_lasting = || {
                lasts
                    .iter()
                    .any(|word| line.folded[hit.start..hit.end].contains(word))
            };
            hit.sign == Sign::Denial || hit.sign == Sign::Open && says_lasting()
        };
        let covering: Vec<Hit> = hits.iter().copied().filter(covers_rules).collect();
        let is_covered = |hit: &Hit| {
            let mut covering = covering.iter();
            covering.any(|by| {
                by.start <= hit.start && hit.end <= by.end && by.end - by.start > hit.end - hit.start
            })
        };
        hits.retain(|hit| hit.sign != Sign::Rule || !is_covered(hit));
        // "21 days, no 15", but not ", no lo sé".
        let names_a_number = |hit: &Hit| {
            line.folded[hit.start..hit.end] != *", no"
                || line.folded[hit.end..]
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_digit())
        };
        hits.retain(|hit| hit.sign != Sign::Old || names_a_number(hit));
        // "I bought kiln wash, too" is not "too hot".
        let adds = |hit: &Hit| {
            line.folded[hit.start..hit.end] == *"too"
                && !line.folded[hit.end..]
                    .trim_start()
                    .starts_with(char::is_alphanumeric)
        };
        hits.retain(|hit| hit.sign != Sign::Trouble || !adds(hit));
        hits
    }
}

/// The signs of a text in its language; English if the language cannot be detected.
pub(super) fn any_signs(text: &str) -> BTreeSet<Sign> {
    signs_in(text, Language::of(text).unwrap_or(Language::English))
}

/// The signs of a text in a language.
pub(super) fn signs_in(text: &str, language: Language) -> BTreeSet<Sign> {
    language
        .signs(&Line::of(text))
        .into_iter()
        .map(|hit| hit.sign)
        .collect()
}

/// Whether a word is a function word of any language.
pub(super) fn is_small(word: &str) -> bool {
    SMALL.contains_key(word)
}

/// Whether a word names a month in any language.
pub(super) fn is_month(word: &str) -> bool {
    MONTHS.contains(word)
}

pub(super) fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

static LEXICONS: LazyLock<Vec<Lexicon>> =
    LazyLock::new(|| Language::ALL.iter().map(|l| Lexicon::of(*l)).collect());
/// The function words of all languages, each with a bit set of its languages.
static SMALL: LazyLock<HashMap<&'static str, u8, RandomState>> = LazyLock::new(|| {
    let mut small = HashMap::default();
    for language in Language::ALL {
        for word in listed(language, Sign::Small) {
            *small.entry(word).or_insert(0) |= language.bit();
        }
    }
    small
});
static MONTHS: LazyLock<HashSet<&'static str, RandomState>> = LazyLock::new(|| {
    let of = |language: Language| listed(language, Sign::Month);
    Language::ALL.into_iter().flat_map(of).collect()
});

#[cfg(test)]
mod tests {
    use super::lexicon::entries;
    use super::*;

    #[test]
    fn the_language_is_known_by_its_small_words() {
        for (text, language) in [
            ("The tests are green and I am done", Some(Language::English)),
            ("Die Tests sind grün und ich bin fertig", Some(Language::German)),
            ("Les tests sont verts et je suis prêt", Some(Language::French)),
            (
                "Las pruebas están en verde y he terminado",
                Some(Language::Spanish),
            ),
            ("テストは全部通りました", Some(Language::Japanese)),
            ("12:00 xyz", None),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }

    #[test]
    fn every_entry_is_written_as_lines_are_folded() {
        for language in Language::ALL {
            for (sign, phrases) in language.words().cues {
                for phrase in entries(phrases) {
                    let bare = phrase.trim_matches('*');
                    assert_eq!(
                        Line::of(bare).folded.trim(),
                        bare.trim(),
                        "{language:?} {sign:?} {phrase:?}"
                    );
                }
            }
        }
    }
}
