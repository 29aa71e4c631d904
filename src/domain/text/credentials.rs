//! Detects credentials in a text, which a memory must not store.
//!
//! - a block of a private key;
//! - a word with the prefix of a well-known token;
//! - the password in a URL, and the text after `Bearer`;
//! - a name such as `password` or `api_key` followed by a value: `password=hunter2`, `"token": "…"`, `the
//!   password for staging is …`. A placeholder, a variable, a call or a plain word of a sentence (`token: the
//!   parser reads one`) is not a value.

use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// Replaces a credential.
pub(in crate::domain) const MASK: &str = "[secret]";

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
pub fn masked(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for range in secrets {
        masked.push_str(&text[from..range.start]);
        masked.push_str(MASK);
        from = range.end;
    }
    masked.push_str(&text[from..]);
    Cow::Owned(masked)
}

/// The byte ranges of all credentials, in order, not nested. Linear.
pub(in crate::domain) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut apart: Vec<Range<usize>> = Vec::new();
    for (range, _) in secrets_with_kind(text) {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// All credentials with what they are, in order; one that is found in two ways occurs twice. Linear.
pub(in crate::domain) fn secrets_with_kind(text: &str) -> Vec<(Range<usize>, &'static str)> {
    type Find = fn(&str, &mut Vec<Range<usize>>);
    let kinds: [(&str, Find); 4] = [
        ("private key", private_keys),
        ("token", tokens),
        ("password in a URL", url_passwords),
        ("named password or key", named_values),
    ];
    let mut all = Vec::new();
    for (kind, find) in kinds {
        let mut found = Vec::new();
        find(text, &mut found);
        all.extend(found.into_iter().map(|range| (range, kind)));
    }
    all.sort_by_key(|(range, _)| (range.start, range.end));
    all
}

/// Number of bytes of a line that are searched for what it begins.
const HEAD_BYTES: usize = 80;

fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(begin) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let head = &text[begin..text.floor_char_boundary(begin + HEAD_BYTES)];
        let head = head.split('\n').next().unwrap_or_default();
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

fn tokens(text: &str, found: &mut Vec<Range<usize>>) {
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c))) {
        let word = word.trim_end_matches('.');
        if is_token(word) || is_cloud_key(word) || is_signed_token(word) {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            found.push(start..start + word.len());
        }
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

/// Maximum distance in bytes between a name and its value in a sentence.
const PHRASE_BYTES: usize = 60;

/// Number of bytes by which it is judged whether a value is one: a text may consist of names and no end of a value.
const VALUE_BYTES: usize = 1_000;

/// Names of secrets. A key or token must be longer than a word; a password may be any text.
const PASSWORDS: &str = "password | passwd | passphrase | pwd | passwort | kennwort | contraseña | contrasena | mot de passe | \
    senha | wachtwoord | парол | パスワード | 密码 | 密碼 | 비밀번호 | passcode";
const KEYS: &str = "secret | secret_key | secret key | access_key | access key | api_key | api-key | api key | apikey | \
    private_key | accountkey | token | credential";

static NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(PASSWORDS.split(" | ").chain(KEYS.split(" | ")))
        .ok()
});

/// The syntax between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Assigned,
    Colon,
    Phrase,
}

fn named_values(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(names) = &*NAMES else { return };
    let passwords = PASSWORDS.split(" | ").count();
    // Where the last value ends: what stands in it is no name.
    let mut end = 0;
    for name in names.find_iter(text) {
        if name.start() >= end
            && let Some((link, at)) = value_after(text, name.end())
            && let Some(begin) = value_at(text, at, VALUE_BYTES)
            && is_value(text, &begin, link, name.pattern().as_usize() < passwords)
            && let Some(value) = value_at(text, at, usize::MAX)
        {
            end = value.end;
            found.push(value);
        }
    }
    let lower_bearer = |at: usize| {
        text.get(at..at + 7)
            .is_some_and(|word| word.eq_ignore_ascii_case("bearer "))
    };
    end = 0;
    for at in memchr::memchr2_iter(b'b', b'B', text.as_bytes()).filter(|at| lower_bearer(*at)) {
        if at >= end
            && let Some(begin) = value_at(text, at + 7, VALUE_BYTES)
            && begin.len() >= 16
            && text[begin].bytes().any(|byte| byte.is_ascii_digit())
            && let Some(value) = value_at(text, at + 7, usize::MAX)
        {
            end = value.end;
            found.push(value);
        }
    }
}

/// The start of the value that follows a name ending at `end`, if there is one.
fn value_after(text: &str, end: usize) -> Option<(Link, usize)> {
    let rest = &text[end..];
    let first = rest.chars().next()?;
    // `passwords`, `tokenizer` and `token_count` are other names. `пароль` has its last letter here.
    let rest = match first {
        'ь' => &rest[first.len_utf8()..],
        _ if first.is_ascii_alphanumeric() || first == '_' => return None,
        _ => rest,
    };
    let skipped = rest.trim_start_matches(|c: char| " \t\"'`*]".contains(c));
    let place = |after: &str| text.len() - after.len();
    for (sign, link) in [
        (":=", Link::Assigned),
        ("=>", Link::Assigned),
        ("=", Link::Assigned),
        ("＝", Link::Assigned),
        (":", Link::Colon),
        ("：", Link::Colon),
    ] {
        if let Some(after) = skipped.strip_prefix(sign) {
            // `==` is a comparison.
            return (!after.starts_with('=') && !after.starts_with(':')).then(|| (link, place(after)));
        }
    }
    let near = &rest[..rest.floor_char_boundary(PHRASE_BYTES.min(rest.len()))];
    let near = near.split(['\n', ';', '?']).next().unwrap_or_default();
    const VERBS: [&str; 13] = [
        " is now ", " is ", " was ", " lautet ", " ist ", " est ", " es ", " é ", ": ", " = ", "は", "是",
        "은 ",
    ];
    let verbs = VERBS
        .iter()
        .filter_map(|verb| Some((near.find(verb)?, verb.len())));
    let (at, length) = verbs.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))?;
    Some((Link::Phrase, place(rest) + at + length))
}

/// The range of the value that begins here, or of so many bytes of it: a quoted text, or a word.
fn value_at(text: &str, at: usize, at_most: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let trimmed = rest.trim_start_matches([' ', '\t', '*']);
    let start = text.len() - trimmed.len();
    let quote = trimmed
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`' | '«' | '“' | '„' | '「'));
    let close = match quote {
        Some('«') => '»',
        Some('“' | '„') => '”',
        Some('「') => '」',
        Some(quote) => quote,
        None => '\0',
    };
    let (start, inner) = match quote {
        Some(quote) => (start + quote.len_utf8(), &trimmed[quote.len_utf8()..]),
        None => (start, trimmed),
    };
    let inner = &inner[..inner.floor_char_boundary(at_most)];
    let length = inner
        .find(|c: char| match quote {
            Some(_) => c == close || c == '\n',
            None => c.is_whitespace() || "\"'`,;<>|。、，」\\".contains(c),
        })
        .unwrap_or(inner.len());
    let value = &inner[..length];
    let value = match quote {
        Some(_) => value,
        None => value.trim_end_matches(['.', ':', ')', '!', '?', '*', '}', ']']),
    };
    (!value.is_empty()).then(|| start..start + value.len())
}

fn is_value(text: &str, range: &Range<usize>, link: Link, is_password: bool) -> bool {
    let value = &text[range.clone()];
    if is_placeholder(value) || is_reference(value) {
        return false;
    }
    let chars = value.chars().count();
    let has = |of: fn(char) -> bool| value.chars().any(of);
    let (digit, letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    let symbol = has(|c| "!@#$%^&*?~+".contains(c));
    let is_mixed = letter && (digit || symbol);
    if is_password {
        return match link {
            Link::Assigned => chars >= 3,
            Link::Colon => {
                // At most a full stop or a quotation mark follows.
                let rest = text[range.end..].chars().take_while(|c| *c != '\n');
                let ends_line = rest.filter(|c| !c.is_whitespace()).nth(1).is_none();
                chars >= 4 && (is_mixed || digit || symbol) || chars >= 5 && ends_line
            }
            Link::Phrase => {
                chars >= 6 && is_mixed || chars >= 4 && digit && !letter && !has(|c| ".:/-".contains(c))
            }
        };
    }
    match link {
        Link::Assigned => chars >= 8 && (is_mixed || chars >= 16),
        Link::Colon | Link::Phrase => chars >= 8 && is_mixed && value.len() == chars,
    }
}

fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 24] = [
        "none", "null", "nil", "true", "false", "required", "optional", "string", "str", "bytes", "secret",
        "password", "token", "changeme", "example", "redacted", "hidden", "unknown", "empty", "missing",
        "wrong", "invalid", "expired", "rotated",
    ];
    let first = value.chars().next().unwrap_or('\0');
    "<$%{[(*".contains(first)
        || value.chars().all(|c| c == first)
        || value.contains("...")
        || value.contains('…')
        || value.contains("***")
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.to_ascii_lowercase().starts_with("your")
}

/// Whether the value is a variable, a member or a call.
fn is_reference(value: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    value.contains('(')
        || value.contains("::")
        || ["process.env", "os.environ", "env.", "ENV["]
            .iter()
            .any(|start| value.starts_with(start))
        || (value.contains('_') || value.contains('.'))
            && value
                .split('.')
                .all(|part| !part.is_empty() && part.chars().all(is_name))
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
        // A value is masked to its end, however long it is.
        let long = "a1".repeat(VALUE_BYTES);
        for (before, after) in [
            ("Bearer ", ", ok"),
            ("password=", ";x"),
            ("token: \"two ", "\" end"),
        ] {
            let secret = before.trim_end_matches("two ");
            assert_eq!(
                masked(&format!("{before}{long}{after}")),
                format!("{secret}[secret]{after}")
            );
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
