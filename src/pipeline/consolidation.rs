//! Consolidation: what can go without a model, and what the model of learnings proposes besides. Every step is checked by
//! code ([`crate::domain::consolidation`]), here and on the head that it is saved on; nothing is rewritten.

use super::ask::{Expected, RoleOutcome, asking, schema};
use super::check::as_parsed;
use super::prompts::{Template, quoted};
use super::run::Running;
use super::{
    Mode, OnInvalid, OperationsInput, OperationsRequest, Pipeline, PipelineError, Target, UpdateInput,
};
use crate::domain::consolidation::{Share, find};
use crate::domain::document::{Record, Until, records};
use crate::domain::dsl::requests::OperationRequest;
use crate::domain::dsl::{Parsed, structured};
use crate::domain::evidence::Evidence;
use crate::domain::ids::{MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::operation::{Operation, Role};
use crate::fair;
use crate::llm::{self, RoleModel};
use crate::storage::StorageError;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// The longest text of a record that the model is shown, in characters.
const SHOWN_CHARS: usize = 2_000;

impl Pipeline {
    /// Finds what can go, and asks the model of learnings, if there is one, for more.
    pub(super) async fn consolidate(
        &self,
        running: &Running,
        input: &UpdateInput,
    ) -> Result<RoleOutcome, StorageError> {
        let document = &running.progress_base().text;
        let (now, max_share) = (self.storage.now(), self.config.consolidation.max_share);
        let (operations, share) = fair::on_cpu(document.len(), || {
            let mut share = Share::of(document, max_share);
            (find(document, now, &mut share), share)
        })
        .await;
        let found = self.check(running, as_parsed(operations), &[], None).await?;
        // A model is not asked for what may not go in this run.
        let speaker = self.models.for_role(Role::Learnings);
        let Some(speaker) = speaker.filter(|_| !share.is_used_up()) else {
            return Ok(RoleOutcome {
                reading: found,
                ..RoleOutcome::of(llm::RULES)
            });
        };
        let mut outcome = self
            .ask_what_goes(running, input, speaker, (&found, &share))
            .await?;
        outcome.reading.items.splice(0..0, found.items);
        Ok(outcome)
    }

    /// Archives records of a memory that have expired, each with its end as the reason.
    ///
    /// # Errors
    /// See [`PipelineError`]; nothing was archived.
    pub async fn archive_expired(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        expired: Vec<(RecordId, Until)>,
    ) -> Result<(), PipelineError> {
        let archive = |(id, until): (RecordId, Until)| OperationRequest::Archive {
            id: id.to_string(),
            reason: format!("expired on {until}"),
            duplicate_of: None,
            superseded_by: None,
            expired: true,
        };
        let request = OperationsRequest {
            to: Target::by_service(vault, memory),
            input: OperationsInput::List(expired.into_iter().map(archive).collect()),
            dry_run: false,
            on_invalid: OnInvalid::Drop,
            max_additions: None,
            resolves: None,
            mode: Mode::Apply,
            idempotency: None,
        };
        self.apply_operations(request).await.map(drop)
    }

    /// Asks the model, and again about what is refused.
    async fn ask_what_goes(
        &self,
        running: &Running,
        input: &UpdateInput,
        speaker: &RoleModel,
        (found, share): (&Parsed, &Share),
    ) -> Result<RoleOutcome, StorageError> {
        let earlier: Vec<Operation> = found.items.iter().map(|item| item.operation.clone()).collect();
        let gone: HashSet<RecordId> = earlier.iter().flat_map(Operation::leaving).collect();
        let mut shown = records(&running.progress_base().text);
        shown.retain(|record| !gone.contains(&record.id));
        let ids: Vec<RecordId> = shown.iter().map(|record| record.id).collect();
        let (vault, memory) = running.to.place();
        let evidence = self.storage.evidence(vault, memory, &ids).await?;
        let listed = listed(&shown, &evidence, self.config.pipeline.messages_bytes);
        let text = self.prompts.fill(
            Template::ConsolidationInput,
            &[
                ("{memory}", &quoted(&listed)),
                ("{instructions}", &quoted(&input.task)),
                ("{most}", &share.to_string()),
            ],
        );
        let schema = schema(speaker, || structured::consolidation_schema(&ids));
        let system = self.prompts.text(Template::Consolidation);
        let asking = asking(Some(Role::Learnings), system, text, schema);
        let earlier = earlier.as_slice();
        let expected = Expected::Steps { earlier, share };
        self.ask_until_right(running, (speaker, asking), &expected, &ids)
            .await
    }
}

/// The records as the model sees them, at most so many bytes. Of snippets the label only: they are duplicates if they are
/// equal, which needs no model.
fn listed(records: &[Record], evidence: &HashMap<RecordId, Vec<Evidence>>, limit: usize) -> String {
    let mut text = String::new();
    for (place, record) in records.iter().enumerate() {
        let mut line = format!("- {}", record.id);
        // Writing to a string cannot fail.
        if let Some(time) = record.time {
            let _ = write!(line, " [{}", time.format("%Y-%m-%d"));
            if !record.marks.is_empty() {
                let _ = write!(line, ", {}", record.marks);
            }
            line.push(']');
        }
        if let Some(reason) = &record.reason {
            let _ = write!(line, " because {reason}");
        }
        match (&record.label, record.id.kind) {
            (Some(label), RecordKind::Verbatim) => {
                let _ = write!(line, ": {label} ({} bytes)", record.content.len());
            }
            _ => {
                let content: String = record.content.chars().take(SHOWN_CHARS).collect();
                let _ = write!(line, ": {content}");
            }
        }
        for passage in evidence.get(&record.id).into_iter().flatten().take(1) {
            let _ = write!(line, "\n  taken from: {}", passage.quote);
        }
        if text.len() + line.len() > limit && place > 0 {
            let _ = write!(text, "({} more records left out)", records.len() - place);
            return text;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}
