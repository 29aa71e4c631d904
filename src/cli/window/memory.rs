//! The content of a running service's memory that is written to a folder.

use super::folder::Folder;
use crate::cli::client::{Exit, Failure, Method, Service, all};
use crate::domain::text::one_line;
use crate::domain::window::{ImportedDecision, ImportedTask, KnownEntries, Status, Task, TaskDetails};
use chrono::{DateTime, SubsecRound as _, Utc};
use reqwest::header::HeaderValue;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// The category of the rules.
pub(super) const RULES: &str = "rules";

/// How often the window is read again because it changed while the archive was read.
const MAX_READINGS: usize = 10;

/// The text shown instead of a redacted intent.
const REDACTED: &str = "[redacted]";

#[derive(Debug, Deserialize)]
struct WindowBody {
    version: i64,
    status: StatusBody,
    tasks: Vec<TaskBody>,
    decisions: Vec<DecisionBody>,
}

#[derive(Debug, Deserialize)]
struct StatusBody {
    goal: Option<String>,
    blocker: Option<String>,
    updated: Option<DateTime<Utc>>,
}

#[derive(Debug, Deserialize)]
struct TaskBody {
    record_id: String,
    time: Option<DateTime<Utc>>,
    task_id: Option<String>,
    intent: String,
    summary: String,
    #[serde(flatten)]
    details: TaskDetails,
}

#[derive(Debug, Deserialize)]
struct DecisionBody {
    record_id: String,
    time: Option<DateTime<Utc>>,
    decision: String,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ItemBody {
    content: String,
}

#[derive(Debug, Deserialize)]
struct RecordBody {
    created_at: DateTime<Utc>,
    content: Option<String>,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OutcomeBody {
    record_id: String,
    outcome: Option<Value>,
}

/// A memory that was read.
#[derive(Debug)]
pub(super) struct Memory {
    /// The version of its document.
    pub(super) version: i64,
    /// Its content for a folder.
    pub(super) folder: Folder,
    /// The entity tag of its window.
    pub(super) etag: Option<HeaderValue>,
}

impl Memory {
    /// Reads a consistent snapshot of one version. A memory without a document may have rules: then its version is 0.
    ///
    /// # Errors
    /// There is no such memory, or the service cannot be reached.
    pub(super) async fn read(service: &Service) -> Result<Self, Failure> {
        let (mut window, mut etag) = match newer(service, None).await {
            Ok(found) => found.ok_or_else(no_window)?,
            Err(failure) if failure.exit == Exit::NotFound && has_rules(service).await => {
                let folder = Folder {
                    rules: rules(service).await?,
                    ..Folder::default()
                };
                return Ok(Self {
                    version: 0,
                    folder,
                    etag: None,
                });
            }
            Err(failure) => return Err(failure),
        };
        for _ in 0..MAX_READINGS {
            let history = history(service).await?;
            // A task archived meanwhile would appear in both or in neither.
            match newer(service, etag.as_ref()).await? {
                Some(changed) => (window, etag) = changed,
                None => {
                    let version = window.version;
                    let folder = Folder {
                        rules: rules(service).await?,
                        history,
                        ..of_window(service, window).await?
                    };
                    return Ok(Self {
                        version,
                        folder,
                        etag,
                    });
                }
            }
        }
        Err(Failure::new(
            Exit::Busy,
            "the memory changes faster than it can be read",
        ))
    }

    /// Whether its window has changed since.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub(super) async fn has_changed(&self, service: &Service) -> Result<bool, Failure> {
        match newer(service, self.etag.as_ref()).await {
            // It has no document yet.
            Err(failure) if failure.exit == Exit::NotFound && self.etag.is_none() => Ok(false),
            found => Ok(found?.is_some()),
        }
    }
}

fn no_window() -> Failure {
    Failure::failed("the service sent no window")
}

/// The window, unless its entity tag is still this one.
async fn newer(
    service: &Service,
    etag: Option<&HeaderValue>,
) -> Result<Option<(WindowBody, Option<HeaderValue>)>, Failure> {
    let call = service.of_memory(Method::GET, &["window"])?;
    let answer = call.if_none_match(etag).send().await?;
    if answer.is_not_modified() {
        return Ok(None);
    }
    Ok(Some((answer.json()?, answer.etag().cloned())))
}

/// The rules of the vault and then of the memory, each once, in the order they were added. A memory that does not
/// exist has none of its own.
///
/// # Errors
/// The service cannot be reached.
pub(super) async fn rules(service: &Service) -> Result<Vec<String>, Failure> {
    let of_vault = || {
        Ok(service
            .of_vault(Method::GET, &["items"])?
            .query("category", RULES))
    };
    let of_memory = || {
        Ok(service
            .of_memory(Method::GET, &["items"])?
            .query("category", RULES))
    };
    let mut items: Vec<ItemBody> = all(of_vault).await?;
    match all::<ItemBody>(of_memory).await {
        Ok(own) => items.extend(own),
        Err(failure) if failure.exit == Exit::NotFound => {}
        Err(failure) => return Err(failure),
    }
    let mut seen = std::collections::HashSet::new();
    let contents = items.into_iter().map(|item| item.content);
    Ok(contents.filter(|content| seen.insert(content.clone())).collect())
}

/// Whether a memory has rules of its own.
async fn has_rules(service: &Service) -> bool {
    let own = || {
        Ok(service
            .of_memory(Method::GET, &["items"])?
            .query("category", RULES))
    };
    all::<ItemBody>(own).await.is_ok_and(|items| !items.is_empty())
}

async fn history(service: &Service) -> Result<Vec<ImportedTask>, Failure> {
    let page = || service.of_memory(Method::GET, &["archive", "history"]);
    let tasks: Vec<TaskBody> = all(page).await?;
    // A line of the archive has no outcome, its record has.
    let records = || {
        let call = service.of_memory(Method::GET, &["records"])?;
        Ok(call.query("kind", "T").query("status", "archived"))
    };
    let records: Vec<OutcomeBody> = match tasks.is_empty() {
        true => Vec::new(),
        false => all(records).await?,
    };
    let mut outcomes: HashMap<String, Value> = records
        .into_iter()
        .filter_map(|record| Some((record.record_id, record.outcome?)))
        .collect();
    let tasks = tasks.into_iter().map(|mut task| {
        let time = task
            .time
            .ok_or_else(|| Failure::failed("a task of the history has no time"))?;
        task.details.outcome = outcomes.remove(&task.record_id);
        Ok(task.at(time))
    });
    tasks.collect()
}

/// Newest first, even if a person changed the order in the document, so that the folder is deterministic.
async fn of_window(service: &Service, window: WindowBody) -> Result<Folder, Failure> {
    let mut tasks = Vec::new();
    for task in window.tasks {
        let time = time_of(service, task.time, &task.record_id).await?;
        tasks.push(task.at(time));
    }
    tasks.sort_by_key(|task| std::cmp::Reverse(task.time));
    let mut decisions = Vec::new();
    for made in window.decisions {
        decisions.push(ImportedDecision {
            time: time_of(service, made.time, &made.record_id).await?,
            decision: one_line(&made.decision),
            reason: made.reason.as_deref().map(one_line),
        });
    }
    decisions.sort_by_key(|made| std::cmp::Reverse(made.time));
    let StatusBody {
        goal,
        blocker,
        updated,
    } = window.status;
    let status = Status {
        updated: updated.map(|time| time.trunc_subsecs(0)),
        ..Status::new(goal.as_deref(), blocker.as_deref())
    };
    Ok(Folder {
        status,
        tasks,
        decisions,
        ..Folder::default()
    })
}

/// When a record was added, if its line does not say.
async fn time_of(
    service: &Service,
    time: Option<DateTime<Utc>>,
    record_id: &str,
) -> Result<DateTime<Utc>, Failure> {
    let time = match time {
        Some(time) => time,
        None => {
            let call = service.of_memory(Method::GET, &["records", record_id])?;
            call.send().await?.json::<RecordBody>()?.created_at
        }
    };
    Ok(time.trunc_subsecs(0))
}

impl TaskBody {
    fn at(self, time: DateTime<Utc>) -> ImportedTask {
        let is_redacted = one_line(&self.intent).is_empty();
        let task = Task {
            task_id: self.task_id.and_then(|id| id.parse().ok()),
            intent: if is_redacted {
                REDACTED.to_owned()
            } else {
                self.intent
            },
            summary: self.summary,
            details: self.details.normalized(),
        };
        let time = time.trunc_subsecs(0);
        let record = self.record_id.parse().ok();
        ImportedTask { time, record, task }.without_derived_id()
    }
}

/// What an import compares with: the known entries of the memory, whether there is a goal, and the rules. A memory that
/// does not exist has only rules.
///
/// # Errors
/// The service cannot be reached.
pub(super) async fn known(service: &Service) -> Result<(KnownEntries, bool, Vec<String>), Failure> {
    let mut known = KnownEntries::default();
    let memory = match Memory::read(service).await {
        Ok(memory) => memory,
        Err(failure) if failure.exit == Exit::NotFound => {
            return Ok((known, false, rules(service).await?));
        }
        Err(failure) => return Err(failure),
    };
    let Folder {
        status,
        tasks,
        history,
        rules,
        ..
    } = memory.folder;
    for ImportedTask { time, task, .. } in tasks.iter().chain(&history) {
        known.task(*time, task);
    }
    let page = || {
        let call = service.of_memory(Method::GET, &["records"])?;
        Ok(call.query("kind", "D").query("status", "all"))
    };
    for record in all::<RecordBody>(page).await? {
        let content = record.content.unwrap_or_default();
        known.decision(&content, record.reason.as_deref());
    }
    Ok((known, status.goal.is_some(), rules))
}
