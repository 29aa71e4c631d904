//! Current Progress: the bullets that the memory has, moved and extended by what the session reports.

use super::heard;
use super::markers::{Kind, markers};
use super::session::{Session, Statement};
use super::{LEAST_WORDS, tidy, tidy_of};
use crate::domain::document::plain_progress_of;
use crate::domain::operation::Progress;
use crate::domain::text::{bare_words, has_secret, words};

/// The longest bullet, in bytes.
const BULLET_BYTES: usize = 300;
/// Bullets under Completed; of more the oldest leave.
const MAX_COMPLETED: usize = 20;

/// Of a session that reports more work the last reports count.
const MAX_REPORTS: usize = 200;

/// A piece of work. It is in one list only.
struct Work {
    text: String,
    state: Kind,
    words: Vec<String>,
    bare: String,
}

/// The progress after the session; `None` if it says nothing new, or if a person has written more there than bullets of plain
/// text. A task without messages is work in progress.
pub(super) fn rewritten(memory: &str, task: &str, is_alone: bool, session: &Session<'_>) -> Option<Progress> {
    let before = plain_progress_of(memory)?;
    let mut work: Vec<Work> = Vec::new();
    for (list, state) in [
        (&before.completed, Kind::Done),
        (&before.in_progress, Kind::Doing),
        (&before.remaining, Kind::Next),
    ] {
        work.extend(list.iter().map(|text| Work::of(text.clone(), state)));
    }
    let reporting = session
        .statements
        .iter()
        .map(|statement| (statement.text, reports(statement)));
    let reporting: Vec<_> = reporting.filter(|(_, reports)| !reports.is_empty()).collect();
    // What stands before the first report, or all of it: "Tried a cache. Next: measure it".
    let first = reporting.first().and_then(|(text, _)| task.find(text));
    let lead = task[..first.unwrap_or(task.len())]
        .trim()
        .lines()
        .next()
        .and_then(tidy);
    let doing = lead.filter(|_| is_alone).map(|task| (Kind::Doing, task));
    let mut reported: Vec<(Kind, String)> = reporting
        .into_iter()
        .flat_map(|(_, reports)| reports)
        .chain(doing)
        .filter(|(_, text)| text.len() <= BULLET_BYTES && !has_secret(text))
        .collect();
    reported.drain(..reported.len().saturating_sub(MAX_REPORTS));
    for (state, text) in reported {
        report(&mut work, Work::of(text, state));
    }
    let list = |state: Kind| -> Vec<String> {
        let of_state = work.iter().filter(|work| work.state == state);
        of_state.map(|work| work.text.clone()).collect()
    };
    let mut completed = list(Kind::Done);
    completed.drain(
        ..completed
            .len()
            .saturating_sub(MAX_COMPLETED.max(before.completed.len())),
    );
    let progress = Progress {
        completed,
        in_progress: list(Kind::Doing),
        remaining: list(Kind::Next),
    };
    (progress != before).then_some(progress)
}

/// A report of work that is known moves it; one that fits several pieces moves none.
fn report(work: &mut Vec<Work>, reported: Work) {
    let mut same = work.iter_mut().filter(|known| known.is_same(&reported));
    match (same.next(), same.next()) {
        (Some(known), None) => known.state = reported.state,
        (Some(_), Some(_)) => {}
        (None, _) => work.push(reported),
    }
}

/// What a statement reports. "Fixed the parser, next: the lexer" reports two things.
fn reports(statement: &Statement<'_>) -> Vec<(Kind, String)> {
    let mut marks: Vec<_> = [Kind::Done, Kind::Doing, Kind::Next]
        .into_iter()
        .filter_map(|kind| heard(statement, kind))
        .collect();
    marks.sort_by_key(|mark| mark.start);
    let ends: Vec<usize> = marks.iter().skip(1).map(|mark| mark.start).collect();
    let ends = ends.into_iter().chain([statement.text.len()]);
    let mut from = 0;
    let mut reports = Vec::new();
    for (mark, end) in marks.iter().zip(ends) {
        let start = mark.kept_from.max(from);
        if start > end {
            continue;
        }
        let filler = markers().interjections(&statement.folded[start..end]);
        let text = statement.text[start + filler..end].trim_end();
        let text = text.trim_end_matches(|c: char| ",;:–—- ".contains(c));
        let points_back =
            markers().begins_with_pronoun(&statement.folded[start..end], &statement.text[start..end]);
        // After a colon or a check box one word is meant: "Next: benchmarks".
        let text = tidy_of(text, if mark.is_label { 1 } else { LEAST_WORDS });
        reports.extend(text.filter(|_| !points_back).map(|text| (mark.kind, text)));
        from = end;
    }
    reports
}

impl Work {
    fn of(text: String, state: Kind) -> Self {
        let words = words::words(&text).map(|range| words::folded_word(&text[range]));
        let words = words.filter(|word| !is_small(word)).collect();
        Self {
            bare: bare_words(&text),
            text,
            state,
            words,
        }
    }

    /// Whether all words of one are words of the other: at least two, or all of both.
    fn is_same(&self, other: &Self) -> bool {
        let (few, many) = match self.words.len() <= other.words.len() {
            true => (&self.words, &other.words),
            false => (&other.words, &self.words),
        };
        let is_enough = few.len() >= 2 || few.len() == many.len();
        let covered = |word: &String| many.iter().any(|other| is_same_word(word, other));
        is_enough && !few.is_empty() && few.iter().all(covered) || self.bare == other.bare
    }
}

/// Words of fewer than three letters that are no number and no Kana or Han say little.
fn is_small(word: &str) -> bool {
    word.chars().count() < 3
        && word
            .chars()
            .all(|c| c.is_alphabetic() && !words::is_single_char_word(c))
        || [
            "the", "and", "for", "der", "die", "das", "und", "les", "des", "los", "las",
        ]
        .contains(&word)
}

/// Forms of one word: "add" and "added".
fn is_same_word(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    short == long || short.len() >= 3 && long.len() - short.len() <= 3 && long.starts_with(short)
}
