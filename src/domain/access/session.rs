//! What a browser holds of a session: 256 random bits in hexadecimal. Stored is its SHA-256, as of a key's token.
//!
//! What forms send back is made of it, so that nothing is stored for them and no other browser's form passes.

use super::SecretHash;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a session.
const DIGITS: usize = 64;

/// Set before the session when the token of its forms is made, so that one says nothing of the other's hash.
const FORM: &str = "form of ";

/// A session as its browser shows it. Never shown by `Debug`.
#[derive(Debug, Clone)]
pub struct SessionToken(SecretString);

impl SessionToken {
    /// The session of this secret.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hex::encode(secret).into())
    }

    /// Reads what a browser sent; `None` if it has not the form of a session.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == DIGITS && text.bytes().all(is_digit)).then(|| Self(text.into()))
    }

    /// What is stored of it.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(self.expose())
    }

    /// What its forms send back.
    #[must_use]
    pub fn form_token(&self) -> String {
        hex::encode(Sha256::digest(format!("{FORM}{}", self.expose())))
    }

    /// The text itself, for the browser's cookie.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_reads_back_and_its_forms_do_not_tell_it() {
        let session = SessionToken::new(&[0xab; 32]);
        let read = SessionToken::parse(session.expose()).unwrap();
        assert!(read.hash().matches(&session.hash()));
        assert_eq!(read.form_token(), session.form_token());
        assert_ne!(read.form_token(), SessionToken::new(&[0xac; 32]).form_token());
        assert_ne!(session.form_token(), session.expose());
        assert!(!format!("{session:?}").contains("abab"));
    }

    #[test]
    fn what_has_not_the_form_of_a_session_is_none() {
        let digits = "ab".repeat(32);
        for bad in [
            "",
            "x",
            &digits[1..],
            &digits.to_uppercase(),
            &format!("{digits}0"),
            &format!(" {digits}"),
        ] {
            assert!(SessionToken::parse(bad).is_none(), "{bad}");
        }
    }
}
