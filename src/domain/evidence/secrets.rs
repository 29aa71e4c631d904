//! Detects credentials in a text, which a memory must not store.
//!
//! - a block of a private key;
//! - a word with the prefix of a well-known token;
//! - the password in a URL, and the text after `Bearer`;
//! - a name such as `password` or `api_key` followed by a value: `password=hunter2`, `"token": "…"`, `the
//!   password for staging is …`. A placeholder, a variable, a call or a plain word of a sentence (`token: the
//!   parser reads one`) is not a value.

mod named;

use named::{is_placeholder, named_values};
use std::ops::Range;

/// Replaces a credential.
pub(super) const MASK: &str = "[secret]";

/// Token prefixes, and the minimum number of characters after each.
const TOKENS: [(&str, usize); 31] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("sk-or-", 16),
    ("sk-", 20),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("whsec_", 16),
    ("xoxb-", 10),
    ("xoxa-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AIza", 30),
    ("ya29.", 16),
    ("npm_", 30),
    ("pypi-", 40),
    ("hf_", 20),
    ("dop_v1_", 30),
    ("SG.", 30),
    ("wm_", 60),
    ("shpat_", 20),
];

/// Whether a text contains a credential.
#[must_use]
pub fn has_secret(text: &str) -> bool {
    !secrets(text).is_empty()
}

/// Masks every credential in a text.
#[must_use]
pub fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for range in secrets(text) {
        masked.push_str(&text[from..range.start]);
        masked.push_str(MASK);
        from = range.end;
    }
    masked.push_str(&text[from..]);
    masked
}

/// The byte ranges of all credentials, in order, not nested. Linear.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    private_keys(text, &mut found);
    tokens(text, &mut found);
    url_passwords(text, &mut found);
    named_values(text, &mut found);
    found.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(begin) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let line_end = text[begin..].find('\n').map_or(text.len(), |at| begin + at);
        let head = &text[begin..text.floor_char_boundary(line_end.min(begin + 80))];
        from = begin + "-----BEGIN ".len();
        if head.contains("PRIVATE KEY") {
            let end = text[from..].find("-----END ").map(|at| from + at);
            let end = end.map_or(text.len(), |end| {
                text[end..].find('\n').map_or(text.len(), |at| end + at)
            });
            found.push(begin..end);
            from = end;
        }
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn tokens(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_token_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let end = bytes[at..]
            .iter()
            .position(|byte| !is_token_byte(*byte))
            .map_or(bytes.len(), |length| at + length);
        let word = text[at..end].trim_end_matches('.');
        if is_token(word) || is_cloud_key(word) || is_signed_token(word) {
            found.push(at..at + word.len());
        }
        at = end;
    }
}

/// Minimum length of a token: its prefix and the characters after it.
const TOKEN_BYTES: usize = 15;

fn is_token(word: &str) -> bool {
    word.len() >= TOKEN_BYTES
        && TOKENS.iter().any(|(beginning, least)| {
            word.strip_prefix(beginning).is_some_and(|rest| {
                // Tokens that people write as examples contain no digit: `sk-your-api-key-goes-here`.
                rest.len() >= *least && rest.bytes().any(|byte| byte.is_ascii_digit())
            })
        })
}

fn is_cloud_key(word: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    word.len() == 20 && (word.starts_with("AKIA") || word.starts_with("ASIA")) && word.bytes().all(is_capital)
}

/// A JSON web token.
fn is_signed_token(word: &str) -> bool {
    word.starts_with("eyJ") && word.len() >= 40 && word.split('.').nth(1).is_some_and(|body| body.len() >= 8)
}

fn url_passwords(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("://").map(|at| from + at + 3) {
        from = at;
        let end = text[at..]
            .find(|c: char| c.is_whitespace() || "/?#\"'`<>".contains(c))
            .map_or(text.len(), |length| at + length);
        let Some(host) = text[at..end].rfind('@') else {
            continue;
        };
        if let Some((user, password)) = text[at..at + host].split_once(':')
            && !is_placeholder(password)
        {
            let start = at + user.len() + 1;
            found.push(start..start + password.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_and_masked_to_the_byte() {
        for (text, wanted) in [
            ("set password=hunter2 in CI", "set password=[secret] in CI"),
            ("DB_PASSWORD: \"s3cr3t-pass\"", "DB_PASSWORD: \"[secret]\""),
            (
                "the password for staging is Tr0ub4dor, ask Eve",
                "the password for staging is [secret], ask Eve",
            ),
            ("Das Passwort lautet geheim42!", "Das Passwort lautet [secret]!"),
            ("la contraseña es Verde2024", "la contraseña es [secret]"),
            ("パスワードはabc12345です", "パスワードは[secret]"),
            ("postgres://app:pa55@db/x", "postgres://app:[secret]@db/x"),
            ("key AKIAIOSFODNN7EXAMPLE here", "key [secret] here"),
            ("ghp_abcdefghijklmnopqrst0123456789", "[secret]"),
            (
                "Authorization: Bearer abcdef0123456789abcdef",
                "Authorization: Bearer [secret]",
            ),
            ("API_KEY=abcd1234efgh5678", "API_KEY=[secret]"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[secret]\nb",
            ),
        ] {
            assert_eq!(masked(text), wanted);
            assert!(has_secret(text));
        }
    }

    #[test]
    fn talk_about_credentials_is_none() {
        for text in [
            "rotate the API key every 90 days",
            "token: the parser reads one",
            "password=os.getenv(\"DB_PASSWORD\")",
            "password: <your password>",
            "api_key=${API_KEY}",
            "token=get_token()",
            "max_tokens=128000 and token_count: 4096",
            "if password == other",
            "password=settings.db_password",
            "secret: required",
            "the token is refreshed every 15 minutes",
            "passwords are hashed with argon2id",
            "the password is stored in Vault",
            "-----BEGIN CERTIFICATE-----",
            "postgres://app:$PW@db/x",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
