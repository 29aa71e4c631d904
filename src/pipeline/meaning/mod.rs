//! Semantic search: an embedding model, the vectors of memories (`index`), and searches over them (`search`).
//!
//! Vectors are computed in the background, never within a write. While the model is unavailable, searches return no
//! semantic results; text search continues.

mod index;
mod inside;
mod query;
mod search;

pub use index::{IndexError, Pass};
pub use inside::NearRecords;
pub use query::NoVector;
pub use search::{Candidate, Hit, HitPassage, Mode, SearchRequest, SearchResults};

use crate::clock::Clock;
use crate::llm::embeddings::Embedder;
use crate::storage::Storage;
use query::Queries;
use std::sync::Arc;
use std::sync::Mutex;

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
