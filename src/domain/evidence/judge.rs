//! Judges whether the input supports an answer of a role, item by item.

use super::Strictness;
use super::archives::Actives;
use super::examples::Examples;
use super::input::{Evidence, Input, WordIndex};
use super::verbatim::Sources;
use crate::domain::operation::{AddedRecord, FaultKind, Item, Operation, Progress};
use crate::domain::text::content_words::{KnownWords, Word, content_words, keys};
use crate::domain::text::{bare_words, has_secret, masked};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;

/// A problem with an item, or with one of its bullets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The message.
    pub detail: String,
    /// The bullet, if the ruling does not concern the whole item.
    pub bullet: Option<String>,
    /// Whether it is only a warning: the item or bullet is applied.
    pub is_warning: bool,
}

impl Ruling {
    pub(super) fn of(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            bullet: None,
            is_warning: false,
        }
    }
}

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
    pub(super) index: WordIndex<'a>,
    pub(super) actives: Actives,
    sources: Option<Sources<'a>>,
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
                Operation::Add(added) => {
                    let before = asked.len();
                    asked.extend(added.label.iter().flat_map(|label| keys(label)));
                    asked.extend(keys(&added.content));
                    is_literal |= added.label.is_some() || asked.len() == before;
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
        let snippets = actives.snippets.iter().map(String::as_str);
        let sources = is_literal.then(|| Sources::of(case.input, snippets));
        Self {
            index: WordIndex::of(case.input, asked),
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

    /// Returns the ruling of a text, replaced by a rejection if the text may contain a credential.
    fn or_secret(&self, ruling: Option<Ruling>, holds_secret: impl FnOnce() -> bool) -> Option<Ruling> {
        let ruling = ruling.map(|ruling| self.downgraded(ruling));
        let is_applied = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
        if is_applied && holds_secret() {
            return Some(secret());
        }
        ruling
    }

    /// The ruling on a text that shares too few words with the input or with `others`: fewer than `least`, or none if it has
    /// fewer than four. Words in scripts that neither of them uses do not count. Only a warning if none of its scripts is
    /// among theirs, or if the caller sent no messages, because a task alone says too little of what happened.
    fn unsupported(
        &self,
        text: &str,
        words: &[Word],
        (least, others): (usize, &KnownWords),
        detail: &str,
    ) -> Option<Ruling> {
        let ungrounded = |is_warning, detail: &str| {
            let ruling = Ruling::of(FaultKind::Ungrounded, detail);
            Some(Ruling { is_warning, ..ruling })
        };
        let is_task_alone = self.case.input.messages.is_empty();
        if words.is_empty() {
            let is_there = self.sources.as_ref().is_some_and(|sources| sources.has(text));
            return if is_there {
                None
            } else {
                ungrounded(is_task_alone, detail)
            };
        }
        let scripts = self.index.scripts.with(others.scripts);
        let comparable = words
            .iter()
            .filter(|word| word.scripts.are_among(scripts))
            .count();
        let is_shared = |word: &&Word| self.index.has(word.key) || others.keys.contains(&word.key);
        let shared = words.iter().filter(is_shared).count();
        let needed = if comparable < 4 { 1 } else { least };
        if shared >= needed {
            return None;
        }
        let has_script = words.iter().any(|word| !word.scripts.is_none());
        let in_common = words.iter().any(|word| word.scripts.share(scripts));
        if has_script && !in_common {
            let detail = "It shares no script with the task and the messages, so its words could not be compared with \
                          theirs.";
            return ungrounded(true, detail);
        }
        ungrounded(is_task_alone, detail)
    }

    /// Judges additions and progress, in order. Archivings pass through and are judged by
    /// [`Judge::archives`], once it is known which additions are accepted.
    #[must_use]
    pub fn items(&self, items: Vec<Item>) -> Vec<Judged> {
        items.into_iter().map(|item| self.item(item)).collect()
    }

    fn item(&self, mut item: Item) -> Judged {
        let (evidence, ruling) = match &mut item.operation {
            Operation::RewriteProgress(progress) => {
                let progress = std::mem::take(progress);
                return self.progress(progress, item.range);
            }
            Operation::Add(AddedRecord {
                reason,
                label: None,
                content,
                ..
            }) => {
                let words = content_words(content);
                let ruling = self.learning(reason, content, &words);
                (self.index.evidence(words.iter().map(|word| word.key)), ruling)
            }
            Operation::Add(AddedRecord {
                reason,
                label: Some(label),
                content: snippet,
                ..
            }) => {
                let sources = self.sources.as_ref();
                let found = sources.and_then(|sources| sources.find_in_input(snippet, &self.index));
                // What is stored: on one line of the input a credential may be seen that the answer wraps.
                let stored = found.as_ref().map_or(snippet.as_str(), |(passage, _)| *passage);
                let ruling = self.snippet([reason, label, stored], found.is_some());
                match found {
                    Some((passage, evidence)) => {
                        passage.clone_into(snippet);
                        (vec![evidence], ruling)
                    }
                    None => (self.index.evidence(keys(snippet)), ruling),
                }
            }
            Operation::Archive { .. } | Operation::Mark { .. } => (Vec::new(), None),
        };
        let is_applied = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
        Judged {
            item: is_applied.then_some(item),
            evidence,
            rulings: ruling.into_iter().collect(),
        }
    }

    fn learning(&self, reason: &str, content: &str, words: &[Word]) -> Option<Ruling> {
        let whole = format!("{reason}: {content}");
        let ruling = if self.case.examples.has(content) || self.case.examples.has(&whole) {
            Some(example())
        } else {
            let detail = "It shares fewer than two words that mean something with the task and the messages; \
                          say it in their words, or leave it out.";
            self.unsupported(content, words, (2, &KnownWords::default()), detail)
        };
        self.or_secret(ruling, || has_secret(&whole))
    }

    fn snippet(&self, texts: [&str; 3], is_own: bool) -> Option<Ruling> {
        let ruling = self.foreign_snippet(texts, is_own);
        self.or_secret(ruling, || texts.into_iter().any(has_secret))
    }

    fn foreign_snippet(&self, [_, label, snippet]: [&str; 3], is_own: bool) -> Option<Ruling> {
        if self.case.examples.has(label) || self.case.examples.has(snippet) {
            return Some(example());
        }
        let sources = self.sources.as_ref().filter(|_| !is_own);
        let line = sources
            .and_then(|sources| sources.foreign_line(snippet, &self.index))?
            .trim();
        let cut = &line[..line.floor_char_boundary(80)];
        let detail = format!(
            "Its line `{cut}` is neither in the task nor in the messages; copy a snippet character for \
             character, or leave it out."
        );
        Some(Ruling::of(FaultKind::NotVerbatim, masked(&detail)))
    }

    /// Removes unsupported and duplicate bullets, and then checks that something is left in progress.
    fn progress(&self, progress: Progress, range: Range<usize>) -> Judged {
        // A bullet may share them as well as those of the input.
        let before = KnownWords::of([self.case.progress]);
        let known: HashSet<String, RandomState> = self.case.progress.lines().map(bare_words).collect();
        let mut seen: HashSet<String, RandomState> = HashSet::default();
        let mut rulings = Vec::new();
        let mut words = Vec::new();
        let had_work = !progress.in_progress.is_empty();
        let mut kept = |bullets: Vec<String>, is_plan: bool| -> Vec<String> {
            let mut good = Vec::with_capacity(bullets.len());
            for bullet in bullets {
                let folded = bare_words(&bullet);
                if seen.contains(&folded) {
                    continue;
                }
                let own = content_words(&bullet);
                let mut ruling = self.bullet_ruling(&bullet, &own, (&before, known.contains(&folded)));
                // A plan claims nothing: nobody is misled by a step in words of its own.
                if let Some(ruling) = &mut ruling {
                    ruling.is_warning |= is_plan && ruling.kind == FaultKind::Ungrounded;
                }
                let is_applied = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
                rulings.extend(ruling.map(|ruling| Ruling {
                    bullet: Some(bullet.clone()),
                    ..ruling
                }));
                if is_applied {
                    seen.insert(folded);
                    words.extend(own.into_iter().map(|word| word.key));
                    good.push(bullet);
                }
            }
            good
        };
        let progress = Progress {
            completed: kept(progress.completed, false),
            in_progress: kept(progress.in_progress, true),
            remaining: kept(progress.remaining, true),
        };
        let item = if had_work && progress.in_progress.is_empty() {
            let detail = "No bullet is left under In Progress, so the progress before stays; write at least one that the \
                          task or the messages name.";
            rulings.push(Ruling::of(FaultKind::MissingInProgress, detail));
            None
        } else {
            let operation = Operation::RewriteProgress(progress);
            Some(Item { operation, range })
        };
        words.sort_unstable();
        words.dedup();
        Judged {
            item,
            evidence: self.index.evidence(words),
            rulings,
        }
    }

    fn bullet_ruling(
        &self,
        bullet: &str,
        words: &[Word],
        (before, is_known): (&KnownWords, bool),
    ) -> Option<Ruling> {
        let ruling = if self.case.examples.has(bullet) {
            Some(example())
        } else if is_known {
            None
        } else {
            let detail = "The bullet shares no word that means something with the task, the messages or the progress \
                          before; leave it out, or say it in their words.";
            self.unsupported(bullet, words, (1, before), detail)
        };
        self.or_secret(ruling, || has_secret(bullet))
    }
}

fn example() -> Ruling {
    let detail =
        "It is an example of the instructions; write what the task and the messages say, or leave it out.";
    Ruling::of(FaultKind::Example, detail)
}

fn secret() -> Ruling {
    let detail = "It contains a credential, which a memory must not keep; say where it is kept instead.";
    Ruling::of(FaultKind::Secret, detail)
}
