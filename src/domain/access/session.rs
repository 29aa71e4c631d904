//! The session token in a browser's cookie: 256 random bits in hexadecimal. As for API keys, only its SHA-256
//! is stored.
//!
//! The CSRF token of a form is derived from the session token, so it needs no storage and is valid only in
//! the same browser session.

use super::SecretHash;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// Number of hexadecimal digits of a session token.
const DIGITS: usize = 64;

/// Prefix for deriving the form token, so that the form token reveals nothing about the stored hash.
const FORM: &str = "form of ";

/// A session token. `Debug` does not show it.
#[derive(Debug, Clone)]
pub struct SessionToken(SecretString);

impl SessionToken {
    /// Creates the token from a secret.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hex::encode(secret).into())
    }

    /// Parses what a browser sent; `None` if it does not have the form of a session token.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == DIGITS && text.bytes().all(is_digit)).then(|| Self(text.into()))
    }

    /// The hash to store.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(self.expose())
    }

    /// The CSRF token of the session's forms.
    #[must_use]
    pub fn form_token(&self) -> String {
        hex::encode(Sha256::digest(format!("{FORM}{}", self.expose())))
    }

    /// The token itself, for the browser's cookie.
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
