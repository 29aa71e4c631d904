//! Formats a file for `view`.

use super::command::integer;
use super::path::FilePath;
use super::refusal::Refusal;
use super::{MAX_LINES, push_numbered};
use crate::domain::text::lines::clipped;
use serde_json::Value;

/// Maximum number of characters quoted of an invalid range.
const QUOTE_CHARS: usize = 60;

/// The indices (first, end) of the requested lines of a file of this many: two line numbers, of which -1 as the last is the end
/// of the file. As in the reference implementation, a first line below 1 becomes 1, and a last line after the end becomes
/// the end.
fn shown(range: Option<&Value>, lines: usize) -> Result<(usize, usize), Refusal> {
    let Some(range) = range else {
        return Ok((0, lines));
    };
    let numbers = match range.as_array().map(Vec::as_slice) {
        Some([first, last]) => integer(first).zip(integer(last)),
        _ => None,
    };
    let index = |number: i128| usize::try_from(number.max(0)).unwrap_or(usize::MAX);
    let indices = numbers.map(|(first, last)| {
        let end = if last == -1 { lines } else { index(last).min(lines) };
        (index(first.max(1) - 1), end)
    });
    indices.filter(|(start, end)| start < end).ok_or_else(|| {
        let range = match numbers {
            Some((first, last)) => format!("[{first}, {last}]"),
            None => clipped(&range.to_string(), QUOTE_CHARS),
        };
        Refusal::new(format!(
            "Invalid `view_range` parameter: {range}. It should be two line numbers, the first and the last, within \
             the range [1, {lines}]; -1 as the last is the end of the file."
        ))
    })
}

/// Formats the lines of a file with their numbers.
///
/// # Errors
///
/// The file has too many lines, or the range contains none of them.
pub fn view_file(path: &FilePath, text: &str, range: Option<&Value>) -> Result<String, Refusal> {
    let lines = text.matches('\n').count() + 1;
    if lines > MAX_LINES {
        return Err(Refusal::new(format!(
            "File {path} exceeds maximum line limit of 999,999 lines."
        )));
    }
    let (start, end) = shown(range, lines)?;
    let mut content = format!("Here's the content of {path} with line numbers:");
    for (index, line) in text.split('\n').enumerate().take(end).skip(start) {
        push_numbered(&mut content, index + 1, line);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(text: &str, range: Option<&Value>) -> Result<String, String> {
        let path = FilePath::parse("/memories/a").unwrap();
        view_file(&path, text, range)
            .map(|shown| shown.split_once(":\n").unwrap().1.to_owned())
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_file_with_more_lines_than_numbers_is_refused() {
        let most = "\n".repeat(MAX_LINES - 1);
        assert!(view(&most, Some(&serde_json::json!([1, 1]))).is_ok());
        assert_eq!(
            view(&format!("{most}\n"), None).unwrap_err(),
            "File /memories/a exceeds maximum line limit of 999,999 lines."
        );
    }
}
