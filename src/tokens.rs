//! Counts tokens with a real tokenizer: `cl100k_base`, compiled in compressed (1 MB) and unpacked on first use (60 ms).
//!
//! Each model has its own vocabulary; this one is close to those of the large providers for English and code,
//! and it is the smallest one available. The counts of recently counted texts are cached, up to a fixed
//! number.

use quick_cache::sync::Cache;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use tiktoken::CoreBpe;

static ENCODING: LazyLock<&CoreBpe> =
    LazyLock::new(|| tiktoken::get_encoding("cl100k_base").expect("the vocabulary is compiled in"));

/// Number of cached counts: enough for a few prompts of many small pieces, about one megabyte.
const KEPT: usize = 16_384;

/// Counts tokens.
#[derive(Debug)]
pub struct Tokens {
    /// Key: hash and length. The hash is keyed per process, so nobody can construct two texts with the same
    /// hash.
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
    /// Returns the number of tokens of a text. Linear; for a cached text only the hash is computed.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        let key = (self.hasher.hash_one(text), text.len());
        if let Some(count) = self.counts.get(&key) {
            return count;
        }
        let count = ENCODING.count(text);
        self.counts.insert(key, count);
        count
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
