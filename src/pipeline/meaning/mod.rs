//! Search by meaning: an embedding model, what it makes of memories (`index`), and searches over that (`search`).
//!
//! Vectors are made outside of every write, by the background. A model that is away costs searches nothing but their
//! answers by meaning: those by words go on.

mod index;
mod inside;
mod queries;
mod query;
mod search;

pub use index::{IndexError, Pass};
pub use inside::NearRecords;
pub use query::NoVector;
pub use search::{Answer, Candidate, Hit, HitPassage, Mode, SearchRequest};

use crate::clock::Clock;
use crate::llm::embeddings::Embedder;
use crate::storage::Storage;
use queries::Queries;
use std::sync::Arc;
use std::sync::Mutex;

/// Searches of a service, by words and, where a model is configured, by meaning. Cheap to clone.
#[derive(Clone)]
pub struct Meaning {
    storage: Storage,
    clock: Arc<dyn Clock>,
    model: Option<Arc<Model>>,
}

/// The model with what is known of it.
struct Model {
    embedder: Embedder,
    queries: Queries,
    /// Which space it fills; `None` until it has been asked how long its vectors are.
    own_space: Mutex<Option<String>>,
}

impl Meaning {
    /// Searches over a database, with a model or by words only.
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

    /// Whether there is a model.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.model.is_some()
    }
}
