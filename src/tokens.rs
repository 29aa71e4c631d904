//! How many tokens a text has, by a real tokenizer: `cl100k_base`, compiled in and unpacked when it is first needed.
//!
//! Each model has its own vocabulary; this one is near those of the large providers for English and for code, and it
//! is the smallest of those at hand. Counts of texts that come again and again are kept, a bounded number of them.

use quick_cache::sync::Cache;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// How many counts are kept: a few prompts of many small pieces, in about a megabyte.
const KEPT: usize = 16_384;

/// Counts tokens.
pub struct Tokens {
    /// By hash and length. The hash is keyed anew in each process, so nobody can choose two texts of one hash.
    counts: Cache<(u64, usize), usize>,
    hasher: RandomState,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            counts: Cache::new(KEPT),
            hasher: RandomState::new(),
        }
    }
}

impl Tokens {
    /// The tokens of a text. Linear; a text that was counted lately is only hashed.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        let key = (self.hasher.hash_one(text), text.len());
        if let Some(count) = self.counts.get(&key) {
            return count;
        }
        let count = bpe_openai::cl100k_base().count(text);
        self.counts.insert(key, count);
        count
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("kept", &self.counts.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_tokens_of_the_published_vocabulary() {
        let tokens = Tokens::default();
        for (text, count) in [("", 0), ("Hello, world!", 4), ("tiktoken is great!", 6)] {
            assert_eq!(tokens.count(text), count, "{text}");
            assert_eq!(tokens.count(text), count, "{text}, kept");
        }
    }
}
