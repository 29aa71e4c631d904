//! Typed extractors. A handler receives validated values; invalid input becomes a [`Problem`] that names the field.
//! Input that cannot be parsed is 400, parsed input that is not valid is 422.
//!
//! [`Problem`]: crate::http::problem::Problem

pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod headers;
pub(crate) mod page;
pub(crate) mod params;
