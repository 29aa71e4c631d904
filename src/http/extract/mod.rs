//! Typed extractors: what a handler gets has been checked, and what does not pass is a [`Problem`] that names
//! the field. Bytes that cannot be read are 400, what can be read and is not valid is 422.
//!
//! [`Problem`]: crate::http::problem::Problem

pub(crate) mod accept;
pub(crate) mod actor;
pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod claim;
pub(crate) mod conditions;
pub(crate) mod exact;
pub(crate) mod freshness;
pub(crate) mod json;
pub(crate) mod media_type;
pub(crate) mod page;
pub(crate) mod path;
pub(crate) mod prefer;
pub(crate) mod query;

use crate::http::problem::Problem;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The value of a header that may stand in a request once at most, without the blanks around it. `name` is
/// written as clients write it.
///
/// # Errors
/// 400 if it stands there twice or is not visible ASCII.
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

/// All values of a list header as one text, joined as RFC 9110 says (section 5.3). `name` is the header as clients write
/// it.
///
/// # Errors
/// 400 if one is not visible ASCII.
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
