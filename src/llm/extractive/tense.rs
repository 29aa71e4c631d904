//! Whether a sentence says that something is done, being done or left, and what.
//!
//! A sentence is read from its beginning: fillers, a subject, adverbs, then a verb. What is negated, wished or
//! conditional does not have that form, so it says nothing.

use super::cues::{
    ADVERBS, CLOSING, CURRENT_OPENINGS, DONE_STATES, DONE_VERBS, FILLERS, IDLE_VERBS, LOOKING, NEXT_NOUNS,
    OPEN_MARKS, OPEN_OPENINGS, PASSING, PLAN_OPENINGS, PLANNERS, SUBJECTS, WISHES, is_one_of, opening, place,
};
use super::transcript::Standing;
use super::words::{bullet, folded, one_line};

/// What a sentence says about work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) standing: Standing,
    /// Fit for a list.
    pub(super) bullet: String,
    /// A step said in passing, which counts only at the end of the session.
    pub(super) passing: bool,
}

/// Reads one sentence.
pub(super) fn told(sentence: &str) -> Option<Told> {
    let line = one_line(sentence).replace('’', "'");
    if line.ends_with('?') {
        return None;
    }
    let lower = line.to_ascii_lowercase();
    let told = |standing, text: &str, passing| {
        bullet(text).map(|bullet| Told {
            standing,
            bullet,
            passing,
        })
    };
    let step = |told: &Told| !is_one_of(LOOKING, &first_word(&told.bullet).to_lowercase());
    if let Some(opening) = opening(&lower, OPEN_OPENINGS) {
        return told(Standing::Left, &line[opening.len()..], false).filter(step);
    }
    if let Some(opening) = opening(&lower, PLAN_OPENINGS) {
        let rest = plan(&line[opening.len()..]);
        let is_noun = opening == "next" && is_one_of(NEXT_NOUNS, &first_word(rest).to_ascii_lowercase());
        return told(Standing::Left, rest, true).filter(|told| !is_noun && step(told));
    }
    if let Some(opening) = opening(&lower, CURRENT_OPENINGS) {
        let rest = &line[opening.len()..];
        let doing = opening.ends_with(':') || first_word(rest).ends_with("ing");
        return told(Standing::Current, rest, true).filter(|told| doing && step(told));
    }
    if let Some(opening) = opening(&lower, "completed:|done:|fixed:|finished:") {
        return told(Standing::Done, &line[opening.len()..], false);
    }
    let padded = format!(" {} ", lower.trim_end_matches(['.', '!']));
    if place(&padded, OPEN_MARKS).is_some() {
        return told(Standing::Left, &line, false);
    }
    match report(&lower) {
        Some(verb) => told(Standing::Done, &line[verb..], false),
        None if is_done_state(&padded) => told(Standing::Done, &line, false),
        None => None,
    }
}

/// Whether a sentence says, alone, that the task as a whole is finished.
pub(super) fn closes_the_task(sentence: &str) -> bool {
    let lower = folded(sentence);
    is_one_of(CLOSING, lower.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// A plan without its subject: "Next, I'll write the docs".
fn plan(text: &str) -> &str {
    let text = text.trim_start_matches([' ', ',', ':', '-']);
    let subject = opening(&text.to_ascii_lowercase(), PLANNERS).map_or(0, str::len);
    text[subject..].trim_start()
}

/// Where the verb of a report stands, in bytes.
fn report(lower: &str) -> Option<usize> {
    let mut has_subject = false;
    let mut at = 0;
    for word in lower.split(' ').take(8) {
        let bare = word.trim_matches(|c: char| ",.:;!".contains(c));
        if is_one_of(DONE_VERBS, bare) {
            return reports(lower, at, word, has_subject).then_some(at);
        }
        if has_subject && is_past(bare) {
            return Some(at);
        }
        let may_stand_here = is_one_of(FILLERS, bare) || (has_subject && is_one_of(ADVERBS, bare));
        if is_one_of(SUBJECTS, bare) && !has_subject {
            has_subject = true;
        } else if !may_stand_here {
            return None;
        }
        at += word.len() + 1;
    }
    None
}

/// A verb without a subject needs something it was done to: not "Updated:", nor "Completed".
fn reports(lower: &str, at: usize, word: &str, has_subject: bool) -> bool {
    let rest = lower[at + word.len()..].trim_matches(|c: char| !c.is_alphanumeric());
    !rest.is_empty() && (has_subject || !word.ends_with([':', ',']))
}

fn is_past(word: &str) -> bool {
    let known = ["got", "made", "put", "ran", "set", "cut", "took", "wrote"].contains(&word);
    known || (word.len() >= 5 && word.ends_with("ed") && !is_one_of(IDLE_VERBS, word))
}

fn is_done_state(padded: &str) -> bool {
    place(padded, PASSING)
        .or_else(|| passive(padded))
        .is_some_and(|verb| {
            let before = &padded[..=verb];
            !before.contains("n't ") && place(before, WISHES).is_none()
        })
}

/// Where "is done", "has been merged" and the like stand.
fn passive(padded: &str) -> Option<usize> {
    ["is", "are", "was", "were", "has been", "have been"]
        .into_iter()
        .find_map(|be| {
            let verb = place(padded, be)?;
            let rest = &padded[verb + be.len() + 2..];
            let state = opening(rest, "now|all|already|fully")
                .map_or(rest, |adverb| rest[adverb.len()..].trim_start());
            opening(state, DONE_STATES).map(|_| verb)
        })
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sentence: &str) -> Option<(Standing, String)> {
        told(sentence).map(|told| (told.standing, told.bullet))
    }

    #[test]
    fn reports_are_done() {
        for (sentence, bullet) in [
            ("Fixed the parser.", "Fixed the parser"),
            ("Great, I've now added 60 tests!", "Added 60 tests"),
            (
                "We also wired the parser to the route",
                "Wired the parser to the route",
            ),
            ("I refactored `lines`", "Refactored `lines`"),
            ("All tests now pass.", "All tests now pass"),
            (
                "The migration has been deployed, finally",
                "The migration has been deployed, finally",
            ),
            ("Done: the docs", "The docs"),
        ] {
            assert_eq!(
                read(sentence),
                Some((Standing::Done, bullet.to_owned())),
                "{sentence}"
            );
        }
    }

    #[test]
    fn what_is_negated_wished_asked_or_only_thought_is_not_done() {
        for sentence in [
            "I haven't fixed the parser",
            "Once the parser is fixed we ship",
            "It should be fixed",
            "The parser is not done",
            "The parser isn't done",
            "Is the parser fixed?",
            "I noticed the tests are slow",
            "Based on the logs it hangs",
            "Updated:",
            "Distributed tracing for the API",
        ] {
            assert_ne!(
                read(sentence).map(|told| told.0),
                Some(Standing::Done),
                "{sentence}"
            );
        }
    }

    #[test]
    fn plans_and_open_ends_are_left() {
        for (sentence, bullet) in [
            ("Next: wire the parser", "Wire the parser"),
            ("Next, I'll write the docs.", "Write the docs"),
            ("next write docs", "Write docs"),
            ("We still need to benchmark it", "Benchmark it"),
            ("TODO: remove the flag", "Remove the flag"),
            ("The docs still need updating.", "The docs still need updating"),
            ("Please also cover the empty case", "Cover the empty case"),
        ] {
            assert_eq!(
                read(sentence),
                Some((Standing::Left, bullet.to_owned())),
                "{sentence}"
            );
        }
        for sentence in [
            "Next, let me look at the file",
            "You need to restart it",
            "next",
            "The next release is big",
            "Next week is a holiday",
        ] {
            assert_eq!(read(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn current_work_is_told_by_its_form() {
        assert_eq!(
            read("Now I'm wiring the route"),
            Some((Standing::Current, "Wiring the route".to_owned()))
        );
        assert_eq!(read("Currently the build is red"), None);
        assert!(closes_the_task("All done!") && !closes_the_task("I am done with the parser"));
    }

    #[test]
    fn letters_that_change_their_length_in_small_form_do_no_harm() {
        assert_eq!(
            read("Next: İİ wire ıt"),
            Some((Standing::Left, "İİ wire ıt".to_owned()))
        );
    }
}
