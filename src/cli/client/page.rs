//! Paged lists.

use super::call::Call;
use super::failure::Failure;
use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// More pages than any list has.
const MAX_PAGES: usize = 20_000;

/// Options of every list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PageArgs {
    /// The maximum number of entries to print.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Continue a list at the cursor that it printed.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

impl PageArgs {
    /// Adds the page's parameters to a request.
    pub(in crate::cli) fn of<'s>(&self, call: Call<'s>) -> Call<'s> {
        call.query("limit", &self.limit.to_string())
            .maybe("cursor", self.cursor.as_ref())
    }
}

#[derive(Debug, Deserialize)]
struct List<T> {
    items: Vec<T>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Returns all entries of a list, page after page. `call` creates the request of each.
///
/// # Errors
/// A page cannot be read, or the list does not end.
pub(in crate::cli) async fn all<'s, T: DeserializeOwned>(
    call: impl Fn() -> Result<Call<'s>, Failure>,
) -> Result<Vec<T>, Failure> {
    let (mut items, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..MAX_PAGES {
        let call = call()?.query("limit", "500").maybe("cursor", cursor.as_ref());
        let List::<T> {
            items: more,
            next_cursor,
        } = call.send().await?.json()?;
        items.extend(more);
        match next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(items),
        }
    }
    Err(Failure::failed("the service's list does not end"))
}
