//! `Current Progress` from the task, the messages and the previous progress.

use super::item::Item;
use super::learnings;
use super::memory;
use super::session::Session;
use super::terms::Terms;
use super::text::folded;
use super::verbatim;
use super::work::{Work, task_bullet};
use super::work_state::State;
use crate::domain::operation::Progress;
use crate::llm::Source;

/// Maximum number of bullets in `Completed`; the oldest are dropped.
const MAX_COMPLETED: usize = 12;
/// Maximum number of new bullets in `Remaining`; previous ones are kept until they are reported as done.
const MAX_REMAINING: usize = 20;
/// Maximum number of bullets in `In Progress`; older ones move to `Remaining`.
const MAX_IN_PROGRESS: usize = 5;
/// Prefix of the bullet in `In Progress` when all known work is finished, since the section needs at least
/// one.
const NOTHING: &str = "Nothing, finished: ";

/// The section in the update DSL; `None` if the session does not mention work.
pub(super) fn section(source: &Source) -> Option<String> {
    let session = Session::of(source);
    let before = memory::progress(&source.document);
    let work = Work::of(&session, &before, &source.task);
    let is_new = before == Progress::default();
    let is_worth_it = work.mentions_work || (is_new && is_worth_a_change(source));
    if !is_worth_it {
        return None;
    }
    let progress = progress(&work, &session, &before, &source.task);
    (progress != before).then(|| written(&progress))
}

fn written(progress: &Progress) -> String {
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

fn progress(work: &Work, session: &Session, before: &Progress, task: &str) -> Progress {
    let texts = |states: &[State]| {
        work.list(states)
            .map(|item| item.text.clone())
            .collect::<Vec<_>>()
    };
    let mut completed = texts(&[State::Done]);
    let mut in_progress: Vec<String> = texts(&[State::Doing]);
    in_progress.retain(|bullet| !bullet.starts_with(NOTHING));
    let mut remaining = texts(&[State::Open, State::Asked]);
    let task = task_bullet(task);
    let about = task.as_deref().map(Terms::of).unwrap_or_default();
    let reports_completion = work
        .list(&[State::Done])
        .any(|item| Terms::of(&item.text).covers(&about));
    if work.task_is_done && !reports_completion {
        completed.extend(task.clone().filter(|task| !known(&completed, task)));
    }
    if work.task_is_done {
        in_progress.retain(|bullet| !about.equals(&Terms::of(bullet)));
    }
    // The user's last request is the current work.
    let is_asked_last = |item: &&Item| {
        item.state == State::Asked && item.message > session.last_answer.min(session.last_request())
    };
    if !in_progress
        .iter()
        .any(|bullet| !known(&before.in_progress, bullet))
        && let Some(asked) = work.list(&[State::Asked]).find(is_asked_last)
    {
        remaining.retain(|bullet| *bullet != asked.text);
        in_progress.push(asked.text.clone());
    }
    if in_progress.is_empty() {
        let finished = work.task_is_done || reports_completion;
        let task = task.unwrap_or_default();
        in_progress.push(if finished {
            format!("{NOTHING}{task}")
        } else {
            task
        });
    }
    in_progress.retain(|bullet| !bullet.is_empty());
    // `In Progress` needs at least one bullet, and a task without words provides none.
    if in_progress.is_empty() {
        let last = remaining
            .pop()
            .or_else(|| completed.last().map(|done| format!("{NOTHING}{done}")));
        in_progress.extend(last);
    }
    let over = in_progress.len().saturating_sub(MAX_IN_PROGRESS);
    let waiting: Vec<String> = in_progress.drain(..over).collect();
    remaining.splice(0..0, waiting);
    remaining.truncate(MAX_REMAINING);
    completed.drain(..completed.len().saturating_sub(MAX_COMPLETED));
    Progress {
        completed,
        in_progress,
        remaining,
    }
}

fn known(bullets: &[String], bullet: &str) -> bool {
    bullets.iter().any(|known| folded(known) == folded(bullet))
}

/// Whether records are added or archived, or the input has no messages.
fn is_worth_a_change(source: &Source) -> bool {
    source.messages.is_empty() || learnings::section(source).is_some() || verbatim::section(source).is_some()
}
