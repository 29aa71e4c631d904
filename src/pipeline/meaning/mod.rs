//! Semantic search: an embedding model, the vectors of memories (`index`), and searches over them (`search`).
//!
//! Vectors are computed in the background, never within a write. While the model is unavailable, searches return no
//! semantic results; text search continues.
//!
//! The vectors of queries are computed here, while a client waits.

mod index;
mod search;

use crate::clock::Clock;
use crate::domain::ids::VaultId;
use crate::llm::embeddings::{EmbedError, Embedder, EmbeddingModel};
use crate::storage::search::vectors::{Space, Spaces};
use crate::storage::usage::{RoleSpent, Spender, Spent};
use crate::storage::{Storage, StorageError};
use crate::telemetry::meters;
pub use index::{IndexError, Pass};
use quick_cache::sync::Cache;
pub use search::{Candidate, Hit, HitPassage, Mode, NearRecords, SearchRequest, SearchResults};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Searches by text and, if a model is configured, by meaning. Cheap to clone.
#[derive(Clone)]
pub struct Meaning {
    storage: Storage,
    clock: Arc<dyn Clock>,
    model: Option<Arc<Model>>,
}

/// The embedding model and its cached state.
struct Model {
    embedder: Embedder,
    queries: Queries,
    /// The id of the space it fills; `None` until the model was asked for the length of its vectors.
    own_space: Mutex<Option<String>>,
}

impl Meaning {
    /// Creates the search over a database, with a model or by text only.
    #[must_use]
    pub fn new(storage: Storage, clock: Arc<dyn Clock>, embedder: Option<Embedder>) -> Self {
        let model = |embedder| {
            Arc::new(Model {
                embedder,
                queries: Queries::default(),
                own_space: Mutex::default(),
            })
        };
        Self {
            storage,
            clock,
            model: embedder.map(model),
        }
    }

    /// Whether a model is configured.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.model.is_some()
    }
}

/// How long the list of embedding spaces is cached.
const SPACES_FOR: Duration = Duration::from_secs(2);

/// Why there is no vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoVector {
    /// No model is configured.
    #[error("no embedding model is configured (embeddings.base_url, embeddings.model)")]
    NotConfigured,
    /// Nothing is embedded yet.
    #[error("nothing is indexed by meaning yet")]
    NotIndexed,
    /// The model did not answer. The reason is public: it contains no address and no key.
    #[error("the embedding model is not available: {0}")]
    Away(String),
}

/// The vector of a query and the space it belongs to.
pub(super) struct EmbeddedQuery {
    pub(super) space: Space,
    pub(super) vector: Arc<[f32]>,
}

impl Meaning {
    /// The vector of a query, in the space that currently answers searches.
    pub(super) async fn embed_query(
        &self,
        vault: &VaultId,
        query: &str,
    ) -> Result<Result<EmbeddedQuery, NoVector>, StorageError> {
        let Some(model) = &self.model else {
            return Ok(Err(NoVector::NotConfigured));
        };
        let spaces = self.spaces(model).await?;
        let Some(space) = spaces.answering() else {
            return Ok(Err(NoVector::NotIndexed));
        };
        let text = format!("{}{query}", space.settings.query_prefix);
        let key = (space.id.clone(), text);
        if let Some(vector) = model.queries.vectors.get(&key) {
            let space = space.clone();
            return Ok(Ok(EmbeddedQuery { space, vector }));
        }
        if let Some(why) = model.queries.is_failing() {
            return Ok(Err(NoVector::Away(why)));
        }
        let wanted = EmbeddingModel {
            model: &space.settings.model,
            dimensions: Some(space.settings.dimensions),
        };
        let begun = Instant::now();
        let time = model.embedder.settings().query_timeout;
        let asked = model.embedder.embed_once(wanted, &key.1, time).await;
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (failures, input_tokens) = match &asked {
            Ok((_, tokens)) => (0, *tokens),
            Err(_) => (1, 0),
        };
        let spent = Spent {
            runs: 1,
            calls: 1,
            failures,
            input_tokens,
            millis,
            ..Spent::default()
        };
        self.spend(vault, &space.settings.model, spent).await;
        match asked {
            Ok((vector, _)) => {
                let vector: Arc<[f32]> = vector.into();
                model.queries.vectors.insert(key, vector.clone());
                let space = space.clone();
                Ok(Ok(EmbeddedQuery { space, vector }))
            }
            Err(error) => {
                tracing::warn!(%error, "a query could not be embedded, searches go by words");
                let why = public(&error);
                model.queries.fails(why.clone());
                Ok(Err(NoVector::Away(why)))
            }
        }
    }

    /// The embedding spaces, cached for [`SPACES_FOR`].
    async fn spaces(&self, model: &Model) -> Result<Spaces, StorageError> {
        let kept = model
            .queries
            .spaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((at, spaces)) = kept
            && at.elapsed() < SPACES_FOR
        {
            return Ok(spaces);
        }
        self.spaces_now(model).await
    }

    /// The embedding spaces, read from the database now.
    async fn spaces_now(&self, model: &Model) -> Result<Spaces, StorageError> {
        let spaces = self.storage.embedding_spaces().await?;
        *model
            .queries
            .spaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), spaces.clone()));
        Ok(spaces)
    }

    /// Whether this space still answers searches and its vectors are complete.
    pub(super) async fn answers_still(&self, space: &Space) -> Result<bool, StorageError> {
        let Some(model) = &self.model else {
            return Ok(true);
        };
        let spaces = self.spaces_now(model).await?;
        Ok(spaces
            .answering()
            .is_some_and(|answering| answering.id == space.id))
    }

    /// Records the usage of the model. A failure to record it is only logged.
    pub(super) async fn spend(&self, vault: &VaultId, model: &str, spent: Spent) {
        meters::embedding_calls(spent.calls, spent.failures);
        let spent = RoleSpent {
            role: Spender::Embeddings,
            model: model.to_owned(),
            spent,
        };
        let day = self.clock.now().date_naive();
        if let Err(error) = self.storage.add_usage(vault, day, &[spent]).await {
            tracing::warn!(%error, "the usage of the embedding model could not be stored");
        }
    }
}

/// The public description of an error.
fn public(error: &EmbedError) -> String {
    match error {
        EmbedError::Model(error) => error.public(),
        EmbedError::Dimensions { .. } => "the model answers vectors of another length".to_owned(),
    }
}

/// Maximum number of cached query vectors: they serve further pages of a search, and frequent queries.
const KEPT: usize = 1_000;

/// How long searches do not call the embedding server after it failed.
const REST: Duration = Duration::from_secs(5);

/// State that is cached between queries.
pub(super) struct Queries {
    pub(super) vectors: Cache<(String, String), Arc<[f32]>>,
    pub(super) spaces: Mutex<Option<(Instant, Spaces)>>,
    /// Since when the server has been failing, and why.
    failing: Mutex<Option<(Instant, String)>>,
}

impl Default for Queries {
    fn default() -> Self {
        Self {
            vectors: Cache::new(KEPT),
            spaces: Mutex::default(),
            failing: Mutex::default(),
        }
    }
}

impl Queries {
    pub(super) fn is_failing(&self) -> Option<String> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, why) = failing.as_ref()?;
        (since.elapsed() < REST).then(|| why.clone())
    }

    pub(super) fn fails(&self, why: String) {
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), why));
    }
}
