//! Values from a fixed set of words, and errors that list them.

use serde::Deserialize as _;
use serde::de::{Deserializer, Error};

/// Parses a word to the value that it names.
///
/// # Errors
/// Another word; the message lists the accepted ones.
pub(super) fn one_of<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    words: &[(&str, T)],
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let word = text.trim();
    let found = words.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        D::Error::custom(format!("must be one of {}, not {word:?}", names.join(", ")))
    })
}

/// Implements parsing from words for an enum of the configuration.
macro_rules! read_from_words {
    ($name:ident { $($word:literal => $value:ident),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::config::words::one_of(deserializer, &[$(($word, Self::$value)),+])
            }
        }
    };
}
pub(super) use read_from_words;
