//! Query parameters, parsed strictly: an unknown, repeated or invalid parameter is 422 with its name, one that cannot
//! be decoded is 400. Otherwise a misspelled filter would return everything. axum's extractor passes over what it does not
//! know and replaces what it cannot decode.

use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;
use strum::VariantNames;

/// The parameters of one operation.
pub(crate) trait FromQuery: Sized {
    /// Reads the known parameters. The caller rejects the remaining ones.
    ///
    /// # Errors
    /// 400 or 422 that names the parameter.
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem>;
}

/// Extracts the parameters of one operation.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: FromQuery> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(parts.uri.query().unwrap_or_default())?;
        let params = T::from_query(&mut reader)?;
        reader.finish()?;
        Ok(Self(params))
    }
}

/// For operations without parameters.
#[derive(Debug)]
pub(crate) struct NoParams;

impl FromQuery for NoParams {
    fn from_query(_: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self)
    }
}

impl<A: FromQuery, B: FromQuery> FromQuery for (A, B) {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok((A::from_query(query)?, B::from_query(query)?))
    }
}

/// The decoded parameters that were not read yet.
#[derive(Debug)]
pub(crate) struct QueryReader {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl QueryReader {
    fn new(query: &str) -> Result<Self, Problem> {
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(|| {
                Problem::malformed(
                    "query",
                    "the name of a query parameter is not percent-encoded UTF-8",
                )
            })?;
            let value = decode(value).ok_or_else(|| {
                Problem::malformed(
                    &name,
                    format!("the query parameter {name} is not percent-encoded UTF-8"),
                )
            })?;
            pairs.push((name, value));
        }
        Ok(Self {
            pairs,
            known: Vec::new(),
        })
    }

    /// Remembers a known name for the error about unknown parameters, if any are left.
    fn knows(&mut self, name: &'static str) {
        if !self.pairs.is_empty() {
            self.known.push(name);
        }
    }

    /// A parameter as text.
    ///
    /// # Errors
    /// 422 if it is repeated.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        self.knows(name);
        let mut found = None;
        let mut index = 0;
        while index < self.pairs.len() {
            if self.pairs[index].0 != name {
                index += 1;
            } else if found.replace(self.pairs.remove(index).1).is_some() {
                return Err(Problem::invalid(name, format!("{name} may be given only once")));
            }
        }
        Ok(found)
    }

    /// The names in a comma-separated parameter, which may be repeated. Names are trimmed; empty ones are ignored.
    pub(crate) fn names(&mut self, name: &'static str) -> Option<BTreeSet<String>> {
        self.knows(name);
        let (found, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pairs)
            .into_iter()
            .partition(|(known, _)| known == name);
        self.pairs = rest;
        let values = found.iter().flat_map(|(_, value)| value.split(','));
        let names = values.map(str::trim).filter(|name| !name.is_empty());
        (!found.is_empty()).then(|| names.map(str::to_owned).collect())
    }

    /// A parameter parsed as `T`, whose error describes the expected form.
    ///
    /// # Errors
    /// 422 if it is repeated or cannot be parsed.
    pub(crate) fn parse<T: FromStr<Err: Display>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Problem> {
        self.text(name)?
            .map(|text| {
                text.parse()
                    .map_err(|rule| Problem::invalid(name, format!("{name} {rule}")))
            })
            .transpose()
    }

    /// An integer within a range.
    ///
    /// # Errors
    /// 422 that names the range.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<Option<u32>, Problem> {
        let (least, most) = (*range.start(), *range.end());
        self.text(name)?
            .map(|text| {
                text.parse()
                    .ok()
                    .filter(|number| plain_digits(&text) && range.contains(number))
                    .ok_or_else(|| {
                        Problem::invalid(
                            name,
                            format!("{name} must be a whole number from {least} to {most}"),
                        )
                        .with("minimum", least)
                        .with("limit", most)
                    })
            })
            .transpose()
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// 422 for anything else.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Problem> {
        let text = self.text(name)?;
        let refused = || Problem::invalid(name, format!("{name} must be one of: true, false"));
        text.map(|text| text.parse().map_err(|_| refused())).transpose()
    }

    /// A value of an enumeration, by its name.
    ///
    /// # Errors
    /// 422 that lists the names.
    pub(crate) fn name<T: FromStr + VariantNames>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let value = text.parse().map_err(|_| {
            let names = T::VARIANTS.join(", ");
            Problem::invalid(name, format!("{name} must be one of: {names}"))
        });
        value.map(Some)
    }

    /// A time.
    ///
    /// # Errors
    /// 400 if it is not in the form of RFC 3339.
    pub(crate) fn time(&mut self, name: &'static str) -> Result<Option<DateTime<Utc>>, Problem> {
        self.text(name)?
            .map(|text| {
                // A plus sign that was not percent-encoded is decoded as a space.
                DateTime::parse_from_rfc3339(&text.replace(' ', "+"))
                    .map(|time| time.to_utc())
                    .map_err(|_| {
                        Problem::malformed(
                            name,
                            format!("{name} must be a time as in 2026-11-21T02:00:00Z (RFC 3339)"),
                        )
                    })
            })
            .transpose()
    }

    fn finish(self) -> Result<(), Problem> {
        let Some((name, _)) = self.pairs.first() else {
            return Ok(());
        };
        let known = if self.known.is_empty() {
            "none".to_owned()
        } else {
            self.known.join(", ")
        };
        Err(Problem::invalid(
            name,
            format!("the query parameter {name} is not known here; known: {known}"),
        ))
    }
}

fn plain_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// Decodes a name or value; `None` if an escape is invalid or the bytes are not UTF-8.
fn decode(text: &str) -> Option<String> {
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    // The decoder leaves an invalid escape as it is.
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::problem::Kind;

    fn reader(query: &str) -> QueryReader {
        QueryReader::new(query).unwrap()
    }

    #[test]
    fn names_and_values_are_decoded() {
        let mut query = reader("q=a+b%2Bc%C3%A4&&flag=true&empty=");
        assert_eq!(query.text("q").unwrap().as_deref(), Some("a b+cä"));
        assert_eq!(query.flag("flag").unwrap(), Some(true));
        assert_eq!(query.text("empty").unwrap().as_deref(), Some(""));
        assert_eq!(query.text("absent").unwrap(), None);
        query.finish().unwrap();
    }

    #[test]
    fn what_cannot_be_decoded_is_malformed() {
        for bad in ["a=%", "a=%f", "a=%zz", "a=%ff", "%C3=1", "a=%+1"] {
            assert_eq!(
                QueryReader::new(bad).unwrap_err().kind(),
                Kind::Malformed,
                "{bad}"
            );
        }
    }

    #[test]
    fn unknown_and_repeated_parameters_are_refused() {
        let mut query = reader("limit=1&limit=2&limt=3");
        assert_eq!(query.text("limit").unwrap_err().kind(), Kind::Invalid);
        assert_eq!(reader("limt=3").finish().unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn numbers_keep_to_their_range_and_to_digits() {
        assert_eq!(reader("n=500").number("n", 1..=500).unwrap(), Some(500));
        for bad in ["0", "501", "", "-1", "+1", "1.0", "1e2", "99999999999", "one"] {
            let problem = QueryReader {
                pairs: vec![("n".into(), bad.into())],
                known: vec![],
            }
            .number("n", 1..=500);
            assert_eq!(problem.unwrap_err().kind(), Kind::Invalid, "{bad}");
        }
    }

    #[test]
    fn times_are_rfc_3339() {
        let good = reader("t=2026-11-21T02:00:00%2B01:00")
            .time("t")
            .unwrap()
            .unwrap();
        assert_eq!(good.to_rfc3339(), "2026-11-21T01:00:00+00:00");
        assert_eq!(
            reader("t=2026-11-21T02:00:00+01:00").time("t").unwrap(),
            Some(good)
        );
        for bad in [
            "yesterday",
            "2026-11-21",
            "2026-13-01T00:00:00Z",
            "1763690400",
            "",
        ] {
            assert_eq!(
                reader(&format!("t={bad}")).time("t").unwrap_err().kind(),
                Kind::Malformed,
                "{bad}"
            );
        }
    }
}
