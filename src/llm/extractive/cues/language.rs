//! The supported languages.

use super::words::Words;
use super::{de, en, es, fr, ja};

/// A supported language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::llm::extractive) enum Language {
    English,
    German,
    French,
    Spanish,
    Japanese,
}

impl Language {
    pub(in crate::llm::extractive) const ALL: [Self; 5] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Japanese,
    ];

    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(in crate::llm::extractive) fn words(self) -> &'static Words {
        match self {
            Self::English => &en::WORDS,
            Self::German => &de::WORDS,
            Self::French => &fr::WORDS,
            Self::Spanish => &es::WORDS,
            Self::Japanese => &ja::WORDS,
        }
    }

    /// Whether a word, or a pair of words, is an entry of one of the lists of [`Words`].
    pub(in crate::llm::extractive) fn lists(list: &'static str, phrase: &str) -> bool {
        !phrase.is_empty() && list.split('|').any(|entry| entry == phrase)
    }
}
