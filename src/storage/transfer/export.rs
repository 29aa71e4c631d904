//! Exports a vault as lines: one read-only snapshot for each memory, rows written as they arrive.

use super::line::{Counts, End, ExportError, Footer, Header, Line};
use super::records::RecordLine;
use super::{FORMAT, FORMAT_VERSION, Progress, contexts, handoffs, items, memory, paths, records, runs};
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::records::projection::Projection;
use crate::storage::{Class, Storage, StorageError};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

impl Storage {
    /// Exports a vault, or one memory of it, to `out`. Memory use depends on the largest row and the records of one memory.
    /// Each memory is a consistent snapshot; two memories may be from different moments. Memories deleted meanwhile are omitted.
    ///
    /// `report` is called after each row.
    ///
    /// # Errors
    /// As [`ExportError`] says; `out` has no footer then.
    pub async fn export_vault<W: AsyncWrite + Unpin>(
        &self,
        vault: &VaultId,
        only: Option<&MemoryId>,
        out: &mut W,
        report: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, ExportError> {
        let mut page = match only {
            Some(memory) => vec![memory.as_str().to_owned()],
            None => self.page(vault, None).await?,
        };
        if page.is_empty() {
            return Err(ExportError::NoSuchVault(vault.clone()));
        }
        let mut export = Export {
            storage: self,
            vault,
            out,
            line: Vec::new(),
            hash: Sha256::new(),
            progress: Progress::default(),
            report,
        };
        let header = Header {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            vault_id: vault.as_str().to_owned(),
        };
        export.write(&Line::Header(header)).await?;
        if only.is_none() {
            export.vault_items().await?;
        }
        while let Some(last) = page.last() {
            for memory in &page {
                export.memory(memory).await?;
            }
            page = match only {
                Some(_) => Vec::new(),
                None => self.page(vault, Some(last)).await?,
            };
        }
        let memories = export.progress.memories;
        if let (Some(memory), 0) = (only, memories) {
            return Err(ExportError::NoSuchMemory(vault.clone(), memory.clone()));
        }
        export.write(&Line::Footer(Footer { memories })).await?;
        let progress = export.progress;
        out.flush().await.map_err(ExportError::Write)?;
        Ok(progress)
    }

    async fn page(&self, vault: &VaultId, after: Option<&str>) -> Result<Vec<String>, StorageError> {
        let mut connection = self.reader_for(Class::Maintenance).await?;
        memory::page(&mut connection, vault, after).await
    }
}

/// A running export.
struct Export<'e, W> {
    storage: &'e Storage,
    vault: &'e VaultId,
    out: &'e mut W,
    /// Buffer, reused for every line.
    line: Vec<u8>,
    /// The hash of this memory's lines.
    hash: Sha256,
    progress: Progress,
    report: &'e mut dyn FnMut(&Progress),
}

impl<W: AsyncWrite + Unpin> Export<'_, W> {
    /// The items of the vault, which belong to no memory.
    async fn vault_items(&mut self) -> Result<(), ExportError> {
        let mut connection = self.storage.reader_for(Class::Maintenance).await?;
        let rows = items::read(&mut connection, self.vault, items::OF_VAULT);
        self.each(rows, Line::VaultItem).await?;
        Ok(())
    }

    async fn memory(&mut self, id: &str) -> Result<(), ExportError> {
        let vault = self.vault;
        let mut snapshot = self.storage.begin(Class::Maintenance).await?;
        memory::take_snapshot(&mut snapshot).await?;
        let Some(row) = memory::read(&mut snapshot, vault, id, self.storage.clock.now()).await? else {
            return Ok(());
        };
        self.hash = Sha256::new();
        let mut counts = Counts::default();
        self.write(&Line::Memory(row)).await?;
        let mut projection = Projection::new(Vec::new(), Vec::new());
        let mut rows = contexts::read(&mut snapshot, vault, id);
        while let Some(row) = rows.try_next().await? {
            counts.contexts += 1;
            self.progress.contexts += 1;
            row.project(&mut projection)?;
            self.write(&Line::Context(Box::new(row))).await?;
        }
        drop(rows);
        let projected = projection.finish();
        let lines = projected
            .lives
            .iter()
            .map(|life| RecordLine::of(life, &projected));
        let following: HashMap<_, _> = lines.map(|line| (line.key(), line)).collect();
        let mut rows = records::read(&mut snapshot, vault, id);
        while let Some(row) = rows.try_next().await? {
            if following.get(&row.key()) != Some(&row) {
                counts.records += 1;
                self.write(&Line::Record(Box::new(row))).await?;
            }
        }
        drop(rows);
        let rows = runs::read(&mut snapshot, vault, id);
        counts.runs = self.each(rows, Line::Run).await?;
        let rows = handoffs::read(&mut snapshot, vault, id);
        counts.handoffs = self.each(rows, Line::Handoff).await?;
        let rows = items::read(&mut snapshot, vault, id);
        counts.items = self.each(rows, Line::Item).await?;
        if let Some(row) = paths::read(&mut snapshot, vault, id).await? {
            counts.paths += 1;
            self.write(&Line::Path(Box::new(row))).await?;
        }
        snapshot.commit().await.map_err(StorageError::from)?;
        self.progress.memories += 1;
        let sha256 = hex::encode(self.hash.finalize_reset());
        let end = End {
            memory_id: id.to_owned(),
            counts,
            sha256,
        };
        self.write(&Line::End(end)).await
    }

    /// Writes a line for each row, and returns their number.
    async fn each<T>(
        &mut self,
        mut rows: BoxStream<'_, Result<T, StorageError>>,
        line: fn(Box<T>) -> Line,
    ) -> Result<u64, ExportError> {
        let mut count = 0;
        while let Some(row) = rows.try_next().await? {
            count += 1;
            self.write(&line(Box::new(row))).await?;
        }
        Ok(count)
    }

    async fn write(&mut self, line: &Line) -> Result<(), ExportError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line).map_err(|error| ExportError::Write(error.into()))?;
        self.line.push(b'\n');
        self.hash.update(&self.line);
        self.out.write_all(&self.line).await.map_err(ExportError::Write)?;
        self.progress.bytes += self.line.len() as u64;
        (self.report)(&self.progress);
        Ok(())
    }
}
