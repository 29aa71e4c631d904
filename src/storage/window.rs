//! What tasks and decisions have beside their lines: written in the transaction of their version, told in its
//! operations, so that the rows can be made again from the versions.

use super::record_changes::Place;
use super::{Storage, StorageError};
use crate::domain::document::Record;
use crate::domain::history::Told;
use crate::domain::ids::{MemoryId, RecordId, RecordKind, TaskId, VaultId};
use crate::domain::window::{ArchivedTask, Epic, Grouping, Historic, Known, Task};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::collections::HashMap;

/// Why a record that was taken over stands in the archive.
const TAKEN_OVER: &str = "taken over into the archive";

/// Rows of one statement.
const ROWS_PER_STATEMENT: usize = 1_000;

/// Tasks that a roll-up shows.
const LATEST: i64 = 10;

/// What a version says of tasks and decisions that no document holds.
#[derive(Debug, Clone, Default)]
pub struct WindowRows {
    /// What was told of tasks that it adds.
    pub tasks: Vec<(RecordId, Task)>,
    /// The decision that is superseded, and the one that takes its place.
    pub superseded: Option<(RecordId, RecordId)>,
    /// Records that go straight to the archive.
    pub historic: Vec<Historic>,
}

impl WindowRows {
    /// Whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.superseded.is_none() && self.historic.is_empty()
    }

    /// Adds what it says to the operations that are kept with the version.
    pub(super) fn tell(&self, operations: &mut Vec<Value>) {
        for operation in operations.iter_mut() {
            let id = operation["id"]
                .as_str()
                .and_then(|id| id.parse::<RecordId>().ok());
            let is = |op: &str| operation["op"] == op;
            let task = self
                .tasks
                .iter()
                .find(|(added, _)| is("add") && Some(*added) == id);
            if let Some((_, task)) = task {
                operation["task"] = task_json(task);
            } else if let Some((old, new)) = self
                .superseded
                .filter(|(old, _)| is("archive") && Some(*old) == id)
            {
                debug_assert_ne!(old, new);
                operation["superseded_by"] = json!(new.to_string());
            }
        }
        operations.extend(self.historic.iter().map(|Historic { record, task }| {
            json!({
                "op": "history",
                "id": record.id.to_string(),
                "time": record.time,
                "reason": record.reason,
                "content": record.content,
                "task": task.as_ref().map(task_json),
            })
        }));
    }
}

fn task_json(task: &Task) -> Value {
    json!({
        "task_id": task.task_id.as_ref().map(TaskId::as_str),
        "intent": task.intent,
        "summary": task.summary,
        "outcome": task.outcome,
        "epic": task.epic,
    })
}

/// The operations of a version, as they are kept.
fn each(operations: Option<&Value>) -> impl Iterator<Item = &Value> {
    operations.and_then(Value::as_array).into_iter().flatten()
}

fn id_of(value: &Value) -> Option<RecordId> {
    value.as_str()?.parse().ok()
}

/// What the operations of a version say of records that its text does not.
pub(super) fn told_by(operations: Option<&Value>) -> Told {
    let mut told = Told::default();
    for operation in each(operations) {
        let Some(id) = id_of(&operation["id"]) else {
            continue;
        };
        if operation["op"] == "archive" {
            if let Some(reason) = operation["reason"].as_str() {
                told.reasons.insert(id, reason.to_owned());
            }
            if let Some(by) = id_of(&operation["superseded_by"]) {
                told.superseded.insert(id, by);
            }
        } else if operation["op"] == "history" {
            let record = Record {
                id,
                time: time_of(&operation["time"]),
                reason: operation["reason"].as_str().map(str::to_owned),
                label: None,
                content: operation["content"].as_str().unwrap_or_default().to_owned(),
            };
            told.historic.push((record, TAKEN_OVER.to_owned()));
        }
    }
    told
}

fn time_of(value: &Value) -> Option<DateTime<Utc>> {
    value.as_str()?.parse().ok()
}

/// What the operations of a version tell of the tasks that it adds.
pub(super) fn told_tasks(operations: Option<&Value>) -> HashMap<RecordId, Task> {
    let told = each(operations).filter_map(|operation| {
        let (id, task) = (id_of(&operation["id"])?, &operation["task"]);
        let text = |name: &str| task[name].as_str().map(str::to_owned);
        let task = Task {
            task_id: text("task_id").and_then(|id| id.parse().ok()),
            intent: text("intent")?,
            summary: text("summary").unwrap_or_default(),
            outcome: Some(task["outcome"].clone()).filter(|outcome| !outcome.is_null()),
            epic: text("epic"),
        };
        Some((id, task))
    });
    told.filter(|(id, _)| id.kind == RecordKind::Task).collect()
}

/// Stores it, behind the records of the version.
#[tracing::instrument(name = "db.records.window", skip_all)]
pub(super) async fn save(
    connection: &mut PgConnection,
    place: &Place<'_>,
    rows: &WindowRows,
) -> Result<(), StorageError> {
    for historic in rows.historic.chunks(ROWS_PER_STATEMENT) {
        insert_historic(connection, place, historic).await?;
    }
    let told: Vec<(RecordId, &Task)> = rows.tasks.iter().map(|(id, task)| (*id, task)).collect();
    let historic = rows
        .historic
        .iter()
        .filter_map(|Historic { record, task }| Some((record.id, task.as_ref()?)));
    let mut told: Vec<_> = told.into_iter().chain(historic).collect();
    // Sorted by key, so that statements of several writers never wait for each other in a ring.
    told.sort_by_key(|(id, _)| id.number);
    for tasks in told.chunks(ROWS_PER_STATEMENT) {
        describe(connection, place, tasks).await?;
    }
    Ok(())
}

async fn insert_historic(
    connection: &mut PgConnection,
    place: &Place<'_>,
    historic: &[Historic],
) -> Result<(), StorageError> {
    let kinds: Vec<String> = historic
        .iter()
        .map(|one| one.record.id.kind.prefix().to_owned())
        .collect();
    let numbers: Vec<i64> = historic.iter().map(|one| one.record.id.number).collect();
    let reasons: Vec<Option<String>> = historic.iter().map(|one| one.record.reason.clone()).collect();
    let contents: Vec<String> = historic.iter().map(|one| one.record.content.clone()).collect();
    let times: Vec<Option<DateTime<Utc>>> = historic.iter().map(|one| one.record.time).collect();
    sqlx::query!(
        "INSERT INTO records (vault_id, memory_id, kind, number, status, reason, content, created_version,
                              created_at, created_by, ended_version, ended_at, ended_by, archive_reason, written_at)
         SELECT $1, $2, past.kind, past.number, 'archived', past.reason, past.content, $3, $4, $5, $3, $4, $5, $6,
                past.written_at
         FROM unnest($7::text[], $8::bigint[], $9::text[], $10::text[], $11::timestamptz[])
              AS past (kind, number, reason, content, written_at)",
        place.vault.as_str(),
        place.memory.as_str(),
        place.version,
        place.at,
        place.by.as_str(),
        TAKEN_OVER,
        &kinds,
        &numbers,
        &reasons as &[Option<String>],
        &contents,
        &times as &[Option<DateTime<Utc>>],
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn describe(
    connection: &mut PgConnection,
    place: &Place<'_>,
    tasks: &[(RecordId, &Task)],
) -> Result<(), StorageError> {
    let text = |of: fn(&Task) -> Option<&str>| -> Vec<Option<String>> {
        tasks
            .iter()
            .map(|(_, task)| of(task).map(str::to_owned))
            .collect()
    };
    let numbers: Vec<i64> = tasks.iter().map(|(id, _)| id.number).collect();
    // Sorted; said beside the list so that the index finds the rows, whatever the planner thinks of the memory's size.
    let (first, last) = (numbers.first().copied(), numbers.last().copied());
    let outcomes: Vec<Option<Value>> = tasks.iter().map(|(_, task)| task.outcome.clone()).collect();
    let done = sqlx::query!(
        "UPDATE records
         SET task_id = told.task_id, intent = told.intent, summary = told.summary, outcome = told.outcome,
             epic = told.epic
         FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::text[])
              AS told (number, task_id, intent, summary, outcome, epic)
         WHERE records.vault_id = $1 AND records.memory_id = $2 AND records.kind = 'T'
           AND records.number >= $9 AND records.number <= $10 AND records.number = told.number",
        place.vault.as_str(),
        place.memory.as_str(),
        &numbers,
        &text(|task| task.task_id.as_ref().map(TaskId::as_str)) as &[Option<String>],
        &text(|task| Some(&task.intent)) as &[Option<String>],
        &text(|task| Some(&task.summary)) as &[Option<String>],
        &outcomes as &[Option<Value>],
        &text(|task| task.epic.as_deref()) as &[Option<String>],
        first,
        last,
    )
    .execute(connection)
    .await?;
    let expected = tasks.len() as u64;
    match done.rows_affected() {
        actual if actual == expected => Ok(()),
        actual => Err(StorageError::WrongRowCount {
            statement: "db.records.describe",
            expected,
            actual,
        }),
    }
}

/// A corrupt value of a task's row.
fn corrupt(column: &'static str, number: i64) -> StorageError {
    StorageError::Corrupt {
        table: "records",
        column,
        row: format!("{}-{number}", RecordKind::Task.prefix()),
        problem: "not an id".to_owned(),
    }
}

fn parse_task_id(id: Option<String>, number: i64) -> Result<Option<TaskId>, StorageError> {
    id.map(|id| id.parse().map_err(|_| corrupt("task_id", number)))
        .transpose()
}

/// What the memory has of tasks and decisions, for telling what is new among what is taken over.
#[tracing::instrument(name = "db.records.known", skip_all)]
pub(super) async fn known(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Known, StorageError> {
    let rows = sqlx::query!(
        r#"SELECT kind, number, reason, content, COALESCE(written_at, created_at) AS "time!", task_id, intent,
                  summary
           FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND kind IN ('T', 'D')"#,
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_all(connection)
    .await?;
    let mut known = Known::default();
    for row in rows {
        if row.kind != RecordKind::Task.prefix() {
            known.decision(&row.content, row.reason.as_deref());
            continue;
        }
        let told = row.intent.map(|intent| Task {
            intent,
            summary: row.summary.unwrap_or_default(),
            ..Task::default()
        });
        let mut task = Task::of_line(&row.content, told);
        task.task_id = parse_task_id(row.task_id, row.number)?;
        known.task(row.time, &task);
    }
    Ok(known)
}

/// Where a page of the history begins: behind this time and number.
pub type HistoryKey = (DateTime<Utc>, i64);

struct HistoryRow {
    number: i64,
    time: DateTime<Utc>,
    content: String,
    task_id: Option<String>,
    intent: Option<String>,
    summary: Option<String>,
    epic: Option<String>,
}

impl HistoryRow {
    fn into_task(self) -> Result<(HistoryKey, ArchivedTask), StorageError> {
        let told = self.intent.map(|intent| Task {
            intent,
            summary: self.summary.unwrap_or_default(),
            ..Task::default()
        });
        let task = Task::of_line(&self.content, told);
        let archived = ArchivedTask {
            id: RecordId::new(RecordKind::Task, self.number),
            task_id: parse_task_id(self.task_id, self.number)?,
            time: self.time,
            intent: task.intent,
            summary: crate::domain::window::first_sentence(&task.summary),
            epic: self.epic,
        };
        Ok(((self.time, self.number), archived))
    }
}

impl Storage {
    /// Tasks that have left the document, in the order of time, those behind `after`, at most `limit`.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.records.history", skip_all)]
    pub async fn history(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        after: Option<HistoryKey>,
        limit: i64,
    ) -> Result<Vec<(HistoryKey, ArchivedTask)>, StorageError> {
        let (time, number) = after.unzip();
        let rows = sqlx::query_as!(
            HistoryRow,
            r#"SELECT number, COALESCE(written_at, created_at) AS "time!", content, task_id, intent, summary, epic
               FROM records
               WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived'
                 AND (COALESCE(written_at, created_at), number)
                     > (COALESCE($3::timestamptz, '-infinity'), COALESCE($4::bigint, 0))
               ORDER BY COALESCE(written_at, created_at), number
               LIMIT $5"#,
            vault.as_str(),
            memory.as_str(),
            time,
            number,
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        rows.into_iter().map(HistoryRow::into_task).collect()
    }

    /// Roll-ups of the tasks that have left the document, by name, those behind `after` (the empty name is that of
    /// tasks without an epic), at most `limit`. Reads all archived tasks of the memory.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.records.epics", skip_all)]
    pub async fn epics(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        by: Grouping,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Epic>, StorageError> {
        let by_week = by == Grouping::Week;
        let mut connection = self.reader().await?;
        let groups = sqlx::query!(
            r#"SELECT name AS "name!", count(*) AS "tasks!", min(time) AS "first!", max(time) AS "last!"
               FROM (
                   SELECT COALESCE(written_at, created_at) AS time,
                          (CASE WHEN $3 THEN to_char(COALESCE(written_at, created_at) AT TIME ZONE 'UTC',
                                                     'IYYY-"W"IW')
                                ELSE COALESCE(epic, '') END) COLLATE "C" AS name
                   FROM records
                   WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived'
               ) AS tasks
               WHERE $4::text IS NULL OR name > $4
               GROUP BY name
               ORDER BY name
               LIMIT $5"#,
            vault.as_str(),
            memory.as_str(),
            by_week,
            after,
            limit,
        )
        .fetch_all(&mut *connection)
        .await?;
        let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
        let rows = sqlx::query!(
            r#"SELECT name AS "name!", number, time AS "time!", content, task_id, intent, summary, epic
               FROM (
                   SELECT number, time, content, task_id, intent, summary, epic, name,
                          row_number() OVER (PARTITION BY name ORDER BY time DESC, number DESC) AS place
                   FROM (
                       SELECT number, content, task_id, intent, summary, epic,
                              COALESCE(written_at, created_at) AS time,
                              (CASE WHEN $3 THEN to_char(COALESCE(written_at, created_at) AT TIME ZONE 'UTC',
                                                         'IYYY-"W"IW')
                                    ELSE COALESCE(epic, '') END) COLLATE "C" AS name
                       FROM records
                       WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived'
                   ) AS tasks
                   WHERE name = ANY ($4)
               ) AS placed
               WHERE place <= $5
               ORDER BY time, number"#,
            vault.as_str(),
            memory.as_str(),
            by_week,
            &names,
            LATEST,
        )
        .fetch_all(&mut *connection)
        .await?;
        let mut epics: Vec<Epic> = groups
            .into_iter()
            .map(|group| Epic {
                name: Some(group.name).filter(|name| !name.is_empty()),
                tasks: group.tasks,
                first: group.first,
                last: group.last,
                latest: Vec::new(),
            })
            .collect();
        for row in rows {
            let place = names.binary_search(&row.name);
            let (_, task) = HistoryRow {
                number: row.number,
                time: row.time,
                content: row.content,
                task_id: row.task_id,
                intent: row.intent,
                summary: row.summary,
                epic: row.epic,
            }
            .into_task()?;
            if let Ok(place) = place {
                epics[place].latest.push(task);
            }
        }
        Ok(epics)
    }

    /// What was told of tasks with these numbers.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.records.told_tasks", skip_all)]
    pub async fn told_tasks(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        numbers: &[i64],
    ) -> Result<HashMap<RecordId, Task>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT number, task_id, intent AS "intent!", summary, outcome, epic
               FROM records
               WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND number = ANY ($3) AND intent IS NOT NULL"#,
            vault.as_str(),
            memory.as_str(),
            numbers,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let told = rows.into_iter().map(|row| {
            let task = Task {
                task_id: parse_task_id(row.task_id, row.number)?,
                intent: row.intent,
                summary: row.summary.unwrap_or_default(),
                outcome: row.outcome,
                epic: row.epic,
            };
            Ok((RecordId::new(RecordKind::Task, row.number), task))
        });
        told.collect()
    }
}
