//! API tokens: `wm_<key_id>_<secret>`.
//!
//! The prefix makes tokens recognisable to people and secret scanners. The id finds the key without revealing
//! the secret. The secret is 256 random bits in hexadecimal, and only the SHA-256 of the token is stored: a
//! slow hash protects secrets that people choose, which can be guessed; 256 random bits cannot be guessed,
//! however fast the hash is.

use crate::domain::ids::KeyId;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const BEGINNING: &str = "wm_";

/// Number of hexadecimal digits of a secret.
const SECRET_DIGITS: usize = 64;

/// A token as its holder sends it. `Debug` does not show it.
#[derive(Debug, Clone)]
pub struct Token {
    key_id: KeyId,
    text: SecretString,
}

impl Token {
    /// Creates the token of a key from a secret.
    #[must_use]
    pub fn new(key_id: KeyId, secret: &[u8; 32]) -> Self {
        let text = format!("{BEGINNING}{key_id}_{}", hex::encode(secret));
        Self {
            key_id,
            text: text.into(),
        }
    }

    /// Parses a token; `None` if it does not have the form of one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (key_id, secret) = text.strip_prefix(BEGINNING)?.rsplit_once('_')?;
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if secret.len() != SECRET_DIGITS || !secret.bytes().all(is_digit) {
            return None;
        }
        Some(Self {
            key_id: key_id.parse().ok()?,
            text: text.into(),
        })
    }

    /// The id of the key that the token names.
    #[must_use]
    pub fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// The hash to store.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(self.text.expose_secret())
    }

    /// The token itself, to be shown once to its holder.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }
}

/// The SHA-256 of a token.
#[derive(Debug, Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Hashes a text with enough entropy.
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Reads a stored hash; `None` if the length is wrong.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares two hashes in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::new("0a1b2c".parse().unwrap(), &[0xab; 32])
    }

    #[test]
    fn a_token_reads_back_as_it_is_shown() {
        let shown = token().expose().to_owned();
        assert_eq!(shown, format!("wm_0a1b2c_{}", "ab".repeat(32)));
        let read = Token::parse(&shown).unwrap();
        assert_eq!(read.key_id().as_str(), "0a1b2c");
        assert!(read.hash().matches(&token().hash()));
        let other = Token::new("0a1b2c".parse().unwrap(), &[0xac; 32]);
        assert!(!other.hash().matches(&token().hash()));
    }

    #[test]
    fn what_has_not_the_form_of_a_token_is_none() {
        let digits = "ab".repeat(32);
        for bad in [
            String::new(),
            "wm_".to_owned(),
            format!("wm_{digits}"),
            format!("wm__{digits}"),
            format!("wx_k_{digits}"),
            format!("wm_k_{digits}0"),
            format!("wm_k_{}", digits.to_uppercase()),
            format!("wm_k_{}", "zz".repeat(32)),
            format!("wm_.k_{digits}"),
            format!(" wm_k_{digits}"),
        ] {
            assert!(Token::parse(&bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_secret_is_not_in_what_debug_shows() {
        assert!(!format!("{:?}", token()).contains("abab"));
    }
}
