//! The word lists of a language.

use super::sign::Sign;

/// The word lists of a language.
pub(in crate::llm::extractive) struct Words {
    pub(super) cues: &'static [(Sign, &'static str)],
    /// Opposite states, one axis per line: the phrases of one side, a `/`, the phrases of the other.
    pub(super) states: &'static str,
    /// Mutually exclusive words, one group per line: "staging|production".
    pub(super) rivals: &'static str,
    /// The numbers from two on, in words.
    pub(super) numbers: &'static str,
    /// The days from Monday on, with all forms.
    pub(super) weekdays: &'static str,
    /// Connectors before the place, means or name of a thing, in groups of interchangeable words: "at" and
    /// "under", "with", "is".
    pub(in crate::llm::extractive) connectors: &'static str,
    /// Words, or pairs of words, that begin a sentence and refer back: "it closes at six".
    pub(in crate::llm::extractive) pronouns: &'static str,
    /// Expletive beginnings that do not refer to anything: "il faut".
    pub(in crate::llm::extractive) expletives: &'static str,
    /// Words that begin a clause and negate it: "no stamina bar".
    pub(in crate::llm::extractive) denying: &'static str,
    /// "Yes" at the beginning of an answer.
    pub(in crate::llm::extractive) yes: &'static str,
    /// References to other people: "they decided".
    pub(in crate::llm::extractive) others: &'static str,
    /// Separable verbs of giving something up, one group per line: the verbs, a `/`, the prefixes.
    pub(in crate::llm::extractive) separable: &'static str,
    /// Words between a thing and its owner or kind: "of".
    pub(in crate::llm::extractive) belonging: &'static str,
    /// Words that begin a time, place or reason.
    pub(in crate::llm::extractive) circumstances: &'static str,
    /// Words that end the name of something outdated.
    pub(in crate::llm::extractive) new_begins: &'static str,
    /// "to": precedes the new value.
    pub(in crate::llm::extractive) to: &'static str,
    /// Conjunctions between clauses: "and", "but".
    pub(in crate::llm::extractive) joins: &'static str,
    /// Whether a word is a participle or past form that reports finished work.
    pub(in crate::llm::extractive) is_done: fn(&str) -> bool,
    /// Whether such a word needs no auxiliary: "repasé".
    pub(in crate::llm::extractive) needs_no_auxiliary: fn(&str) -> bool,
    /// Whether a word is an imperative at the beginning of a sentence.
    pub(in crate::llm::extractive) is_imperative: fn(&str) -> bool,
}
