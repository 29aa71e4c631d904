//! Search requests.

use crate::domain::ids::VaultId;
use crate::storage::search::vectors::PassageFilter;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The mode of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// By text.
    Text,
    /// By meaning.
    Semantic,
    /// By both.
    Hybrid,
}

impl Mode {
    /// The name in requests and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A search request.
#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// The vault to search.
    pub vault: &'a VaultId,
    /// The query text.
    pub text: &'a str,
    /// The mode; by default hybrid if a model is configured, text otherwise.
    pub mode: Option<Mode>,
    /// The minimum similarity of semantic matches.
    pub min_score: Option<f32>,
    /// Which passages are searched.
    pub filter: PassageFilter,
    /// The maximum number of results.
    pub limit: usize,
}
