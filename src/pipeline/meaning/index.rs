//! Embeds the contents of memories in the background, after they were saved.

use super::{Meaning, Model, model_of};
use crate::domain::search::PassageHash;
use crate::domain::search::passages::{quantised, signs};
use crate::llm::embeddings::{EmbedError, EmbeddingModel, EmbeddingResult};
use crate::storage::search::Pending;
use crate::storage::search::vectors::{Space, SpaceSettings, StoredVector};
use crate::storage::usage::Spent;
use crate::storage::{Class, FailingVaults, StorageError};
use crate::telemetry::meters;
use std::collections::HashMap;
use std::mem::take;

/// Approximate number of passages whose texts and vectors are in memory at once.
const PASSAGES: usize = 1_000;

/// Why memories could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A database error.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// An error of the embedding model.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// Another model has become the current one.
    #[error("another embedding model has become the current one")]
    Superseded,
}

/// The result of a pass over all memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// All memories are embedded, except those of vaults that failed.
    Done,
    /// No model is configured, or another model is current and its instance does the work.
    Idle,
}

/// A memory that is being embedded, and the vectors of its passages that are known.
type Work<'a> = (&'a Pending, HashMap<PassageHash, StoredVector>);

impl Meaning {
    /// Embeds everything that is pending, in one pass over all memories.
    ///
    /// # Errors
    /// Errors of the model or the database. What was embedded before the error is kept.
    pub async fn index(&self) -> Result<Pass, IndexError> {
        let Some(model) = &self.model else {
            return Ok(Pass::Idle);
        };
        let known = model.own_space.lock().clone();
        let is_first = known.is_none();
        let own = match known {
            Some(id) => id,
            None => self.activate_space(model).await?,
        };
        let spaces = self.storage.embedding_spaces().await?;
        let space = spaces.current().filter(|space| space.id == own);
        // At first also what was written while no embeddings were configured, or by a service without them.
        if let Some(space) = space.filter(|space| is_first || !space.is_marked) {
            self.storage.mark_for_embedding(space).await?;
        }
        *model.own_space.lock() = Some(own.clone());
        let Some(space) = space else {
            return Ok(Pass::Idle);
        };
        let embedded = self.embed_pending(model, space).await;
        if let Err(IndexError::Embed(EmbedError::Dimensions { expected, found })) = &embedded {
            tracing::warn!(
                expected,
                found,
                "the embedding model has changed, everything is embedded anew"
            );
            *model.own_space.lock() = None;
        }
        let are_all = match embedded {
            Err(IndexError::Superseded) => return Ok(Pass::Idle),
            other => other?,
        };
        // A vault that failed is still searched with the vectors of the model before.
        if are_all && (space.ready_at.is_none() || spaces.0.len() > 1) {
            self.storage.space_is_ready(space).await?;
            tracing::info!(model = space.settings.model, "all memories are embedded");
        }
        Ok(Pass::Done)
    }

    /// Whether no vault failed.
    async fn embed_pending(&self, model: &Model, space: &Space) -> Result<bool, IndexError> {
        let mut last: Option<Pending> = None;
        let mut failing = FailingVaults::new("embedding");
        loop {
            let batch = self.storage.pending_for_embedding(last.as_ref()).await?;
            let now = self.storage.now();
            let waited = batch
                .iter()
                .filter_map(|pending| (now - pending.changed_at).to_std().ok());
            metrics::gauge!(meters::EMBEDDING_LAG_SECONDS).set(waited.max().unwrap_or_default());
            let Some(end) = batch.last().cloned() else {
                return Ok(failing.failures() == 0);
            };
            for of_vault in batch.chunk_by(|one, next| one.vault == next.vault) {
                match self.embed_memories(model, space, of_vault).await {
                    Err(IndexError::Storage(error)) => {
                        failing.pass_over::<()>(of_vault[0].vault.as_str(), Err(error))?;
                    }
                    done => done?,
                }
            }
            last = Some(end);
        }
    }

    /// Embeds memories of one vault.
    async fn embed_memories(&self, model: &Model, space: &Space, all: &[Pending]) -> Result<(), IndexError> {
        let mut waiting: Vec<Work<'_>> = Vec::new();
        let mut missing: HashMap<PassageHash, String> = HashMap::new();
        for of in all {
            let (vault, memory, dimensions) = (&of.vault, &of.memory, space.settings.dimensions);
            let sources = self.storage.search_sources(vault, memory, Class::Maintenance);
            let Some(sources) = sources.await? else { continue };
            let known = self.storage.vectors_of(vault, memory, &space.id, dimensions);
            let known = known.await?;
            for (passage, _) in sources.passages() {
                let hash = passage.hash();
                if !known.contains_key(&hash) {
                    missing.insert(
                        hash,
                        format!("{}{}", space.settings.document_prefix, passage.shown()),
                    );
                }
            }
            waiting.push((of, known));
            if missing.len() >= PASSAGES {
                let (waiting, missing) = (take(&mut waiting), take(&mut missing));
                self.embed_texts(model, space, waiting, missing).await?;
            }
        }
        self.embed_texts(model, space, waiting, missing).await
    }

    async fn embed_texts(
        &self,
        model: &Model,
        space: &Space,
        waiting: Vec<Work<'_>>,
        missing: HashMap<PassageHash, String>,
    ) -> Result<(), IndexError> {
        let Some((first, _)) = waiting.first() else {
            return Ok(());
        };
        let (hashes, texts): (Vec<PassageHash>, Vec<&str>) =
            missing.iter().map(|(hash, text)| (*hash, text.as_str())).unzip();
        let wanted = model_of(space);
        let (embedded, end) = match texts.is_empty() {
            true => (EmbeddingResult::default(), Ok(())),
            false => {
                let (embedded, end) = model.embedder.embed(wanted, &texts).await;
                let spent = Spent {
                    runs: 1,
                    calls: embedded.calls,
                    failures: end.is_err().into(),
                    input_tokens: embedded.input_tokens,
                    millis: embedded.millis,
                    ..Spent::default()
                };
                self.spend(&first.vault, wanted.model, spent).await;
                (embedded, end)
            }
        };
        if embedded.vectors.is_empty() {
            end.clone()?;
        }
        let stored = |vector: Vec<f32>| (signs(&vector), quantised(&vector));
        let vectors = embedded.vectors.into_iter().map(|vector| vector.map(stored));
        let new: HashMap<PassageHash, StoredVector> = hashes.into_iter().zip(vectors).collect();
        let refused = new.values().filter(|vector| vector.is_none()).count();
        for (outcome, passages) in [("embedded", new.len() - refused), ("refused", refused)] {
            metrics::counter!(meters::EMBEDDING_PASSAGES_TOTAL, "outcome" => outcome)
                .increment(passages as u64);
        }
        for (of, mut known) in waiting {
            known.extend(new.iter().map(|(hash, vector)| (*hash, vector.clone())));
            let dimensions = space.settings.dimensions;
            let is_current = self
                .storage
                .save_vectors(&of.vault, &of.memory, &space.id, dimensions, &known)
                .await?;
            // What was written meanwhile comes next.
            if !is_current {
                return Err(IndexError::Superseded);
            }
        }
        // What was embedded before it is saved, so that it is not asked for again.
        end.map_err(IndexError::from)
    }

    /// Makes the space that the configured model fills the current one: the model is asked for the length of its vectors.
    /// Returns its id.
    async fn activate_space(&self, model: &Model) -> Result<String, IndexError> {
        let config = model.embedder.config();
        let name = config.model.clone().unwrap_or_default();
        let wanted = EmbeddingModel {
            model: &name,
            dimensions: None,
        };
        let settings = SpaceSettings {
            dimensions: model.embedder.probe(wanted).await?.len(),
            model: name,
            query_prefix: config.query_prefix.clone(),
            document_prefix: config.document_prefix.clone(),
        };
        self.storage.activate_space(&settings).await?;
        Ok(settings.id())
    }
}
