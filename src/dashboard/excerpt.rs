//! The parts of long texts that fit on a page. A page has a limited size, whatever the document has.

/// Bytes of HTML on a page.
const PAGE_BYTES: usize = 60_000;

/// Bytes of the tags around a row, roughly.
const ROW_BYTES: usize = 100;

/// The size of a text in HTML, in bytes.
pub(super) fn weight(text: &str) -> usize {
    text.chars().map(weight_of).sum()
}

fn weight_of(character: char) -> usize {
    match character {
        '<' | '>' | '&' | '"' | '\'' => 5,
        other => other.len_utf8(),
    }
}

/// As many rows as fit on a page, one at least, and the first one that does not. `bytes` is the size of what a row says.
pub(super) fn fitting<T>(
    rows: impl IntoIterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
) -> (Vec<T>, Option<T>) {
    let (mut page, mut used) = (Vec::new(), 0);
    for row in rows {
        if used > PAGE_BYTES {
            return (page, Some(row));
        }
        used += bytes(&row) + ROW_BYTES;
        page.push(row);
    }
    (page, None)
}

/// The end of the first page of a text: whole lines if they are short enough.
pub(super) fn end_of_page(text: &str) -> usize {
    let mut used = 0;
    let mut end_of_line = None;
    for (at, character) in text.char_indices() {
        used += weight_of(character);
        if used > PAGE_BYTES {
            return end_of_line.unwrap_or(at);
        }
        if character == '\n' {
            end_of_line = Some(at + 1);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_with_a_line_or_within_a_long_one() {
        assert_eq!(end_of_page("a\nb"), 3);
        let lines = "0123456789\n".repeat(10_000);
        assert_eq!(end_of_page(&lines) % 11, 0);
        assert!(end_of_page(&lines) > PAGE_BYTES / 2);
        let line = "ä".repeat(100_000);
        assert!(line.is_char_boundary(end_of_page(&line)) && end_of_page(&line) <= PAGE_BYTES);
        assert!(end_of_page(&"<".repeat(100_000)) <= PAGE_BYTES / 5);
    }

    #[test]
    fn every_row_is_on_a_page() {
        let rows = vec!["<".repeat(3_000); 20];
        let (page, next) = fitting(rows.iter(), |row| weight(row));
        assert_eq!(page.len(), 4);
        assert!(next.is_some());
        assert_eq!(fitting([100_000], |bytes| *bytes), (vec![100_000], None));
    }
}
