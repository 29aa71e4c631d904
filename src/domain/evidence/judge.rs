//! Judges whether the input supports an answer of a role, item by item.

use super::Strictness;
use super::archives::Actives;
use super::examples::Examples;
use super::input::{Input, WordIndex};
use super::verbatim::Sources;
use crate::domain::ids::RecordKind;
use crate::domain::operation::{AddedRecord, Fault, FaultKind, Item, Operation, Progress};
use crate::domain::text::content_words::{KnownWords, Word, content_words, keys};
use crate::domain::text::{bare_words, folded, has_secret, masked, single_blanks};
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// Maximum number of snippets that are compared with the input, of which each is searched for as a whole: more than are
/// accepted with any setting.
const MAX_SNIPPETS: usize = 200;

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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judged {
    /// The accepted part: valid bullets, or the snippet with the exact bytes of the input, with the evidence. `None` if
    /// rejected.
    pub item: Option<Item>,
    /// What is wrong with it or with its bullets; what is only a notice rejects nothing.
    pub faults: Vec<Fault>,
}

impl Judged {
    /// The item, unless the fault rejects it.
    pub(super) fn of(item: Item, fault: Option<Fault>) -> Self {
        let is_accepted = fault.as_ref().is_none_or(Fault::is_warning);
        Self {
            faults: fault.into_iter().map(|fault| fault.of_item(&item)).collect(),
            item: is_accepted.then_some(item),
        }
    }
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
        let (mut lines, mut wordless) = (HashSet::default(), HashSet::default());
        let mut texts: Vec<&str> = Vec::new();
        for item in items {
            match &item.operation {
                Operation::Add(added) => match &added.label {
                    Some(label) => {
                        asked.extend(keys(label).chain(keys(&added.content)));
                        lines.extend(added.content.lines().map(single_blanks));
                    }
                    None => texts.push(&added.content),
                },
                Operation::RewriteProgress(progress) => texts.extend(progress.bullets()),
                Operation::Archive { .. } | Operation::Mark { .. } => {}
            }
        }
        for text in texts {
            let words = content_words(text);
            if words.is_empty() {
                wordless.insert(folded(text));
            }
            asked.extend(words.into_iter().map(|word| word.key));
        }
        asked.extend(actives.archived_words());
        let snippets = actives.snippets.iter().map(String::as_str);
        let is_literal = !(lines.is_empty() && wordless.is_empty());
        let sources = is_literal.then(|| Sources::of(case.input, snippets, lines, wordless));
        Self {
            index: WordIndex::of(case.input, asked),
            case,
            actives,
            sources,
        }
    }

    /// A fault that is only a notice if so configured.
    pub(super) fn fault(&self, kind: FaultKind, detail: impl Into<String>) -> Fault {
        Fault {
            is_notice: self.case.strictness == Strictness::Warn,
            ..Fault::new(kind, detail)
        }
    }

    /// The fault of a text: it may be an example of the instructions, or not hold for another reason, which `check` finds; and
    /// what would be stored of it may be a credential, which is never a notice.
    fn fault_of(
        &self,
        said: &[&str],
        stored: &[&str],
        check: impl FnOnce() -> Option<Fault>,
    ) -> Option<Fault> {
        let fault = match said.iter().any(|text| self.case.examples.has(text)) {
            true => {
                let detail = "It is an example of the instructions; write what the task and the messages say, or leave it out.";
                Some(self.fault(FaultKind::Example, detail))
            }
            false => check(),
        };
        let is_applied = fault.as_ref().is_none_or(Fault::is_warning);
        if is_applied && stored.iter().any(|text| has_secret(text)) {
            let detail =
                "It contains a credential, which a memory must not keep; say where it is kept instead.";
            return Some(Fault::new(FaultKind::Secret, detail));
        }
        fault
    }

    /// The fault of a text that shares too few words with the input or with `others`: fewer than `least`, or none if it has
    /// fewer than four. Words in scripts that neither of them uses do not count. Only a notice if none of its scripts is
    /// among theirs, or if the caller sent no messages, because a task alone says too little of what happened.
    fn unsupported(
        &self,
        text: &str,
        words: &[Word],
        (least, others): (usize, &KnownWords),
        detail: &str,
    ) -> Option<Fault> {
        let scripts = self.index.scripts | others.scripts;
        let are_among = |word: &&Word| word.scripts & !scripts == 0;
        let is_shared = |word: &&Word| self.index.has(word.key) || others.keys.contains(&word.key);
        let needed = if words.iter().filter(are_among).count() < 4 {
            1
        } else {
            least
        };
        let is_supported = match words.is_empty() {
            true => self.sources.as_ref().is_some_and(|sources| sources.has(text)),
            false => words.iter().filter(is_shared).count() >= needed,
        };
        if is_supported {
            return None;
        }
        let has_script = words.iter().any(|word| word.scripts != 0);
        let is_foreign = has_script && words.iter().all(|word| word.scripts & scripts == 0);
        let detail = match is_foreign {
            true => {
                "It shares no script with the task and the messages, so its words could not be compared with theirs."
            }
            false => detail,
        };
        let mut fault = self.fault(FaultKind::Ungrounded, detail);
        fault.is_notice |= is_foreign || self.case.input.messages.is_empty();
        Some(fault)
    }

    /// Judges additions and progress, in order. Of archivings only the reason is judged here; the rest is left to
    /// [`Judge::archives`], once it is known which additions are accepted.
    #[must_use]
    pub fn items(&self, items: Vec<Item>) -> Vec<Judged> {
        let mut snippets = 0;
        let judged = items.into_iter().map(|item| {
            let is_snippet = item.operation.adds() == Some(RecordKind::Verbatim);
            snippets += usize::from(is_snippet);
            if !is_snippet || snippets <= MAX_SNIPPETS {
                return self.item(item);
            }
            let detail = format!("Only the first {MAX_SNIPPETS} snippets of an answer are read.");
            Judged::of(item, Some(Fault::new(FaultKind::TooManyAdditions, detail)))
        });
        judged.collect()
    }

    fn item(&self, mut item: Item) -> Judged {
        let (evidence, fault) = match &mut item.operation {
            Operation::RewriteProgress(progress) => {
                let progress = std::mem::take(progress);
                return self.progress(progress, item);
            }
            Operation::Add(AddedRecord {
                reason,
                label: None,
                content,
                ..
            }) => {
                let words = content_words(content);
                let whole = format!("{reason}: {content}");
                let fault = self.fault_of(&[content, &whole], &[&whole], || {
                    let detail = "It shares fewer than two words that mean something with the task and the messages; \
                                  say it in their words, or leave it out.";
                    self.unsupported(content, &words, (2, &KnownWords::default()), detail)
                });
                (self.index.evidence(words.iter().map(|word| word.key)), fault)
            }
            Operation::Add(AddedRecord {
                reason,
                label: Some(label),
                content: snippet,
                ..
            }) => {
                let sources = self.sources.as_ref();
                let found = sources.and_then(|sources| sources.find_in_input(snippet));
                // What is stored: on one line of the input a credential may be seen that the answer wraps.
                let stored = found.as_ref().map_or(snippet.as_str(), |(passage, _)| *passage);
                let sources = sources.filter(|_| found.is_none());
                let fault = self.fault_of(&[label, stored], &[reason, label, stored], || {
                    let line = sources?.foreign_line(stored)?.trim();
                    let cut = &line[..line.floor_char_boundary(80)];
                    let detail = format!(
                        "Its line `{cut}` is neither in the task nor in the messages; copy a snippet character for \
                         character, or leave it out."
                    );
                    Some(self.fault(FaultKind::NotVerbatim, masked(&detail)))
                });
                match found {
                    Some((passage, evidence)) => {
                        passage.clone_into(snippet);
                        (vec![evidence], fault)
                    }
                    None => (self.index.evidence(keys(snippet)), fault),
                }
            }
            Operation::Archive { reason, .. } => (Vec::new(), self.fault_of(&[], &[reason], || None)),
            Operation::Mark { .. } => (Vec::new(), None),
        };
        item.evidence = evidence;
        Judged::of(item, fault)
    }

    /// Removes unsupported and duplicate bullets, and then checks that something is left in progress.
    fn progress(&self, progress: Progress, item: Item) -> Judged {
        // A bullet may share them as well as those of the input.
        let before = KnownWords::of([self.case.progress]);
        let known: HashSet<String, RandomState> = self.case.progress.lines().map(bare_words).collect();
        let mut seen: HashSet<String, RandomState> = HashSet::default();
        let mut faults = Vec::new();
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
                let mut fault = self.fault_of(&[&bullet], &[&bullet], || {
                    let detail = "The bullet shares no word that means something with the task, the messages or the progress \
                                  before; leave it out, or say it in their words.";
                    match known.contains(&folded) {
                        true => None,
                        false => self.unsupported(&bullet, &own, (1, &before), detail),
                    }
                });
                // A plan claims nothing: nobody is misled by a step in words of its own.
                if let Some(fault) = &mut fault {
                    fault.is_notice |= is_plan && fault.kind == FaultKind::Ungrounded;
                }
                let is_applied = fault.as_ref().is_none_or(Fault::is_warning);
                faults.extend(fault.map(|fault| Fault {
                    written: bullet.as_str().into(),
                    ..fault.of_item(&item)
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
        if had_work && progress.in_progress.is_empty() {
            let detail = "No bullet is left under In Progress, so the progress before stays; write at least one that the \
                          task or the messages name.";
            let rejected = Judged::of(item, Some(Fault::new(FaultKind::MissingInProgress, detail)));
            faults.extend(rejected.faults);
            return Judged { item: None, faults };
        }
        words.sort_unstable();
        words.dedup();
        let item = Item {
            operation: Operation::RewriteProgress(progress),
            evidence: self.index.evidence(words),
            ..item
        };
        let item = Some(item);
        Judged { item, faults }
    }
}
