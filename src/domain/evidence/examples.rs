//! The examples in a model's instructions, which it must not return as its answer.

use crate::domain::dsl;
use crate::domain::operation::Operation;
use crate::domain::text::folded;
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// Insights, labels, snippets and bullets of the examples, normalised.
#[derive(Debug, Clone, Default)]
pub struct Examples(HashSet<String, RandomState>);

impl Examples {
    /// Collects the examples from instruction texts: everything that parses as an answer.
    #[must_use]
    pub fn of<'t>(instructions: impl IntoIterator<Item = &'t str>) -> Self {
        let mut examples = Self::default();
        for text in instructions {
            examples.add_answer(text);
            // Each `Example` heading starts a separate answer, because an answer parsed together with the
            // previous one could be taken for surrounding text.
            for (at, _) in text.match_indices("\nExample") {
                examples.add_answer(&text[at..]);
            }
        }
        examples
    }

    fn add_answer(&mut self, text: &str) {
        for item in dsl::parse(text).items {
            match item.operation {
                Operation::RewriteProgress(progress) => {
                    progress.bullets().for_each(|bullet| self.add(bullet));
                }
                Operation::Add(added) => {
                    let other = match added.label {
                        Some(label) => label,
                        None => format!("{}: {}", added.reason, added.content),
                    };
                    self.add(&other);
                    self.add(&added.content);
                }
                Operation::Archive { .. } | Operation::Mark { .. } => {}
            }
        }
    }

    fn add(&mut self, text: &str) {
        self.0.insert(folded(text));
    }

    /// Number of examples.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether a text equals one of them.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        self.0.contains(&folded(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_as_an_answer_is_an_example() {
        let text = "You keep learnings.\n1. Add few.\n\nExample answer:\n\nKEY_LEARNINGS:\n  ADD:\n    - because why: \
            The lamp is  red\n\nExample answer when nothing changed:\n\nKEY_LEARNINGS: NO CHANGE\n";
        let examples = Examples::of([text]);
        assert!(examples.has("the LAMP is red") && examples.has("why: the lamp is red"));
        assert!(!examples.has("Add few.") && !examples.has("the lamp"));
    }
}
