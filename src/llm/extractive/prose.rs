//! Lines of prose to sentences: paragraphs are joined, lists know what the heading above them says.

use super::transcript::{Sentence, Standing, Voice};
use super::words::{folded, one_line};

/// Lines of prose on their way to sentences.
pub(super) struct Prose<'o> {
    voice: Voice,
    message: usize,
    /// What the heading above says.
    standing: Option<Standing>,
    paragraph: String,
    /// Set while the paragraph is an item of a list.
    item: Option<Option<Standing>>,
    out: &'o mut Vec<Sentence>,
}

impl<'o> Prose<'o> {
    pub(super) fn new(voice: Voice, message: usize, out: &'o mut Vec<Sentence>) -> Self {
        Self {
            voice,
            message,
            standing: None,
            paragraph: String::new(),
            item: None,
            out,
        }
    }

    /// Reads one line outside code.
    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('|') || line.starts_with('$') {
            self.end_paragraph();
        } else if let Some(title) = title(line) {
            self.end_paragraph();
            self.standing = heading_standing(&title);
        } else if let Some((text, checked)) = list_item(line) {
            self.end_paragraph();
            self.item = Some(checked.or(self.standing));
            self.paragraph.push_str(text);
        } else if !self.paragraph.is_empty() && continues(&self.paragraph, line) {
            self.paragraph.push(' ');
            self.paragraph.push_str(line);
        } else {
            self.end_paragraph();
            self.paragraph.push_str(line);
        }
    }

    /// Cuts what was read since the last end into sentences.
    pub(super) fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let item = self.item.take();
        if paragraph.is_empty() {
            return;
        }
        if item.is_none() {
            self.standing = None;
        }
        for (index, text) in sentences(&one_line(&paragraph)).into_iter().enumerate() {
            // Only the first sentence of an item is the item; the others explain it.
            let standing = item.flatten().filter(|_| index == 0);
            self.out.push(Sentence {
                voice: self.voice,
                message: self.message,
                text: text.to_owned(),
                standing,
            });
        }
    }
}

/// Whether a line goes on with the sentence of the line before.
fn continues(before: &str, line: &str) -> bool {
    !before.ends_with(['.', '!', '?', ':', ';'])
        && line.starts_with(|c: char| c.is_lowercase() || "(`\"".contains(c))
}

/// The text of a heading, of a line in bold, or of a short line that ends in a colon.
fn title(line: &str) -> Option<String> {
    let heading = line
        .starts_with('#')
        .then(|| line.trim_start_matches('#'))
        .filter(|rest| rest.starts_with(' '));
    let bold = line
        .trim_end_matches(':')
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    let label = line
        .strip_suffix(':')
        .filter(|rest| rest.len() <= 40 && list_item(line).is_none());
    let text = heading.or(bold.filter(|text| !text.contains("**"))).or(label)?;
    Some(folded(text.trim().trim_matches(['*', ':'])))
}

fn heading_standing(title: &str) -> Option<Standing> {
    let names = |words: &[&str]| {
        words
            .iter()
            .any(|word| title.starts_with(word) || title.ends_with(word))
    };
    if names(&[
        "not done",
        "remaining",
        "left",
        "to do",
        "todo",
        "todos",
        "to-do",
        "next",
        "next steps",
        "outstanding",
    ]) || names(&[
        "follow-up",
        "follow-ups",
        "pending",
        "still open",
        "open items",
        "next step",
    ]) {
        Some(Standing::Left)
    } else if names(&[
        "in progress",
        "current",
        "currently",
        "ongoing",
        "working on",
        "doing now",
    ]) {
        Some(Standing::Current)
    } else if names(&[
        "done",
        "completed",
        "finished",
        "accomplished",
        "what i did",
        "what changed",
        "changes made",
    ]) {
        Some(Standing::Done)
    } else {
        None
    }
}

/// The text of a list item and what its check box says.
fn list_item(line: &str) -> Option<(&str, Option<Standing>)> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if number.len() < line.len() {
        number.strip_prefix(". ").or(number.strip_prefix(") "))
    } else {
        None
    };
    let text = ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or(numbered);
    let (text, is_item) = text.map_or((line, false), |text| (text.trim_start(), true));
    for (mark, standing) in [
        ("[x] ", Standing::Done),
        ("[X] ", Standing::Done),
        ("[ ] ", Standing::Left),
        ("✅", Standing::Done),
        ("✔", Standing::Done),
    ] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some((rest.trim_start_matches('\u{fe0f}').trim_start(), Some(standing)));
        }
    }
    is_item.then_some((text, None))
}

/// Cuts a paragraph into sentences: behind an end mark and a blank where no small letter follows, at a
/// semicolon, and where a clause says what is next. Text in backticks is not cut.
fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    let mut previous = ' ';
    for (at, c) in paragraph.char_indices() {
        if c == '`' {
            in_code = !in_code && paragraph[at + 1..].contains('`');
        }
        if c == ' ' && !in_code {
            let (said, rest) = (&paragraph[start..at], &paragraph[at + 1..]);
            let ends = matches!(previous, '.' | '!' | '?')
                && !rest.starts_with(char::is_lowercase)
                && !is_abbreviation(said);
            let next = previous == ',' && (rest.starts_with("next ") || rest.starts_with("now "));
            if ends || next || previous == ';' {
                found.push(said.trim_end_matches([';', ',']));
                start = at + 1;
            }
        }
        previous = c;
    }
    found.push(&paragraph[start..]);
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

fn is_abbreviation(said: &str) -> bool {
    ["e.g.", "i.e.", "vs.", "cf.", "etc.", "approx."]
        .iter()
        .any(|short| said.ends_with(short))
}
