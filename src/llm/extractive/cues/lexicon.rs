//! The cue phrases of a language and the search for them.

use aho_corasick::{AhoCorasick, MatchKind};

use super::language::Language;
use super::sign::Sign;

/// The cue phrases of a language in one search automaton.
pub(super) struct Lexicon {
    pub(super) search: AhoCorasick,
    pub(super) signs: Vec<Sign>,
}

pub(super) fn listed(language: Language, sign: Sign) -> impl Iterator<Item = &'static str> {
    let cues = language.words().cues.iter().filter(move |(of, _)| *of == sign);
    cues.flat_map(|(_, phrases)| entries(phrases))
}

pub(super) fn entries(phrases: &'static str) -> impl Iterator<Item = &'static str> {
    phrases
        .split('|')
        .map(str::trim)
        .filter(|phrase| !phrase.is_empty())
}

impl Lexicon {
    pub(super) fn of(language: Language) -> Self {
        let mut patterns = Vec::new();
        let mut signs = Vec::new();
        for (sign, phrases) in language.words().cues {
            for phrase in entries(phrases).filter(|_| *sign != Sign::Small) {
                patterns.push(pattern(phrase, language));
                signs.push(*sign);
            }
        }
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .expect("the cues are a few kilobytes");
        Self { search, signs }
    }
}

pub(super) fn pattern(phrase: &str, language: Language) -> String {
    if language == Language::Japanese && !phrase.is_ascii() {
        return phrase.to_owned();
    }
    let open = phrase.strip_prefix('*');
    let (before, phrase) = (if open.is_some() { "" } else { " " }, open.unwrap_or(phrase));
    match phrase.strip_suffix('*') {
        Some(stem) => format!("{before}{stem}"),
        None => format!("{before}{phrase} "),
    }
}
