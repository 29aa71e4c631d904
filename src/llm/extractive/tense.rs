//! Whether a sentence says that something is done, being done or left, and what.
//!
//! A sentence is read from its beginning: fillers, a subject, adverbs, then a verb. What is negated, wished or
//! conditional does not have that form, so it says nothing.

use super::transcript::Standing;
use super::words::{bullet, folded, one_line};

const FILLERS: &[&str] = &[
    "ok", "yes", "right", "sure", "thanks", "no", "okay", "great", "good", "perfect", "alright", "so", "and",
    "also", "then", "finally", "first", "second", "just", "now", "done", "update", "status", "✅", "✔", "-",
    "–", "—", "with", "that", "all", "today",
];
const SUBJECTS: &[&str] = &["i", "we", "i've", "we've"];
const ADVERBS: &[&str] = &[
    "just",
    "now",
    "also",
    "already",
    "successfully",
    "then",
    "finally",
    "have",
    "has",
    "both",
];

/// Verbs that begin a report without a subject: "Fixed the parser".
const DONE_VERBS: &str = " added adjusted applied benchmarked built bumped changed cleaned committed completed \
    configured confirmed converted created deleted deployed disabled documented dropped enabled exposed extended \
    extracted finished fixed implemented imported improved indexed installed integrated introduced merged measured \
    migrated moved optimised optimized patched published pushed rebased rebuilt recorded reduced refactored released \
    removed renamed replaced reproduced resolved restored reverted rewrote rewritten scaffolded sent shipped \
    simplified solved split stored switched tested tightened updated upgraded validated verified wired wrapped \
    written wrote ";

/// Past forms that, with a subject, tell no piece of work: "I noticed", "we wanted".
const IDLE_VERBS: &str = " asked assumed believed checked considered decided discovered expected explored figured \
    guessed hoped learned learnt liked listed looked meant missed needed noticed opened planned preferred realised \
    realized remembered searched seemed started suggested supposed thought tried turned used viewed waited wanted \
    wondered worried ";

/// What a passive says when work is done: "the parser is wired", "the tests now pass".
const DONE_STATES: &[&str] = &[
    "done",
    "complete",
    "finished",
    "fixed",
    "implemented",
    "merged",
    "deployed",
    "resolved",
    "released",
    "shipped",
    "green",
    "passing",
    "in place",
    "migrated",
    "wired",
    "completed",
    "pushed",
    "committed",
    "updated",
    "working",
];

/// Beginnings of a plan. The longest that fits is taken off.
const PLAN_OPENINGS: &[&str] = &[
    "next steps:",
    "next steps are to",
    "next step:",
    "the next step is to",
    "next step is to",
    "next up:",
    "next up,",
    "next up is",
    "next:",
    "next,",
    "next i'll",
    "next we'll",
    "next i will",
    "next we will",
    "next we",
    "next i",
    "next is to",
    "next is",
    "next",
    "then i'll",
    "then we'll",
    "after that, i'll",
    "after that i'll",
    "afterwards",
];

/// Beginnings of something left open; unlike a plan they hold until the end of the session.
const OPEN_OPENINGS: &[&str] = &[
    "todo:",
    "todo",
    "to do:",
    "remaining:",
    "remaining work:",
    "left:",
    "left to do:",
    "still open:",
    "still to do:",
    "open:",
    "follow-up:",
    "we still need to",
    "i still need to",
    "we still have to",
    "i still have to",
    "still need to",
    "still have to",
    "we need to",
    "i need to",
    "we have to",
    "i have to",
    "need to",
    "we must still",
    "please also",
    "also please",
    "don't forget to",
    "what remains is to",
    "what's left is to",
    "it remains to",
];

/// Marks of something left open anywhere in a sentence; the sentence is kept as it is.
const OPEN_MARKS: &[&str] = &[
    " still needs ",
    " still need ",
    " still missing",
    " remains to ",
    " left to do",
    " not yet ",
    " is todo",
    " to be done",
    " still to be ",
    " still fails",
    " is still failing",
    " are still failing",
];

const CURRENT_OPENINGS: &[&str] = &[
    "currently:",
    "current:",
    "in progress:",
    "wip:",
    "doing:",
    "i'm now",
    "i am now",
    "now i'm",
    "now i am",
    "i'm currently",
    "i am currently",
    "currently",
    "i'm still",
    "we're now",
    "now we're",
    "still",
];

/// Steps of looking around are no work worth a line.
const LOOKING: &str = " look looking check checking read reading run running start starting see explore exploring \
    inspect open search find try ask think investigate ";

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
    let lower = line.to_lowercase();
    // Cutting is by byte, and lower case may have other lengths.
    let at_same_bytes = lower.len() == line.len();
    let behind = |opening: &str| {
        if at_same_bytes {
            &line[opening.len()..]
        } else {
            line.as_str()
        }
    };
    let told = |standing, text: &str, passing| {
        let bullet = bullet(text)?;
        Some(Told {
            standing,
            bullet,
            passing,
        })
    };
    if let Some(opening) = opening(&lower, OPEN_OPENINGS) {
        return told(Standing::Left, behind(opening), false).filter(|told| !is_looking(&told.bullet));
    }
    if let Some(opening) = opening(&lower, PLAN_OPENINGS) {
        return told(Standing::Left, plan(behind(opening)), true).filter(|told| !is_looking(&told.bullet));
    }
    if let Some(opening) = opening(&lower, CURRENT_OPENINGS) {
        let text = behind(opening);
        let doing = opening.ends_with(':') || first_word(text).ends_with("ing");
        return told(Standing::Current, text, true).filter(|told| doing && !is_looking(&told.bullet));
    }
    if let Some(opening) = opening(&lower, &["completed:", "done:", "fixed:", "finished:"]) {
        return told(Standing::Done, behind(opening), false);
    }
    if OPEN_MARKS.iter().any(|mark| format!("{lower} ").contains(mark)) {
        return told(Standing::Left, &line, false);
    }
    if let Some(start) = report(&lower) {
        return told(
            Standing::Done,
            if at_same_bytes { &line[start..] } else { &line },
            false,
        );
    }
    if is_done_state(&lower) {
        told(Standing::Done, &line, false)
    } else {
        None
    }
}

/// Whether a sentence says, alone, that the task as a whole is finished.
pub(super) fn closes_the_task(sentence: &str) -> bool {
    let lower = folded(sentence);
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    matches!(
        bare,
        "done"
            | "all done"
            | "finished"
            | "task complete"
            | "task completed"
            | "task done"
            | "complete"
            | "completed"
            | "the task is done"
            | "the task is complete"
            | "the task is completed"
            | "the task is finished"
            | "everything is done"
            | "this is done"
            | "this is complete"
            | "that's done"
            | "it's done"
            | "we're done"
            | "i'm done"
            | "all work is complete"
            | "the work is complete"
            | "the work is done"
    )
}

/// The opening that a line begins with, as whole words; of several the longest.
fn opening(lower: &str, openings: &[&'static str]) -> Option<&'static str> {
    let whole = |opening: &&str| {
        lower
            .strip_prefix(*opening)
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(char::is_alphanumeric))
    };
    openings
        .iter()
        .copied()
        .filter(|opening| whole(opening))
        .max_by_key(|opening| opening.len())
}

/// A plan without its subject: "Next, I'll write the docs".
fn plan(text: &str) -> &str {
    let text = text.trim_start_matches([' ', ',', ':', '-']);
    let lower = text.to_lowercase();
    let subjects = [
        "i'll",
        "we'll",
        "i will",
        "we will",
        "i'm going to",
        "we're going to",
        "i am going to",
        "we should",
        "i should",
        "let's",
        "let me",
        "we can",
        "i can",
        "we need to",
        "i need to",
        "we have to",
        "i have to",
        "will be to",
    ];
    match opening(&lower, &subjects) {
        Some(subject) if lower.len() == text.len() => &text[subject.len()..],
        _ => text,
    }
}

/// Where the verb of a report stands, in bytes.
fn report(lower: &str) -> Option<usize> {
    let mut has_subject = false;
    let mut at = 0;
    for word in lower.split(' ').take(8) {
        let bare = word.trim_matches(|c: char| ",.:;!".contains(c));
        let listed = DONE_VERBS.contains(&format!(" {bare} "));
        if listed && !bare.is_empty() {
            return reports(lower, at, word, has_subject).then_some(at);
        }
        if has_subject && is_past(bare) {
            return Some(at);
        }
        if SUBJECTS.contains(&bare) && !has_subject {
            has_subject = true;
        } else if !FILLERS.contains(&bare) && !(has_subject && ADVERBS.contains(&bare)) {
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
    known || (word.len() >= 5 && word.ends_with("ed") && !IDLE_VERBS.contains(&format!(" {word} ")))
}

fn is_done_state(lower: &str) -> bool {
    let text = format!("{} ", lower.trim_end_matches(['.', '!']));
    let passes = [
        " tests pass ",
        " tests now pass ",
        " now passes ",
        " now pass ",
        " now works ",
        " tests passed ",
    ];
    let padded = format!(" {text}");
    let verb = passes
        .iter()
        .find_map(|mark| padded.find(mark))
        .or_else(|| passive(&padded));
    let wished = [
        " if ", " once ", " when ", " until ", " after ", " should ", " must ", " will ", " would ", " not ",
        " unless ", " before ", " never ", " could ", " can ",
    ];
    verb.is_some_and(|at| {
        let before = &padded[..=at];
        !before.contains("n't ") && !wished.iter().any(|word| before.contains(word))
    })
}

/// Where "is done", "has been merged" and the like stand.
fn passive(padded: &str) -> Option<usize> {
    [" is ", " are ", " was ", " were ", " has been ", " have been "]
        .iter()
        .find_map(|be| {
            let at = padded.find(be)?;
            let rest = &padded[at + be.len()..];
            let state = ["now ", "all ", "already ", "fully "]
                .iter()
                .find_map(|adverb| rest.strip_prefix(adverb));
            let state = state.unwrap_or(rest);
            let done = DONE_STATES.iter().any(|word| {
                state
                    .strip_prefix(word)
                    .is_some_and(|rest| rest.starts_with([' ', ',', '.', ':']))
            });
            done.then_some(at)
        })
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn is_looking(bullet: &str) -> bool {
    LOOKING.contains(&format!(" {} ", first_word(bullet).to_lowercase()))
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
    fn letters_that_change_their_length_do_no_harm() {
        assert_eq!(
            read("Next: İİ wire ıt"),
            Some((Standing::Left, "Next: İİ wire ıt".to_owned()))
        );
    }
}
