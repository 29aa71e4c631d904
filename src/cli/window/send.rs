//! Sends the content of a folder, in requests that a service accepts.

use super::folder::Folder;
use super::memory::RULES;
use super::report::Report;
use crate::cli::client::{Exit, Failure, Method, Service};
use crate::domain::window::{ImportedDecision, ImportedTask};
use serde::Serialize;
use serde_json::{Value, json};

/// The maximum size of one request, in bytes: well under `limits.body_bytes` (1 MiB).
const MAX_CHUNK_BYTES: usize = 900_000;

/// One request of `POST M/window/import`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Chunk {
    status: Option<Value>,
    tasks: Vec<Value>,
    decisions: Vec<Value>,
    history: Vec<Value>,
}

impl Chunk {
    fn list(&mut self, list: List) -> &mut Vec<Value> {
        match list {
            List::Tasks => &mut self.tasks,
            List::Decisions => &mut self.decisions,
            List::History => &mut self.history,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum List {
    Tasks,
    Decisions,
    History,
}

/// The requests that import a folder; none if it is empty. Those for the window come first, oldest first:
/// of equal times the entry higher in its file is the newer. The goal comes last, since
/// later requests would change the time of the status.
///
/// # Errors
/// A value cannot be serialized as JSON.
pub(super) fn chunks(folder: Folder) -> Result<Vec<Chunk>, Failure> {
    let Folder {
        status,
        tasks,
        decisions,
        mut history,
        ..
    } = folder;
    history.sort_by_key(|task| task.time);
    let tasks = tasks.iter().rev().map(|task| (List::Tasks, task_json(task)));
    let decisions = decisions
        .iter()
        .rev()
        .map(|made| (List::Decisions, decision_json(made)));
    let history = history.iter().map(|task| (List::History, task_json(task)));

    let (mut chunks, mut bytes) = (Vec::new(), 0);
    let mut chunk = Chunk::default();
    for (list, entry) in tasks.chain(decisions).chain(history) {
        let size = entry.to_string().len() + 1;
        if bytes > 0 && bytes + size > MAX_CHUNK_BYTES {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
        bytes += size;
        chunk.list(list).push(entry);
    }
    let says_status = status.goal.is_some() || status.blocker.is_some();
    if bytes > 0 || says_status {
        chunks.push(chunk);
    }
    let updated = json!({ "updated": status.updated });
    for chunk in &mut chunks {
        chunk.status = status.updated.map(|_| updated.clone());
    }
    if let Some(last) = chunks.last_mut().filter(|_| says_status) {
        last.status =
            Some(json!({ "goal": status.goal, "blocker": status.blocker, "updated": status.updated }));
    }
    Ok(chunks)
}

fn task_json(ImportedTask { time, task, .. }: &ImportedTask) -> Value {
    let mut json = json!({ "time": time, "task_id": task.task_id.as_ref().map(|id| id.as_str()),
                           "intent": task.intent, "summary": task.summary });
    for (name, value) in task.details.members() {
        json[name] = value;
    }
    json
}

fn decision_json(made: &ImportedDecision) -> Value {
    json!({ "time": made.time, "decision": made.decision, "reason": made.reason })
}

/// Adds rules one after the other, so that they keep their order.
pub(super) struct RuleSender<'s>(&'s Service);

impl<'s> RuleSender<'s> {
    pub(super) fn of(service: &'s Service) -> Self {
        Self(service)
    }

    /// # Errors
    /// The key does not allow it, or the service rejects a rule; rules added before stay and are reported.
    pub(super) async fn send(&self, rules: &[String], report: &mut Report) -> Result<(), Failure> {
        for rule in rules {
            let call = self.0.of_memory(Method::POST, &["items"])?;
            let call = call.json(&json!({ "content": rule, "category": RULES }))?;
            call.send().await.map_err(|failure| {
                let needs = match failure.exit {
                    Exit::NotAllowed => " (rules require a key of the role admin)",
                    _ => "",
                };
                let (imported, all) = (report.imported_so_far(), rules.len());
                let sentence = failure.sentence;
                Failure::new(
                    failure.exit,
                    format!(
                        "the rules{needs}: {sentence}; added before that, of {all} new rules: {imported}"
                    ),
                )
            })?;
            report.add_rules(1);
        }
        Ok(())
    }
}
