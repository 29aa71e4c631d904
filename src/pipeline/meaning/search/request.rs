//! What is searched for, and how.

use crate::domain::ids::VaultId;
use crate::storage::search::vectors::PassageFilter;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// How a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// By words.
    Text,
    /// By meaning.
    Semantic,
    /// By both.
    Hybrid,
}

impl Mode {
    /// The name shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is searched for.
#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// Where.
    pub vault: &'a VaultId,
    /// In the client's words.
    pub text: &'a str,
    /// How; without it by both where there is a model, by words otherwise.
    pub mode: Option<Mode>,
    /// How like the query what is found by meaning has to be.
    pub min_score: Option<f32>,
    /// Which passages.
    pub filter: PassageFilter,
    /// How many at most.
    pub limit: usize,
}
