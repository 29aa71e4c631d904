//! Lists: one page at a time, as the service gives them.

use super::failure::note;
use super::service::Call;
use clap::Args;
use serde::Deserialize;

/// Options of every list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PageArgs {
    /// Most entries to print.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Go on where a list ended that named this cursor.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

impl PageArgs {
    /// Asks for this page.
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

impl<T> List<T> {
    /// Says on standard error how the list goes on, if it does.
    pub(in crate::cli) fn tell_rest(&self) {
        if let Some(cursor) = &self.next_cursor {
            note(&format!("there are more: --cursor {cursor}"));
        }
    }
}
