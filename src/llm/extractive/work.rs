//! The work of a session: the state of each piece of work after its last mention.

use super::contradiction::retired;
use super::cues::{Sign, any_signs};
use super::done::is_done;
use super::item::{Item, Report};
use super::said::Said;
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
    pub(super) told: bool,
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
        let mut question: Option<&Said> = None;
        for (at, said) in session.said.iter().enumerate() {
            if said.voice == Voice::Assistant && !said.void {
                question = said.asks.then_some(said);
            } else if let Some(asked) = question.filter(|asked| asked.message + 1 == said.message) {
                work.answer(said, asked);
            }
            if at > 0 && session.said[at - 1].message != said.message {
                before = None;
            }
            let behind = at
                .checked_sub(1)
                .map(|at| &session.said[at])
                .filter(|behind| behind.message == said.message);
            before = work.hear(said, session, &denied, &task, (before, behind));
        }
        work
    }

    /// Processes a sentence. Returns the state that it reported last, for the next sentence.
    fn hear(
        &mut self,
        said: &Said,
        session: &Session,
        denied: &[usize],
        task: &Terms,
        (before, behind): (Option<State>, Option<&Said>),
    ) -> Option<State> {
        if said.void {
            return None;
        }
        let mut last = None;
        let around = match behind.filter(|behind| !behind.void && !behind.asks) {
            Some(behind) => task.clone().with(behind.terms()),
            None => task.clone(),
        };
        if said.has_any(&[Sign::Obsolete, Sign::Retired, Sign::Change])
            && said.voice == Voice::User
            && !said.asks
        {
            self.drop_needless(said);
        }
        if told_a_cause(said) && denied.binary_search(&said.message).is_err() {
            self.finish_search(said, &around);
        }
        for step in steps(said, session, before, behind) {
            last = Some(step.state);
            let taken_back = step.state == State::Done && denied.binary_search(&said.message).is_ok();
            if taken_back || (said.voice == Voice::Task && session.has_messages && step.state != State::Done)
            {
                continue;
            }
            self.take(step, said, session, (task, &around));
        }
        self.finish_told(said);
        last
    }

    /// "Find out why locos stall" is done when the cause is reported.
    fn finish_search(&mut self, said: &Said, around: &Terms) {
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
            let shared = item.terms.shared(said.terms()) + item.terms.shared(around);
            if seeks && shared >= least {
                item.state = State::Done;
                item.message = said.message;
                self.told = true;
            }
        }
    }

    /// "How about the hall?" - "That's booked."
    fn answer(&mut self, said: &Said, asked: &Said) {
        let points_back = said.opens_with(Sign::Anaphor) || said.content().is_empty();
        let confirms = said.begins_with_yes()
            && said
                .words()
                .any(|(_, word)| (said.language.words().is_done)(word));
        let confirms = confirms && !said.has_any(&[Sign::NotYet, Sign::Negation, Sign::Plan]);
        let tells = !said.has_any(&[Sign::NotYet, Sign::Negation, Sign::Plan]);
        let begins_with_a_deed = || {
            said.words()
                .take(2)
                .any(|(_, word)| (said.language.words().is_done)(word))
        };
        if !said.void && !said.asks && tells && begins_with_a_deed() {
            // "And the calendars?" - "Ordered yesterday, 80 of them."
            let both = asked.terms().clone().with(said.terms());
            let report = format!("{} {}", asked.line.text, said.line.text);
            if let Some(at) = self.told_as_done(&report, &both) {
                self.items[at].state = State::Done;
                self.items[at].message = said.message;
                self.told = true;
            }
        }
        if said.void || said.asks || !(confirms || points_back && is_done(said)) {
            return;
        }
        for item in &mut self.items {
            if item.is_open() && (item.is_finished_by(asked.terms()) || item.object.is_within(asked.terms()))
            {
                item.state = State::Done;
                item.message = said.message;
                self.told = true;
            }
        }
    }

    fn take(&mut self, step: Step, said: &Said, session: &Session, (task, around): (&Terms, &Terms)) {
        let terms = Terms::of(&step.text);
        if step.text.is_empty() || terms.is_empty() {
            if step.state == State::Done {
                self.finish_what_was_asked(said, session);
            }
            return;
        }
        let is_task = said.voice == Voice::User
            && said.message == session.first_question
            && step.state == State::Asked
            && (terms.covers(task) || task.covers(&terms) || session.last_answer > said.message);
        if is_task {
            return;
        }
        self.told = true;
        match step.state {
            State::Done => {
                let about = terms.clone().with(around);
                let told = self.told_as_done(&step.text, &terms);
                let mut at = 0;
                self.items.retain(|item| {
                    let finished = Some(at) == told
                        || item.is_finished_by(&terms)
                        || item.is_finished_with(&terms, &about);
                    at += 1;
                    !(item.is_open() && finished)
                });
                self.finish_single_request(said);
                self.add(step, said);
            }
            State::Doing => {
                self.items
                    .retain(|item| !(item.is_open() && item.is_named_by(&terms)));
                self.add(step, said);
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
                    self.add(step, said);
                }
            }
        }
    }

    /// Index of the document's piece of work that a report states as done by its verb: the one with most
    /// shared terms.
    fn told_as_done(&self, report: &str, terms: &Terms) -> Option<usize> {
        let report = folded(report);
        let report = Report::of(&report, terms);
        let open = self.items.iter().enumerate();
        let open = open.filter(|(_, item)| item.is_open() && item.message == 0);
        let named = open.map(|(at, item)| (item.done_as(&report), at));
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
    fn finish_told(&mut self, said: &Said) {
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
        if said.voice != Voice::User || said.asks {
            return;
        }
        let whole = std::iter::once(said.line.text.as_str());
        for part in parts(said).into_iter().take(MAX_PARTS).chain(whole) {
            let piece = said.part(part);
            if piece.has_any(&unsure) {
                continue;
            }
            let told = self.told_as_done(part, piece.terms());
            let ends = is_done(&piece);
            for (at, item) in self.items.iter_mut().enumerate() {
                let named = ends && item.message == 0 && item.is_open() && item.is_named_by(piece.terms());
                if named || Some(at) == told {
                    item.state = State::Done;
                    item.message = said.message;
                    self.told = true;
                }
            }
        }
    }

    fn add(&mut self, step: Step, said: &Said) {
        let item = Item::of(step.text, step.state, said.message, said.voice);
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
    fn finish_what_was_asked(&mut self, said: &Said, session: &Session) {
        let asked = |item: &Item| item.state == State::Asked && item.message + 1 == said.message;
        let mut finished = false;
        for item in self.items.iter_mut().filter(|item| asked(item)) {
            item.state = State::Done;
            item.message = said.message;
            finished = true;
        }
        self.told |= finished;
        let closes =
            said.has(Sign::Closing) && (said.message >= session.last_answer || said.voice == Voice::User);
        if !finished && closes && said.message > 0 {
            self.task_is_done = true;
            self.told = true;
        }
    }

    /// If a single thing was requested and the answer reports work, the request is finished.
    fn finish_single_request(&mut self, said: &Said) {
        if said.voice != Voice::Assistant {
            return;
        }
        let asked = |item: &Item| {
            item.state == State::Asked && item.voice == Voice::User && item.message + 1 == said.message
        };
        if self.items.iter().filter(|item| asked(item)).count() == 1 {
            self.items.retain(|item| !asked(item));
        }
    }

    /// "Annex B is no longer needed".
    fn drop_needless(&mut self, said: &Said) {
        let is_said = said.has(Sign::Needless);
        let given_up = retired(said);
        let before = self.items.len();
        self.items.retain(|item| {
            let named = is_said && !item.object.is_empty() && item.object.is_within(said.terms());
            let dropped = given_up
                .as_ref()
                .is_some_and(|thing| thing.is_within(&item.terms));
            !(item.is_open() && (named || dropped))
        });
        self.told |= self.items.len() != before;
    }

    pub(super) fn list(&self, states: &[State]) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| states.contains(&item.state))
    }
}

/// "The cause is …", without doubt.
fn told_a_cause(said: &Said) -> bool {
    let unsure = [
        Sign::Hedge,
        Sign::Hypothesis,
        Sign::Hearsay,
        Sign::Condition,
        Sign::NotYet,
        Sign::Open,
    ];
    // "It comes from the broken wire, not from dirt"
    let says_more = said.line.folded.contains([',', ':']);
    said.voice != Voice::Task
        && said.has(Sign::Cause)
        && !said.asks
        && !said.has_any(&unsure)
        && said.content().count() >= 2
        && (says_more || !said.has_any(&[Sign::Refuted, Sign::Negation]))
}

/// The task as a bullet.
pub(super) fn task_bullet(task: &str) -> Option<String> {
    let first = task.lines().find(|line| !line.trim().is_empty())?;
    bullet(super::split::sentences(first.trim(), false).first()?)
}
