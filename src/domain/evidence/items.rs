//! Judges additions and progress items individually.

use super::judge::{Judge, Judged, Support};
use super::passage::Evidence;
use super::progress;
use super::ruling::{Ruling, example, not_comparable};
use crate::domain::operation::{FaultKind, Item, Operation};
use crate::domain::text::content_words::{Word, content_words, keys};
use crate::domain::text::{has_secret, masked};

impl Judge<'_> {
    /// Judges additions and progress, in order. Archivings pass through and are judged by
    /// [`Judge::archives`], once it is known which additions are accepted.
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
                merges,
                marks,
            } => {
                let words = content_words(&content);
                let ruling = self.learning(&reason, &content, &words);
                let evidence = self.index.evidence(words.iter().map(|word| word.key));
                let operation = Operation::AddLearning {
                    reason,
                    content,
                    replaces,
                    merges,
                    marks,
                };
                judged(Item { operation, range }, evidence, ruling)
            }
            Operation::AddVerbatim {
                reason,
                label,
                snippet,
                replaces,
                marks,
            } => {
                let found = self
                    .sources
                    .as_ref()
                    .and_then(|sources| sources.find_in_input(&snippet));
                let ruling = self.snippet([&reason, &label, &snippet], found.is_some());
                let (snippet, evidence) = match found {
                    Some(found) => (found.text.to_owned(), vec![found.evidence]),
                    None => {
                        let evidence = self.index.evidence(keys(&snippet));
                        (snippet, evidence)
                    }
                };
                let operation = Operation::AddVerbatim {
                    reason,
                    label,
                    snippet,
                    replaces,
                    marks,
                };
                judged(Item { operation, range }, evidence, ruling)
            }
            Operation::Archive { .. } | Operation::Mark { .. } => {
                judged(Item { operation, range }, Vec::new(), None)
            }
        }
    }

    fn learning(&self, reason: &str, content: &str, words: &[Word]) -> Option<Ruling> {
        let whole = format!("{reason}: {content}");
        let ruling = if self.case.examples.has(content) || self.case.examples.has(&whole) {
            Some(example())
        } else {
            match self.support(content, words, 2, &[]) {
                Support::Yes => None,
                Support::NotComparable => Some(not_comparable()),
                Support::No => {
                    let detail = "It shares fewer than two words that mean something with the task and the messages; \
                                  say it in their words, or leave it out.";
                    Some(self.ungrounded(detail))
                }
            }
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
        let line = sources.and_then(|sources| sources.foreign_line(snippet))?.trim();
        let cut = &line[..line.floor_char_boundary(80)];
        let detail = format!(
            "Its line `{cut}` is neither in the task nor in the messages; copy a snippet character for \
             character, or leave it out."
        );
        Some(Ruling::of(FaultKind::NotVerbatim, masked(&detail)))
    }
}

fn judged(item: Item, evidence: Vec<Evidence>, ruling: Option<Ruling>) -> Judged {
    let is_applied = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
    Judged {
        item: is_applied.then_some(item),
        evidence,
        rulings: ruling.into_iter().collect(),
    }
}
