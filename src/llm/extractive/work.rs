//! The work of a session: the state of each piece of work after its last mention.

use super::annotated::AnnotatedSentence;
use super::contradiction::retired;
use super::cues::{Sign, any_signs};
use super::done::is_done;
use super::item::{Item, Report};
use super::sentence::Voice;
use super::session::Session;
use super::steps::{Step, parts, steps};
use super::terms::Terms;
use super::text::{bullet, folded};
use super::work_state::State;
use crate::domain::operation::Progress;

/// Maximum number of pieces of work that one session adds; the oldest are dropped.
const MAX_ITEMS: usize = 24;
/// Maximum number of parts of a sentence that are compared with the work in the document.
const MAX_PARTS: usize = 16;

/// All known work.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) items: Vec<Item>,
    /// Whether the task was reported as finished.
    pub(super) task_is_done: bool,
    /// Whether the session mentions work.
    pub(super) mentions_work: bool,
}

impl Work {
    /// Collects the work of a document and a session.
    pub(super) fn of(session: &Session, before: &Progress, task: &str) -> Self {
        let mut work = Self::default();
        for (bullets, state) in [
            (&before.completed, State::Done),
            (&before.in_progress, State::Doing),
            (&before.remaining, State::Open),
        ] {
            let items = bullets
                .iter()
                .map(|text| Item::of(text.clone(), state, 0, Voice::Task));
            work.items.extend(items);
        }
        let denied = session.denied();
        let task = Terms::of(task);
        let mut before = None;
        let mut question: Option<&AnnotatedSentence> = None;
        for (at, sentence) in session.sentences.iter().enumerate() {
            if sentence.voice == Voice::Assistant && !sentence.excluded {
                question = sentence.asks.then_some(sentence);
            } else if let Some(asked) = question.filter(|asked| asked.message + 1 == sentence.message) {
                work.answer(sentence, asked);
            }
            if at > 0 && session.sentences[at - 1].message != sentence.message {
                before = None;
            }
            let previous = at
                .checked_sub(1)
                .map(|at| &session.sentences[at])
                .filter(|previous| previous.message == sentence.message);
            before = work.record_statement(sentence, session, &denied, &task, (before, previous));
        }
        work
    }

    /// Processes a sentence. Returns the state that it reported last, for the next sentence.
    fn record_statement(
        &mut self,
        sentence: &AnnotatedSentence,
        session: &Session,
        denied: &[usize],
        task: &Terms,
        (before, previous): (Option<State>, Option<&AnnotatedSentence>),
    ) -> Option<State> {
        if sentence.excluded {
            return None;
        }
        let mut last = None;
        let around = match previous.filter(|previous| !previous.excluded && !previous.asks) {
            Some(previous) => task.clone().with(previous.terms()),
            None => task.clone(),
        };
        if sentence.has_any(&[Sign::Obsolete, Sign::Retired, Sign::Change])
            && sentence.voice == Voice::User
            && !sentence.asks
        {
            self.drop_needless(sentence);
        }
        if states_cause(sentence) && denied.binary_search(&sentence.message).is_err() {
            self.finish_search(sentence, &around);
        }
        for step in steps(sentence, session, before, previous) {
            last = Some(step.state);
            let taken_back = step.state == State::Done && denied.binary_search(&sentence.message).is_ok();
            if taken_back
                || (sentence.voice == Voice::Task && session.has_messages && step.state != State::Done)
            {
                continue;
            }
            self.take(step, sentence, session, (task, &around));
        }
        self.finish_reported_by_others(sentence);
        last
    }

    /// "Find out why locos stall" is done when the cause is reported.
    fn finish_search(&mut self, sentence: &AnnotatedSentence, around: &Terms) {
        // If there is only one search, one shared word is sufficient.
        let searches = self.items.iter().filter(|item| {
            item.message == 0 && item.is_open() && any_signs(&item.text).contains(&Sign::Seek)
        });
        let least = if searches.count() == 1 { 1 } else { 2 };
        for item in self
            .items
            .iter_mut()
            .filter(|item| item.message == 0 && item.is_open())
        {
            let seeks = any_signs(&item.text).contains(&Sign::Seek);
            let shared = item.terms.shared(sentence.terms()) + item.terms.shared(around);
            if seeks && shared >= least {
                item.state = State::Done;
                item.message = sentence.message;
                self.mentions_work = true;
            }
        }
    }

    /// "How about the hall?" - "That's booked."
    fn answer(&mut self, sentence: &AnnotatedSentence, asked: &AnnotatedSentence) {
        let refers_back = sentence.opens_with(Sign::Anaphor) || sentence.content().is_empty();
        let confirms = sentence.begins_with_yes()
            && sentence
                .words()
                .any(|(_, word)| (sentence.language.words().is_done)(word));
        let confirms = confirms && !sentence.has_any(&[Sign::NotYet, Sign::Negation, Sign::Plan]);
        let tells = !sentence.has_any(&[Sign::NotYet, Sign::Negation, Sign::Plan]);
        let begins_with_a_deed = || {
            sentence
                .words()
                .take(2)
                .any(|(_, word)| (sentence.language.words().is_done)(word))
        };
        if !sentence.excluded && !sentence.asks && tells && begins_with_a_deed() {
            // "And the calendars?" - "Ordered yesterday, 80 of them."
            let both = asked.terms().clone().with(sentence.terms());
            let report = format!("{} {}", asked.line.text, sentence.line.text);
            if let Some(at) = self.reported_as_done(&report, &both) {
                self.items[at].state = State::Done;
                self.items[at].message = sentence.message;
                self.mentions_work = true;
            }
        }
        if sentence.excluded || sentence.asks || !(confirms || refers_back && is_done(sentence)) {
            return;
        }
        for item in &mut self.items {
            if item.is_open() && (item.is_finished_by(asked.terms()) || item.object.is_within(asked.terms()))
            {
                item.state = State::Done;
                item.message = sentence.message;
                self.mentions_work = true;
            }
        }
    }

    fn take(
        &mut self,
        step: Step,
        sentence: &AnnotatedSentence,
        session: &Session,
        (task, around): (&Terms, &Terms),
    ) {
        let terms = Terms::of(&step.text);
        if step.text.is_empty() || terms.is_empty() {
            if step.state == State::Done {
                self.finish_what_was_asked(sentence, session);
            }
            return;
        }
        let is_task = sentence.voice == Voice::User
            && sentence.message == session.first_question
            && step.state == State::Asked
            && (terms.covers(task) || task.covers(&terms) || session.last_answer > sentence.message);
        if is_task {
            return;
        }
        self.mentions_work = true;
        match step.state {
            State::Done => {
                let about = terms.clone().with(around);
                let reported = self.reported_as_done(&step.text, &terms);
                let mut at = 0;
                self.items.retain(|item| {
                    let finished = Some(at) == reported
                        || item.is_finished_by(&terms)
                        || item.is_finished_with(&terms, &about);
                    at += 1;
                    !(item.is_open() && finished)
                });
                self.finish_single_request(sentence);
                self.add(step, sentence);
            }
            State::Doing => {
                self.items
                    .retain(|item| !(item.is_open() && item.is_named_by(&terms)));
                self.add(step, sentence);
            }
            State::Open | State::Asked => {
                let known = self
                    .items
                    .iter()
                    .any(|item| item.is_open() && (item.is_named_by(&terms) || terms.equals(&item.terms)));
                let within = self
                    .items
                    .iter()
                    .any(|item| item.is_open() && terms.is_within(&item.terms));
                let reopened =
                    |item: &Item| item.state == State::Done && item.message > 0 && item.terms.equals(&terms);
                self.items.retain(|item| !reopened(item));
                if !known && !within {
                    self.add(step, sentence);
                }
            }
        }
    }

    /// Index of the document's piece of work that a report states as done by its verb: the one with most
    /// shared terms.
    fn reported_as_done(&self, report: &str, terms: &Terms) -> Option<usize> {
        let report = folded(report);
        let report = Report::of(&report, terms);
        let open = self.items.iter().enumerate();
        let open = open.filter(|(_, item)| item.is_open() && item.message == 0);
        let named = open.map(|(at, item)| (item.match_as_done(&report), at));
        let mut named: Vec<(usize, usize)> = named.filter(|(count, _)| *count > 0).collect();
        named.sort_unstable_by(|a, b| b.cmp(a));
        match named.as_slice() {
            [(first, _), (second, _), ..] if first == second => None,
            [(_, at), ..] => Some(*at),
            [] => None,
        }
    }

    /// "Vidal has signed the order form": the deed of somebody else finishes work in the document but is not
    /// a report of its own; the same applies to deeds in rules.
    fn finish_reported_by_others(&mut self, sentence: &AnnotatedSentence) {
        let unsure = [
            Sign::Hypothesis,
            Sign::Hedge,
            Sign::Hearsay,
            Sign::Condition,
            Sign::Request,
            Sign::NotYet,
            Sign::Negation,
            Sign::Plan,
        ];
        if sentence.voice != Voice::User || sentence.asks {
            return;
        }
        let whole = std::iter::once(sentence.line.text.as_str());
        for part in parts(sentence).into_iter().take(MAX_PARTS).chain(whole) {
            let piece = sentence.part(part);
            if piece.has_any(&unsure) {
                continue;
            }
            let reported = self.reported_as_done(part, piece.terms());
            let ends = is_done(&piece);
            for (at, item) in self.items.iter_mut().enumerate() {
                let named = ends && item.message == 0 && item.is_open() && item.is_named_by(piece.terms());
                if named || Some(at) == reported {
                    item.state = State::Done;
                    item.message = sentence.message;
                    self.mentions_work = true;
                }
            }
        }
    }

    fn add(&mut self, step: Step, sentence: &AnnotatedSentence) {
        let item = Item::of(step.text, step.state, sentence.message, sentence.voice);
        if self.items.iter().any(|known| {
            known.line == item.line || (known.state == item.state && known.terms.equals(&item.terms))
        }) {
            return;
        }
        self.items.push(item);
        if self.items.len() > MAX_ITEMS * 2
            && let Some(oldest) = self.items.iter().position(|item| item.message > 0)
        {
            self.items.remove(oldest);
        }
    }

    /// "Done." finishes the requested work, or the task.
    fn finish_what_was_asked(&mut self, sentence: &AnnotatedSentence, session: &Session) {
        let asked = |item: &Item| item.state == State::Asked && item.message + 1 == sentence.message;
        let mut finished = false;
        for item in self.items.iter_mut().filter(|item| asked(item)) {
            item.state = State::Done;
            item.message = sentence.message;
            finished = true;
        }
        self.mentions_work |= finished;
        let closes = sentence.has(Sign::Closing)
            && (sentence.message >= session.last_answer || sentence.voice == Voice::User);
        if !finished && closes && sentence.message > 0 {
            self.task_is_done = true;
            self.mentions_work = true;
        }
    }

    /// If a single thing was requested and the answer reports work, the request is finished.
    fn finish_single_request(&mut self, sentence: &AnnotatedSentence) {
        if sentence.voice != Voice::Assistant {
            return;
        }
        let asked = |item: &Item| {
            item.state == State::Asked && item.voice == Voice::User && item.message + 1 == sentence.message
        };
        if self.items.iter().filter(|item| asked(item)).count() == 1 {
            self.items.retain(|item| !asked(item));
        }
    }

    /// "Annex B is no longer needed".
    fn drop_needless(&mut self, sentence: &AnnotatedSentence) {
        let is_said = sentence.has(Sign::Needless);
        let given_up = retired(sentence);
        let before = self.items.len();
        self.items.retain(|item| {
            let named = is_said && !item.object.is_empty() && item.object.is_within(sentence.terms());
            let dropped = given_up
                .as_ref()
                .is_some_and(|thing| thing.is_within(&item.terms));
            !(item.is_open() && (named || dropped))
        });
        self.mentions_work |= self.items.len() != before;
    }

    pub(super) fn list(&self, states: &[State]) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| states.contains(&item.state))
    }
}

/// "The cause is …", without doubt.
fn states_cause(sentence: &AnnotatedSentence) -> bool {
    let unsure = [
        Sign::Hedge,
        Sign::Hypothesis,
        Sign::Hearsay,
        Sign::Condition,
        Sign::NotYet,
        Sign::Open,
    ];
    // "It comes from the broken wire, not from dirt"
    let says_more = sentence.line.folded.contains([',', ':']);
    sentence.voice != Voice::Task
        && sentence.has(Sign::Cause)
        && !sentence.asks
        && !sentence.has_any(&unsure)
        && sentence.content().count() >= 2
        && (says_more || !sentence.has_any(&[Sign::Refuted, Sign::Negation]))
}

/// The task as a bullet.
pub(super) fn task_bullet(task: &str) -> Option<String> {
    let first = task.lines().find(|line| !line.trim().is_empty())?;
    bullet(super::split::sentences(first.trim(), false).first()?)
}
