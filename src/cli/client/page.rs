//! Paged lists.

use super::call::Call;
use super::failure::{Failure, note};
use super::output::Output;
use super::table::Table;
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

/// One page.
#[derive(Debug, Deserialize)]
pub(in crate::cli) struct List<T> {
    /// Its entries.
    pub(in crate::cli) items: Vec<T>,
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

impl<T> List<T> {
    /// Prints the table of its entries, or that there are none, and how to continue the list.
    pub(in crate::cli) fn print(&self, table: &Table, none: &str) -> Result<(), Failure> {
        let mut out = Output::new();
        table.print(&mut out, none);
        out.write()?;
        self.print_rest();
        Ok(())
    }

    /// Prints on standard error how to continue the list, if there is more.
    pub(in crate::cli) fn print_rest(&self) {
        if let Some(cursor) = &self.next_cursor {
            note(&format!("there are more: --cursor {cursor}"));
        }
    }
}
