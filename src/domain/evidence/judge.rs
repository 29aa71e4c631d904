//! One answer of a role, held to the input item by item.

use super::Strictness;
use super::archives::Actives;
use super::examples::Examples;
use super::input::{Evidence, Found, Input};
use super::progress;
use super::secrets::has_secret;
use super::sharing::keys;
use super::verbatim::Sources;
use super::words::{Word, content_words};
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

/// What is wrong with an item, or with a bullet of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What kind.
    pub kind: FaultKind,
    /// A sentence.
    pub detail: String,
    /// The bullet, where it is not about the whole item.
    pub bullet: Option<String>,
    /// It is only told; the item or bullet is applied.
    pub is_warning: bool,
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
    sources: Option<Sources<'a>>,
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
                    for bullet in progress::bullets(progress) {
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

    /// Judges additions and progress, in their order; archives pass here and are judged when it is known which
    /// additions stand ([`Judge::archives`]).
    #[must_use]
    pub fn items(&self, items: Vec<Item>) -> Vec<Judged> {
        items.into_iter().map(|item| self.item(item)).collect()
    }

    fn item(&self, item: Item) -> Judged {
        let Item { operation, range } = item;
        match operation {
            Operation::RewriteProgress(progress) => progress::judge(self, progress, range),
            Operation::AddLearning {
                reason,
                content,
                replaces,
            } => {
                let words = content_words(&content);
                let ruling = self.learning(&reason, &content, &words);
                let evidence = self.found.evidence(words.iter().map(|word| word.key));
                let operation = Operation::AddLearning {
                    reason,
                    content,
                    replaces,
                };
                judged(Item { operation, range }, evidence, ruling)
            }
            Operation::AddVerbatim {
                reason,
                label,
                snippet,
                replaces,
            } => {
                let own = self.sources.as_ref().and_then(|sources| sources.own(&snippet));
                let ruling = self.snippet([&reason, &label, &snippet], own.is_some());
                let (snippet, evidence) = match own {
                    Some(own) => (own.text.to_owned(), vec![own.evidence]),
                    None => {
                        let evidence = self.found.evidence(keys(&snippet));
                        (snippet, evidence)
                    }
                };
                let operation = Operation::AddVerbatim {
                    reason,
                    label,
                    snippet,
                    replaces,
                };
                judged(Item { operation, range }, evidence, ruling)
            }
            Operation::Archive { .. } => judged(Item { operation, range }, Vec::new(), None),
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

    fn learning(&self, reason: &str, content: &str, words: &[Word]) -> Option<Ruling> {
        let whole = format!("{reason}: {content}");
        let ruling = if self.case.examples.has(content) || self.case.examples.has(&whole) {
            Some(example())
        } else {
            match self.carried(content, words, 2, &[]) {
                Carried::Yes => None,
                Carried::NotComparable => Some(not_comparable()),
                Carried::No => {
                    let detail = "It shares fewer than two words that mean something with the task and the messages; \
                                  say it in their words, or leave it out.";
                    Some(Ruling::of(FaultKind::Ungrounded, detail))
                }
            }
        };
        self.settled(ruling, || has_secret(&whole))
    }

    fn snippet(&self, texts: [&str; 3], is_own: bool) -> Option<Ruling> {
        let ruling = self.foreign_snippet(texts, is_own);
        self.settled(ruling, || texts.into_iter().any(has_secret))
    }

    fn foreign_snippet(&self, [_, label, snippet]: [&str; 3], is_own: bool) -> Option<Ruling> {
        if self.case.examples.has(label) || self.case.examples.has(snippet) {
            return Some(example());
        }
        let sources = self.sources.as_ref().filter(|_| !is_own);
        let line = sources.and_then(|sources| sources.foreign_line(snippet))?.trim();
        let cut = &line[..line.floor_char_boundary(80)];
        let detail = format!(
            "Its line `{cut}` stands neither in the task nor in the messages; copy a snippet character for \
             character, or leave it out."
        );
        Some(Ruling::of(FaultKind::NotVerbatim, super::masked(&detail)))
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

fn judged(item: Item, evidence: Vec<Evidence>, ruling: Option<Ruling>) -> Judged {
    let stands = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
    Judged {
        item: stands.then_some(item),
        evidence,
        rulings: ruling.into_iter().collect(),
    }
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

pub(super) fn example() -> Ruling {
    let detail =
        "It is an example of the instructions; write what the task and the messages say, or leave it out.";
    Ruling::of(FaultKind::Example, detail)
}

pub(super) fn not_comparable() -> Ruling {
    let detail =
        "It shares no script with the task and the messages, so its words could not be compared with theirs.";
    Ruling {
        is_warning: true,
        ..Ruling::of(FaultKind::Ungrounded, detail)
    }
}

pub(super) fn secret() -> Ruling {
    let detail = "It holds a credential, which a memory may not keep; say where it is kept instead.";
    Ruling::of(FaultKind::Secret, detail)
}
