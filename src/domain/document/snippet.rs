//! Reads and writes snippets byte for byte. A single line follows `=> ` directly; several lines start on the
//! next line, each indented by two spaces, with empty lines left empty.

use super::lines::{is_blank, lines, without_end};

const INDENT: &str = "  ";

/// Normalises a snippet to what a document can store: without its last line end and trailing blank lines, and
/// with U+FFFD for NUL. Idempotent.
pub(in crate::domain) fn normalise(snippet: &str) -> String {
    trimmed(snippet).replace('\0', "\u{fffd}")
}

fn trimmed(mut snippet: &str) -> &str {
    while let Some((before, last)) = snippet.rsplit_once('\n') {
        if !is_blank(last) {
            break;
        }
        snippet = before;
    }
    if is_blank(snippet) {
        ""
    } else {
        snippet.trim_end_matches('\r')
    }
}

/// Writes the text after the label: ` => `, the normalised snippet, and the end of its last line.
pub(super) fn write(out: &mut String, snippet: &str) {
    let snippet = normalise(snippet);
    if !snippet.contains('\n') {
        out.push_str(if snippet.is_empty() { " =>" } else { " => " });
        out.push_str(&snippet);
    } else {
        out.push_str(" =>\n");
        for line in snippet.split_inclusive('\n') {
            if !without_end(line).is_empty() {
                out.push_str(INDENT);
            }
            out.push_str(line);
        }
    }
    out.push('\n');
}

/// Parses the snippet of a record from the text after `=>` on its first line, that whole line (for its line
/// end), and its other lines.
pub(super) fn read(after: &str, first: &str, rest: &str) -> String {
    let mut snippet = String::with_capacity(after.len() + rest.len());
    if !is_blank(after) {
        snippet.push_str(after.strip_prefix([' ', '\t']).unwrap_or(after));
        snippet.push_str(&first[without_end(first).len()..]);
    }
    for line in lines(rest, 0..rest.len()) {
        let whole = &rest[line.start..line.end];
        snippet.push_str(whole.strip_prefix(INDENT).unwrap_or(whole));
    }
    trimmed(&snippet).to_owned()
}
