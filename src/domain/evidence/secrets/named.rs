//! Finds values after names of secrets: `password=…`, `"token": "…"`, `the password for staging is …`.

use aho_corasick::{AhoCorasick, MatchKind};
use std::ops::Range;
use std::sync::LazyLock;

/// Maximum distance in bytes between a name and its value in a sentence.
const PHRASE_BYTES: usize = 60;

/// Names of secrets. A key or token must be longer than a word; a password may be any text.
const PASSWORDS: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "passwort",
    "kennwort",
    "contraseña",
    "contrasena",
    "mot de passe",
    "senha",
    "wachtwoord",
    "парол",
    "パスワード",
    "密码",
    "密碼",
    "비밀번호",
    "passcode",
];
const KEYS: [&str; 13] = [
    "secret",
    "secret_key",
    "secret key",
    "access_key",
    "access key",
    "api_key",
    "api-key",
    "api key",
    "apikey",
    "private_key",
    "accountkey",
    "token",
    "credential",
];

static NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(PASSWORDS.iter().chain(&KEYS))
        .ok()
});

/// The syntax between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Assigned,
    Colon,
    Phrase,
}

pub(super) fn named_values(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(names) = &*NAMES else { return };
    for name in names.find_iter(text) {
        let is_password = name.pattern().as_usize() < PASSWORDS.len();
        if let Some((link, at)) = value_after(text, name.end())
            && let Some(value) = value_at(text, at)
            && is_value(text, &value, link, is_password)
        {
            found.push(value);
        }
    }
    let lower_bearer = |at: usize| {
        text.get(at..at + 7)
            .is_some_and(|word| word.eq_ignore_ascii_case("bearer "))
    };
    for at in memchr::memchr2_iter(b'b', b'B', text.as_bytes()).filter(|at| lower_bearer(*at)) {
        if let Some(value) = value_at(text, at + 7)
            && value.len() >= 16
            && text[value.clone()].bytes().any(|byte| byte.is_ascii_digit())
        {
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

/// The range of the value that begins here: a quoted text, or a word.
fn value_at(text: &str, at: usize) -> Option<Range<usize>> {
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
    let chars = value.chars().count();
    let has = |of: fn(char) -> bool| value.chars().any(of);
    let (digit, letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    let symbol = has(|c| "!@#$%^&*?~+".contains(c));
    if is_placeholder(value) || is_reference(value) {
        return false;
    }
    let is_mixed = letter && (digit || symbol);
    if is_password {
        return match link {
            Link::Assigned => chars >= 3,
            Link::Colon => {
                let ends_line = text[range.end..].lines().next().unwrap_or_default().trim().len() <= 1;
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

pub(super) fn is_placeholder(value: &str) -> bool {
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
