//! Lists: their pages, and for people tables (a heading, columns as wide as their content, times as ages) and entries.

use crate::cli::client::failure::Failure;
use crate::cli::client::output::{Look, Output, visible};
use crate::cli::client::service::Call;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::ids::MAX_ID_BYTES;
use crate::domain::text::single_blanks;
use crate::http::responses::List;
use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The maximum number of characters of a cell that is no id; longer ones are cut.
const MAX_CELL: usize = 64;

/// A column: its title, and what its cells show of an entry. In the line of an entry the title is a word before the cell.
pub(in crate::cli) type Column = (&'static str, Cell);

/// The cell of an entry: a member of it by its name, or what a function makes of it. A missing member is an empty cell.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Cell {
    Text(&'static str),
    /// An id, which other commands take as an argument.
    Id(&'static str),
    Number(&'static str),
    Time(&'static str),
    Made(fn(&Value) -> String),
}

impl Cell {
    fn of(self, entry: &Value) -> String {
        match self {
            Self::Text(name) | Self::Id(name) => text(entry, name),
            Self::Time(name) => time(entry, name),
            Self::Made(cell) => cell(entry),
            Self::Number(name) => match &entry[name] {
                Value::Null => String::new(),
                number if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or_default()),
                number => number.to_string(),
            },
        }
    }
}

/// Adds the table of these entries; nothing if there are none.
pub(in crate::cli) fn write_table(out: &mut Output, columns: &[Column], entries: &[Value]) {
    if entries.is_empty() {
        return;
    }
    let cells = |entry: &Value| -> Vec<String> {
        let cells = columns.iter().map(|(_, cell)| shown(*cell, entry));
        cells.collect()
    };
    let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let mut rows: Vec<Vec<String>> = vec![titles];
    rows.extend(entries.iter().map(cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| width(column).unwrap_or_default())
        .collect();
    for (number, row) in rows.iter().enumerate() {
        for (index, (cell, (_, kind))) in row.iter().zip(columns).enumerate() {
            let pad = " ".repeat(widths[index].saturating_sub(cell.chars().count()));
            let is_number = matches!(kind, Cell::Number(_));
            if is_number {
                out.text(&pad);
            }
            match kind {
                _ if number == 0 => out.styled(Look::Dim, cell),
                Cell::Id(_) => out.styled(Look::Id, cell),
                _ => out.text(cell),
            };
            if index + 1 < columns.len() {
                out.text(if is_number { "" } else { pad.as_str() }).text("  ");
            }
        }
        out.end();
    }
}

/// Adds an entry: in a line its cells that are not empty, and below it the lines of its body.
pub(in crate::cli) fn write_entry(out: &mut Output, line: &[Column], body: Cell, entry: &Value) {
    let mut before = "";
    for (title, cell) in line {
        let shown = single_blanks(&cell.of(entry));
        if shown.is_empty() {
            continue;
        }
        out.text(std::mem::replace(&mut before, " "));
        if !title.is_empty() {
            out.styled(Look::Dim, title).text(" ");
        }
        match cell {
            Cell::Id(_) => out.styled(Look::Id, &shown),
            _ => out.text(&shown),
        };
    }
    out.end().indented("  ", &body.of(entry));
}

/// A member that is a text.
pub(in crate::cli) fn text(entry: &Value, name: &str) -> String {
    entry[name].as_str().unwrap_or_default().to_owned()
}

/// A member that is a time.
pub(in crate::cli) fn time(entry: &Value, name: &str) -> String {
    when(&text(entry, name))
}

/// A cell of a table: on one line, cut if it is too long, `-` if it is empty. Escaped here, so that its width is known.
fn shown(cell: Cell, entry: &Value) -> String {
    let most = match cell {
        Cell::Id(_) => MAX_ID_BYTES,
        _ => MAX_CELL,
    };
    let cell = visible(&single_blanks(&cell.of(entry))).into_owned();
    match cell.char_indices().nth(most) {
        None if cell.is_empty() => "-".to_owned(),
        None => cell,
        Some((end, _)) => format!("{}…", &cell[..end]),
    }
}

/// A time of the service: `3 hours ago` on a terminal, unchanged elsewhere, since other programs parse it.
pub(in crate::cli) fn when(time: &str) -> String {
    if !crate::cli::client::output::of_stdout().0 {
        return time.to_owned();
    }
    match time.parse::<DateTime<Utc>>() {
        Ok(parsed) => ago(SystemClock.now() - parsed),
        Err(_) => time.to_owned(),
    }
}

/// `3 minutes ago`. A future time, as of another machine's clock, is shown as just now.
pub(in crate::cli) fn ago(age: TimeDelta) -> String {
    let (number, unit) = match age.num_seconds() {
        ..10 => return "just now".to_owned(),
        seconds @ ..60 => (seconds, "second"),
        seconds @ ..3_600 => (seconds / 60, "minute"),
        seconds @ ..86_400 => (seconds / 3_600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

/// More pages than any list has.
const MAX_PAGES: usize = 20_000;

/// Options of every list.
#[derive(Debug, Clone, Args, Serialize)]
pub(in crate::cli) struct PageArgs {
    /// The maximum number of entries to print.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Continue a list at the cursor that it printed.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_as_wide_as_their_cells_and_nothing_leaves_its_line() {
        let columns = [
            ("ID", Cell::Id("id")),
            ("BYTES", Cell::Number("bytes")),
            ("SAID", Cell::Text("said")),
        ];
        let entries = [
            json!({"id": "a", "bytes": 1, "said": "two\nlines"}),
            json!({"id": "longer", "bytes": 12_345_678, "said": "\x1b[2J"}),
        ];
        let mut out = Output::new();
        write_table(&mut out, &columns, &entries);
        assert_eq!(
            out.into_text(),
            "ID         BYTES  SAID\na              1  two lines\nlonger  12345678  \\u001b[2J\n"
        );
        let mut none = Output::new();
        write_table(&mut none, &columns, &[]);
        assert_eq!(none.into_text(), "");
        for (cell, count) in [(Cell::Text("long"), 65), (Cell::Id("long"), 128)] {
            let entry = json!({"long": "i".repeat(128)});
            assert_eq!(shown(cell, &entry).chars().count(), count);
        }
    }

    #[test]
    fn an_age_is_shown_in_its_largest_unit() {
        for (seconds, age) in [
            (-5, "just now"),
            (9, "just now"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(TimeDelta::seconds(seconds)), age);
        }
    }
}
