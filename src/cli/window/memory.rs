//! The content of a running service's memory that is written to a folder.

use super::folder::Folder;
use crate::cli::client::{Exit, Failure, Method, Service, ServiceResponse, all, found, text};
use crate::domain::prompt::RULES;
use crate::domain::text::one_line;
use crate::domain::window::{ImportedDecision, ImportedTask, Status, Task, WindowImport, first_sentence};
use crate::http::responses::{RecordBody, WindowBody};
use chrono::{DateTime, SubsecRound as _, Utc};
use reqwest::header::{HeaderValue, IF_NONE_MATCH};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::HashSet;

/// How often the window is read again because it changed while the archive was read.
const MAX_READINGS: usize = 10;

/// The text shown instead of a redacted intent.
const REDACTED: &str = "[redacted]";

/// A memory that was read.
#[derive(Debug, Default)]
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
            Err(failure) if failure.exit == Exit::NotFound => {
                let own = found(own_rules(service).await)?.unwrap_or_default();
                if own.is_empty() {
                    return Err(failure);
                }
                let mut memory = Self::default();
                memory.folder.rules = rules(service).await?;
                return Ok(memory);
            }
            newest => newest?,
        };
        for _ in 0..MAX_READINGS {
            let Some(answer) = newest else {
                return Err(Failure::failed("the service sent no window"));
            };
            let (window, etag): (WindowBody, _) = (answer.json()?, answer.etag().cloned());
            let tasks: Vec<Value> = records(service, "T").await?;
            let decisions: Vec<RecordBody> = records(service, "D").await?;
            // A task archived meanwhile would be told as it was before or as it is now.
            newest = newer(service, etag.as_ref()).await?;
            if newest.is_none() {
                return Ok(Self {
                    version: window.version,
                    folder: Folder {
                        window: content(window, &tasks, &decisions),
                        rules: rules(service).await?,
                    },
                    etag,
                });
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
        // Without a document there is little to read.
        let newest = found(newer(service, self.etag.as_ref()).await)?;
        Ok(!matches!(newest, Some(None)) || self.folder.rules != rules(service).await?)
    }
}

/// The window, unless its entity tag is still this one.
async fn newer(service: &Service, etag: Option<&HeaderValue>) -> Result<Option<ServiceResponse>, Failure> {
    let mut call = service.of_memory(Method::GET, &["window"])?;
    if let Some(etag) = etag {
        call = call.header(IF_NONE_MATCH, etag.clone());
    }
    let answer = call.send().await?;
    Ok((!answer.is_not_modified()).then_some(answer))
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

/// All records of a kind, as of now.
async fn records<T: DeserializeOwned>(service: &Service, kind: &str) -> Result<Vec<T>, Failure> {
    all(|| {
        let call = service.of_memory(Method::GET, &["records"])?;
        Ok(call.query("kind", kind).query("status", "all"))
    })
    .await
}

/// The content of a folder but for its rules: newest first, even if a person changed the order in the document, and the
/// history oldest first, so that the folder is deterministic. The records say in full what the document's lines do not.
fn content(window: WindowBody, tasks: &[Value], decisions: &[RecordBody]) -> WindowImport {
    let mut content = WindowImport::default();
    for record in tasks {
        let mut task = imported(record);
        if record["ended_version"].is_null() {
            content.tasks.push(task);
        } else {
            // A line tells no more of an archived task.
            task.task.summary = first_sentence(&task.task.summary);
            content.history.push(task);
        }
    }
    content
        .tasks
        .sort_by_key(|task| Reverse((task.time, task.record)));
    content.history.sort_by_key(|task| task.time);
    let added = |id: &str| decisions.iter().find(|record| record.record_id == id);
    let made = window.decisions.into_iter().map(|made| ImportedDecision {
        time: made
            .time
            .or_else(|| Some(added(&made.record_id.to_string())?.created_at))
            .unwrap_or_default()
            .trunc_subsecs(0),
        decision: one_line(&made.decision),
        reason: made.reason.as_deref().map(one_line),
    });
    content.decisions = made.collect();
    content.decisions.sort_by_key(|made| Reverse(made.time));
    let status = window.status;
    content.status = Status {
        updated: status.updated.map(|time| time.trunc_subsecs(0)),
        ..Status::new(status.goal.as_deref(), status.blocker.as_deref())
    };
    content
}

/// A task as its record tells it.
fn imported(record: &Value) -> ImportedTask {
    // One that was redacted has no members of a task.
    let mut task = Task::deserialize(record).unwrap_or_default();
    task.details = task.details.normalized();
    if one_line(&task.intent).is_empty() {
        REDACTED.clone_into(&mut task.intent);
    }
    let times = ["time", "created_at"].into_iter();
    let mut time = times.filter_map(|name| record[name].as_str()?.parse::<DateTime<Utc>>().ok());
    let imported = ImportedTask {
        time: time.next().unwrap_or_default().trunc_subsecs(0),
        record: text(record, "record_id").parse().ok(),
        task,
    };
    imported.without_derived_id()
}
