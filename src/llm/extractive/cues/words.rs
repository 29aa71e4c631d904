//! What a language brings along.

use super::sign::Sign;

/// What a language brings along.
pub(in crate::llm::extractive) struct Words {
    pub(super) cues: &'static [(Sign, &'static str)],
    /// Opposite states, an axis a line: the phrases of the one, a `/`, the phrases of the other.
    pub(super) states: &'static str,
    /// Words of which one excludes the others of its line: "staging|production".
    pub(super) rivals: &'static str,
    /// The numbers from two on, in letters.
    pub(super) numbers: &'static str,
    /// The days from Monday on, in as many forms as there are.
    pub(super) weekdays: &'static str,
    /// Words that stand before the place, the means or the name that a thing has, in groups of which one word can
    /// stand for another: "at" and "under", "with", "is".
    pub(in crate::llm::extractive) connectors: &'static str,
    /// Words, or two of them, that open a sentence and point back: "it closes at six".
    pub(in crate::llm::extractive) pronouns: &'static str,
    /// Openings that look so and point to nothing: "il faut".
    pub(in crate::llm::extractive) expletives: &'static str,
    /// Words that open a part of a sentence and deny it: "no stamina bar".
    pub(in crate::llm::extractive) denying: &'static str,
    /// "Yes" as it opens an answer.
    pub(in crate::llm::extractive) yes: &'static str,
    /// Who else is spoken of: "they decided".
    pub(in crate::llm::extractive) others: &'static str,
    /// Whether a word is a participle or past form that tells finished work.
    pub(in crate::llm::extractive) is_done: fn(&str) -> bool,
    /// Whether such a word needs no auxiliary: "repasé".
    pub(in crate::llm::extractive) tells_alone: fn(&str) -> bool,
    /// Whether a word is the imperative of a verb, at the beginning of a sentence.
    pub(in crate::llm::extractive) is_imperative: fn(&str) -> bool,
}
