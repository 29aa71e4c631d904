//! The built-in updater: rules instead of a model, for a service without a configured model.
//!
//! It reads the task, the messages and the document ([`Source`]) and answers in the update DSL, like a model.
//! It only writes text from the session: sentences are shortened, never invented, and the answer is "no
//! change" if there is nothing clear to record.
//!
//! | section | made from |
//! |---|---|
//! | progress | clauses that report finished, current, remaining or requested work (the last mention counts);
//! lists under such headings; the previous progress |
//! | learnings | explicit claims: requests to keep, rules, decisions, circumstances, causes, corrections,
//! dated facts; records that they contradict are archived |
//! | verbatim | closed code fences of the assistant, labelled by path, definition or the preceding sentence |
//!
//! docs/rules.md describes the rules. `transcript` splits messages into sentences, `cues` contain the cue
//! words of each language, `sentence` is a sentence with its signs, `session` evaluates sentences in their
//! context; `claims` and `steps` extract what is kept, and `contradiction` finds outdated records.
//!
//! Messages are data: text in them that looks like the DSL is folded into single lines or indented, so that
//! it cannot open a section. Time is linear in the input; at most three records are added.

mod annotated;
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
mod record_mention;
mod secrets;
mod seen_values;
mod sentence;
mod session;
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

/// The built-in updater. It is always available and never fails.
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
        // A long conversation takes a while, so it is processed off the async worker threads.
        let text = tokio::task::spawn_blocking(move || answer(role, &source)).await;
        let text = text.map_err(|error| ModelError::bad_answer(error.to_string()))?;
        Ok(Answer {
            text,
            ..Answer::default()
        })
    }
}

/// The answer of a role as text of the update DSL. Deterministic.
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
