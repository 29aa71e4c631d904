//! Files of the memory tool: `memory_paths` links the paths of a root to memories.
//!
//! Creating, moving and unlinking a file locks the root's row of `memory_roots` first and then the memory's row, so
//! that no file is ever below another file. Editing a file locks only its memory: if the file is moved or unlinked
//! meanwhile, the edit counts as earlier.

use crate::domain::changelog;
use crate::domain::ids::{ActorId, ContextId, MemoryId, RootName, VaultId};
use crate::domain::memory_files::{Edited, FilePath, Listing, Refusal, deleted, renamed};
use crate::storage::contexts::{Context, latest};
use crate::storage::database::connection::Connection;
use crate::storage::idempotency::{Answering, keep_one};
use crate::storage::write::lock_memory;
use crate::storage::{
    AlsoRead, ContextMetadata, Decision, Head, Missing, NewVersion, Preconditions, Source, Storage,
    StorageError, WriteError,
};
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

/// A tree of files.
#[derive(Debug, Clone)]
pub struct FileTree {
    /// The vault.
    pub vault: VaultId,
    /// Its name.
    pub root: RootName,
}

/// What exists at a path.
#[derive(Debug)]
pub enum FileEntry {
    /// A file and its text.
    File(StoredFile, String),
    /// A directory, which may not exist.
    Directory(Listing),
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MemoryFile)]
pub struct StoredFile {
    /// Its path.
    #[schema(value_type = String, example = "/memories/notes/tea.md")]
    pub path: FilePath,
    /// The memory that it is.
    #[schema(value_type = String)]
    pub memory_id: MemoryId,
    /// That memory's newest version.
    #[schema(minimum = 1)]
    pub version: i64,
    /// Its id: in double quotes the entity tag of the file's text.
    #[schema(value_type = String)]
    pub context_id: ContextId,
    /// The size of the text.
    #[schema(minimum = 0)]
    pub bytes: i32,
    /// When that version was made.
    pub changed_at: DateTime<Utc>,
}

impl StoredFile {
    fn of(path: &FilePath, newest: ContextMetadata) -> Self {
        Self {
            path: path.clone(),
            memory_id: newest.memory_id,
            version: newest.version,
            context_id: newest.context_id,
            bytes: newest.bytes,
            changed_at: newest.creation_time,
        }
    }
}

/// The result of a command.
#[derive(Debug)]
pub struct FileChange {
    /// The message for the model.
    pub response: String,
    /// The file, if the command concerned one.
    pub file: Option<StoredFile>,
    /// Whether a file that was to be written had this text already, so that no version was created.
    pub unchanged: bool,
}

impl Storage {
    /// The file at a path with its newest text, or the directory.
    ///
    /// # Errors
    /// Database errors.
    pub async fn file_entry(&self, tree: &FileTree, path: &FilePath) -> Result<FileEntry, StorageError> {
        let mut reader = self.reader().await?;
        let newest = match find(&mut reader, tree, path).await? {
            Found::File(memory) => latest(&mut reader, &tree.vault, &memory).await?,
            _ => None,
        };
        match newest {
            Some((Context { metadata, text }, _)) => {
                Ok(FileEntry::File(StoredFile::of(path, metadata), text))
            }
            None => Ok(FileEntry::Directory(list(&mut reader, tree, path).await?)),
        }
    }
}

/// What exists at a path, without its content.
#[derive(Debug, Clone)]
pub(in crate::storage) enum Found {
    /// A file: the text of this memory.
    File(MemoryId),
    /// A directory.
    Directory,
    /// Nothing, because one of its parent directories is this file.
    BelowFile(FilePath),
    /// Nothing; the path is free.
    Nothing,
}

/// Looks for a path.
pub(in crate::storage) async fn find(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
) -> Result<Found, StorageError> {
    if path.is_root() {
        return Ok(Found::Directory);
    }
    let directories = path.directories();
    let names: Vec<&str> = directories.iter().map(FilePath::as_str).collect();
    let (from, to) = range_below(path);
    let row = sqlx::query!(
        "SELECT path, memory_id FROM memory_paths
         WHERE vault_id = $1 AND root = $2 AND (path = $3 OR path = ANY ($4::text[]) OR (path > $5 AND path < $6))
         ORDER BY octet_length(path)
         LIMIT 1",
        tree.vault.as_str(),
        tree.root.as_str(),
        path.as_str(),
        &names as &[&str],
        from,
        to,
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(Found::Nothing) };
    if row.path == path.as_str() {
        return Ok(Found::File(row.memory_id));
    }
    let file = directories.into_iter().find(|parent| parent.as_str() == row.path);
    Ok(file.map_or(Found::Directory, Found::BelowFile))
}

/// Behind every path, in byte order: all are below `/memories/`.
const BEHIND_ALL: &str = "/memories0";

/// The files of a tree from one path up to another, in byte order of their paths, at most `limit`.
fn files<'c>(
    connection: &'c mut Connection,
    tree: &FileTree,
    (from, to): (&str, &str),
    limit: i64,
) -> BoxStream<'c, Result<StoredFile, sqlx::Error>> {
    sqlx::query_as!(
        StoredFile,
        r#"SELECT memory_paths.path AS "path: FilePath", head.memory_id, head.version, head.context_id, head.bytes,
                  head.creation_time AS changed_at
           FROM memory_paths
           JOIN memories
             ON memories.vault_id = memory_paths.vault_id AND memories.memory_id = memory_paths.memory_id
           JOIN memory_contexts AS head
             ON head.vault_id = memories.vault_id AND head.memory_id = memories.memory_id
            AND head.context_id = memories.head_context_id
           WHERE memory_paths.vault_id = $1 AND memories.vault_id = $1 AND head.vault_id = $1
             AND memory_paths.root = $2 AND memory_paths.path >= $3 AND memory_paths.path < $4
           ORDER BY memory_paths.path
           LIMIT $5"#,
        tree.vault.as_str(),
        tree.root.as_str(),
        from,
        to,
        limit,
    )
    .fetch(connection)
}

async fn list(
    connection: &mut Connection,
    tree: &FileTree,
    directory: &FilePath,
) -> Result<Listing, StorageError> {
    let (from, to) = range_below(directory);
    let mut files = files(connection, tree, (&from, &to), i64::MAX);
    let mut listing = Listing::of(directory.clone());
    while let Some(file) = files.try_next().await? {
        listing.add(&file.path, u64::try_from(file.bytes).unwrap_or_default());
    }
    Ok(listing)
}

impl Storage {
    /// The files of a tree after a path, in byte order of their paths.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_files(
        &self,
        tree: &FileTree,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<StoredFile>, StorageError> {
        // No path contains a control character, so the next path is not before this.
        let from = after.map(|after| format!("{after}\u{1}")).unwrap_or_default();
        let mut reader = self.reader().await?;
        let files = files(&mut reader, tree, (&from, BEHIND_ALL), limit);
        Ok(files.try_collect().await?)
    }
}

/// Locks a root until the transaction ends; creates its row if necessary.
pub(in crate::storage) async fn hold_root(
    connection: &mut Connection,
    tree: &FileTree,
) -> Result<(), StorageError> {
    // A row that is there is locked, though not changed.
    sqlx::query!(
        "INSERT INTO memory_roots (vault_id, root) VALUES ($1, $2)
         ON CONFLICT (vault_id, root) DO UPDATE SET root = memory_roots.root WHERE false",
        tree.vault.as_str(),
        tree.root.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Links a memory to a free path in a locked root.
pub(in crate::storage) async fn insert(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO memory_paths (vault_id, root, path, memory_id) VALUES ($1, $2, $3, $4)",
        tree.vault.as_str(),
        tree.root.as_str(),
        path.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The bounds of all paths below a path, in byte order.
fn range_below(path: &FilePath) -> (String, String) {
    // `0` is the character after `/`.
    (format!("{path}/"), format!("{path}0"))
}

/// A file to be written.
#[derive(Debug)]
pub struct FileWrite<'a> {
    /// The tree.
    pub tree: &'a FileTree,
    /// Its path.
    pub path: &'a FilePath,
    /// The actor.
    pub actor: &'a ActorId,
    /// Why it is refused if a directory is at the path.
    pub if_directory: Refusal,
}

impl Storage {
    /// Makes a file, or a version of it, with the text that `edit` returns. Its argument is the newest version of the
    /// file; `None` if there is none. An unchanged text creates no version.
    ///
    /// `edit` may be called again if the file changes meanwhile.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn write_file(
        &self,
        write: FileWrite<'_>,
        under: Option<&Answering<'_, FileChange>>,
        edit: impl Fn(Option<&Head>) -> Result<Edited, WriteError>,
    ) -> Result<FileChange, WriteError> {
        let FileWrite { tree, path, .. } = write;
        loop {
            let (memory, at) = match find(&mut self.reader().await?, tree, path).await? {
                Found::File(memory) => (memory, None),
                _ => (path.new_memory_id(self.clock.new_id()), Some((tree, path))),
            };
            let also = AlsoRead {
                path: at,
                ..AlsoRead::default()
            };
            let written = self.change((&tree.vault, &memory), also, |head| {
                let edited = match &head.at_path {
                    None if head.exists() => edit(Some(head))?,
                    // It was deleted or made meanwhile.
                    None | Some(Found::File(_)) => return Err(WriteError::NotFound(Missing::File)),
                    Some(Found::Directory) => return Err(write.if_directory.clone().into()),
                    Some(Found::Nothing) => edit(None)?,
                    Some(Found::BelowFile(file)) => {
                        edit(None)?;
                        let (path, file) = (path.clone(), file.clone());
                        return Err(Refusal::BelowAFile { path, file }.into());
                    }
                };
                Ok(write.version(&memory, head, edited, under))
            });
            match written.await {
                Err(WriteError::NotFound(Missing::File)) => {}
                done => return done,
            }
        }
    }
}

impl FileWrite<'_> {
    /// The version with this text, or none if the newest one has it.
    fn version(
        &self,
        memory: &MemoryId,
        head: &Head,
        Edited { text, response }: Edited,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Decision<FileChange> {
        let written = |metadata, unchanged| FileChange {
            response,
            file: Some(StoredFile::of(self.path, metadata)),
            unchanged,
        };
        if let Some(newest) = head.metadata.as_ref().filter(|_| head.text == text) {
            return Decision::Keep(written(newest.clone(), true));
        }
        let mut new = NewVersion::of_text(head, text, Source::Tool, self.actor.clone());
        new.log = changelog::of_text(changelog::PUT, (&head.text, &new.text), &new.changes);
        let done = written(new.metadata(&self.tree.vault, memory, head), false);
        if !head.exists() {
            new.path = Some((self.tree.clone(), self.path.clone()));
        }
        new.answer_under(under, &done);
        Decision::Save(Box::new(new), done)
    }
}

impl FileChange {
    /// The change of these files at or below a path.
    fn of(path: &FilePath, mut files: Vec<StoredFile>, response: String) -> Self {
        files.retain(|file| file.path == *path);
        Self {
            response,
            file: files.pop(),
            unchanged: false,
        }
    }

    /// The memory of the file, if there is one.
    fn memory(&self) -> Option<&MemoryId> {
        self.file.as_ref().map(|file| &file.memory_id)
    }
}

impl Storage {
    /// Unlinks a file, or all files of a directory. The memories stay, with all their versions. Returns the unlinked
    /// file's version, if it was a single file. With `preconditions` only a file is unlinked, for whose newest version
    /// they hold.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn unlink_files(
        &self,
        tree: &FileTree,
        path: &FilePath,
        preconditions: Option<&Preconditions>,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, WriteError> {
        if path.is_root() {
            return Err(Refusal::RootIsNotDeleted.into());
        }
        self.transaction("db.memory_paths.unlink", |mut transaction| async move {
            hold_root(&mut transaction, tree).await?;
            if let Some(preconditions) = preconditions {
                let Found::File(memory) = find(&mut transaction, tree, path).await? else {
                    return Err(WriteError::NotFound(Missing::File));
                };
                // Locked, so that no edit comes between the look and the deed.
                let head = lock_memory(&mut transaction, &tree.vault, &memory).await?;
                let head = head.ok_or(WriteError::NotFound(Missing::File))?;
                preconditions.check(head.context_id.as_ref(), None)?;
            }
            let files = files_at(&mut transaction, tree, path).await?;
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            sqlx::query!(
                "DELETE FROM memory_paths WHERE vault_id = $1 AND root = $2 AND path = ANY ($3::text[])",
                tree.vault.as_str(),
                tree.root.as_str(),
                &paths as &[&str],
            )
            .execute(&mut transaction)
            .await?;
            let change = FileChange::of(path, files, deleted(path));
            keep_one(&mut transaction, under, change.memory(), &change).await?;
            Ok::<_, WriteError>((transaction, change))
        })
        .await
    }

    /// Renames a file, or a directory with everything in it. Returns the file's version, if it is a single file.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn rename_files(
        &self,
        tree: &FileTree,
        from: &FilePath,
        to: &FilePath,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, WriteError> {
        if from.is_root() {
            return Err(Refusal::RootIsNotRenamed.into());
        }
        self.transaction("db.memory_paths.rename", |mut transaction| async move {
            hold_root(&mut transaction, tree).await?;
            let found = find(&mut transaction, tree, to).await?;
            if matches!(found, Found::File(_) | Found::Directory) {
                return Err(Refusal::DestinationExists(to.clone()).into());
            }
            let files = files_at(&mut transaction, tree, from).await?;
            if let Found::BelowFile(file) = found {
                let path = to.clone();
                return Err(Refusal::BelowAFile { path, file }.into());
            }
            if to.is_below(from) {
                return Err(Refusal::IntoItself(from.clone(), to.clone()).into());
            }
            let moved = files.iter().map(|file| file.path.moved(from, to));
            let moved = moved.collect::<Result<Vec<FilePath>, _>>()?;
            let paths: Vec<&str> = moved.iter().map(FilePath::as_str).collect();
            let memories: Vec<&str> = files.iter().map(|file| file.memory_id.as_str()).collect();
            sqlx::query!(
                "UPDATE memory_paths SET path = moved.path
             FROM unnest($3::text[], $4::text[]) AS moved (memory_id, path)
             WHERE memory_paths.vault_id = $1 AND memory_paths.root = $2
               AND memory_paths.memory_id = moved.memory_id",
                tree.vault.as_str(),
                tree.root.as_str(),
                &memories as &[&str],
                &paths as &[&str],
            )
            .execute(&mut transaction)
            .await?;
            let change = FileChange::of(from, files, renamed(from, to));
            keep_one(&mut transaction, under, change.memory(), &change).await?;
            Ok::<_, WriteError>((transaction, change))
        })
        .await
    }
}

/// The file at a path, or the files below it.
async fn files_at(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
) -> Result<Vec<StoredFile>, WriteError> {
    let (_, end) = range_below(path);
    let mut files: Vec<StoredFile> = files(connection, tree, (path.as_str(), &end), i64::MAX)
        .try_collect()
        .await?;
    // Between them are names that begin with it and continue with a character before the slash.
    files.retain(|file| file.path == *path || file.path.is_below(path));
    match files.is_empty() {
        true => Err(Refusal::NothingThere(path.clone()).into()),
        false => Ok(files),
    }
}
