//! Opposite states, mutually exclusive words, and numbers and days in words.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use foldhash::fast::RandomState;

use super::Hit;
use super::language::Language;
use super::lexicon::{entries, pattern};
use super::sign::Sign;
use crate::llm::extractive::line::Line;

/// Maximum number of words between a negation and the state that it inverts.
const NEGATION_REACH: usize = 2;

/// A state in a text: open or closed, allowed or forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm::extractive) struct State {
    /// The pair of opposite states; only equal axes are comparable.
    pub(in crate::llm::extractive) axis: usize,
    /// The side of the axis.
    pub(in crate::llm::extractive) holds: bool,
    /// Offset in the folded line.
    pub(in crate::llm::extractive) start: usize,
    pub(in crate::llm::extractive) end: usize,
}

/// A mutually exclusive word: the line of its list and its index in that line.
pub(in crate::llm::extractive) type Rival = (usize, usize);

impl Language {
    /// The states in a line. A preceding negation inverts a state.
    pub(in crate::llm::extractive) fn states(self, line: &Line, hits: &[Hit]) -> Vec<State> {
        let table = &STATES[self as usize];
        let found: Vec<State> = table
            .search(line)
            .map(|(start, end, (axis, side))| State {
                axis,
                holds: side == 0,
                start,
                end,
            })
            .collect();
        let longest = |state: &&State| {
            !found.iter().any(|other| {
                other.start <= state.start
                    && state.end <= other.end
                    && other.end - other.start > state.end - state.start
            })
        };
        let negated = |state: &State| {
            hits.iter().any(|hit| {
                hit.sign == Sign::Negation
                    && hit.end <= state.start
                    && line.folded[hit.end..state.start].split_whitespace().count() <= NEGATION_REACH
                    && !line.folded[hit.end..state.start].contains([',', ';', ':'])
            })
        };
        found
            .iter()
            .filter(longest)
            .map(|state| State {
                holds: state.holds != negated(state),
                ..*state
            })
            .collect()
    }

    /// The mutually exclusive words in a line.
    pub(in crate::llm::extractive) fn rivals(self, line: &Line) -> Vec<Rival> {
        RIVALS[self as usize]
            .search(line)
            .map(|(_, _, rival)| rival)
            .collect()
    }
}

/// The number that a word represents, from two on.
pub(in crate::llm::extractive) fn number_word(word: &str) -> Option<usize> {
    NUMBERS.get(word).copied()
}

/// The day of the week that a word names, from 0 for Monday.
pub(in crate::llm::extractive) fn weekday(word: &str) -> Option<usize> {
    let day = WEEKDAYS.get(word).copied();
    day.or_else(|| {
        let second = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
        WEEKDAYS
            .get(&word[..second])
            .copied()
            .filter(|_| !word.is_ascii())
    })
}

/// Phrases, each with its line and a number within that line.
struct Table {
    search: AhoCorasick,
    places: Vec<(usize, usize)>,
}

impl Table {
    fn of(phrases: impl Iterator<Item = (&'static str, (usize, usize))>, language: Language) -> Self {
        let (patterns, places): (Vec<String>, Vec<(usize, usize)>) = phrases
            .map(|(phrase, place)| (pattern(phrase, language), place))
            .unzip();
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .expect("the lists are a few kilobytes");
        Self { search, places }
    }

    fn search(&self, line: &Line) -> impl Iterator<Item = (usize, usize, (usize, usize))> {
        self.search.find_overlapping_iter(&line.folded).map(|found| {
            let piece = &line.folded[found.start()..found.end()];
            let start = found.start() + usize::from(piece.starts_with(' '));
            let end = found.end() - usize::from(piece.ends_with(' '));
            (start, end, self.places[found.pattern().as_usize()])
        })
    }
}

static STATES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let of = |language: Language| {
        let axes = language.words().states.lines().enumerate();
        let phrases = axes.flat_map(|(axis, sides)| {
            let sides = sides.split('/').enumerate();
            sides.flat_map(move |(side, phrases)| entries(phrases).map(move |phrase| (phrase, (axis, side))))
        });
        Table::of(phrases, language)
    };
    Language::ALL.into_iter().map(of).collect()
});
static RIVALS: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let of = |language: Language| {
        let groups = language.words().rivals.lines().enumerate();
        let words = groups.flat_map(|(group, words)| {
            let words = entries(words).enumerate();
            words.map(move |(at, word)| (word, (group, at)))
        });
        Table::of(words, language)
    };
    Language::ALL.into_iter().map(of).collect()
});
static NUMBERS: LazyLock<HashMap<&'static str, usize, RandomState>> = LazyLock::new(|| {
    let of = |language: Language| language.words().numbers.split_whitespace().zip(2..);
    Language::ALL.into_iter().flat_map(of).collect()
});
static WEEKDAYS: LazyLock<HashMap<&'static str, usize, RandomState>> = LazyLock::new(|| {
    let of = |language: Language| {
        let days = language.words().weekdays.split_whitespace().enumerate();
        days.map(|(at, day)| (day, at % 7))
    };
    Language::ALL.into_iter().flat_map(of).collect()
});
