//! Credentials: text with a credential is not stored in any section.
//!
//! The check for all updates ([`evidence::has_secret`]) is not sufficient here, because the rules cannot
//! distinguish a door code from a page number. So values announced as a code and random-looking words are
//! rejected as well.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::domain::evidence;

/// Words that announce a credential.
const ANNOUNCING: [&str; 34] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "pin",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "key",
    "bearer",
    "credential",
    "credentials",
    "passwort",
    "kennwort",
    "zugangscode",
    "geheimzahl",
    "mot de passe",
    "code",
    "code secret",
    "clé",
    "contraseña",
    "clave",
    "パスワード",
    "暗証番号",
    "シークレット",
    "トークン",
    "cvv",
    "iban-pin",
    "access_key",
    "secret_key",
    "client_secret",
];
/// Maximum distance between an announcement and its credential, in words.
const REACH: usize = 5;
/// Minimum length of a random-looking run of letters and digits.
const RANDOM_BYTES: usize = 20;

static ANNOUNCED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(ANNOUNCING)
        .ok()
});

/// Whether a text contains something that looks like a credential.
pub(super) fn has_secret(text: &str) -> bool {
    let is_long_run = |word: &str| word.len() >= RANDOM_BYTES && is_random_in(word);
    evidence::has_secret(text) || text.split_whitespace().any(is_long_run) || announces(text)
}

/// Whether a word, or its value after `=` or `:`, looks random.
fn is_random_in(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let value = bare.rsplit(['=', ':', '"', '\'']).next().unwrap_or(bare);
    is_random(bare) || is_random(value)
}

/// A long mixture of capitals, small letters and digits.
fn is_random(token: &str) -> bool {
    let has = |test: fn(&char) -> bool| token.chars().filter(test).count();
    let mixed = has(char::is_ascii_uppercase) >= 6
        && has(char::is_ascii_lowercase) >= 6
        && has(char::is_ascii_digit) >= 1;
    token.len() >= RANDOM_BYTES
        && token
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+_=-".contains(c))
        && (has(char::is_ascii_digit) >= 3 || (token.len() >= 28 && mixed))
        && has(char::is_ascii_uppercase) >= 3
        && has(char::is_ascii_lowercase) >= 3
        && !token.contains("--")
}

fn announces(text: &str) -> bool {
    let Some(announced) = &*ANNOUNCED else {
        return false;
    };
    announced.find_iter(text).any(|found| {
        let word = ANNOUNCING[found.pattern().as_usize()];
        let rest = &text[found.end()..];
        let whole = !text[..found.start()].ends_with(|c: char| c.is_ascii_alphanumeric());
        let ends = !word.is_ascii() || !rest.starts_with(|c: char| c.is_alphanumeric());
        whole && ends && is_followed_by_value(rest, word)
    })
}

/// Whether a value follows the announcement: directly after `:`, `=` or "is", or a random-looking word.
fn is_followed_by_value(rest: &str, word: &str) -> bool {
    let weak = is_weak(word);
    let after = rest.trim_start_matches([' ', '"', '\'', '`']);
    let assigned = after.strip_prefix([':', '=', '：']).map(str::trim_start);
    let is_value = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"!#$&_".contains(c));
        looks_secret(bare)
    };
    if let Some(value) = assigned {
        let first = value.split_whitespace().next().unwrap_or_default();
        return if weak {
            is_value(first)
        } else {
            !first.is_empty()
                && !first.starts_with(['<', '$', '{'])
                && first.chars().count() >= 3
                && is_plausible(first)
        };
    }
    rest.split([' ', '\u{3000}'])
        .filter(|word| !word.is_empty())
        .take(REACH)
        .any(is_value)
}

/// Prose after a colon is not a password: `password: see the vault`.
fn is_plausible(first: &str) -> bool {
    let bare = first.trim_matches(|c: char| ".,;".contains(c));
    looks_secret(bare)
        || bare.chars().count() >= 6 && !matches!(bare, "please" | "should" | "bitte" | "always" | "never")
}

/// Announcing words that have many other meanings.
fn is_weak(word: &str) -> bool {
    matches!(
        word,
        "key"
            | "code"
            | "token"
            | "secret"
            | "clé"
            | "clave"
            | "トークン"
            | "credential"
            | "credentials"
            | "bearer"
    )
}

/// The digits of a PIN, or a mixture of letters with digits or marks.
fn looks_secret(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    let marks = word.chars().filter(|c| "!#$&%^*_+~-".contains(*c)).count();
    let length = word.chars().count();
    (length == digits && (4..=8).contains(&length))
        || (length >= 6 && digits > 0 && letters > 0 && !word.contains(['/', '.']))
        || (length >= 8 && letters > 0 && marks > 0 && digits > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_form_or_their_announcement() {
        for secret in [
            "password: Tr0ub4dor&3xK",
            "My online banking PIN is 48213, don't tell",
            "Das Passwort fürs Vereinskonto ist Kirschbaum_12",
            "Passwort: Sonnenblume!77",
            "le mot de passe du wifi : Tulipe-Rouge-9",
            "Le code de l'alarme est 4471",
            "api_key=sk_live_51HxQ8vLkd02mNzP",
            "パスワードは Sakura#2026x です",
            "postgres://metrics:Qx7!pLm2@10.2.0.9:5432/metrics",
            "Authorization: Bearer shp_live_9fQ2zLx77TTbKe01",
            "-----BEGIN PRIVATE KEY-----",
            "export T=ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        ] {
            assert!(has_secret(secret), "{secret}");
        }
        for plain in [
            "That bearer token must be replaced though, I pasted it here",
            "The cache key held the commit hash",
            "Passwords have to be rotated every 90 days",
            "I will not keep the PIN",
            "Das Passwort speichere ich nicht",
            "booking number 4JX-09, room 214",
            "customer_id is a string",
            "https://example.org/a?b=c@d",
        ] {
            assert!(!has_secret(plain), "{plain}");
        }
    }
}
