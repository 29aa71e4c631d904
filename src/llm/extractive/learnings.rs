//! `Key Learnings` from sentences that say why.

use std::collections::BTreeSet;

use super::transcript::{Sentence, Transcript, Voice};
use super::words::{bullet, covers, folded, is_grammar, one_line, shortened, stems};
use super::{MAX_ADDITIONS, memory};
use crate::llm::Source;

/// Shorter sentences say too little to be kept, longer ones too much for one line; in characters.
const SENTENCE_CHARS: std::ops::RangeInclusive<usize> = 25..=320;
/// The least number of meaningful words of a learning.
const LEAST_WORDS: usize = 4;

/// What makes a sentence a learning: the words, its weight, and the reason for keeping it.
const CUES: &[(&str, u8, &str)] = &[
    ("root cause", 5, "it is the root cause found"),
    ("turned out", 4, "it turned out so"),
    ("turns out", 4, "it turned out so"),
    ("lesson", 4, "it is a lesson drawn"),
    ("learned that", 4, "it was learned"),
    ("the reason", 3, "it says why"),
    ("decided", 3, "it was decided"),
    ("never", 2, "it was stated as a rule"),
    ("always", 2, "it was stated as a rule"),
    ("because", 2, "it says why"),
];

/// Words of somebody who is not sure, or who talks about the conversation.
const HEDGES: &[&str] = &[
    "maybe",
    "perhaps",
    "might",
    "may",
    "probably",
    "possibly",
    "i think",
    "i guess",
    "i believe",
    "i suspect",
    "not sure",
    "could be",
    "seems",
    "seem",
    "let me",
    "i'll",
    "let's",
    "i wonder",
    "unclear",
    "if i",
    "as always",
    "never mind",
    "i always",
    "i never",
];

/// A learning on its way into the answer.
struct Learning {
    weight: u8,
    reason: String,
    insight: String,
}

/// The section in the update DSL; none where nothing clear was said.
pub(super) fn section(source: &Source) -> Option<String> {
    let known: Vec<_> = memory::learnings(&source.document)
        .iter()
        .map(|text| stems(text))
        .collect();
    let task = named_task(&source.task);
    let mut sentences = Transcript::of(&source.messages).sentences;
    sentences.extend(Transcript::of_task(&source.task));
    let said: Vec<_> = sentences
        .iter()
        .filter_map(|sentence| Learning::of(sentence, &task))
        .collect();

    // The heaviest first, of equal ones the latest; only so many are compared with what is known.
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(said[index].weight), std::cmp::Reverse(index)));
    let mut chosen: Vec<(usize, _)> = Vec::new();
    for index in order.into_iter().take(10 * MAX_ADDITIONS) {
        let about = stems(&said[index].insight);
        let mut others = known.iter().chain(chosen.iter().map(|(_, stems)| stems));
        let same = |other: &BTreeSet<String>| {
            covers(other, &about) || (other.len() >= LEAST_WORDS && covers(&about, other))
        };
        if chosen.len() < MAX_ADDITIONS && !others.any(same) {
            chosen.push((index, about));
        }
    }
    chosen.sort_by_key(|(index, _)| *index);
    let items: String = chosen
        .iter()
        .map(|&(index, _)| format!("    - because {}: {}\n", said[index].reason, said[index].insight))
        .collect();
    (!items.is_empty()).then(|| format!("KEY_LEARNINGS:\n  ADD:\n{items}"))
}

impl Learning {
    fn of(sentence: &Sentence, task: &str) -> Option<Self> {
        let line = without_filler(&one_line(&sentence.text)).to_owned();
        let lower = folded(&line);
        let &(cue, weight, why) = CUES.iter().find(|(cue, ..)| has_words(&lower, cue))?;
        // Output of programs is full of "never" and "always"; only explanations in it count.
        let trusted = sentence.voice != Voice::Tool || matches!(cue, "root cause" | "because");
        // "You" is a rule from the user, and talk from everybody else.
        let talk = sentence.voice != Voice::User && has_words(&lower, "you");
        let certain = !talk && !line.ends_with('?') && !HEDGES.iter().any(|hedge| has_words(&lower, hedge));
        let fits = SENTENCE_CHARS.contains(&line.chars().count()) && stems(&line).len() >= LEAST_WORDS;
        if !trusted || !certain || !fits || !is_prose(&line) {
            return None;
        }
        let explained = if weight <= 3 {
            split_at_because(&line)
        } else {
            None
        };
        let (reason, insight) = explained.unwrap_or_else(|| (format!("{why} {task}"), line.clone()));
        let insight = finished(&insight);
        let reason = reason_text(&reason);
        (!is_grammar(&insight) && !is_grammar(&reason)).then_some(Self {
            weight,
            reason,
            insight,
        })
    }
}

/// "X because Y" and "Because Y, X" as the reason Y and the insight X, where X can stand alone.
fn split_at_because(line: &str) -> Option<(String, String)> {
    let lower = line.to_ascii_lowercase();
    let (reason, insight) = match lower.strip_prefix("because ") {
        Some(rest) => {
            let comma = "because ".len() + rest.find(", ")?;
            (&line["because ".len()..comma], &line[comma + 2..])
        }
        None => {
            let at = lower.find(" because ")?;
            (&line[at + " because ".len()..], &line[..at])
        }
    };
    let first = insight.split(' ').next().unwrap_or_default().to_lowercase();
    let leans_on_others = [
        "it", "this", "that", "they", "it's", "that's", "which", "and", "but", "not",
    ]
    .contains(&first.as_str());
    let stands_alone = !leans_on_others && stems(insight).len() >= 3;
    (stands_alone && stems(reason).len() >= 2).then(|| (reason.to_owned(), insight.to_owned()))
}

/// A reason in the DSL ends at the first colon with a blank behind it, so it must hold none.
fn reason_text(text: &str) -> String {
    let line = one_line(text).replace(": ", " - ");
    line.trim_matches(|c: char| " .,;:!".contains(c)).to_owned()
}

fn finished(insight: &str) -> String {
    let line = insight
        .trim_matches(|c: char| " ,;:-".contains(c))
        .replace("**", "");
    let mut characters = line.chars();
    match characters.next() {
        Some(first)
            if !line.starts_with(char::is_uppercase)
                && characters.clone().next().is_some_and(char::is_lowercase) =>
        {
            first.to_uppercase().chain(characters).collect()
        }
        _ => line,
    }
}

/// How the reasons speak of the session.
fn named_task(task: &str) -> String {
    let line = Transcript::of_task(task)
        .first()
        .and_then(|sentence| bullet(&sentence.text));
    match line {
        Some(line) => format!("while working on \"{}\"", shortened(&line.replace('"', "'"), 80)),
        None => "in the session".to_owned(),
    }
}

fn without_filler(line: &str) -> &str {
    let mut line = line;
    while let Some(rest) = [
        "So ", "So, ", "Ok, ", "OK, ", "Okay, ", "Ah, ", "Well, ", "And ", "But ", "Note: ", "Also, ",
    ]
    .iter()
    .find_map(|filler| line.strip_prefix(filler))
    {
        line = rest;
    }
    line
}

/// Whether the words stand in a line of small letters as whole words.
fn has_words(lower: &str, words: &str) -> bool {
    lower.match_indices(words).any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(|c| c.is_alphanumeric() || c == '\'')
    })
}

/// Sentences are mostly letters; lines of code, logs and tables are not.
fn is_prose(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    letters * 5 >= line.chars().count() * 4
}
