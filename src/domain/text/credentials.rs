//! Detects credentials in a text, which a memory must not store.
//!
//! - a block of a private key;
//! - a word with the prefix of a well-known token;
//! - the password in a URL or after `curl -u`, and the text after `Bearer` or `Authorization: Basic`;
//! - a name such as `password` or `api_key` followed by a value: `password=hunter2`, `"token": "…"`, `the
//!   password for staging is …`. A placeholder, a variable, a call or a plain word of a sentence (`token: the
//!   parser reads one`) is not a value; directly beside its name (`--password hunter2`) one has letters and digits.

use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// Replaces a credential.
pub(in crate::domain) const MASK: &str = "[secret]";

/// What a credential is, its form, of which the group is masked, and a test of that group.
type Form = (&'static str, &'static str, fn(&str) -> bool);

/// Credentials that are known by their form.
const FORMS: [Form; 7] = [
    (
        "private key",
        r"(-----BEGIN [^\n]{0,58}PRIVATE KEY(?s:.*?)(?:-----END [^\n]*|\z))",
        |_| true,
    ),
    ("token", r"([A-Za-z0-9_.-]{14,}[A-Za-z0-9_-])", is_token),
    (
        "password in a URL",
        r#"://[^\s/?#"'`<>:]*:([^\s/?#"'`<>]+)@"#,
        |password| !is_placeholder(password),
    ),
    // Not "2 pass", nor "pass: 1200": a test does, too.
    (
        NAMED,
        r#"(?i)(?:\b|_)(?:pass|pw)["']? ?[:=] ?["']?([^\s"',;]+)"#,
        |value| is_distinct(value, 6),
    ),
    (
        "password of a command",
        r#"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?["']?[^\s:"']+:([^\s"']+)"#,
        |password| !is_placeholder(password) && !is_reference(password),
    ),
    (
        NAMED,
        r#"(?imx) ([^\s"'`«»„“”]+) ["'`»“”]? \ (?: is | was | ist | est | es ) \ (?: \p{L}+ \  ){0,2}
            (?: passwor[dt] | passphrase | kennwort | contrase[ñn]a | mot\ de\ passe | senha )
            (?: $ | [.,;:!)] | \ (?: for | of | to | für | von | pour | de | para ) \b )"#,
        |value| is_distinct(value, 6),
    ),
    ("token", r"hooks\.slack\.com/services/([A-Za-z0-9/]{20,})", |_| {
        true
    }),
];

/// The prefixes of the tokens of well-known services, by the least length of the rest.
const TOKENS: [(usize, &str); 6] = [
    (
        10,
        "sk_live_ sk_test_ rk_live_ xoxa- xoxb- xoxp- xoxr- xoxs- xapp-",
    ),
    (16, "glpat- gldt- sk-or- whsec_ ya29."),
    (
        20,
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ sk- hf_ shpat_ gsk_ xai- hvs. dckr_pat_ nvapi- glsa_ rubygems_ lin_api_",
    ),
    (30, "AIza npm_ dop_v1_ SG. AGE-SECRET-KEY-1"),
    (40, "pypi-"),
    (60, "wm_"),
];

/// Whether a word is a token of a service, a cloud key or a JSON web token.
fn is_token(word: &str) -> bool {
    let is_of_service = TOKENS.iter().any(|(least, prefixes)| {
        let mut rests = prefixes.split(' ').filter_map(|prefix| word.strip_prefix(prefix));
        // Tokens that people write as examples contain no digit: `sk-your-api-key-goes-here`.
        rests.any(|rest| rest.len() >= *least && has_digit(rest))
    });
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_cloud_key = word.len() == 20
        && (word.starts_with("AKIA") || word.starts_with("ASIA"))
        && word.bytes().all(is_capital);
    let body = word.split('.').nth(1);
    let is_signed = word.starts_with("eyJ") && word.len() >= 40 && body.is_some_and(|body| body.len() >= 8);
    is_of_service || is_cloud_key || is_signed
}

/// What a value that a name stands before is.
const NAMED: &str = "named password or key";

/// The name of a password, which may be any text, or of a key or token, which must be longer than a word.
const NAME: &str = r"(?ix)
    (?<password> passwor[dt] | passwd | passphrase | passcode | pwd | kennwort | contrase[ñn]a | mot[_\ ]de[_\ ]passe | senha
        | wachtwoord | парол | パスワード | 密[码碼] | 비밀번호 | (?-i: [A-Z0-9]_PASS \b ) )
    | (?: secret | access ) [_\ ]key | secret | api[-_\ ]?key | private_key | accountkey | token | credential ";

/// What connects a name with its value: a sign, or a verb of the same sentence. `passwords`, `tokenizer` and `token_count` are
/// other names.
const LINK: &str = r#"(?x) ^ (?:
    ь? [\ \t"'`*\]]* (?: (?<assigned> := | => | = | ＝ ) | (?<colon> [:：] ) )
    | (?: [^A-Za-z0-9_\n;?] [^\n;?]{0,57}? )??
        (?: \ is\ now\  | \ is\  | \ was\  | \ lautet\  | \ ist\  | \ est\  | \ es\  | \ é\  | :\  | \ =\  | は | 是 | 은\  )
)"#;

static SEARCHED: LazyLock<[Regex; FORMS.len()]> =
    LazyLock::new(|| FORMS.map(|(_, form, _)| Regex::new(form).expect("a form")));
static SEARCHED_NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(NAME).expect("a form"));
static SEARCHED_LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(LINK).expect("a form"));
static SEARCHED_BEARER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?i)(?:bearer|authorization: basic) ").expect("a form"));

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
    let named = named_values(text).into_iter().chain(bearer_values(text));
    let mut all: Vec<_> = named.map(|range| (range, NAMED)).collect();
    for ((kind, _, is_one), form) in FORMS.iter().zip(SEARCHED.iter()) {
        let groups = form.captures_iter(text).filter_map(|found| found.get(1));
        let found = groups.filter(|group| is_one(group.as_str()));
        all.extend(found.map(|group| (group.range(), *kind)));
    }
    all.sort_by_key(|(range, _)| (range.start, range.end));
    all
}

/// Maximum distance in bytes between a name and its value in a sentence.
const PHRASE_BYTES: usize = 60;

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
    let mut values: Vec<Range<usize>> = Vec::new();
    for found in SEARCHED_NAME.captures_iter(text) {
        let name = found.get_match();
        // What stands in a value is no name.
        if values.last().is_some_and(|value| name.start() < value.end) {
            continue;
        }
        let is_password = found.name("password").is_some();
        let beside = beside(text, name.end()).and_then(|at| {
            let least = if is_password { 6 } else { 16 };
            value_if(text, at, |begin| {
                let value = &text[begin.clone()];
                !is_placeholder(value) && !is_reference(value) && is_distinct(value, least)
            })
        });
        let value = beside.or_else(|| {
            let (link, at) = link_after(text, name.end())?;
            value_if(text, at, |begin| is_value(text, begin, link, is_password))
        });
        values.extend(value);
    }
    values
}

/// What follows `Bearer` or `Authorization: Basic`.
fn bearer_values(text: &str) -> Vec<Range<usize>> {
    let mut values: Vec<Range<usize>> = Vec::new();
    for word in SEARCHED_BEARER.find_iter(text) {
        if values.last().is_none_or(|value| word.start() >= value.end) {
            let is_value = |begin: &Range<usize>| begin.len() >= 16 && has_digit(&text[begin.clone()]);
            values.extend(value_if(text, word.end(), is_value));
        }
    }
    values
}

/// Where a value begins directly beside a name that ends here: behind nothing but blanks or a border of a table or tag.
fn beside(text: &str, end: usize) -> Option<usize> {
    let rest = text[end..].trim_start_matches([' ', '\t', '|', '>']);
    let at = text.len() - rest.len();
    (at > end).then_some(at)
}

/// How a name that ends here is connected with its value, and where that begins.
fn link_after(text: &str, end: usize) -> Option<(Link, usize)> {
    let found = SEARCHED_LINK.captures(&text[end..])?;
    let at = end + found.get_match().end();
    let link = match (found.name("assigned"), found.name("colon")) {
        (Some(_), _) => Link::Assigned,
        (_, Some(_)) => Link::Colon,
        _ => Link::Phrase,
    };
    let is_link = match link {
        // `==` is a comparison.
        Link::Assigned | Link::Colon => !text[at..].starts_with(['=', ':']),
        Link::Phrase => at - end <= PHRASE_BYTES,
    };
    is_link.then_some((link, at))
}

/// The value that begins here, if it is one by its beginning.
fn value_if(text: &str, at: usize, is_one: impl FnOnce(&Range<usize>) -> bool) -> Option<Range<usize>> {
    let begin = value_at(text, at, VALUE_BYTES)?;
    is_one(&begin).then(|| value_at(text, at, usize::MAX)).flatten()
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
        Link::Assigned => chars >= 6 && is_mixed || chars >= 16,
        Link::Colon | Link::Phrase => chars >= 8 && is_mixed && value.len() == chars,
    }
}

/// Whether a value of at least this length is no word of a sentence: letters and digits, but not the name of a method.
fn is_distinct(value: &str, least: usize) -> bool {
    const METHODS: &str = "sha argon pbkdf bcrypt scrypt md5 base64 utf oauth hmac ed25519";
    let lower = value.to_lowercase();
    value.len() >= least
        && has_digit(value)
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "!@#$%^&*?~+_".contains(c))
        && !METHODS.split(' ').any(|method| lower.starts_with(method))
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
        let table = r#"
            set password=hunter2 in CI → set password=[secret] in CI
            DB_PASSWORD: "s3cr3t-pass" → DB_PASSWORD: "[secret]"
            the password for staging is Tr0ub4dor, ask Eve → the password for staging is [secret], ask Eve
            Das Passwort lautet geheim42! → Das Passwort lautet [secret]!
            la contraseña es Verde2024 → la contraseña es [secret]
            パスワードはabc12345です → パスワードは[secret]
            postgres://app:pa55@db/x → postgres://app:[secret]@db/x
            key AKIAIOSFODNN7EXAMPLE here → key [secret] here
            ghp_abcdefghijklmnopqrst0123456789 → [secret]
            Authorization: Bearer abcdef0123456789abcdef → Authorization: Bearer [secret]
            API_KEY=abcd1234efgh5678 → API_KEY=[secret]
            キーはAKIAIOSFODNN7EXAMPLEです → キーは[secret]です
            eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0. → [secret].
            Bearer «abcdef 0123456789» → Bearer «[secret]»
            MYSQL_PASS=Sommer2024 → MYSQL_PASS=[secret]
            pass: hunter2x and pw=hunter2 → pass: [secret] and pw=[secret]
            mot_de_passe=secret12 → mot_de_passe=[secret]
            token=abc123 → token=[secret]
            mysql --password hunter2 -u app → mysql --password [secret] -u app
            curl -u bob:hunter2 https://x → curl -u bob:[secret] https://x
            | password | hunter2 | → | password | [secret] |
            <password>hunter2</password> → <password>[secret]</password>
            Authorization: Basic dXNlcjpwYXNzd29yZA== → Authorization: Basic [secret]
            dass das Passwort hunter2 ist → dass das Passwort [secret] ist
            das WLAN-Passwort "Sommer2024" ist → das WLAN-Passwort "[secret]" ist
            hunter2 is the root password → [secret] is the root password
            hunter2 est le mot de passe. → [secret] est le mot de passe.
            gsk_abcdefghijklmnopqrst0123456789 → [secret]
            https://hooks.slack.com/services/T00000000/B00000000/aB3dE6 → https://hooks.slack.com/services/[secret]
            a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb → a\n[secret]\nb"#;
        for row in table.trim().lines() {
            let (text, wanted) = row.trim().split_once(" → ").expect("two columns");
            let text = text.replace("\\n", "\n");
            assert_eq!(masked(&text), wanted.replace("\\n", "\n"));
            assert!(has_secret(&text));
        }
        // A value is masked to its end, however long it is.
        let long = "a1".repeat(VALUE_BYTES);
        for (before, after) in [
            ("Bearer ", ", ok"),
            ("password=", ";x"),
            ("token: \"two ", "\" end"),
        ] {
            let secret = before.trim_end_matches("two ");
            let text = format!("{before}{long}{after}");
            assert_eq!(masked(&text), format!("{secret}[secret]{after}"));
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
            "sk-your-api-key-goes-here",
            "dop_v1_your-digital-ocean-token-goes-here",
            "ya29.your-access-token-goes-here",
            "the secret keys: AKIA1234",
            "the secret of good tea",
            "token counts of 2026 and the password policy of team4",
            "password SHA-256 or argon2id hashes",
            "argon2id is the password hash, Vault24 is the password store",
            "| password | required |",
            "pass: 1200, fail=3, the first pass took 12min",
            "docker run -u 1000:1000",
            "curl -u user:$PASS https://x",
            "module.AKIAIOSFODNN7EXAMPLE-suffix",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
