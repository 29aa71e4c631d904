//! Values from a fixed set of words, and errors that list them.

use serde::Deserialize as _;
use serde::de::{Deserializer, Error};
use std::str::FromStr;
use strum::VariantNames;

/// Parses a word to the value that it names.
///
/// # Errors
/// Another word; the message lists the accepted ones.
pub(super) fn one_of<'de, D: Deserializer<'de>, T: FromStr + VariantNames>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let word = text.trim();
    word.parse().map_err(|_| {
        let names = T::VARIANTS.join(", ");
        D::Error::custom(format!("must be one of {names}, not {word:?}"))
    })
}

/// Implements parsing from words for an enum of the configuration.
macro_rules! read_from_words {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::config::words::one_of(deserializer)
            }
        }
    };
}
pub(super) use read_from_words;
