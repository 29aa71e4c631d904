//! `RefreshHandoff`: creates and stores a handoff from the changes of a window (DESIGN §7).
//!
//! Reads the newest handoff. Creates another one only if it is stale, covers another window than the requested (or
//! configured) one, or `force` is set. Takes a snapshot, compiles it (by rules, or with a model, without holding a
//! database connection), and saves it under the lock of the memory's row, if no other handoff was saved meanwhile and
//! every source may still be quoted.
//!
//! Where a model writes the prose, its lines are checked against the input, and invalid lines are asked for once more.

use crate::domain::handoff::{
    DroppedLine, Freshness, HandoffAnswer, Material, Part, Rendered, Snapshot, Status, Window, Workspace,
    compile, describes_workspace, freshness, read_answer, render, shown,
};
use crate::domain::ids::{ActorId, HandoffId, MemoryId, VaultId};
use crate::fair::{self, Party};
use crate::llm::ModelError;
use crate::pipeline::ask::{RoleOutcome, asking, go_on};
use crate::pipeline::prompts::{Template, quoted, unquoted};
use crate::pipeline::steps::Steps;
use crate::pipeline::{LimitReached, Pipeline, PipelineError};
use crate::storage::handoffs::Handoff;
use crate::storage::idempotency::Answering;
use crate::storage::{Storage, StorageError};
use futures::future::join_all;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How often a handoff is recompiled after another writer saved one or a source was redacted.
const TRIES: u32 = 3;

/// Changes of the window that are read, newest first: more are not one handoff's.
const MAX_CHANGES: usize = 1_000;

/// A request for a handoff. Its values are already validated.
#[derive(Debug, Clone)]
pub struct HandoffRequest {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// Who sent the request.
    pub actor: ActorId,
    /// How far back it looks; `None` means the configured window.
    pub window: Option<Window>,
    /// Creates one although the newest is fresh.
    pub force: bool,
    /// The caller's folder.
    pub workspace: Option<Workspace>,
}

/// The result of a refresh.
#[derive(Debug, Clone, PartialEq)]
pub struct Refreshed {
    /// The newest handoff.
    pub handoff: Handoff,
    /// Its freshness.
    pub freshness: Freshness,
    /// Whether this call created it.
    pub is_new: bool,
}

/// Why no handoff was created.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    /// There is no such memory.
    #[error("the memory does not exist")]
    NoMemory,
    /// The maximum number of refreshes of this memory is already waiting.
    #[error(transparent)]
    Full(#[from] LimitReached),
    /// The memory changed in every attempt.
    #[error("the memory kept changing while the handoff was generated")]
    Moved,
    /// A database error; nothing was saved.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Computes the freshness of a handoff of a memory at this moment.
///
/// # Errors
/// Database errors.
pub async fn judge(
    storage: &Storage,
    of: (&VaultId, &MemoryId),
    handoff: &Handoff,
) -> Result<Freshness, StorageError> {
    let facts = storage.handoff_facts(of, handoff).await?;
    Ok(freshness(
        &handoff.markdown,
        &handoff.citations,
        handoff.base_version,
        (handoff.generated_at, handoff.window),
        &facts,
    ))
}

impl Pipeline {
    /// Returns the newest handoff if it is fresh and matches the request; otherwise creates one, saved with the answer to the
    /// request if that has an idempotency key.
    ///
    /// # Errors
    /// See [`HandoffError`]. A failing model is not an error: the handoff is then compiled by rules, and the manifest
    /// says so.
    pub async fn refresh_handoff(
        &self,
        request: &HandoffRequest,
        under: Option<&Answering<'_, Refreshed>>,
    ) -> Result<Refreshed, HandoffError> {
        let (vault, memory) = (&request.vault, &request.memory);
        let window = request.window.unwrap_or(self.config.handoff.window);
        let known = self.storage.handoff(vault, memory, None).await?;
        let known = known.map_or(0, |handoff| handoff.number);
        let limit = super::QUEUE_PER_MEMORY;
        let party = Party::of_memory(vault.as_str(), memory.as_str());
        let permit = self.handoffs.enter(&party, limit).await;
        let full = |_| LimitReached::of("refreshes of this memory", limit, LimitReached::OF_MEMORY);
        let _permit = permit.map_err(full)?;
        for _ in 0..TRIES {
            let latest = self.storage.handoff(vault, memory, None).await?;
            let number = latest.as_ref().map_or(0, |handoff| handoff.number);
            if let Some(handoff) = latest {
                let freshness = judge(&self.storage, (vault, memory), &handoff).await?;
                let fits = freshness.status == Status::Fresh && window == handoff.window;
                // With `force`, only one that was created after the request arrived, for the same folder.
                let is_new = || {
                    let workspace = request.workspace.as_ref();
                    handoff.number > known && describes_workspace(&handoff.markdown, workspace)
                };
                if fits && (!request.force || is_new()) {
                    return Ok(Refreshed {
                        handoff,
                        freshness,
                        is_new: false,
                    });
                }
            }
            let read = self.storage.handoff_snapshot(vault, memory, window, MAX_CHANGES);
            let snapshot = read.await?.ok_or(HandoffError::NoMemory)?;
            let handoff = self.make_handoff(request, &snapshot, window, number + 1).await?;
            let refreshed = Refreshed {
                freshness: judge(&self.storage, (vault, memory), &handoff).await?,
                handoff,
                is_new: true,
            };
            let answer = under.map(|under| under.to(&refreshed));
            let (new, keep) = (&refreshed.handoff, self.config.handoff.keep);
            let saved = self.storage.save_handoff(&snapshot, new, keep, answer.as_ref());
            if saved.await? {
                return Ok(refreshed);
            }
        }
        Err(HandoffError::Moved)
    }

    async fn make_handoff(
        &self,
        request: &HandoffRequest,
        snapshot: &Snapshot,
        window: Window,
        number: i64,
    ) -> Result<Handoff, HandoffError> {
        let material = Material::of(snapshot);
        let mut lines = compile(&material);
        let written = self.write_handoff(&request.vault, &material).await?;
        if let Some((answer, _)) = &written {
            // A section without a valid line of the model keeps the lines of the rules.
            let of_model = answer.lines.iter().filter(|(_, lines)| !lines.is_empty());
            lines.extend(of_model.map(|(part, lines)| (*part, lines.clone())));
        }
        let rendered = render(&material, &lines, request.workspace.as_ref(), window);
        let handoff_id: HandoffId = self.clock.new_id().into();
        let of = (&handoff_id, window);
        Ok(Handoff {
            manifest: manifest(of, snapshot, &material, &rendered, written.as_ref()),
            handoff_id,
            number,
            generated_at: snapshot.now,
            generated_by: request.actor.clone(),
            window,
            base_version: snapshot.head.version,
            base_context_id: snapshot.context_id.clone(),
            base_time: snapshot.head.at,
            markdown: rendered.markdown,
            citations: rendered.citations,
        })
    }
}

/// The manifest: what the handoff was compiled from, and how.
fn manifest(
    (handoff_id, window): (&HandoffId, Window),
    snapshot: &Snapshot,
    material: &Material<'_>,
    rendered: &Rendered,
    written: Option<&(HandoffAnswer, Value)>,
) -> Value {
    let inputs = material.entries.iter().map(|entry| {
        json!({
            "record_id": entry.life.record.id.to_string(),
            "version": entry.last.version,
            "changes": entry.changes.iter().map(|change| change.name()).collect::<Vec<_>>(),
            "at": entry.last.at,
            "by": entry.last.by.as_str(),
            "status": if entry.is_active() { "active" } else { "archived" },
            "current": entry.current.map(|id| id.to_string()),
        })
    });
    let mut cited: BTreeSet<String> = BTreeSet::new();
    let lines = rendered.citations.iter().filter(|line| line.line > 0);
    let all = lines.flat_map(|line| &line.cited);
    cited.extend(all.map(|cited| cited.citation.to_string()));
    let count = |part: Part| json!(rendered.counts.get(&part).copied().unwrap_or_default());
    let sections = Part::ALL.map(|part| (part.name().to_owned(), count(part)));
    let sections = Map::from_iter(sections);
    let dropped = written.into_iter().flat_map(|(answer, _)| &answer.dropped);
    let dropped = dropped.map(|dropped| {
        json!({
            "section": dropped.part.map(Part::name),
            "reason": dropped.reason.name(),
            "text": dropped.text,
        })
    });
    json!({
        "handoff_id": handoff_id,
        "generated_at": snapshot.now,
        "window": window.to_string(),
        "base_version": snapshot.head.version,
        "model": written.map(|(_, report)| report),
        "inputs": inputs.collect::<Vec<_>>(),
        "inputs_complete": !snapshot.has_more_changes,
        "cited": cited,
        "sections": sections,
        "dropped": dropped.collect::<Vec<_>>(),
        "more_dropped": written.map_or(0, |(answer, _)| answer.more_dropped),
    })
}

impl Pipeline {
    /// Asks the model for the lines, and reports how that went; `None` if the handoff is compiled by rules alone. If the model fails, or is not
    /// called because the vault has used its daily tokens, the lines of the rules remain, and the report says why.
    /// Token usage is recorded.
    ///
    /// # Errors
    /// Database errors.
    async fn write_handoff(
        &self,
        vault: &VaultId,
        material: &Material<'_>,
    ) -> Result<Option<(HandoffAnswer, Value)>, StorageError> {
        let Some(model) = self.models.for_handoff() else {
            return Ok(None);
        };
        let (entries, citations) = shown(material);
        if citations.is_empty() {
            // Every line must cite an entry, and there is none.
            return Ok(None);
        }
        let mut outcome = RoleOutcome::of(model.model.name());
        let mut answer = HandoffAnswer::default();
        let (rounds, refused) = match self.refuse_over_tokens(vault).await {
            Ok(()) => (1 + self.config.pipeline.max_reprompts.min(1), None),
            Err(PipelineError::Storage(error)) => return Err(error),
            Err(refused) => (0, Some(refused.to_string())),
        };
        let memory = quoted(&entries);
        let input = self
            .prompts
            .fill(Template::HandoffInput, &[("{memory}", &memory)]);
        let system = self.prompts.text(Template::Handoff);
        let mut asking = asking(None, system, input, None);
        for round in 0..rounds {
            let caller = (vault, &Steps::default(), true);
            let asked = self.call(caller, (model, &asking), round, &mut outcome).await;
            let Some((text, is_cut_off)) = asked else { break };
            let read = || read_answer((&unquoted(&text, false), is_cut_off), material, &citations);
            let read = fair::on_cpu(text.len(), read).await;
            if round == 0 {
                answer = read;
            } else {
                answer.amend(read);
            }
            if answer.dropped.is_empty() {
                break;
            }
            let faults = describe(&answer.dropped);
            let again = self
                .prompts
                .fill(Template::HandoffAgain, &[("{faults}", &faults)]);
            go_on(&mut asking, text, again);
        }
        join_all(outcome.counting).await;
        let mut told = json!(outcome.report);
        told["failed"] = json!(refused.or(outcome.failure.as_ref().map(ModelError::public)));
        Ok(Some((answer, told)))
    }
}

/// The rejected lines, in the form in which the model is asked again.
fn describe(dropped: &[DroppedLine]) -> String {
    let mut text = String::new();
    for DroppedLine {
        part,
        reason,
        text: dropped_text,
    } in dropped
    {
        let section = part.map_or("none", Part::name).to_uppercase();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {section}: {}\n  > {dropped_text}", reason.advice());
    }
    text.truncate(text.trim_end().len());
    text
}
