//! Judges whether the input supports an answer of a role.

use super::Strictness;
use super::actives::Actives;
use super::examples::Examples;
use super::input::{Input, WordIndex};
use super::passage::Evidence;
use super::ruling::{Ruling, secret};
use super::verbatim::Sources;
use crate::domain::operation::{FaultKind, Item, Operation};
use crate::domain::text::content_words::{Word, content_words, keys};
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// The context in which an answer is judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgeContext<'a> {
    /// The input of the update.
    pub input: &'a Input<'a>,
    /// The memory's document.
    pub document: &'a str,
    /// The body of its `Current Progress`.
    pub progress: &'a str,
    /// The examples of the instructions.
    pub examples: &'a Examples,
    /// Maximum number of archivings per section.
    pub max_archives: usize,
    /// What to do about unsupported items.
    pub strictness: Strictness,
}

/// The result of judging an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The accepted part: valid bullets, or the snippet with the exact bytes of the input. `None` if
    /// rejected.
    pub item: Option<Item>,
    /// The supporting passages.
    pub evidence: Vec<Evidence>,
    /// The problems found.
    pub rulings: Vec<Ruling>,
}

/// The input indexed for one answer.
#[derive(Debug)]
pub struct Judge<'a> {
    pub(super) case: JudgeContext<'a>,
    pub(super) index: WordIndex<'a, 'a>,
    pub(super) actives: Actives,
    pub(super) sources: Option<Sources<'a>>,
}

/// Whether the words of a text are supported.
pub(super) enum Support {
    Yes,
    /// It shares no script with the possible sources.
    NotComparable,
    No,
}

impl<'a> Judge<'a> {
    /// Indexes the input for the words of these items. Linear in the input and the document.
    #[must_use]
    pub fn new(case: JudgeContext<'a>, items: &[Item]) -> Self {
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
                Operation::Archive { .. } | Operation::Mark { .. } => {}
            }
        }
        asked.extend(actives.archived_words());
        let sources = is_literal.then(|| Sources::of(case.input, actives.snippets()));
        Self {
            index: WordIndex::of(case.input, &asked),
            case,
            actives,
            sources,
        }
    }

    /// Downgrades a ruling to a warning if configured. A credential is never downgraded.
    pub(super) fn downgraded(&self, mut ruling: Ruling) -> Ruling {
        let is_softened = self.case.strictness == Strictness::Warn && ruling.kind != FaultKind::Secret;
        ruling.is_warning |= is_softened;
        ruling
    }

    /// The ruling on a text that shares too few words with the input; only a warning if the caller sent no messages,
    /// because a task alone says too little of what happened.
    pub(super) fn ungrounded(&self, detail: &str) -> Ruling {
        Ruling {
            is_warning: self.case.input.messages.is_empty(),
            ..Ruling::of(FaultKind::Ungrounded, detail)
        }
    }

    /// Returns the ruling of a text, replaced by a rejection if the text may contain a credential.
    pub(super) fn or_secret(
        &self,
        ruling: Option<Ruling>,
        holds_secret: impl FnOnce() -> bool,
    ) -> Option<Ruling> {
        let ruling = ruling.map(|ruling| self.downgraded(ruling));
        let is_applied = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
        if is_applied && holds_secret() {
            return Some(secret());
        }
        ruling
    }

    /// Whether a text shares enough words with the input or with `others`: at least `least`, or one if it has
    /// fewer than four. Words in scripts that neither of them uses do not count.
    pub(super) fn support(&self, text: &str, words: &[Word], least: usize, others: &[Word]) -> Support {
        if words.is_empty() {
            let is_there = self.sources.as_ref().is_some_and(|sources| sources.has(text));
            return if is_there { Support::Yes } else { Support::No };
        }
        let scripts = others
            .iter()
            .fold(self.index.scripts, |all, word| all.with(word.scripts));
        let comparable = words
            .iter()
            .filter(|word| word.scripts.are_among(scripts))
            .count();
        let is_shared =
            |word: &&Word| self.index.has(word.key) || others.iter().any(|other| other.key == word.key);
        let shared = words.iter().filter(is_shared).count();
        let needed = if comparable < 4 { 1 } else { least };
        if shared >= needed {
            return Support::Yes;
        }
        let has_script = words.iter().any(|word| !word.scripts.is_none());
        let in_common = words.iter().any(|word| word.scripts.share(scripts));
        if has_script && !in_common {
            Support::NotComparable
        } else {
            Support::No
        }
    }
}
