//! What the holder of a key shows: `wm_<key_id>_<secret>`.
//!
//! The beginning lets people and scanners of leaked secrets recognise it, the id finds the key without telling the
//! secret, and the secret is 256 random bits in hexadecimal. What is stored is its SHA-256: a slow hash protects
//! secrets that people choose, because those can be guessed; of 2^256 random ones none can, however fast the hash.

use crate::domain::ids::KeyId;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const BEGINNING: &str = "wm_";

/// Hexadecimal digits of a secret.
const SECRET_DIGITS: usize = 64;

/// A key as its holder shows it. Never shown by `Debug`.
#[derive(Debug, Clone)]
pub struct Token {
    key_id: KeyId,
    text: SecretString,
}

impl Token {
    /// The token of a key with this secret.
    #[must_use]
    pub fn new(key_id: KeyId, secret: &[u8; 32]) -> Self {
        let text = format!("{BEGINNING}{key_id}_{}", hex::encode(secret));
        Self {
            key_id,
            text: text.into(),
        }
    }

    /// Reads a token; `None` if it has not the form of one.
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

    /// Which key it says it is.
    #[must_use]
    pub fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// What is stored of it.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(self.text.expose_secret())
    }

    /// The text itself, to be shown once to its holder.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }
}

/// The SHA-256 of a token.
#[derive(Debug, Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Of a text that nobody can guess.
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// A stored hash; `None` if it is none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes, to be stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether both are of one token, in a time that does not tell how much of them is the same.
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
