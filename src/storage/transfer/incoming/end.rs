//! The end of a memory's import: checks that it is complete, and notifies.

use super::super::error::LineError;
use super::super::import::Imported;
use super::super::line::{Counts, End};
use super::{Incoming, Target, problem, told_twice};
use crate::storage::events::NewEvent;
use crate::storage::maintenance::rebuild::project_versions;
use crate::storage::records::history;
use crate::storage::write::lock_memory;
use crate::storage::{Source, StorageError, events, usage::stored};

impl Incoming {
    /// Checks that the memory is complete, and commits it.
    pub(in crate::storage::transfer) async fn finish(
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
        events::append(
            &mut self.transaction,
            &self.vault,
            std::slice::from_ref(&self.event),
        )
        .await
    }
}
