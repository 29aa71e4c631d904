//! Imports one memory: how its lines are handled, what they must add up to, and the rows that they become.

use super::import::{ImportOptions, Imported, LineError, OnConflict, problem, unexpected};
use super::lines::{
    ContextLine, End, Line, MemoryLine, PathLine, check_handoff, check_item, check_record, check_run, run_of,
};
use crate::domain::document::Record;
use crate::domain::ids::{Category, ContextId, MemoryId, RecordId, UpdateId, VaultId};
use crate::domain::memory::Counters;
use crate::domain::{changelog, document};
use crate::storage::database::connection::Connection;
use crate::storage::events::{self, EventKind, NewEvent};
use crate::storage::maintenance::rebuild::project_versions;
use crate::storage::memories::paths::{self, FileTree, Found};
use crate::storage::prompt_items::{self, ItemOwner};
use crate::storage::records::{self, history};
use crate::storage::updates::insert_imported;
use crate::storage::usage::stored::{self, Stored};
use crate::storage::write::{Prepared, lock_memory, operation_details, save_locked};
use crate::storage::{Class, Head, NewVersion, Source, Storage, StorageError, handoffs};
use chrono::{DateTime, SecondsFormat, Utc};
use std::collections::{BTreeSet, HashMap};

/// What happens to the lines of a memory.
enum Target {
    /// They create it.
    Create,
    /// They are appended to the existing memory.
    Append(Box<Append>),
    /// They are read and ignored, because they exist already or are to be skipped.
    Ignore { is_same: bool },
}

/// A memory during its import.
pub(super) struct MemoryImport<'i> {
    storage: &'i Storage,
    options: &'i ImportOptions,
    vault: &'i VaultId,
    line: MemoryLine,
    transaction: Connection,
    target: Target,
    /// The categories of its items.
    categories: BTreeSet<Category>,
    /// The newest version's number, id and time.
    newest: Option<(i64, ContextId, DateTime<Utc>)>,
    /// The records in the newest version.
    active: HashMap<RecordId, Record>,
}

impl<'i> MemoryImport<'i> {
    /// Begins the memory's transaction and decides how its lines are handled.
    pub(super) async fn begin(
        storage: &'i Storage,
        options: &'i ImportOptions,
        vault: &'i VaultId,
        line: MemoryLine,
    ) -> Result<Self, LineError> {
        let memory = &line.memory_id;
        let mut transaction = storage.begin(Class::Maintenance).await?;
        let is_same = async |transaction: &mut Connection| match &line.head_context_id {
            Some(head) => {
                let there = find_version(transaction, (vault, memory), head, "").await?;
                Ok::<_, StorageError>(there.is_some_and(|there| there.version == line.head_version))
            }
            // Prompt items have no history by which one memory could be told from another.
            None => Ok(lock_memory(transaction, vault, memory).await?.is_some()),
        };
        let target = if is_same(&mut transaction).await? {
            Target::Ignore { is_same: true }
        } else if insert_memory(&mut transaction, vault, &line).await? {
            Target::Create
        } else if is_same(&mut transaction).await? {
            // Another import of the file, for which the insertion waited, has brought it.
            Target::Ignore { is_same: true }
        } else {
            match options.on_conflict {
                OnConflict::Fail => {
                    return Err(problem(format!(
                        "the memory {memory} of the vault {vault} exists already; with --on-conflict skip it is left as \
                         it is, with --on-conflict append the versions it does not have are added behind its newest"
                    )));
                }
                OnConflict::Append => Target::Append(Box::new(
                    Append::begin(&mut transaction, storage, vault, &line).await?,
                )),
                OnConflict::Skip => Target::Ignore { is_same: false },
            }
        };
        Ok(Self {
            storage,
            options,
            vault,
            line,
            transaction,
            target,
            categories: BTreeSet::new(),
            newest: None,
            active: HashMap::new(),
        })
    }

    /// Checks the next line of the memory, and does with it what happens to the memory's lines.
    pub(super) async fn line(&mut self, line: Line) -> Result<(), LineError> {
        self.check(&line)?;
        if matches!(self.target, Target::Create) {
            return self.store(line).await;
        }
        if let (Target::Append(append), Line::Context(line)) = (&mut self.target, line) {
            let of = (self.vault, &self.line.memory_id);
            append
                .context(&mut self.transaction, self.storage, of, *line)
                .await?;
        }
        Ok(())
    }

    /// Requires that a line is one of a memory, and valid.
    fn check(&mut self, line: &Line) -> Result<(), LineError> {
        match line {
            Line::Context(line) => self.check_context(line),
            Line::Record(line) => check_record(line, &self.line),
            Line::Handoff(line) => check_handoff(line, self.line.head_version),
            Line::Item(item) => {
                self.categories.insert(item.category.clone());
                check_item(item)
            }
            Line::Path(_) if self.line.head_version == 0 => {
                Err(problem("path: a memory without a version is no file"))
            }
            // A run is checked when it is stored, and a path is one by its type.
            Line::Run(_) | Line::Path(_) => Ok(()),
            other => Err(unexpected("a line of this memory or its end", other)),
        }
    }

    fn check_context(&mut self, line: &ContextLine) -> Result<(), LineError> {
        line.check()?;
        let before = self.newest.as_ref().map_or(0, |(version, ..)| *version);
        if line.version <= before {
            return Err(problem(format!(
                "version: a number over {before} is expected here, not {}",
                line.version
            )));
        }
        let at = self.newest.as_ref().map(|(.., at)| *at);
        if at.is_some_and(|before| line.creation_time < before) {
            return Err(problem(
                "creation_time: must not be before that of the version before",
            ));
        }
        let mut used = Counters::seen_in(&line.context);
        for (record, _) in operation_details(line.operations.as_ref()).historic {
            used.raise(record.id.kind, record.id.number);
        }
        if self.line.counters().raised_by(&used) != self.line.counters() {
            return Err(problem(
                "context: it has a record with a number over the memory's counter, so the number could be used again",
            ));
        }
        if line.is_redacted() && line.version == self.line.head_version {
            return Err(problem("redacted_at: the newest version always has its text"));
        }
        self.newest = Some((line.version, line.context_id.clone(), line.creation_time));
        Ok(())
    }

    /// Stores a line of a memory that is created.
    async fn store(&mut self, line: Line) -> Result<(), LineError> {
        let of = (self.vault, &self.line.memory_id);
        match line {
            Line::Context(line) => {
                insert_context(&mut self.transaction, of, &line).await?;
                if line.version == self.line.head_version {
                    let records = document::records(&line.context).into_iter();
                    self.active = records.map(|record| (record.id, record)).collect();
                }
            }
            Line::Record(line) => {
                let id = line.id();
                let is_so = |record: &Record| {
                    (&record.label, &record.reason) == (&line.label, &line.reason)
                        && record.content == line.content
                };
                if line.status == "active" && !self.active.get(&id).is_some_and(is_so) {
                    return Err(problem(format!("{id}: the newest document does not have it so")));
                }
                records::write(&mut self.transaction, of, &[*line]).await?;
            }
            Line::Run(line) => {
                let run = run_of(line, of)?;
                check_run(&run, self.line.head_version)?;
                insert_imported(&mut self.transaction, &run).await?;
            }
            Line::Handoff(line) => handoffs::insert(&mut self.transaction, of, &line).await?,
            Line::Item(item) => {
                let owner = ItemOwner {
                    vault: self.vault.clone(),
                    memory: Some(self.line.memory_id.clone()),
                };
                prompt_items::insert(&mut self.transaction, &owner, &[*item]).await?;
            }
            Line::Path(line) => self.link(*line).await?,
            _ => {}
        }
        Ok(())
    }

    /// Links a created memory at its path, unless another file occupies or blocks it.
    async fn link(&mut self, PathLine { root, path }: PathLine) -> Result<(), LineError> {
        let tree = FileTree {
            vault: self.vault.clone(),
            root,
        };
        paths::hold_root(&mut self.transaction, &tree).await?;
        let found = paths::find(&mut self.transaction, &tree, &path).await?;
        if matches!(found, Found::Nothing) {
            paths::insert(&mut self.transaction, &tree, &path, &self.line.memory_id).await?;
        } else if self.options.on_conflict == OnConflict::Fail {
            return Err(problem(format!(
                "path: another file stands at {path} of the root {} already, or in its way",
                tree.root
            )));
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
        self.check_end(end, hash)?;
        let (vault, memory) = (self.vault, &self.line.memory_id);
        let events = match &self.target {
            Target::Ignore { is_same } => {
                done.unchanged += u64::from(*is_same);
                done.skipped += u64::from(!is_same);
                return Ok(());
            }
            Target::Append(append) if append.appended == 0 => {
                done.unchanged += 1;
                return Ok(());
            }
            // The appended versions were counted and announced when they were saved.
            Target::Append(_) => Vec::new(),
            Target::Create if self.line.head_version == 0 => {
                let of_items = self.categories.iter();
                of_items
                    .map(|category| self.storage.items_event(memory, category.as_str(), None))
                    .collect()
            }
            Target::Create => {
                history::insert_of_records(&mut self.transaction, vault, memory).await?;
                project_versions(&mut self.transaction, vault, memory).await?;
                let head = self.line.head_context_id.clone();
                let event = NewEvent {
                    version: head.map(|id| (self.line.head_version, id)),
                    source: Some(Source::Import),
                    ..self.storage.event(memory, EventKind::Version)
                };
                let holds = stored::of_memory(&mut self.transaction, vault, memory).await?;
                let change = (Stored::default(), holds);
                stored::count(&mut self.transaction, vault, &event.event_id, change).await?;
                vec![event]
            }
        };
        events::append(&mut self.transaction, vault, &events).await?;
        self.transaction.commit().await?;
        match self.target {
            Target::Append(_) => done.appended += 1,
            _ => done.created += 1,
        }
        Ok(())
    }

    /// Checks that the lines are those that were exported, and that they make a memory.
    fn check_end(&self, end: &End, hash: &str) -> Result<(), LineError> {
        let line = &self.line;
        let memory = &line.memory_id;
        if end.memory_id != *memory {
            return Err(problem(format!(
                "memory_id: the end of {memory} is expected here"
            )));
        }
        if end.sha256 != hash {
            return Err(problem(format!(
                "the lines of {memory} are not those that were exported: their sha256 is {hash}"
            )));
        }
        let Some((version, id, at)) = &self.newest else {
            return match line.head_version == 0 && !self.categories.is_empty() {
                true => Ok(()),
                false => Err(problem(format!("the memory {memory} has no context"))),
            };
        };
        if line.head_version != *version || line.head_context_id.as_ref() != Some(id) {
            return Err(problem(format!(
                "the memory's line says that its newest version is {}, but it is {version}, {id}",
                line.head_version
            )));
        }
        if line.changed_at < *at {
            return Err(problem(
                "changed_at of the memory's line is before its newest version",
            ));
        }
        Ok(())
    }
}

/// Makes a memory's row and locks it until the transaction ends. `false` if it has a document.
async fn insert_memory(
    connection: &mut Connection,
    vault: &VaultId,
    line: &MemoryLine,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, counters, created_at, changed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (vault_id, memory_id) DO UPDATE
         SET head_version = excluded.head_version, head_context_id = excluded.head_context_id, counters = excluded.counters,
             created_at = excluded.created_at, changed_at = excluded.changed_at
         WHERE memories.head_version = 0",
        vault.as_str(),
        line.memory_id.as_str(),
        line.head_version,
        line.head_context_id.as_ref().map(ContextId::as_str),
        &line.counters().numbers(),
        line.created_at,
        line.changed_at,
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Stores a version unchanged.
async fn insert_context(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    line: &ContextLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, update_id, operations, log,
                                      redacted_at, redacted_by, redaction_reason, redacted_sha256, line_origins)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        vault.as_str(),
        memory.as_str(),
        line.context_id.as_str(),
        line.actor_id.as_str(),
        line.context,
        line.creation_time,
        line.version,
        line.source.name(),
        line.bytes,
        line.update_id.as_ref().map(UpdateId::as_str),
        line.operations,
        line.log,
        line.redacted_at,
        line.redacted_by.as_ref().map(|by| by.as_str()),
        line.redaction_reason,
        line.redacted_sha256,
        line.line_origins.as_deref(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A version that a memory has.
struct FoundVersion {
    version: i64,
    /// Whether its text is the same. A redacted text, in the file or in the database, counts as equal.
    same_text: bool,
}

/// Looks for a version by its id, and compares its text.
async fn find_version(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    context: &ContextId,
    text: &str,
) -> Result<Option<FoundVersion>, StorageError> {
    let found = sqlx::query_as!(
        FoundVersion,
        r#"SELECT version, (context = $4 OR redacted_at IS NOT NULL OR $4 = '') AS "same_text!"
           FROM memory_contexts
           WHERE vault_id = $1 AND memory_id = $2 AND context_id = $3"#,
        vault.as_str(),
        memory.as_str(),
        context.as_str(),
        text,
    )
    .fetch_optional(connection)
    .await?;
    Ok(found)
}

/// Whether a version after `known` has a text that no earlier one had. Not if earlier ones were pruned or redacted: theirs may
/// have had it.
async fn has_new_text(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    known: i64,
) -> Result<bool, StorageError> {
    let found = sqlx::query_scalar!(
        r#"WITH known AS (
               SELECT context, redacted_at FROM memory_contexts
               WHERE vault_id = $1 AND memory_id = $2 AND version <= $3
           )
           SELECT (SELECT count(*) FROM known WHERE redacted_at IS NULL) = $3 AND EXISTS (
               SELECT FROM memory_contexts new
               WHERE vault_id = $1 AND memory_id = $2 AND version > $3
                   AND NOT EXISTS (SELECT FROM known WHERE known.context = new.context)
           ) AS "has_new!""#,
        vault.as_str(),
        memory.as_str(),
        known,
    );
    Ok(found.fetch_one(connection).await?)
}

/// Appends versions to a memory whose row is locked.
///
/// If the memory already has a version, by its `context_id`, that version and all earlier ones of the file belong to
/// the memory's past: what was appended of the earlier ones is rolled back, unless one has a text that the memory never
/// had. So importing a file repeatedly appends it once, a newer export of the same memory adds only what is newer, and
/// what was written to a copy is not lost.
struct Append {
    /// The head at the savepoint.
    known: Head,
    /// The head now.
    head: Head,
    /// The highest record numbers used in the file.
    counters: Counters,
    /// How many versions were appended.
    appended: u64,
}

impl Append {
    /// Starts at the memory's head.
    async fn begin(
        connection: &mut Connection,
        storage: &Storage,
        vault: &VaultId,
        line: &MemoryLine,
    ) -> Result<Self, LineError> {
        let head = storage.lock_head(connection, (vault, &line.memory_id)).await?;
        sqlx::raw_sql("SAVEPOINT known").execute(connection).await?;
        Ok(Self {
            known: head.clone(),
            head,
            counters: line.counters(),
            appended: 0,
        })
    }

    /// Handles the next version of the file.
    async fn context(
        &mut self,
        connection: &mut Connection,
        storage: &Storage,
        of: (&VaultId, &MemoryId),
        line: ContextLine,
    ) -> Result<(), LineError> {
        let id = &line.context_id;
        match find_version(connection, of, id, &line.context).await? {
            Some(there) if !there.same_text => {
                return Err(problem(format!(
                    "context_id: {id} is version {} of the memory already, with another text",
                    there.version
                )));
            }
            Some(there) if there.version > self.known.version => {
                return Err(problem(format!("context_id: {id} stands twice in the file")));
            }
            // It shows that what was appended belongs to the past.
            Some(_) => {
                if self.appended > 0 && !has_new_text(connection, of, self.known.version).await? {
                    sqlx::raw_sql("ROLLBACK TO SAVEPOINT known")
                        .execute(connection)
                        .await?;
                    self.head = self.known.clone();
                    self.appended = 0;
                }
                return Ok(());
            }
            // Nothing to append: it has no text, or the same text as the head.
            None if line.is_redacted() || line.context == self.head.text => return Ok(()),
            None => {}
        }
        self.head.next_context_id = line.context_id;
        self.head.next_event_id = storage.clock.new_id().to_string();
        // Only a file may be blank, and stays a file.
        let source = if document::is_blank(&line.context) {
            Source::Tool
        } else {
            Source::Import
        };
        let mut version = NewVersion::of_text(&self.head, line.context, source, line.actor_id);
        version.counters = version.counters.raised_by(&self.counters);
        let made = line.creation_time.to_rfc3339_opts(SecondsFormat::AutoSi, true);
        let changes = changelog::of_text(changelog::PUT, (&self.head.text, &version.text), &version.changes);
        version.log = format!(
            "imported: version {}, made {made} by {}\n{changes}",
            line.version,
            line.source.name()
        );
        let (text, counters) = (version.text.clone(), version.counters);
        let prepared = Prepared::new(self.head.clone(), Some(self.head.counters), of, version);
        save_locked(connection, &prepared).await?;
        self.head.version += 1;
        self.head.context_id = Some(self.head.next_context_id.clone());
        self.head.text = text;
        self.head.counters = counters;
        self.head.origins = prepared.origins;
        self.appended += 1;
        Ok(())
    }
}
