//! Typed extractors. A handler receives validated values; invalid input becomes a [`Problem`] that names the field.
//! Input that cannot be parsed is 400, parsed input that is not valid is 422.
//!
//! [`Problem`]: crate::http::problem::Problem

pub(crate) mod accept;
pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod conditions;
pub(crate) mod json;
pub(crate) mod page;
pub(crate) mod params;

use crate::http::problem::Problem;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The trimmed value of a header that may occur at most once. `name` is spelled as clients write it.
///
/// # Errors
/// 400 if it occurs twice or is not visible ASCII.
pub(crate) fn single_header(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Problem::malformed(
            name,
            format!("the header {name} may stand in a request only once"),
        ));
    }
    Ok(Some(visible(name, value)?.trim().to_owned()))
}

/// All values of a list header, joined as in RFC 9110, section 5.3. `name` is spelled as clients write it.
///
/// # Errors
/// 400 if a value is not visible ASCII.
pub(crate) fn list_header(
    headers: &HeaderMap,
    header: &HeaderName,
    name: &str,
) -> Result<Option<String>, Problem> {
    let mut joined: Option<String> = None;
    for value in headers.get_all(header) {
        let text = visible(name, value)?;
        match &mut joined {
            Some(list) => {
                list.push(',');
                list.push_str(text);
            }
            None => joined = Some(text.to_owned()),
        }
    }
    Ok(joined)
}

fn visible<'v>(name: &str, value: &'v HeaderValue) -> Result<&'v str, Problem> {
    value
        .to_str()
        .map_err(|_| Problem::malformed(name, format!("the header {name} must be visible ASCII")))
}
