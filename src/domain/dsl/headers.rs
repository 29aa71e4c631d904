//! Section and list headers, matched by their words.

use super::lines::{bullet, is_no_change};
use crate::domain::operation::Role;

/// A list of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Completed,
    InProgress,
    Remaining,
    Add,
    Archive,
    Merge,
    Mark,
}

impl List {
    /// Whether it is a list of `CURRENT_PROGRESS`; the others are of the sections with records.
    pub(super) fn is_of_progress(self) -> bool {
        matches!(self, Self::Completed | Self::InProgress | Self::Remaining)
    }
}

/// What a header opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    Section(Role),
    List(List),
}

/// A header and the text after it on the same line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header<'t> {
    pub(super) opens: Opens,
    /// Whether it is spelled exactly as in the grammar, including its colon.
    pub(super) is_canonical: bool,
    /// Whether a colon or decoration distinguishes it from prose with the same words.
    pub(super) is_set_apart: bool,
    /// An item on the header's own line; empty if there is none or if it means "no change".
    pub(super) after: &'t str,
}

impl<'t> Header<'t> {
    /// The header of a list behind it, on the same line.
    pub(super) fn list_behind(&self) -> Option<Header<'t>> {
        known(self.after).filter(|header| matches!(header.opens, Opens::List(_)))
    }
}

const KNOWN: [(&str, Opens); 10] = [
    ("CURRENT_PROGRESS", Opens::Section(Role::Progress)),
    ("KEY_LEARNINGS", Opens::Section(Role::Learnings)),
    ("VERBATIM_CONTEXT", Opens::Section(Role::Verbatim)),
    ("Completed", Opens::List(List::Completed)),
    ("In Progress", Opens::List(List::InProgress)),
    ("Remaining", Opens::List(List::Remaining)),
    ("ADD", Opens::List(List::Add)),
    ("ARCHIVE", Opens::List(List::Archive)),
    ("MERGE", Opens::List(List::Merge)),
    ("MARK", Opens::List(List::Mark)),
];

/// Characters between the words of a header.
const SEPARATORS: [char; 3] = [' ', '_', '-'];

/// Maximum length of a header name, in bytes.
const MAX_NAME: usize = 40;

/// The parts of a line in the form of a header.
struct Form<'t> {
    name: &'t str,
    is_decorated: bool,
    has_colon: bool,
    after: &'t str,
}

/// Characters around a heading.
const DECORATION: [char; 3] = ['*', '`', '_'];

/// The text behind the marks of a Markdown heading, and whether there are any; `None` if the line begins with other `#`.
fn unhashed(content: &str) -> Option<(&str, bool)> {
    let unhashed = content.trim_start_matches('#');
    let hashes = content.len() - unhashed.len();
    let is_heading = hashes > 0;
    let is_other = hashes > 6 || is_heading && !unhashed.starts_with([' ', '\t']);
    (!is_other).then_some((unhashed.trim(), is_heading))
}

/// Whether a text introduces what is below it.
pub(super) fn ends_with_colon(content: &str) -> bool {
    content.trim_end_matches(DECORATION).ends_with([':', '：'])
}

/// Whether a line is set apart as a heading, whatever its words: by heading marks, or all of it in bold but for symbols and what
/// stands in parentheses behind it.
pub(super) fn is_heading(content: &str) -> bool {
    let bare = content.trim_matches(is_blank_or_symbol);
    let bare = match bare.strip_suffix(')').and_then(|bare| bare.rsplit_once('(')) {
        Some((before, _)) => before.trim_end(),
        None => bare,
    };
    let bold = |mark: &str| {
        let inner = bare.strip_prefix(mark).and_then(|inner| inner.strip_suffix(mark));
        inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(mark))
    };
    unhashed(content).is_some_and(|(_, is_heading)| is_heading) || bold("**") || bold("__")
}

/// A symbol that models put beside a title: `✅`, with what selects its form.
fn is_symbol(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() && c != '：'
}

fn is_blank_or_symbol(c: char) -> bool {
    c == ' ' || is_symbol(c)
}

/// Splits a line's content: optional heading marks, optional bold or backticks, a name of letters, digits,
/// blanks, `_` and `-`, a colon inside or outside of the decoration, and the rest. A number and symbols around the name of
/// a heading do not count.
fn form(content: &str) -> Option<Form<'_>> {
    let (unhashed, is_heading) = unhashed(content)?;
    let (mut undecorated, mut opened) = (unhashed, 0);
    loop {
        let before = undecorated.len();
        undecorated = undecorated.trim_start_matches(DECORATION);
        opened += before - undecorated.len();
        if is_heading || opened > 0 {
            undecorated = bullet(undecorated).unwrap_or(undecorated);
        }
        undecorated = undecorated.trim_start_matches(is_blank_or_symbol);
        if undecorated.len() == before {
            break;
        }
    }
    let is_decorated = is_heading || opened > 0;
    if !is_decorated {
        undecorated = unhashed;
    }
    let name_end = undecorated
        .bytes()
        .take(MAX_NAME + 1)
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'-')))
        .unwrap_or(undecorated.len());
    if name_end > MAX_NAME {
        return None;
    }
    let name = undecorated[..name_end].trim_end_matches(['_', ' ', '-']);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let mut rest = &undecorated[name.len()..];
    let mut has_colon = false;
    while let Some(mark) = rest.chars().next() {
        match mark {
            ':' | '：' if !has_colon => has_colon = true,
            '*' | '`' | '_' if opened > 0 => {}
            ' ' | '\t' => {}
            symbol if is_decorated && !has_colon && is_symbol(symbol) => {}
            _ => break,
        }
        rest = &rest[mark.len_utf8()..];
    }
    if is_heading {
        // Closing marks of a heading.
        rest = rest.trim_end_matches('#').trim_end();
    }
    if is_decorated && rest.chars().all(is_blank_or_symbol) {
        rest = "";
    }
    if !has_colon && !rest.is_empty() {
        return None;
    }
    Some(Form {
        name,
        is_decorated,
        has_colon,
        after: rest,
    })
}

/// Returns the known header in a line's content, if any.
pub(super) fn known(content: &str) -> Option<Header<'_>> {
    let form = form(content)?;
    let (opens, is_exact) = KNOWN.into_iter().find_map(|(name, opens)| {
        let exact = form.name == name;
        // Mark is a name and merge a common word, so only the exact spelling counts.
        let is_lenient = !matches!(opens, Opens::List(List::Mark | List::Merge));
        let same = match exact {
            true => is_lenient || form.has_colon,
            false => is_lenient && matches(form.name, name),
        };
        same.then_some((opens, exact))
    })?;
    let is_canonical = is_exact && !form.is_decorated && form.has_colon;
    let after = if is_no_change(form.after) {
        ""
    } else {
        form.after.trim()
    };
    // "Key learnings: the parser is slow" is prose; only the exact spelling of the grammar may have text
    // after it.
    let takes_text = is_exact && form.has_colon;
    if !(after.is_empty() || takes_text) {
        return None;
    }
    let is_set_apart = form.has_colon || form.is_decorated;
    Some(Header {
        opens,
        is_canonical,
        is_set_apart,
        after,
    })
}

/// Whether a name matches a known one, whatever its case and the characters between its words.
fn matches(name: &str, known: &str) -> bool {
    let words = |text| str::split(text, SEPARATORS).filter(|word| !word.is_empty());
    let same = |(written, wanted): (&str, &str)| written.eq_ignore_ascii_case(wanted);
    words(name).count() == words(known).count() && words(name).zip(words(known)).all(same)
}

/// How strongly an unknown line resembles a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resemblance {
    /// `OTHER_SECTION:` or `UPDATE:`: spelled like the headers of the grammar.
    Strong,
    /// `Notes:`, `## Notes` or `**Notes**`: a header only if items follow.
    Weak,
}

/// Detects a line in the form of a header that is not a known one. `And one more:` is prose: its words are
/// not capitalised.
pub(super) fn unknown(content: &str) -> Option<Resemblance> {
    let form = form(content)?;
    let words = form
        .name
        .split(SEPARATORS)
        .filter(|word| !word.is_empty())
        .count();
    if !form.after.is_empty() || words > 3 || !(form.has_colon || form.is_decorated) {
        return None;
    }
    let letters = form.name.bytes().filter(u8::is_ascii_alphabetic).count();
    let mut words = form.name.split(SEPARATORS);
    let is_title = words.all(|word| !word.starts_with(|c: char| c.is_ascii_lowercase()));
    if !is_title && !form.is_decorated {
        return None;
    }
    let is_upper = letters >= 2 && !form.name.bytes().any(|byte| byte.is_ascii_lowercase());
    let resemblance = if is_upper && form.has_colon {
        Resemblance::Strong
    } else {
        Resemblance::Weak
    };
    Some(resemblance)
}
