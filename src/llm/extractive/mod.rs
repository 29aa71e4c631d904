//! The built-in updater: rules, no model, for a service that has none configured.
//!
//! It reads the task, the messages and the document ([`Source`]) and answers in the update DSL, as a model
//! would. What it writes was said in the session: sentences are shortened, never made up, and "no change" is
//! the answer when nothing clear was said.
//!
//! | section | made from |
//! |---|---|
//! | progress | clauses that tell what was done, is being done, left or asked for, the last word of which counts; lists under such headings; the previous progress |
//! | learnings | claims that somebody makes outright: requests to keep, rules, decisions, circumstances, causes, corrections, dated facts; what they contradict is archived |
//! | verbatim | closed code fences of the assistant, labelled by path, definition or the sentence before |
//!
//! docs/rules.md tells how. `transcript` takes messages apart, `cues` hold the words of each language, `said` is a
//! sentence with its signs, `session` what each is worth once the others are known; `claims` and `steps` make of
//! it what is kept, and `contradiction` what no longer holds.
//!
//! Messages are data: what looks like the DSL in them is folded into single lines or indented, so that it
//! cannot open a section. Time is linear in the input; at most three records are added.

mod apart;
mod caps;
mod claims;
mod code;
mod contradiction;
mod cues;
mod diagnosis;
mod done;
mod foreign;
mod item;
mod label;
mod learnings;
mod line;
mod listed;
mod memory;
mod next;
mod progress;
mod said;
mod secrets;
mod sentence;
mod session;
mod shown;
mod split;
mod steps;
mod talk;
mod terms;
mod text;
mod transcript;
mod values;
mod verbatim;
mod weights;
mod wording;
mod work;
mod work_state;
mod worth;

use std::sync::Arc;

use async_trait::async_trait;

use super::{Answer, Model, ModelError, Request, Source};
use crate::domain::operation::Role;

/// The built-in updater. It is always reachable and never fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

#[async_trait]
impl Model for Extractive {
    fn name(&self) -> &str {
        "extractive"
    }

    fn is_built_in(&self) -> bool {
        true
    }

    async fn complete(&self, request: &Request) -> Result<Answer, ModelError> {
        // Handoffs are compiled by rules of their own.
        let Some(role) = request.role else {
            return Ok(Answer::default());
        };
        let source = Arc::clone(&request.source);
        // A long conversation takes a while; the threads that serve requests are not kept from them.
        let text = tokio::task::spawn_blocking(move || answer(role, &source)).await;
        let text = text.map_err(|error| ModelError::bad_answer(error.to_string()))?;
        Ok(Answer {
            text,
            ..Answer::default()
        })
    }
}

/// The answer of a role: text of the update DSL, the same for the same source.
#[must_use]
pub fn answer(role: Role, source: &Source) -> String {
    let text = match role {
        Role::Progress => progress::section(source),
        Role::Learnings => learnings::section(source),
        Role::Verbatim => verbatim::section(source),
    };
    text.unwrap_or_else(|| format!("{}: no change\n", role.header()))
}

#[cfg(test)]
mod tests;
