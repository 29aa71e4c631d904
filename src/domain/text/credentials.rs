//! Detects credentials in a text, which a memory must not store.
//!
//! - a block of a private key;
//! - a word with the prefix of a well-known token;
//! - the password in a URL, and the text after `Bearer`;
//! - a name such as `password` or `api_key` followed by a value: `password=hunter2`, `"token": "…"`, `the
//!   password for staging is …`. A placeholder, a variable, a call or a plain word of a sentence (`token: the
//!   parser reads one`) is not a value.

use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// Replaces a credential.
pub(in crate::domain) const MASK: &str = "[secret]";

/// What a credential is, its form, of which the group is masked, and a test of that group.
type Form = (&'static str, &'static str, fn(&str) -> bool);

/// Credentials that are known by their form.
const FORMS: [Form; 5] = [
    (
        "private key",
        r"(-----BEGIN [ -~]{0,60}PRIVATE KEY(?s:.*?)(?:-----END [^\n]*|\z))",
        |_| true,
    ),
    // Tokens that people write as examples contain no digit: `sk-your-api-key-goes-here`.
    ("token", TOKEN, has_digit),
    (
        "token",
        r"\b(A[KS]IA[A-Z0-9]{16}|eyJ[A-Za-z0-9_-]{17,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*)\b",
        |_| true,
    ),
    (
        "password in a URL",
        r#"://[^\s/?#"'`<>:]*:([^\s/?#"'`<>]+)@"#,
        |password| !is_placeholder(password),
    ),
    (
        NAMED,
        r#"(?i)bearer [ \t*]*["'`]?([!-~&&[^"'`,;<>|\\]]{15,}[!-~&&[^"'`,;<>|\\.:)!?*}\]]])"#,
        has_digit,
    ),
];

/// Tokens of well-known services by their prefixes, with the least length of the rest. None begins within a word.
const TOKEN: &str = r"(?x) (?: ^ | [^A-Za-z0-9_.-] ) ( (?:
      (?: sk_live_ | sk_test_ | rk_live_ | xox[abprs]- | xapp- ) [A-Za-z0-9_.-]{10,}
    | (?: glpat- | gldt- | sk-or- | whsec_ | ya29\. ) [A-Za-z0-9_.-]{16,}
    | (?: gh[opsur]_ | github_pat_ | sk- | hf_ | shpat_ ) [A-Za-z0-9_.-]{20,}
    | (?: AIza | npm_ | dop_v1_ | SG\. ) [A-Za-z0-9_.-]{30,}
    | pypi- [A-Za-z0-9_.-]{40,}
    | wm_ [A-Za-z0-9_.-]{60,}
) (?-u:\b) )";

/// What a value that a name stands before is.
const NAMED: &str = "named password or key";

/// A name of a password, which may be any text, or of a key or token, which must be longer than a word, up to where its value
/// begins: behind a sign, or a verb of the same sentence. `passwords`, `tokenizer` and `token_count` are other names.
const NAME: &str = r#"(?ix)
    (?: (?<password> passwor[dt] | passwd | passphrase | passcode | pwd | kennwort | contrase[ñn]a | mot\ de\ passe | senha
            | wachtwoord | парол | パスワード | 密[码碼] | 비밀번호 )
      | (?<key> (?: secret | access ) [_\ ]key | secret | api[-_\ ]?key | private_key | accountkey | token | credential ) )
    ь?
    (?: [\ \t"'`*\]]* (?: (?<assigned> := | => | = | ＝ ) | (?<colon> [:：] ) )
      | (?: [^A-Za-z0-9_\n;?] [^\n;?]{0,57}? )??
        (?: \ is\ now\  | \ is\  | \ was\  | \ lautet\  | \ ist\  | \ est\  | \ es\  | \ é\  | :\  | \ =\  | は | 是 | 은\  ) )
"#;

static SEARCHED: LazyLock<[Regex; FORMS.len()]> =
    LazyLock::new(|| FORMS.map(|(_, form, _)| Regex::new(form).expect("a form")));
static SEARCHED_NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(NAME).expect("a form"));

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

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
    let mut all: Vec<_> = named_values(text)
        .into_iter()
        .map(|range| (range, NAMED))
        .collect();
    for ((kind, _, is_one), form) in FORMS.iter().zip(SEARCHED.iter()) {
        let groups = form.captures_iter(text).filter_map(|found| found.get(1));
        let found = groups.filter(|group| is_one(group.as_str()));
        all.extend(found.map(|group| (group.range(), *kind)));
    }
    all.sort_by_key(|(range, _)| (range.start, range.end));
    all
}

/// Number of bytes by which it is judged whether a value is one: a text may consist of names and no end of a value.
const VALUE_BYTES: usize = 1_000;

/// What connects a name with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Assigned,
    Colon,
    Phrase,
}

fn named_values(text: &str) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let mut from = 0;
    while let Some(found) = SEARCHED_NAME.captures_at(text, from) {
        let (password, key) = (found.name("password"), found.name("key"));
        let at = found.get_match().end();
        let link = match (found.name("assigned"), found.name("colon")) {
            (Some(_), _) => Link::Assigned,
            (_, Some(_)) => Link::Colon,
            _ => Link::Phrase,
        };
        // `==` is a comparison.
        let is_sign = link != Link::Phrase && text[at..].starts_with(['=', ':']);
        let begin = value_at(text, at, VALUE_BYTES).filter(|_| !is_sign);
        let is_one = begin.is_some_and(|begin| is_value(text, &begin, link, password.is_some()));
        let value = match is_one {
            true => value_at(text, at, usize::MAX),
            false => None,
        };
        // What stands in a value is no name.
        from = match &value {
            Some(value) => value.end,
            None => password.or(key).map_or(at, |name| name.end()),
        };
        values.extend(value);
    }
    values
}

/// The quotation marks that a value may stand in.
const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('«', '»'),
    ('“', '”'),
    ('„', '”'),
    ('「', '」'),
];

/// The range of the value that begins here, or of so many bytes of it: a quoted text, or a word.
fn value_at(text: &str, at: usize, at_most: usize) -> Option<Range<usize>> {
    let rest = text[at..].trim_start_matches([' ', '\t', '*']);
    let quote = QUOTES.into_iter().find(|(open, _)| rest.starts_with(*open));
    let rest = quote.map_or(rest, |(open, _)| &rest[open.len_utf8()..]);
    let start = text.len() - rest.len();
    let rest = &rest[..rest.floor_char_boundary(at_most)];
    let ends = |c: char| match quote {
        Some((_, close)) => c == close || c == '\n',
        None => c.is_whitespace() || "\"'`,;<>|。、，」\\".contains(c),
    };
    let value = &rest[..rest.find(ends).unwrap_or(rest.len())];
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
