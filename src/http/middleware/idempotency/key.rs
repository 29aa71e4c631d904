//! The header `Idempotency-Key`.

use crate::http::problem::{Kind, Problem};
use axum::http::{HeaderMap, HeaderName};

/// The name of the header as clients write it.
pub(super) const NAME: &str = "Idempotency-Key";

/// The header.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The maximum length of a key in bytes.
pub(super) const MAX_BYTES: usize = 255;

/// The key of a request that has the header.
///
/// # Errors
/// 400 if the header occurs twice or is not ASCII, 422 if the key is empty, too long or contains spaces.
pub(super) fn of(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Problem::malformed(
            NAME,
            format!("the header {NAME} may stand in a request only once"),
        ));
    };
    let key = value
        .to_str()
        .map_err(|_| Problem::malformed(NAME, format!("the header {NAME} must be visible ASCII")))?
        .trim();
    if key.is_empty() || key.len() > MAX_BYTES || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::invalid(
            NAME,
            format!("{NAME} must be 1 to {MAX_BYTES} visible ASCII characters without blanks"),
        )
        .with("limit", MAX_BYTES));
    }
    Ok(key.to_owned())
}

/// 422: the key belongs to a different request.
pub(super) fn reused() -> Problem {
    Problem::new(
        Kind::KeyReused,
        format!(
            "this {NAME} was used for another request (method, path, query, body, Content-Type, Accept, \
             Prefer, X-Actor-Id, If-Match or If-None-Match differ); take a new key for a new request"
        ),
    )
    .with("field", NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Result<String, Kind> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, (*value).try_into().unwrap());
        }
        of(&headers).map_err(|problem| problem.kind())
    }

    #[test]
    fn a_key_is_visible_ascii_of_bounded_length() {
        assert_eq!(read(&[b" 8e03978e-40d5 "]), Ok("8e03978e-40d5".to_owned()));
        assert_eq!(read(&[b"\"quoted\""]), Ok("\"quoted\"".to_owned()));
        assert_eq!(read(&[&[b'x'; 255]]), Ok("x".repeat(255)));
        for invalid in [&b""[..], b" ", b"a b", b"a\tb", &[b'x'; 256]] {
            assert_eq!(read(&[invalid]), Err(Kind::Invalid), "{invalid:?}");
        }
        assert_eq!(read(&[b"\xe4"]), Err(Kind::Malformed));
        assert_eq!(read(&[b"a", b"a"]), Err(Kind::Malformed));
    }
}
