//! `Current Progress` from the task, the messages and the previous progress.

use std::collections::BTreeSet;

use super::memory;
use super::tense::{Told, closes_the_task, told};
use super::transcript::{Sentence, Standing, Transcript, Voice};
use super::words::{bullet, covers, folded, stems};
use crate::domain::operation::Progress;
use crate::llm::Source;

/// The most bullets of `Completed`, and the most that one session adds to a list; the oldest go.
const MAX_BULLETS: usize = 10;
/// The most bullets of `Remaining`; what was there before stays, since nobody said that it is done.
const MAX_REMAINING: usize = 20;
/// The most bullets of `In Progress`; older ones move to `Remaining`.
const MAX_IN_PROGRESS: usize = 5;
/// Stands in `In Progress` when all known work is finished, since the section needs a bullet there.
const NOTHING: &str = "Nothing is in progress";

/// The section in the update DSL.
pub(super) fn section(source: &Source) -> String {
    let progress = progress(source);
    let mut text = String::from("CURRENT_PROGRESS:\n");
    let lists = [
        ("Completed", &progress.completed),
        ("In Progress", &progress.in_progress),
        ("Remaining", &progress.remaining),
    ];
    for (title, bullets) in lists.into_iter().filter(|(_, bullets)| !bullets.is_empty()) {
        text.push_str(&format!("  {title}:\n"));
        for bullet in bullets {
            text.push_str(&format!("    - {bullet}\n"));
        }
    }
    text
}

fn progress(source: &Source) -> Progress {
    let before = memory::progress(&source.document);
    let session = Session::of(source);
    let mut done = List::of(before.completed);
    let mut left = List::default();
    let mut doing = List::default();

    for bullet in session.done {
        done.add(bullet);
    }
    if session.task_is_done {
        session
            .task
            .iter()
            .filter(|task| !session.finished.covers(task))
            .for_each(|task| done.add(task.clone()));
    }
    let task = session.task.into_iter().filter(|_| !session.task_is_done);
    for bullet in task
        .chain(newest(session.doing))
        .chain(newest(before.in_progress))
    {
        let is_open = !session.finished.covers(&bullet) && !done.knows(&bullet);
        if is_open && folded(&bullet) != folded(NOTHING) {
            doing.add(bullet);
        }
    }
    let overflow = doing.0.split_off(doing.0.len().min(MAX_IN_PROGRESS));
    let waiting = overflow.into_iter().map(|entry| entry.text);
    for bullet in waiting
        .chain(before.remaining.into_iter().take(MAX_REMAINING))
        .chain(session.left)
    {
        if !session.finished.covers(&bullet) && !doing.knows(&bullet) {
            left.add(bullet);
        }
    }
    if doing.0.is_empty() {
        doing.add(NOTHING.to_owned());
    }
    Progress {
        completed: done.newest(),
        in_progress: doing.newest(),
        remaining: left.oldest(),
    }
}

/// What the task and the messages tell.
#[derive(Default)]
struct Session {
    /// The task as work in hand, unless it reads as finished.
    task: Option<String>,
    task_is_done: bool,
    done: Vec<String>,
    doing: Vec<String>,
    left: Vec<String>,
    /// What was told to be done, to recognise older items by.
    finished: List,
}

impl Session {
    fn of(source: &Source) -> Self {
        let transcript = Transcript::of(&source.messages);
        let last = transcript
            .sentences
            .iter()
            .filter(|s| s.voice == Voice::Assistant)
            .map(|s| s.message)
            .max();
        let mut session = Self::default();
        for sentence in transcript
            .sentences
            .iter()
            .filter(|sentence| sentence.voice != Voice::Tool)
        {
            let at_the_end = last.is_none_or(|last| sentence.message >= last);
            session.hear(sentence, at_the_end);
        }
        let closes =
            |s: &Sentence| Some(s.message) == last && s.voice == Voice::Assistant && closes_the_task(&s.text);
        session.task_is_done = transcript.sentences.iter().any(closes);
        session.hear_task(&source.task);
        session.done = newest(session.done);
        session.left = newest(session.left);
        session.finished = session.done.iter().cloned().map(Entry::of).collect();
        session
    }

    fn hear(&mut self, sentence: &Sentence, at_the_end: bool) {
        if let Some(told) = heard(sentence).filter(|told| at_the_end || !told.passing) {
            self.keep(told);
        }
    }

    fn keep(&mut self, told: Told) {
        match told.standing {
            Standing::Done => self.done.push(told.bullet),
            Standing::Current => self.doing.push(told.bullet),
            Standing::Left => self.left.push(told.bullet),
        }
    }

    /// The task's first sentence that is neither a report nor a plan is the work in hand.
    fn hear_task(&mut self, task: &str) {
        let reported: List = newest(self.done.clone()).into_iter().map(Entry::of).collect();
        for sentence in Transcript::of_task(task) {
            match heard(&sentence) {
                // The messages tell the same, with more words.
                Some(told) if told.standing == Standing::Done && reported.covers(&told.bullet) => {}
                Some(told) => self.keep(told),
                None if self.task.is_none() => self.task = bullet(&sentence.text),
                None => {}
            }
        }
        if self.task.is_none() && self.done.is_empty() && self.doing.is_empty() && self.left.is_empty() {
            self.task = bullet(task);
        }
    }
}

/// What a sentence tells by its place in a list, else by its form.
fn heard(sentence: &Sentence) -> Option<Told> {
    let by_form = told(&sentence.text);
    match sentence.standing {
        // A list names its items without verbs, and an item may say that it differs from its heading.
        Some(standing) => {
            let text = by_form
                .as_ref()
                .filter(|told| told.standing == standing)
                .map(|told| told.bullet.clone());
            let bullet = text.or_else(|| bullet(&sentence.text))?;
            Some(Told {
                standing,
                bullet,
                passing: false,
            })
        }
        None => by_form,
    }
}

/// A bullet and what it is about.
struct Entry {
    text: String,
    stems: BTreeSet<String>,
}

impl Entry {
    fn of(text: String) -> Self {
        let stems = stems(&text);
        Self { text, stems }
    }
}

/// Bullets without repetitions.
#[derive(Default)]
struct List(Vec<Entry>);

impl FromIterator<Entry> for List {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl List {
    /// The bullets of a document; an unusually long list is taken from its end.
    fn of(bullets: Vec<String>) -> Self {
        newest(bullets).into_iter().map(Entry::of).collect()
    }

    fn add(&mut self, bullet: String) {
        if !self.knows(&bullet) {
            self.0.push(Entry::of(bullet));
        }
    }

    /// Whether a bullet says the same as one of these.
    fn knows(&self, bullet: &str) -> bool {
        let (line, about) = (folded(bullet), stems(bullet));
        self.0.iter().any(|entry| {
            folded(&entry.text) == line || (covers(&entry.stems, &about) && covers(&about, &entry.stems))
        })
    }

    /// Whether one of these speaks of all that a bullet is about.
    fn covers(&self, bullet: &str) -> bool {
        let about = stems(bullet);
        self.0.iter().any(|entry| covers(&entry.stems, &about))
    }

    fn newest(self) -> Vec<String> {
        newest(self.0.into_iter().map(|entry| entry.text).collect())
    }

    fn oldest(self) -> Vec<String> {
        self.0
            .into_iter()
            .take(MAX_BULLETS)
            .map(|entry| entry.text)
            .collect()
    }
}

fn newest(mut bullets: Vec<String>) -> Vec<String> {
    bullets.split_off(bullets.len().saturating_sub(MAX_BULLETS))
}
