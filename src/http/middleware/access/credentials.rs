//! `Authorization: Bearer <key>` (RFC 6750): a missing or other scheme is 401 with a challenge, a header that cannot be read
//! 400, which typed headers do not tell apart.

use super::check::unauthorized;
use crate::http::problem::Problem;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue};

/// The challenge to a request without credentials.
const CHALLENGE: &str = r#"Bearer realm="working-memory""#;

/// The key of a request. Error messages repeat no part of it.
///
/// # Errors
/// 401 without the header or with another scheme, 400 if the header cannot be parsed.
pub(super) fn of(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(unauthorized(
            "a key is needed: send the header Authorization: Bearer <key>",
            CHALLENGE,
        ));
    };
    if values.next().is_some() {
        return Err(broken("may stand in a request only once"));
    }
    let Ok(text) = value.to_str() else {
        return Err(broken("must be visible ASCII"));
    };
    let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if scheme.is_empty() {
        return Err(broken("is empty"));
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthorized(
            "the header Authorization must have the form: Bearer <key>",
            CHALLENGE,
        ));
    }
    let token = rest.trim();
    if token.is_empty() || !token.bytes().all(is_token_byte) {
        return Err(broken("must have the form: Bearer <key>"));
    }
    Ok(token.to_owned())
}

/// `b64token` of RFC 6750.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

fn broken(what: &str) -> Problem {
    let challenge = HeaderValue::from_static(r#"Bearer realm="working-memory", error="invalid_request""#);
    Problem::malformed("Authorization", format!("the header Authorization {what}"))
        .header(WWW_AUTHENTICATE, challenge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::problem::Kind;

    fn read(values: &[&[u8]]) -> Result<String, Kind> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        of(&headers).map_err(|problem| problem.kind())
    }

    #[test]
    fn a_bearer_key_is_read_whatever_the_case_of_its_scheme() {
        for good in [&b"Bearer wm_a_1"[..], b"bearer wm_a_1", b"BEARER   wm_a_1 "] {
            assert_eq!(read(&[good]).unwrap(), "wm_a_1");
        }
    }

    #[test]
    fn no_key_and_another_scheme_are_unauthorized() {
        assert_eq!(read(&[]), Err(Kind::Unauthorized));
        for value in [&b"Basic eDp5"[..], b"wm_a_1"] {
            assert_eq!(read(&[value]), Err(Kind::Unauthorized));
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_is_malformed() {
        assert_eq!(read(&[b"Bearer a", b"Bearer a"]), Err(Kind::Malformed));
        for value in [
            &b""[..],
            b"Bearer",
            b"Bearer ",
            b"Bearer a b",
            b"Bearer a,b",
            b"Bearer \xff",
        ] {
            assert_eq!(read(&[value]), Err(Kind::Malformed), "{value:?}");
        }
    }
}
