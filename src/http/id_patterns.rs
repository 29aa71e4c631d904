//! Ids as regular expressions, for the OpenAPI document and for error messages.

/// The rule of [`crate::domain::ids`] as a regular expression.
pub(crate) const ID_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$";

/// Record ids of up to eighteen digits. Ids of nineteen digits below 2^63 are accepted too.
pub(crate) const RECORD_ID_PATTERN: &str = "^(KL|VC|T|D)-[1-9][0-9]{0,17}$";
