//! Imports one memory: how its lines are handled, and what they must add up to.

use super::append::Append;
use super::contexts::{self, ContextLine};
use super::handoffs::{self, HandoffLine};
use super::import::{Imported, OnConflict};
use super::items::{self, ItemLine};
use super::line::{Counts, End, LineError};
use super::memory::{self, MemoryLine};
use super::paths::{self, PathLine};
use super::records::{self, RecordLine};
use super::runs::{self, RunLine};
use crate::domain::document;
use crate::domain::ids::{ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::Counters;
use crate::storage::database::connection::Connection;
use crate::storage::events::{self, EventKind, NewEvent};
use crate::storage::maintenance::rebuild::project_versions;
use crate::storage::records::history;
use crate::storage::write::lock_memory;
use crate::storage::{Class, Source, Storage, StorageError, Stored, usage::stored};
use chrono::{DateTime, Utc};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Display;
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

/// The kinds of lines of a memory, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
enum Kind {
    Context,
    Record,
    Run,
    Handoff,
    #[strum(serialize = "prompt item")]
    Item,
    Path,
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
    /// The kind of the last line behind the versions, and its key.
    last: Option<(Kind, (String, i64))>,
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
            last: None,
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
        self.follows(Kind::Context, (String::new(), line.version), &"")?;
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

    /// Requires that lines are in the order of their kinds, and those of a kind in the order of their keys, each once.
    /// Versions are compared by what they say, too.
    fn follows(&mut self, kind: Kind, key: (String, i64), shown: &dyn Display) -> Result<(), LineError> {
        match &self.last {
            Some((last, _)) if *last > kind => Err(problem(format!(
                "a {kind} stands behind {last}s; it must come before them"
            ))),
            Some((last, before)) if *last == kind && kind != Kind::Context && *before >= key => Err(problem(
                format!("{shown} must come before the {kind} above it, and only once"),
            )),
            _ => {
                self.last = Some((kind, key));
                Ok(())
            }
        }
    }

    pub(super) async fn record(&mut self, line: &RecordLine) -> Result<(), LineError> {
        let id = line.check(self.line.head_version)?;
        self.follows(Kind::Record, (id.kind.prefix().to_owned(), id.number), &id)?;
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
        line.check()?;
        if line
            .version
            .is_some_and(|version| version > self.line.head_version)
        {
            return Err(problem("version: the memory has no such version"));
        }
        let shown = format!("update_id: {}", line.update_id);
        self.follows(Kind::Run, (line.update_id.clone(), 0), &shown)?;
        self.counts.runs += 1;
        if matches!(self.target, Target::Create) {
            runs::insert(&mut self.transaction, &self.vault, &self.memory, line).await?;
        }
        Ok(())
    }

    pub(super) async fn handoff(&mut self, line: &HandoffLine) -> Result<(), LineError> {
        line.check(self.line.head_version)?;
        let shown = format!("number: {}", line.number);
        self.follows(Kind::Handoff, (String::new(), line.number), &shown)?;
        self.counts.handoffs += 1;
        if matches!(self.target, Target::Create) {
            handoffs::insert(&mut self.transaction, &self.vault, &self.memory, line).await?;
        }
        Ok(())
    }

    pub(super) async fn item(&mut self, line: &ItemLine, max_bytes: usize) -> Result<(), LineError> {
        line.check(max_bytes)?;
        let shown = format!("item_id: {}", line.item_id);
        self.follows(Kind::Item, (line.item_id.clone(), 0), &shown)?;
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
        self.last = Some((Kind::Path, (String::new(), 0)));
        if matches!(self.target, Target::Create) {
            paths::place(&mut self.transaction, &place, &self.memory, on_conflict).await?;
        }
        Ok(())
    }

    /// Checks that the memory is complete, and commits it.
    pub(super) async fn finish(
        mut self,
        end: &End,
        hash: &str,
        done: &mut Imported,
    ) -> Result<(), LineError> {
        if end.memory_id != self.memory.as_str() {
            return Err(problem(format!(
                "memory_id: the end of {} is expected here",
                self.memory
            )));
        }
        if end.counts != self.counts || end.sha256 != hash {
            return Err(problem(format!(
                "the lines of {} are not those that were exported: {} with the sha256 {hash} came before this line",
                self.memory, self.counts
            )));
        }
        let Some(newest) = &self.newest else {
            return self.finish_items_only(done).await;
        };
        let (last, head, changed) = (newest.version, &newest.context_id, newest.creation_time);
        if self.line.head_version != last || self.line.head_context_id.as_ref() != Some(head) {
            return Err(problem(format!(
                "the memory's line says that its newest version is {}, but it is {last}, {head}",
                self.line.head_version
            )));
        }
        if self.line.changed_at < changed {
            return Err(problem(
                "changed_at of the memory's line is before its newest version",
            ));
        }
        match &self.target {
            Target::Create => {
                let (vault, memory) = (&self.vault, &self.memory);
                history::insert_of_records(&mut self.transaction, vault, memory).await?;
                let projected = project_versions(&mut self.transaction, vault, memory).await;
                projected.map_err(told_twice)?;
                self.append_event().await?;
                self.transaction.commit().await?;
                done.created += 1;
            }
            Target::Append(append) if append.appended() > 0 => {
                self.append_event().await?;
                self.transaction.commit().await?;
                done.appended += 1;
            }
            Target::Append(_) | Target::Unchanged => done.unchanged += 1,
            // A memory without a document has no newest version, so its lines were rejected above.
            Target::CreateItems | Target::Skip | Target::Refuse => done.skipped += 1,
        }
        Ok(())
    }

    /// The same for a memory that has only items.
    async fn finish_items_only(mut self, done: &mut Imported) -> Result<(), LineError> {
        let Counts {
            records,
            runs,
            handoffs,
            items,
            paths,
            ..
        } = self.counts;
        if self.line.head_version > 0 || items == 0 || records + runs + handoffs + paths > 0 {
            return Err(problem(format!("the memory {} has no context", self.memory)));
        }
        match self.target {
            Target::CreateItems => {
                let categories = std::mem::take(&mut self.categories);
                let events_of_items: Vec<NewEvent> = categories
                    .iter()
                    .map(|category| self.storage.items_event(&self.memory, category, None))
                    .collect();
                events::append(&mut self.transaction, &self.vault, &events_of_items).await?;
                self.transaction.commit().await?;
                done.created += 1;
            }
            Target::Unchanged => done.unchanged += 1,
            _ => done.skipped += 1,
        }
        Ok(())
    }

    /// Appends the event of the newest version.
    async fn append_event(&mut self) -> Result<(), StorageError> {
        let row = lock_memory(&mut self.transaction, &self.vault, &self.memory).await?;
        if let Some((version, context_id)) = row.and_then(|row| Some((row.version, row.context_id?))) {
            self.event.version = Some((version, context_id));
            self.event.source = Some(Source::Import);
        }
        // Appended versions were counted when they were saved.
        if matches!(self.target, Target::Create) {
            let holds = stored::of_memory(&mut self.transaction, &self.vault, &self.memory).await?;
            let change = (self.held, holds);
            stored::count(&mut self.transaction, &self.vault, &self.event.event_id, change).await?;
        }
        events::append(&mut self.transaction, &self.vault, from_ref(&self.event)).await
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
