//! Lists as tables for people: a heading, columns as wide as their content, times as ages.

use super::output::{Look, Output};
use super::text::{one_line, visible};
use crate::clock::{Clock as _, SystemClock};
use chrono::{DateTime, TimeDelta, Utc};

/// The maximum number of characters of a cell; longer ones are cut.
const MAX_CELL: usize = 64;

/// A table that is built row by row.
#[derive(Debug)]
pub(in crate::cli) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    title: &'static str,
    look: Option<Look>,
    is_number: bool,
}

impl Table {
    /// A table without columns.
    pub(in crate::cli) fn new() -> Self {
        Self {
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a column of texts.
    pub(in crate::cli) fn column(self, title: &'static str) -> Self {
        self.with(title, None, false)
    }

    /// Adds a column of ids, which other commands take as arguments.
    pub(in crate::cli) fn id(self, title: &'static str) -> Self {
        self.with(title, Some(Look::Id), false)
    }

    /// Adds a column of numbers.
    pub(in crate::cli) fn number(self, title: &'static str) -> Self {
        self.with(title, None, true)
    }

    fn with(mut self, title: &'static str, look: Option<Look>, is_number: bool) -> Self {
        self.columns.push(Column {
            title,
            look,
            is_number,
        });
        self
    }

    /// Adds a row, with one cell per column.
    pub(in crate::cli) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows
            .push(cells.into_iter().map(|cell| shown(&cell)).collect());
    }

    /// Adds the table to an output, or `none` if it has no rows.
    pub(in crate::cli) fn print(&self, out: &mut Output, none: &str) {
        if self.rows.is_empty() {
            out.styled(Look::Dim, none).end();
            return;
        }
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.max(self.columns[column].title.len())
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let titles = self.columns.iter().map(|column| column.title);
        self.line(out, titles, &widths, true);
        for row in &self.rows {
            self.line(out, row.iter().map(String::as_str), &widths, false);
        }
    }

    fn line<'c>(
        &self,
        out: &mut Output,
        cells: impl Iterator<Item = &'c str>,
        widths: &[usize],
        is_heading: bool,
    ) {
        let last = self.columns.len() - 1;
        for (index, (cell, column)) in cells.zip(&self.columns).enumerate() {
            let pad = " ".repeat(widths[index].saturating_sub(cell.chars().count()));
            if column.is_number {
                out.text(&pad);
            }
            match (is_heading, column.look) {
                (true, _) => out.styled(Look::Dim, cell),
                (false, Some(look)) => out.styled(look, cell),
                (false, None) => out.text(cell),
            };
            if index < last {
                if !column.is_number {
                    out.text(&pad);
                }
                out.text("  ");
            }
        }
        out.end();
    }
}

/// A cell on one line, cut if it is too long. Escaped here, so that its width is known.
fn shown(cell: &str) -> String {
    let cell = visible(&one_line(cell)).into_owned();
    match cell.char_indices().nth(MAX_CELL) {
        None => cell,
        Some((end, _)) => format!("{}…", &cell[..end]),
    }
}

/// A time of the service: `3 hours ago` on a terminal, unchanged elsewhere, since other programs parse it.
pub(in crate::cli) fn when(time: &str) -> String {
    if !super::style::of_stdout().0 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells_and_nothing_leaves_its_line() {
        let mut table = Table::new().id("ID").number("BYTES").column("SAID");
        table.row(["a".to_owned(), "1".to_owned(), "two\nlines".to_owned()]);
        table.row(["longer".to_owned(), "12345678".to_owned(), "\x1b[2J".to_owned()]);
        let mut out = Output::new();
        table.print(&mut out, "none");
        assert_eq!(
            out.as_str(),
            "ID         BYTES  SAID\na              1  two lines\nlonger  12345678  \\u001b[2J\n"
        );
        let mut none = Output::new();
        Table::new().id("ID").print(&mut none, "none");
        assert_eq!(none.as_str(), "none\n");
        assert_eq!(shown(&"ä".repeat(70)).chars().count(), 65);
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
