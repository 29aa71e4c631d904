//! Finds texts in a message that are separate from the prose: lines of code, quotations, text after a colon.

use super::code::{Code, Form};
use super::sentence::Voice;
use super::text::one_line;

/// Opening and closing quotation marks.
const MARKS: [(char, char); 7] = [
    ('"', '"'),
    ('„', '“'),
    ('“', '”'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
    ('『', '』'),
];

/// A shorter quotation in a sentence is taken for a name.
const QUOTED_CHARS: usize = 16;

/// Whether the message may contain a text for [`set_apart`]. A cheap check, because most messages contain
/// none.
pub(super) fn may_hold_text(content: &str) -> bool {
    let quotes = |paragraph: &str| MARKS.iter().any(|(open, _)| paragraph.starts_with(*open));
    content.contains("\n>")
        || content.contains(":\n\n")
        || content.contains("：\n\n")
        || content.split("\n\n").skip(1).any(quotes)
        || MARKS
            .iter()
            .any(|(_, close)| content.trim_end().ends_with(*close))
}

/// Paragraphs of the user in quotation marks; if there are none, the text after a line that ends with a
/// colon.
pub(super) fn set_apart(message: usize, content: &str) -> Vec<Code> {
    let code = |lead: &str, form: Form, body: &str| Code {
        voice: Voice::User,
        message,
        info: String::new(),
        lead: one_line(lead),
        form,
        body: body.to_owned(),
    };
    let mut lead = "";
    let mut quoted = Vec::new();
    for paragraph in content.split("\n\n").map(str::trim) {
        if let Some(inside) = whole_quotation(paragraph).filter(|_| !lead.is_empty()) {
            quoted.push(code(lead, Form::Quotation, inside));
        } else if let Some((before, inside)) = quotation_at_the_end(paragraph) {
            quoted.push(code(
                before.lines().last().unwrap_or_default(),
                Form::Rest,
                inside,
            ));
        }
        lead = paragraph.lines().last().unwrap_or(lead);
    }
    if quoted.is_empty()
        && let Some((sentence, rest)) = content
            .split_once(":\n\n")
            .or_else(|| content.split_once("：\n\n"))
        && !rest.contains("```")
    {
        let lead = sentence.lines().last().unwrap_or_default();
        quoted.push(code(lead, Form::Rest, rest.trim()));
    }
    quoted
}

/// Texts of the assistant in lines that begin with `>`, each with the line before it.
pub(super) fn set_off(message: usize, content: &str) -> Vec<Code> {
    let mut lead = "";
    let mut open: Option<Code> = None;
    let mut found = Vec::new();
    for line in content.lines() {
        let Some(inside) = line.trim_start().strip_prefix('>').map(str::trim) else {
            found.extend(open.take());
            lead = if line.trim().is_empty() { lead } else { line };
            continue;
        };
        let code = open.get_or_insert_with(|| Code {
            voice: Voice::Assistant,
            message,
            info: String::new(),
            lead: one_line(lead),
            form: Form::Quotation,
            body: String::new(),
        });
        if !code.body.is_empty() {
            code.body.push('\n');
        }
        code.body.push_str(inside);
    }
    found.extend(open);
    found
}

/// The inside of a paragraph that consists of one quotation.
fn whole_quotation(paragraph: &str) -> Option<&str> {
    let (open, close) = MARKS.into_iter().find(|(open, _)| paragraph.starts_with(*open))?;
    let inside = paragraph.strip_prefix(open)?.strip_suffix(close)?.trim();
    (!inside.contains(open) && inside.contains(' ') | !inside.is_ascii()).then_some(inside)
}

/// "Keep it word for word: “…”": the text before a quotation that ends a paragraph, and the inside of the
/// quotation.
fn quotation_at_the_end(paragraph: &str) -> Option<(&str, &str)> {
    let (open, close) = MARKS.into_iter().find(|(_, close)| paragraph.ends_with(*close))?;
    let rest = paragraph.strip_suffix(close)?;
    let (before, inside) = rest.rsplit_once(open)?;
    let says_more =
        inside.chars().count() >= QUOTED_CHARS && !before.is_empty() && !before.contains(MARKS[0].0);
    says_more.then_some((before, inside.trim()))
}

/// The inside of a line that consists of one piece of inline code.
pub(super) fn whole_code(line: &str) -> Option<&str> {
    let inside = line.trim().strip_prefix('`')?.strip_suffix('`')?;
    (!inside.contains('`') && inside.contains(' ')).then_some(inside)
}
