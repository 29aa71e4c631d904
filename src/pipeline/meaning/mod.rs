//! Semantic search: an embedding model, the vectors of memories (`index`), and searches over them (`search`).
//!
//! Vectors are computed in the background, never within a write. While the model is unavailable, searches return no
//! semantic results; text search continues.
//!
//! The vectors of queries are computed here, while a client waits.

mod index;
mod search;

use crate::domain::ids::VaultId;
use crate::llm::embeddings::{EmbedError, Embedder, EmbeddingModel, QUERY_TIMEOUT};
pub use crate::storage::search::Hit;
use crate::storage::search::vectors::Space;
use crate::storage::usage::{RoleSpent, Spender, Spent};
use crate::storage::{Storage, StorageError};
use crate::telemetry::meters;
pub use index::{IndexError, Pass};
use parking_lot::Mutex;
use quick_cache::sync::Cache;
pub use search::{Candidate, Mode, NearRecords, SearchRequest, SearchResults};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of cached query vectors.
const KEPT: usize = 1_000;

/// How long searches do not call the embedding server after it failed.
const REST: Duration = Duration::from_secs(5);

/// Searches by text and, if a model is configured, by meaning. Cheap to clone.
#[derive(Clone)]
pub struct Meaning {
    storage: Storage,
    model: Option<Arc<Model>>,
}

/// The embedding model, and what is kept between queries.
struct Model {
    embedder: Embedder,
    /// The id of the space it fills; `None` until the model was asked for the length of its vectors.
    own_space: Mutex<Option<String>>,
    /// Vectors of queries, by space and text: they serve further pages of a search, and frequent queries.
    vectors: Cache<(String, String), Arc<[f32]>>,
    /// Since when the server has been failing, and why.
    failing: Mutex<Option<(Instant, String)>>,
}

/// The space that answers a query, and its vector there.
type EmbeddedQuery = (Space, Arc<[f32]>);

impl Meaning {
    /// Creates the search over a database, with a model or by text only.
    #[must_use]
    pub fn new(storage: Storage, embedder: Option<Embedder>) -> Self {
        let model = |embedder| {
            Arc::new(Model {
                embedder,
                own_space: Mutex::default(),
                vectors: Cache::new(KEPT),
                failing: Mutex::default(),
            })
        };
        Self {
            storage,
            model: embedder.map(model),
        }
    }

    /// Whether a model is configured.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.model.is_some()
    }

    /// The vector of a query, in the space that currently answers searches; or why there is none, in words that show no address
    /// and no key.
    async fn embed_query(
        &self,
        vault: &VaultId,
        query: &str,
    ) -> Result<Result<EmbeddedQuery, String>, StorageError> {
        let Some(model) = &self.model else {
            let why = "no embedding model is configured (embeddings.base_url, embeddings.model)";
            return Ok(Err(why.to_owned()));
        };
        let spaces = self.storage.embedding_spaces().await?;
        let Some(space) = spaces.answering() else {
            return Ok(Err("nothing is indexed by meaning yet".to_owned()));
        };
        let text = format!("{}{query}", space.settings.query_prefix);
        let key = (space.id.clone(), text);
        if let Some(vector) = model.vectors.get(&key) {
            return Ok(Ok((space.clone(), vector)));
        }
        let away = |why: &str| format!("the embedding model is not available: {why}");
        if let Some((since, why)) = &*model.failing.lock()
            && since.elapsed() < REST
        {
            return Ok(Err(away(why)));
        }
        let begun = Instant::now();
        let asked = model
            .embedder
            .embed_once(model_of(space), &key.1, QUERY_TIMEOUT)
            .await;
        let spent = Spent {
            runs: 1,
            calls: 1,
            failures: asked.is_err().into(),
            input_tokens: asked.as_ref().map_or(0, |(_, tokens)| *tokens),
            millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..Spent::default()
        };
        self.spend(vault, &space.settings.model, spent).await;
        match asked {
            Ok((vector, _)) => {
                let vector: Arc<[f32]> = vector.into();
                model.vectors.insert(key, vector.clone());
                Ok(Ok((space.clone(), vector)))
            }
            Err(error) => {
                tracing::warn!(%error, "a query could not be embedded, searches go by words");
                if let EmbedError::Dimensions { .. } = error {
                    // The next pass asks for the length; not while it embeds anew and the vectors before still answer.
                    model.own_space.lock().take_if(|own| *own == space.id);
                }
                let why = match &error {
                    EmbedError::Model(error) => error.public(),
                    EmbedError::Dimensions { .. } => "the model answers vectors of another length".to_owned(),
                };
                let shown = away(&why);
                // What the model says of one query holds for no other.
                if !error.is_of_the_texts() {
                    *model.failing.lock() = Some((Instant::now(), why));
                }
                Ok(Err(shown))
            }
        }
    }

    /// Whether this space still answers searches and its vectors are complete.
    async fn answers_still(&self, space: &Space) -> Result<bool, StorageError> {
        let spaces = self.storage.embedding_spaces().await?;
        Ok(spaces
            .answering()
            .is_some_and(|answering| answering.id == space.id))
    }

    /// Counts the usage of the model.
    async fn spend(&self, vault: &VaultId, model: &str, spent: Spent) {
        for (outcome, calls) in [("asked", spent.calls), ("failed", spent.failures)] {
            metrics::counter!(meters::EMBEDDING_CALLS_TOTAL, "outcome" => outcome).increment(calls);
        }
        let spent = RoleSpent {
            role: Spender::Embeddings,
            model: model.to_owned(),
            spent,
        };
        self.storage.add_usage(vault, spent).await;
    }
}

/// The model that filled a space.
fn model_of(space: &Space) -> EmbeddingModel<'_> {
    EmbeddingModel {
        model: &space.settings.model,
        dimensions: Some(space.settings.dimensions),
    }
}
