//! What an answer of a role is held to, and how far a text of it is carried.

use super::Strictness;
use super::actives::Actives;
use super::examples::Examples;
use super::input::{Found, Input};
use super::passage::Evidence;
use super::ruling::{Ruling, secret};
use super::sharing::keys;
use super::verbatim::Sources;
use super::word::Word;
use super::words::content_words;
use crate::domain::operation::{FaultKind, Item, Operation};
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// What an answer is held to.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// What the caller sent.
    pub input: &'a Input<'a>,
    /// The memory's document.
    pub document: &'a str,
    /// The body of its progress.
    pub progress: &'a str,
    /// What the instructions show.
    pub examples: &'a Examples,
    /// Records that a section's answer may archive.
    pub max_archives: usize,
    /// What is done about what is not carried.
    pub strictness: Strictness,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What is left of it: its good bullets, its snippet in the input's own bytes. `None` if it is rejected.
    pub item: Option<Item>,
    /// What carries it.
    pub evidence: Vec<Evidence>,
    /// What is wrong with it.
    pub rulings: Vec<Ruling>,
}

/// The input, read for one answer.
#[derive(Debug)]
pub struct Judge<'a> {
    pub(super) case: Case<'a>,
    pub(super) found: Found<'a, 'a>,
    pub(super) actives: Actives,
    pub(super) sources: Option<Sources<'a>>,
}

/// Whether a text is carried by words, and by how many.
pub(super) enum Carried {
    Yes,
    /// It shares no script with what could carry it.
    NotComparable,
    No,
}

impl<'a> Judge<'a> {
    /// Reads the input for the words of these items. Linear in it and in the document.
    #[must_use]
    pub fn new(case: Case<'a>, items: &[Item]) -> Self {
        let actives = Actives::of(case.document, items);
        let mut asked: HashSet<_, RandomState> = HashSet::default();
        let mut is_literal = false;
        for item in items {
            match &item.operation {
                Operation::AddLearning { content, .. } => {
                    let before = asked.len();
                    asked.extend(keys(content));
                    is_literal |= asked.len() == before;
                }
                Operation::AddVerbatim { label, snippet, .. } => {
                    asked.extend(keys(label).chain(keys(snippet)));
                    is_literal = true;
                }
                Operation::RewriteProgress(progress) => {
                    for bullet in progress.bullets() {
                        let words = content_words(bullet);
                        is_literal |= words.is_empty();
                        asked.extend(words.into_iter().map(|word| word.key));
                    }
                }
                Operation::Archive { .. } => {}
            }
        }
        asked.extend(actives.archived_words());
        let sources = is_literal.then(|| Sources::of(case.input, actives.snippets()));
        Self {
            found: Found::of(case.input, &asked),
            case,
            actives,
            sources,
        }
    }

    /// A ruling as the configuration wants it. A credential is never only warned of.
    pub(super) fn softened(&self, mut ruling: Ruling) -> Ruling {
        let is_softened = self.case.strictness == Strictness::Warn && ruling.kind != FaultKind::Secret;
        ruling.is_warning |= is_softened;
        ruling
    }

    /// What is said of a text that may hold a credential: whatever else is wrong with it, it is not applied then.
    pub(super) fn settled(
        &self,
        ruling: Option<Ruling>,
        holds_secret: impl FnOnce() -> bool,
    ) -> Option<Ruling> {
        let ruling = ruling.map(|ruling| self.softened(ruling));
        let stands = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
        if stands && holds_secret() {
            return Some(secret());
        }
        ruling
    }

    /// Whether a text shares as many words with the input, or with these others, as it needs: `least`, or one if it
    /// has fewer than four. Words in scripts that neither has do not count.
    pub(super) fn carried(&self, text: &str, words: &[Word], least: usize, others: &[Word]) -> Carried {
        if words.is_empty() {
            let is_there = self.sources.as_ref().is_some_and(|sources| sources.has(text));
            return if is_there { Carried::Yes } else { Carried::No };
        }
        let scripts = others
            .iter()
            .fold(self.found.scripts, |all, word| all.with(word.scripts));
        let comparable = words
            .iter()
            .filter(|word| word.scripts.are_among(scripts))
            .count();
        let is_shared =
            |word: &&Word| self.found.has(word.key) || others.iter().any(|other| other.key == word.key);
        let shared = words.iter().filter(is_shared).count();
        let needed = if comparable < 4 { 1 } else { least };
        if shared >= needed {
            return Carried::Yes;
        }
        let has_script = words.iter().any(|word| !word.scripts.is_none());
        let in_common = words.iter().any(|word| word.scripts.share(scripts));
        if has_script && !in_common {
            Carried::NotComparable
        } else {
            Carried::No
        }
    }
}
