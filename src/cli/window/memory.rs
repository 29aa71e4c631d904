//! The content of a running service's memory that is written to a folder.

use super::folder::Folder;
use crate::cli::client::{Exit, Failure, Method, Service, all, found, text};
use crate::domain::prompt::RULES;
use crate::domain::text::one_line;
use crate::domain::window::{ImportedDecision, ImportedTask, KnownEntries, Status, Task, TaskDetails};
use crate::http::responses::{ArchivedBody, WindowBody};
use chrono::{DateTime, SubsecRound as _, Utc};
use reqwest::header::{HeaderValue, IF_NONE_MATCH};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// How often the window is read again because it changed while the archive was read.
const MAX_READINGS: usize = 10;

/// The text shown instead of a redacted intent.
const REDACTED: &str = "[redacted]";

/// A memory that was read.
#[derive(Debug)]
pub(super) struct Memory {
    /// The version of its document.
    pub(super) version: i64,
    /// Its content for a folder.
    pub(super) folder: Folder,
    /// The entity tag of its window.
    etag: Option<HeaderValue>,
}

impl Memory {
    /// Reads a consistent snapshot of one version. A memory without a document may have rules: then its version is 0.
    ///
    /// # Errors
    /// There is no such memory, or the service cannot be reached.
    pub(super) async fn read(service: &Service) -> Result<Self, Failure> {
        let mut newest = match newer(service, None).await {
            Err(failure) if failure.exit == Exit::NotFound && has_rules(service).await => {
                return Ok(Self {
                    version: 0,
                    folder: Folder {
                        rules: rules(service).await?,
                        ..Folder::default()
                    },
                    etag: None,
                });
            }
            newest => newest?.ok_or_else(|| Failure::failed("the service sent no window"))?,
        };
        for _ in 0..MAX_READINGS {
            let history = history(service).await?;
            // A task archived meanwhile would appear in both or in neither.
            let (window, etag) = newest;
            match newer(service, etag.as_ref()).await? {
                Some(changed) => newest = changed,
                None => {
                    return Ok(Self {
                        version: window.version,
                        folder: Folder {
                            rules: rules(service).await?,
                            history,
                            ..of_window(service, window).await?
                        },
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

    /// Whether its window or its rules have changed since.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub(super) async fn has_changed(&self, service: &Service) -> Result<bool, Failure> {
        if self.folder.rules != rules(service).await? {
            return Ok(true);
        }
        match newer(service, self.etag.as_ref()).await {
            // It has no document yet.
            Err(failure) if failure.exit == Exit::NotFound && self.etag.is_none() => Ok(false),
            found => Ok(found?.is_some()),
        }
    }
}

/// The window, unless its entity tag is still this one.
async fn newer(
    service: &Service,
    etag: Option<&HeaderValue>,
) -> Result<Option<(WindowBody, Option<HeaderValue>)>, Failure> {
    let call = service.of_memory(Method::GET, &["window"])?;
    let call = match etag {
        Some(etag) => call.header(IF_NONE_MATCH, etag.clone()),
        None => call,
    };
    let answer = call.send().await?;
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
    let mut items: Vec<Value> = all(of_vault).await?;
    items.extend(found(own_rules(service).await)?.unwrap_or_default());
    let mut seen = HashSet::new();
    let contents = items.iter().map(|item| text(item, "content"));
    Ok(contents.filter(|content| seen.insert(content.clone())).collect())
}

async fn own_rules(service: &Service) -> Result<Vec<Value>, Failure> {
    all(|| {
        Ok(service
            .of_memory(Method::GET, &["items"])?
            .query("category", RULES))
    })
    .await
}

async fn has_rules(service: &Service) -> bool {
    own_rules(service).await.is_ok_and(|items| !items.is_empty())
}

async fn history(service: &Service) -> Result<Vec<ImportedTask>, Failure> {
    let tasks: Vec<ArchivedBody> = all(|| service.of_memory(Method::GET, &["archive", "history"])).await?;
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    // A line of the archive has no outcome, its record has.
    let records = records(service, "T", "archived").await?;
    let outcomes = records
        .into_iter()
        .map(|mut record| (text(&record, "record_id"), record["outcome"].take()));
    let mut outcomes: HashMap<String, Value> = outcomes.collect();
    let tasks = tasks.into_iter().map(|task| {
        let details = TaskDetails {
            outcome: outcomes.remove(&task.record_id),
            epic: task.epic,
        };
        let task_of_record = Task {
            task_id: task.task_id.and_then(|id| id.parse().ok()),
            intent: task.intent,
            summary: task.summary,
            details,
        };
        imported(task.time, &task.record_id, task_of_record)
    });
    Ok(tasks.collect())
}

async fn records(service: &Service, kind: &str, status: &str) -> Result<Vec<Value>, Failure> {
    all(|| {
        let call = service.of_memory(Method::GET, &["records"])?;
        Ok(call.query("kind", kind).query("status", status))
    })
    .await
}

/// Newest first, even if a person changed the order in the document, so that the folder is deterministic.
async fn of_window(service: &Service, window: WindowBody) -> Result<Folder, Failure> {
    let mut tasks = Vec::new();
    for task in window.tasks {
        let time = time_of(service, task.time, &task.record_id).await?;
        let (outcome, epic) = (task.outcome, task.epic);
        let of_record = Task {
            task_id: task.task_id.and_then(|id| id.parse().ok()),
            intent: task.intent,
            summary: task.summary,
            details: TaskDetails { outcome, epic },
        };
        tasks.push(imported(time, &task.record_id, of_record));
    }
    tasks.sort_by_key(|task| Reverse(task.time));
    let mut decisions = Vec::new();
    for made in window.decisions {
        decisions.push(ImportedDecision {
            time: time_of(service, made.time, &made.record_id).await?,
            decision: one_line(&made.decision),
            reason: made.reason.as_deref().map(one_line),
        });
    }
    decisions.sort_by_key(|made| Reverse(made.time));
    let Status {
        goal,
        blocker,
        updated,
    } = window.status;
    Ok(Folder {
        status: Status {
            updated: updated.map(|time| time.trunc_subsecs(0)),
            ..Status::new(goal.as_deref(), blocker.as_deref())
        },
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
            let record: Value = call.send().await?.json()?;
            let created = text(&record, "created_at").parse();
            created.map_err(|_| Failure::failed("the service's record has no time"))?
        }
    };
    Ok(time.trunc_subsecs(0))
}

fn imported(time: DateTime<Utc>, record_id: &str, mut task: Task) -> ImportedTask {
    if one_line(&task.intent).is_empty() {
        REDACTED.clone_into(&mut task.intent);
    }
    task.details = task.details.normalized();
    let imported = ImportedTask {
        time: time.trunc_subsecs(0),
        record: record_id.parse().ok(),
        task,
    };
    imported.without_derived_id()
}

/// What an import compares with: the known entries of the memory, whether there is a goal, and the rules. A memory that
/// does not exist has only rules.
///
/// # Errors
/// The service cannot be reached.
pub(super) async fn known(service: &Service) -> Result<(KnownEntries, bool, Vec<String>), Failure> {
    let mut known = KnownEntries::default();
    let Some(Memory { folder, .. }) = found(Memory::read(service).await)? else {
        return Ok((known, false, rules(service).await?));
    };
    for ImportedTask { time, task, .. } in folder.tasks.iter().chain(&folder.history) {
        known.task(*time, task);
    }
    for record in records(service, "D", "all").await? {
        known.decision(&text(&record, "content"), record["reason"].as_str());
    }
    Ok((known, folder.status.goal.is_some(), folder.rules))
}
