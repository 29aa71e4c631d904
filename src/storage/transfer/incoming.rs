//! Imports one memory: how its lines are handled, and what they must add up to.

mod end;

use super::append::Append;
use super::contexts::{self, ContextLine};
use super::error::LineError;
use super::handoffs::{self, HandoffLine};
use super::import::OnConflict;
use super::items::{self, ItemLine};
use super::line::Counts;
use super::memory::{self, MemoryLine};
use super::paths::{self, PathLine};
use super::records::{self, RecordLine};
use super::runs::{self, RunLine};
use crate::domain::document;
use crate::domain::ids::{ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::Counters;
use crate::storage::database::connection::Connection;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::{Class, Storage, StorageError, Stored, usage::stored};
use chrono::{DateTime, Utc};
use std::collections::{BTreeSet, HashSet};
use std::slice::from_ref;

/// What happens to the lines of a memory.
enum Target {
    /// They create it.
    Create,
    /// They create it without a document: it has only items.
    CreateItems,
    /// They are appended to the existing memory.
    Append(Box<Append>),
    /// They exist already.
    Unchanged,
    /// They are read and ignored.
    Skip,
    /// They are rejected.
    Refuse,
}

/// A memory during its import.
pub(super) struct Incoming {
    storage: Storage,
    vault: VaultId,
    memory: MemoryId,
    line: MemoryLine,
    transaction: Connection,
    target: Target,
    counts: Counts,
    last_record: Option<(&'static str, i64)>,
    last_run: Option<String>,
    last_handoff: i64,
    last_item: Option<String>,
    /// The categories of its items.
    categories: BTreeSet<String>,
    /// The newest version's number, id and time.
    newest: Option<Newest>,
    /// The records in the newest version.
    active: HashSet<RecordId>,
    /// The event of the import: one, for any number of versions.
    event: NewEvent,
    /// What the memory stored before.
    held: Stored,
}

struct Newest {
    version: i64,
    context_id: String,
    creation_time: DateTime<Utc>,
}

impl Incoming {
    /// Begins the memory's transaction and decides how its lines are handled.
    pub(super) async fn begin(
        storage: &Storage,
        vault: &VaultId,
        on_conflict: OnConflict,
        line: MemoryLine,
    ) -> Result<Self, LineError> {
        let (memory, head) = line.check()?;
        let mut transaction = storage.begin(Class::Maintenance).await?;
        let held = stored::of_memory(&mut transaction, vault, &memory).await?;
        let target = match head {
            None => items_only(&mut transaction, vault, on_conflict, &line).await?,
            Some(_) if memory::insert(&mut transaction, vault, &line).await? => Target::Create,
            Some(head) => {
                let there = contexts::present(&mut transaction, vault, &memory, &head, "").await?;
                match on_conflict {
                    _ if there.is_some_and(|there| there.version == line.head_version) => Target::Unchanged,
                    OnConflict::Fail => Target::Refuse,
                    OnConflict::Skip => Target::Skip,
                    OnConflict::Append => {
                        let append = Append::begin(&mut transaction, storage, vault, &memory, &line).await?;
                        Target::Append(Box::new(append))
                    }
                }
            }
        };
        Ok(Self {
            storage: storage.clone(),
            vault: vault.clone(),
            event: storage.event(&memory, EventKind::Version),
            held,
            memory,
            line,
            transaction,
            target,
            counts: Counts::default(),
            last_record: None,
            last_run: None,
            last_handoff: 0,
            last_item: None,
            categories: BTreeSet::new(),
            newest: None,
            active: HashSet::new(),
        })
    }

    pub(super) fn memory(&self) -> &MemoryId {
        &self.memory
    }

    /// Whether the memory exists although it must not.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.target, Target::Refuse)
    }

    pub(super) async fn context(&mut self, line: ContextLine, max_bytes: usize) -> Result<(), LineError> {
        self.follows(0, "a context")?;
        let ids = line.check(max_bytes)?;
        self.counts.contexts += 1;
        let before = self.newest.as_ref().map_or(0, |newest| newest.version);
        if line.version <= before {
            return Err(problem(format!(
                "version: a number over {before} is expected here, not {}",
                line.version
            )));
        }
        if let Some(newest) = &self.newest
            && line.creation_time < newest.creation_time
        {
            return Err(problem(
                "creation_time: must not be before that of the version before",
            ));
        }
        let seen = Counters::seen_in(&line.context);
        if self.line.counters().raised_by(&seen) != self.line.counters() {
            return Err(problem(
                "context: it has a record with a number over the memory's counter, so the number could be used again",
            ));
        }
        self.newest = Some(Newest {
            version: line.version,
            context_id: line.context_id.clone(),
            creation_time: line.creation_time,
        });
        if line.is_redacted() && line.version == self.line.head_version {
            return Err(problem("redacted_at: the newest version always has its text"));
        }
        match &mut self.target {
            Target::Create => self.create(line, &ids.0).await,
            Target::Append(append) => {
                let place = (&self.vault, &self.memory);
                append.context(&mut self.transaction, place, line, ids).await
            }
            Target::CreateItems | Target::Unchanged | Target::Skip | Target::Refuse => Ok(()),
        }
    }

    /// Stores a version unchanged.
    async fn create(&mut self, line: ContextLine, id: &ContextId) -> Result<(), LineError> {
        if !contexts::insert(&mut self.transaction, &self.vault, &self.memory, &line).await? {
            return Err(problem(format!("context_id: {id} stands twice in this memory")));
        }
        if line.version == self.line.head_version {
            let records = document::records(&line.context).into_iter();
            self.active = records.map(|record| record.id).collect();
        }
        Ok(())
    }

    /// Lines are in the order of their kinds.
    fn follows(&self, kind: usize, what: &str) -> Result<(), LineError> {
        let counts = &self.counts;
        let later = [
            ("records", counts.records),
            ("runs", counts.runs),
            ("handoffs", counts.handoffs),
            ("items", counts.items),
            ("a path", counts.paths),
        ];
        match later.iter().skip(kind).find(|(_, count)| *count > 0) {
            None => Ok(()),
            Some((name, _)) => Err(problem(format!(
                "{what} stands behind {name}; it must come before them"
            ))),
        }
    }

    pub(super) async fn record(&mut self, line: &RecordLine) -> Result<(), LineError> {
        self.follows(1, "a record")?;
        let id = line.check(self.line.head_version)?;
        let key = (id.kind.prefix(), id.number);
        if self.last_record.is_some_and(|last| last >= key) {
            return Err(problem(format!(
                "{id} must come before the record above it, by kind and number, and only once"
            )));
        }
        self.last_record = Some(key);
        self.counts.records += 1;
        if id.number > self.line.counters().get(id.kind) {
            return Err(problem(format!("{id}: its number is over the memory's counter")));
        }
        if matches!(self.target, Target::Create) {
            if line.status == "active" && !self.active.contains(&id) {
                return Err(problem(format!(
                    "{id}.status: the newest document does not have it"
                )));
            }
            let written =
                records::write(&mut self.transaction, &self.vault, &self.memory, from_ref(line)).await;
            written.map_err(told_twice)?;
        }
        Ok(())
    }

    pub(super) async fn run(&mut self, line: &RunLine) -> Result<(), LineError> {
        self.follows(2, "a run")?;
        line.check()?;
        if line
            .version
            .is_some_and(|version| version > self.line.head_version)
        {
            return Err(problem("version: the memory has no such version"));
        }
        if self.last_run.as_ref().is_some_and(|last| *last >= line.update_id) {
            return Err(problem(format!(
                "update_id: {} must come before the run above it, and only once",
                line.update_id
            )));
        }
        self.last_run = Some(line.update_id.clone());
        self.counts.runs += 1;
        if matches!(self.target, Target::Create) {
            runs::insert(&mut self.transaction, &self.vault, &self.memory, line).await?;
        }
        Ok(())
    }

    pub(super) async fn handoff(&mut self, line: &HandoffLine) -> Result<(), LineError> {
        self.follows(3, "a handoff")?;
        line.check(self.line.head_version)?;
        if line.number <= self.last_handoff {
            return Err(problem(format!(
                "number: a number over {} is expected here, not {}",
                self.last_handoff, line.number
            )));
        }
        self.last_handoff = line.number;
        self.counts.handoffs += 1;
        if matches!(self.target, Target::Create) {
            handoffs::insert(&mut self.transaction, &self.vault, &self.memory, line).await?;
        }
        Ok(())
    }

    pub(super) async fn item(&mut self, line: &ItemLine, max_bytes: usize) -> Result<(), LineError> {
        self.follows(4, "an item")?;
        line.check(max_bytes)?;
        if self.last_item.as_ref().is_some_and(|last| *last >= line.item_id) {
            return Err(problem(format!(
                "item_id: {} must come before the item above it, and only once",
                line.item_id
            )));
        }
        self.last_item = Some(line.item_id.clone());
        self.counts.items += 1;
        if matches!(self.target, Target::Create | Target::CreateItems) {
            items::insert(&mut self.transaction, &self.vault, self.memory.as_str(), line).await?;
            self.categories.insert(line.category.clone());
        }
        Ok(())
    }

    /// Links a created memory at its path.
    pub(super) async fn path(&mut self, line: &PathLine, on_conflict: OnConflict) -> Result<(), LineError> {
        if self.counts.paths > 0 {
            return Err(problem(
                "a memory is one file at most, but this is its second path",
            ));
        }
        self.counts.paths += 1;
        let place = line.check(&self.vault)?;
        if matches!(self.target, Target::Create) {
            paths::place(&mut self.transaction, &place, &self.memory, on_conflict).await?;
        }
        Ok(())
    }
}

/// How the lines of a memory without a document are handled. Items have no history to append to, so existing items are
/// left unchanged.
async fn items_only(
    connection: &mut Connection,
    vault: &VaultId,
    on_conflict: OnConflict,
    line: &MemoryLine,
) -> Result<Target, LineError> {
    let met = items::met(connection, vault, &line.memory_id, line.changed_at).await?;
    Ok(match on_conflict {
        _ if !met.is_there => {
            memory::insert(connection, vault, line).await?;
            Target::CreateItems
        }
        _ if met.has_newest => Target::Unchanged,
        OnConflict::Fail => Target::Refuse,
        OnConflict::Skip | OnConflict::Append => Target::Skip,
    })
}

/// Two tasks with one id are a fault of the file, in its record lines or in the operations of its versions.
fn told_twice(error: StorageError) -> LineError {
    match &error {
        StorageError::Internal(sqlx::Error::Database(found))
            if found.constraint() == Some("records_task_id_key") =>
        {
            problem("task_id: two tasks of the memory have the same")
        }
        _ => error.into(),
    }
}

fn problem(text: impl Into<String>) -> LineError {
    LineError::Problem(text.into())
}
