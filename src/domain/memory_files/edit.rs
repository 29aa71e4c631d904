//! Applies `create`, `str_replace` and `insert` to a file.

use super::path::FilePath;
use super::push_numbered;
use super::refusal::Refusal;
use crate::domain::document::{InvalidDocument, check_file};

/// Number of lines shown before and after a replaced line.
const LINES_AROUND: usize = 2;

/// The most occurrences of a text whose lines are listed: each is searched for anew.
const LISTED_OCCURRENCES: usize = 1_000;

/// A file to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Its complete text.
    pub text: String,
    /// The response to the model.
    pub response: String,
}

impl Edited {
    /// Checks that the text can be saved: at most `limit` bytes, no NUL. Unlike other documents it may be
    /// empty or blank.
    fn new(path: &FilePath, text: String, response: String, limit: usize) -> Result<Self, Refusal> {
        let problem = match check_file(&text, limit) {
            Err(InvalidDocument::TooLarge { bytes, limit }) => format!(
                "have {bytes} bytes; at most {limit} are possible (limits.context_bytes). Nothing was changed. Keep less in \
                 it, or split it into several files."
            ),
            Err(InvalidDocument::Nul { at }) => format!(
                "hold a NUL character at byte {at}, which cannot be stored. Nothing was changed. Remove the character."
            ),
            Ok(()) | Err(InvalidDocument::Blank) => return Ok(Self { text, response }),
        };
        Err(Refusal::new(format!("The file {path} would {problem}")))
    }
}

/// Creates a file.
///
/// # Errors
///
/// The text exceeds `limit` bytes or contains a NUL character.
pub fn new_file(path: &FilePath, text: &str, limit: usize) -> Result<Edited, Refusal> {
    let response = format!("File created successfully at: {path}");
    Edited::new(path, text.to_owned(), response, limit)
}

/// Replaces the only occurrence of `old` in a file.
///
/// # Errors
///
/// There is no occurrence or more than one, or the file cannot be saved.
pub fn str_replace(
    path: &FilePath,
    text: &str,
    (old, new): (&str, &str),
    limit: usize,
) -> Result<Edited, Refusal> {
    let Some(first) = text.find(old) else {
        return Err(Refusal::new(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )));
    };
    if text.matches(old).nth(1).is_some() {
        return Err(Refusal::new(format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is \
             unique",
            lines_with(text, old).join(", ")
        )));
    }
    let edited = [&text[..first], new, &text[first + old.len()..]].concat();
    let changed = text[..first].matches('\n').count();
    let mut response =
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
            .to_owned();
    let from = changed.saturating_sub(LINES_AROUND);
    let shown = changed + LINES_AROUND + 1 - from;
    for (index, line) in edited.split('\n').enumerate().skip(from).take(shown) {
        push_numbered(&mut response, index + 1, line);
    }
    Edited::new(path, edited, response, limit)
}

/// Inserts a text after a line of a file; 0 inserts before the first line. The resulting file ends with a
/// line end.
///
/// # Errors
///
/// There is no such line, or the file cannot be saved.
pub fn insert(
    path: &FilePath,
    text: &str,
    (after, new): (i128, &str),
    limit: usize,
) -> Result<Edited, Refusal> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let index = usize::try_from(after).ok().filter(|index| *index <= lines.len());
    let Some(index) = index else {
        return Err(Refusal::new(format!(
            "Invalid `insert_line` parameter: {after}. It should be within the range [0, {}].",
            lines.len()
        )));
    };
    lines.insert(index, new.trim_end_matches('\n'));
    let mut edited = lines.join("\n");
    if !edited.ends_with('\n') {
        edited.push('\n');
    }
    let response = format!("The file {path} has been edited.");
    Edited::new(path, edited, response, limit)
}

/// The line numbers of the occurrences of a text in another, overlapping ones too.
fn lines_with(text: &str, wanted: &str) -> Vec<String> {
    let (mut lines, mut line, mut from) = (Vec::new(), 1, 0);
    while lines.len() < LISTED_OCCURRENCES
        && let Some(at) = text.get(from..).and_then(|rest| rest.find(wanted))
    {
        line += text[from..from + at].matches('\n').count();
        lines.push(line.to_string());
        let first = text[from + at..].chars().next();
        line += usize::from(first == Some('\n'));
        from += at + first.map_or(1, char::len_utf8);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> FilePath {
        FilePath::parse("/memories/a.txt").unwrap()
    }

    fn replaced(text: &str, old: &str, new: &str) -> Result<Edited, String> {
        str_replace(&path(), text, (old, new), 1_000).map_err(|refusal| refusal.to_string())
    }

    fn inserted(text: &str, after: i128, new: &str) -> Result<String, String> {
        insert(&path(), text, (after, new), 1_000)
            .map(|edited| edited.text)
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_replacement_shows_two_lines_before_and_after_the_line_it_changed() {
        // Overlapping occurrences count as one, as long as no two of them are disjoint.
        let seven = ("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nfour\n5\n6\n7\n");
        for (text, (old, new), edited, shown) in [
            (
                seven.0,
                ("4", "four"),
                seven.1,
                "2\t2\n     3\t3\n     4\tfour\n     5\t5\n     6\t6",
            ),
            (
                "1\n2",
                ("1", "a\nb\nc\nd"),
                "a\nb\nc\nd\n2",
                "1\ta\n     2\tb\n     3\tc",
            ),
            ("only", ("only", ""), "", "1\t"),
            ("aaa", ("aa", "b"), "ba", "1\tba"),
            ("", ("", "b"), "b", "1\tb"),
        ] {
            let replaced = replaced(text, old, new).unwrap();
            assert_eq!(replaced.text, edited);
            let shown = format!("numbers):\n     {shown}");
            assert!(replaced.response.ends_with(&shown), "{replaced:?}");
        }
        for (text, old) in [("aaaa", "aa"), ("ab", "")] {
            let refused = replaced(text, old, "b").unwrap_err();
            assert!(refused.contains("in lines: 1, 1, 1."), "{refused}");
        }
    }

    #[test]
    fn a_line_is_inserted_after_another_and_the_file_ends_with_a_line_end() {
        for (text, after, new, edited) in [
            ("", 0, "a", "a\n"),
            ("", 0, "", "\n"),
            ("a\nb\n", 0, "x", "x\na\nb\n"),
            ("a\nb\n", 2, "x\n\n", "a\nb\nx\n"),
            ("a\nb", 1, "x\ny", "a\nx\ny\nb\n"),
            ("a\r\nb\r\n", 1, "x", "a\r\nx\nb\r\n"),
            ("\n", 1, "x", "\nx\n"),
        ] {
            assert_eq!(inserted(text, after, new).as_deref(), Ok(edited), "{text:?}");
        }
        for after in [-1, 3, i128::from(u64::MAX)] {
            let refused =
                format!("Invalid `insert_line` parameter: {after}. It should be within the range [0, 2].");
            assert_eq!(inserted("a\nb\n", after, "x"), Err(refused));
        }
    }
}
