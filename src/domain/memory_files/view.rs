//! Formats a file for `view`.

use super::path::FilePath;
use super::refusal::Refusal;
use super::{MAX_LINES, push_numbered};
use crate::domain::text::lines::clipped;

/// Maximum number of characters quoted of an invalid range.
const QUOTE_CHARS: usize = 60;

/// The requested lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewRange {
    /// All of them.
    All,
    /// From the first to the last line; a last line of -1 is the end of the file.
    Lines(i128, i128),
    /// An invalid range, as it was written.
    Unreadable(String),
}

impl ViewRange {
    /// Converts the range to indices (first, end) for a file of this many lines. As in the reference
    /// implementation, a first line below 1 becomes 1, and a last line after the end becomes the end.
    fn of(&self, lines: usize) -> Result<(usize, usize), Refusal> {
        let (first, last) = match self {
            Self::All => return Ok((0, lines)),
            Self::Lines(first, last) => (*first, *last),
            Self::Unreadable(_) => return Err(self.invalid(lines)),
        };
        let index = |number: i128| usize::try_from(number.max(0)).unwrap_or(usize::MAX);
        let start = index(first.max(1) - 1);
        let end = if last == -1 { lines } else { index(last).min(lines) };
        if start < end {
            Ok((start, end))
        } else {
            Err(self.invalid(lines))
        }
    }

    fn invalid(&self, lines: usize) -> Refusal {
        let shown = match self {
            Self::All => "null".to_owned(),
            Self::Lines(first, last) => format!("[{first}, {last}]"),
            Self::Unreadable(text) => clipped(text, QUOTE_CHARS),
        };
        Refusal::new(format!(
            "Invalid `view_range` parameter: {shown}. It should be two line numbers, the first and the last, within \
             the range [1, {lines}]; -1 as the last is the end of the file."
        ))
    }
}

/// Formats the lines of a file with their numbers.
///
/// # Errors
///
/// The file has too many lines, or the range contains none of them.
pub fn view_file(path: &FilePath, text: &str, range: &ViewRange) -> Result<String, Refusal> {
    let lines = text.matches('\n').count() + 1;
    if lines > MAX_LINES {
        return Err(Refusal::new(format!(
            "File {path} exceeds maximum line limit of 999,999 lines."
        )));
    }
    let (start, end) = range.of(lines)?;
    let mut shown = format!("Here's the content of {path} with line numbers:");
    for (index, line) in text.split('\n').enumerate().take(end).skip(start) {
        push_numbered(&mut shown, index + 1, line);
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(text: &str, range: &ViewRange) -> Result<String, String> {
        let path = FilePath::parse("/memories/a").unwrap();
        view_file(&path, text, range)
            .map(|shown| shown.split_once(":\n").unwrap().1.to_owned())
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_file_with_more_lines_than_numbers_is_refused() {
        let most = "\n".repeat(MAX_LINES - 1);
        assert!(view(&most, &ViewRange::Lines(1, 1)).is_ok());
        assert_eq!(
            view(&format!("{most}\n"), &ViewRange::All).unwrap_err(),
            "File /memories/a exceeds maximum line limit of 999,999 lines."
        );
    }
}
