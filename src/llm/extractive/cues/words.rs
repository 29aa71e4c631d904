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
    /// Verbs with a part that stands apart, by which something is given up, a group a line: the verbs, a `/`, the parts.
    pub(in crate::llm::extractive) separable: &'static str,
    /// What stands between a thing and what tells whose or which it is: "of".
    pub(in crate::llm::extractive) belonging: &'static str,
    /// Words with which it is said when, where or why something was given up.
    pub(in crate::llm::extractive) circumstances: &'static str,
    /// Words before which the name of something old ends.
    pub(in crate::llm::extractive) new_begins: &'static str,
    /// "to": behind it stands the new value.
    pub(in crate::llm::extractive) to: &'static str,
    /// Words between parts of a sentence: "and", "but".
    pub(in crate::llm::extractive) joins: &'static str,
    /// Whether a word is a participle or past form that tells finished work.
    pub(in crate::llm::extractive) is_done: fn(&str) -> bool,
    /// Whether such a word needs no auxiliary: "repasé".
    pub(in crate::llm::extractive) tells_alone: fn(&str) -> bool,
    /// Whether a word is the imperative of a verb, at the beginning of a sentence.
    pub(in crate::llm::extractive) is_imperative: fn(&str) -> bool,
}
