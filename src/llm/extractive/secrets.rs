//! Credentials: what holds one is neither learned nor listed nor kept verbatim.

/// How the tokens of well-known services begin.
const PREFIXES: [&str; 24] = [
    "sk_live_",
    "sk_test_",
    "pk_live_",
    "rk_live_",
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "akia",
    "asia",
    "aiza",
    "ya29.",
    "npm_",
    "hf_",
    "eyj",
    "pypi-",
    "shp_live_",
];
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
/// How far behind its announcement a credential stands, in words.
const REACH: usize = 5;

/// Whether a text holds something that looks like a credential.
pub(super) fn has_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("-----begin ")
        || lower.contains("-----end ")
        || text
            .split_whitespace()
            .any(|word| is_token(word) || has_credentials_of_url(word))
        || announces(&lower, text)
}

fn is_token(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let value = bare.rsplit(['=', ':', '"', '\'']).next().unwrap_or(bare);
    [bare, value].iter().any(|token| {
        let lower = token.to_lowercase();
        PREFIXES.iter().any(|prefix| {
            let rest = lower.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.len() >= 10 && rest.bytes().any(|b| b.is_ascii_digit()))
        }) || is_random(token)
    })
}

/// A long run of capitals, small letters and digits, as nobody writes words.
fn is_random(token: &str) -> bool {
    let has = |test: fn(&char) -> bool| token.chars().filter(test).count();
    let mixed = has(char::is_ascii_uppercase) >= 6
        && has(char::is_ascii_lowercase) >= 6
        && has(char::is_ascii_digit) >= 1;
    token.len() >= 20
        && token
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+_=-".contains(c))
        && (has(char::is_ascii_digit) >= 3 || (token.len() >= 28 && mixed))
        && has(char::is_ascii_uppercase) >= 3
        && has(char::is_ascii_lowercase) >= 3
        && !token.contains("--")
}

/// `scheme://user:password@host`.
fn has_credentials_of_url(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, rest)| {
        let place = rest.split('/').next().unwrap_or(rest);
        place.rsplit_once('@').is_some_and(|(user, _)| {
            user.split_once(':')
                .is_some_and(|(_, password)| !password.is_empty())
        })
    })
}

fn announces(lower: &str, text: &str) -> bool {
    ANNOUNCING.iter().any(|word| {
        lower.match_indices(word).any(|(at, _)| {
            let whole = !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            let rest = &lower[at + word.len()..];
            let ends = !word.is_ascii() || !rest.starts_with(|c: char| c.is_alphanumeric());
            whole && ends && is_followed_by_value(rest, word, text)
        })
    })
}

/// Whether behind the announcement stands a value: directly behind `:`, `=` or "is", or a word that nobody would
/// write otherwise.
fn is_followed_by_value(rest: &str, word: &str, text: &str) -> bool {
    let weak = matches!(*word_class(word), Class::Weak);
    let behind = rest.trim_start_matches([' ', '"', '\'', '`']);
    let assigned = behind.strip_prefix([':', '=', '：']).map(str::trim_start);
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
                && text.len() > 3
                && is_plausible(first)
        };
    }
    rest.split([' ', '\u{3000}'])
        .filter(|word| !word.is_empty())
        .take(REACH)
        .any(is_value)
}

/// Words of prose behind a colon are no password: `password: see the vault`.
fn is_plausible(first: &str) -> bool {
    let bare = first.trim_matches(|c: char| ".,;".contains(c));
    looks_secret(bare)
        || bare.chars().count() >= 6 && !matches!(bare, "please" | "should" | "bitte" | "always" | "never")
}

enum Class {
    Strong,
    Weak,
}

fn word_class(word: &str) -> &'static Class {
    if matches!(
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
    ) {
        &Class::Weak
    } else {
        &Class::Strong
    }
}

/// Digits of a PIN, or a mixture of letters with digits or marks.
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
