//! Markdown: each bullet is a learning, what else there is stays text under its heading.
//!
//! ```text
//! # …                a section; its text without the bullets is kept under this title
//! ## … to ######     the path of the bullets below; kept if there is text below
//! - … or 1. …        a learning with all lines that belong to it, as one line; with a code block in it, text
//! other lines        text: paragraphs, tables, code blocks, comments
//! --- … ---          front matter at the beginning, kept as a code block
//! ```

use super::back::fence_around;
use super::file::{BadInput, SourceFile};
use super::{Piece, Pieces, brief};
use crate::domain::document::{Fence, heading_of, indent, is_blank_line};
use crate::domain::text::one_line;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Whose Markdown it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// Any.
    Plain,
    /// CLAUDE.md, in which `@path` imports a file.
    WithImports,
    /// A note of basic-memory: front matter, observations and relations.
    BasicMemory,
}

/// Reads a Markdown file.
///
/// # Errors
///
/// It is JSON, or a note of basic-memory without readable front matter.
pub fn markdown(file: &SourceFile, note: Note) -> Result<Pieces, BadInput> {
    let first = file.text.trim_start();
    if first.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(first).is_ok() {
        return Err(file.bad(file.text.len() - first.len(), "this is JSON; expected Markdown"));
    }
    let mut reading = Reading {
        file,
        note,
        found: Pieces::default(),
        titles: HashMap::new(),
        subject: file.name.clone(),
        title: file.name.clone(),
        section_line: 1,
        body: String::new(),
        is_blank_before: false,
        path: Vec::new(),
        item: None,
        fence: None,
        in_comment: false,
    };
    let front = front_matter(file, note)?;
    let mut skipped = 0;
    if let Some((lines, title)) = front {
        skipped = lines.len() + 2;
        if let (Some(title), Note::BasicMemory) = (title, note) {
            reading.subject.clone_from(&title);
            reading.title = title;
        }
        let lines = lines.join("\n");
        let fence = fence_around(&lines);
        reading.body = format!("{fence}yaml\n{lines}\n{fence}\n");
    }
    for (index, line) in file.text.lines().enumerate().skip(skipped) {
        reading.line(index + 1, line);
    }
    reading.end_item();
    reading.leave(1);
    reading.end_section();
    Ok(reading.found)
}

/// The lines of the front matter, and its title.
type FrontMatter<'t> = (Vec<&'t str>, Option<String>);

fn front_matter(file: &SourceFile, note: Note) -> Result<Option<FrontMatter<'_>>, BadInput> {
    const FORM: &str =
        "expected a note of basic-memory, which begins with front matter between two lines ---";
    let is_required = note == Note::BasicMemory;
    let without = |what: &str| match is_required {
        true => Err(file.bad(0, what)),
        false => Ok(None),
    };
    let mut lines = file.text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return without(FORM);
    }
    let inside: Vec<&str> = lines
        .clone()
        .take_while(|line| line.trim_end() != "---")
        .collect();
    if lines.nth(inside.len()).is_none() {
        return without(&format!("the front matter never ends; {FORM}"));
    }
    let mut at = "---\n".len();
    let mut title = None;
    for line in &inside {
        let is_entry =
            line.starts_with([' ', '\t', '-', '#']) || line.contains(':') || line.trim().is_empty();
        if is_required && !is_entry {
            return Err(file.bad(at, format!("this is not `name: value`; {FORM}")));
        }
        if let Some(value) = line.strip_prefix("title:") {
            title = Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|title| !title.is_empty());
        }
        at += line.len() + 1;
    }
    Ok(Some((inside, title)))
}

/// A list item and the lines that belong to it.
struct Item<'t> {
    line: usize,
    indent: usize,
    /// The first line after its marker.
    text: &'t str,
    lines: Vec<&'t str>,
    /// A code fence of it that is open, and whether it is one where the service reads the text, too: in columns 0 to 3.
    /// There only its like ends it, so that both agree on what follows.
    fence: Option<(Fence, bool)>,
    /// It contains a code block, which one line cannot represent.
    is_text: bool,
    /// How many blank lines follow it so far.
    blanks: usize,
}

/// A heading of any level.
struct Heading<'t> {
    level: u8,
    number: usize,
    line: &'t str,
    /// Whether it is in the section's text; that of level 1 is its title.
    is_shown: bool,
    /// Whether a learning names it.
    is_named: bool,
}

struct Reading<'f> {
    file: &'f SourceFile,
    note: Note,
    found: Pieces,
    /// The section of each title, by its index among the pieces.
    titles: HashMap<String, usize>,
    /// The title of the note, of which relations are.
    subject: String,
    /// The title of the section, and the text in it so far.
    title: String,
    section_line: usize,
    body: String,
    is_blank_before: bool,
    /// The headings that the next line is below.
    path: Vec<Heading<'f>>,
    item: Option<Item<'f>>,
    fence: Option<Fence>,
    in_comment: bool,
}

impl<'f> Reading<'f> {
    fn line(&mut self, number: usize, line: &'f str) {
        if self.continue_item(line) {
            return;
        }
        self.end_item();
        if let Some(fence) = self.fence {
            self.body.push_str(line);
            self.body.push('\n');
            if fence.is_closed_by(line) {
                self.fence = None;
            }
            return;
        }
        let is_section = line.starts_with("# ");
        if self.in_comment && !is_section {
            // The service reads fences and sections also in comments.
            self.in_comment = !line.contains("-->");
            self.fence = Fence::opened_by(line);
            self.text(line);
        } else if let Some((level, title)) = heading_of(line) {
            self.heading(number, level, title, line);
        } else if let Some((at, text)) = marker(line) {
            let fence = Fence::opened_by(text).map(|fence| (fence, false));
            self.item = Some(Item {
                line: number,
                indent: at,
                text,
                lines: vec![line],
                fence,
                is_text: fence.is_some(),
                blanks: 0,
            });
        } else {
            self.fence = Fence::opened_by(line);
            self.in_comment = opens_comment(line);
            if self.fence.is_none() && !self.in_comment {
                self.imports(number, line);
            }
            self.text(line);
        }
    }

    /// Adds a line to the item before it, if it belongs to that.
    fn continue_item(&mut self, line: &'f str) -> bool {
        let Some(item) = &mut self.item else { return false };
        if is_blank_line(line) {
            item.blanks += 1;
        } else if let Some((fence, true)) = item.fence {
            item.fence = Some((fence, true)).filter(|_| !fence.is_closed_by(line));
            item.blanks = 0;
        } else if indent(line) >= item.indent + 2 {
            let is_closed = item
                .fence
                .is_some_and(|(fence, _)| fence.is_closed_by(line.trim_start()));
            let visible = Fence::opened_by(line).map(|fence| (fence, true));
            item.fence = visible.or_else(|| match item.fence {
                Some(_) if is_closed => None,
                None => Fence::opened_by(line.trim_start()).map(|fence| (fence, false)),
                open => open,
            });
            item.is_text |= item.fence.is_some();
            item.blanks = 0;
        } else if item.fence.is_some() {
            // A code block ends with the item that contains it.
            return false;
        } else {
            // A paragraph goes on without indentation until something else begins.
            let begins = heading_of(line).is_some()
                || marker(line).is_some()
                || Fence::opened_by(line).is_some()
                || line.starts_with(['>', '|', '<'])
                || is_rule(line);
            if item.blanks > 0 || begins {
                return false;
            }
        }
        item.lines.push(line);
        true
    }

    fn end_item(&mut self) {
        let Some(mut item) = self.item.take() else { return };
        let blanks = item.blanks;
        item.lines.truncate(item.lines.len() - blanks);
        if item.is_text {
            for line in std::mem::take(&mut item.lines) {
                match is_blank_line(line) {
                    true => self.body.push('\n'),
                    false => self.text(line),
                }
            }
        } else {
            self.learning(&item);
        }
        self.is_blank_before |= blanks > 0;
    }

    fn learning(&mut self, item: &Item<'_>) {
        let rest = item.lines[1..].iter().copied();
        let lines: Vec<&str> = std::iter::once(item.text).chain(rest).collect();
        for (offset, line) in lines.iter().enumerate() {
            self.imports(item.line + offset, line);
        }
        let mut text = one_line(&lines.join("\n"));
        if text.is_empty() {
            return;
        }
        let is_relation = self.note == Note::BasicMemory && is_relation(&text);
        if is_relation {
            // Its subject is the note, which the line alone does not say.
            text = format!("{} {text}", one_line(&self.subject));
        }
        let top = Some(self.title.as_str()).filter(|title| *title != self.file.name);
        for heading in &mut self.path {
            heading.is_named = true;
        }
        let below = self.path.iter().filter(|heading| heading.level > 1);
        let below = below.map(|heading| heading.line.trim_matches('#').trim());
        let path: Vec<&str> = top.into_iter().chain(below).collect();
        self.found.pieces.push(Piece {
            text,
            place: format!("{}:{}", self.file.name, item.line),
            detail: brief(&path.join(" > ")),
            ..Piece::default()
        });
    }

    fn heading(&mut self, number: usize, level: u8, title: &str, line: &'f str) {
        self.leave(level);
        if level == 1 {
            self.end_section();
            self.in_comment = false;
            title.trim().clone_into(&mut self.title);
            self.section_line = number;
        }
        self.path.push(Heading {
            level,
            number,
            line,
            is_shown: false,
            is_named: false,
        });
    }

    /// Ends the headings of this level and below. One that has nothing below it is listed.
    fn leave(&mut self, level: u8) {
        for heading in self.path.extract_if(.., |heading| heading.level >= level) {
            if !heading.is_shown && !heading.is_named {
                let (file, number) = (&self.file.name, heading.number);
                let title = brief(heading.line);
                self.found
                    .left
                    .push(format!("{file}:{number}: {title}, with nothing below it"));
            }
        }
    }

    /// Adds a line of text below the headings it is under. A run of blank lines is one.
    fn text(&mut self, line: &str) {
        if is_blank_line(line) {
            self.is_blank_before = true;
            return;
        }
        for heading in &mut self.path {
            if !std::mem::replace(&mut heading.is_shown, true) && heading.level > 1 {
                if !self.body.is_empty() {
                    self.body.push('\n');
                }
                self.body.push_str(heading.line.trim_end());
                self.body.push('\n');
                self.is_blank_before = false;
            }
        }
        if std::mem::take(&mut self.is_blank_before) && !self.body.is_empty() {
            self.body.push('\n');
        }
        self.body.push_str(line);
        self.body.push('\n');
    }

    /// Adds the section's text, to the section of this title if the file has one already.
    fn end_section(&mut self) {
        self.is_blank_before = false;
        let body = std::mem::take(&mut self.body);
        if body.trim().is_empty() {
            return;
        }
        let place = format!("{}:{}", self.file.name, self.section_line);
        let piece = Piece::section(&self.title, &body, place);
        let next = self.found.pieces.len();
        match self.titles.entry(piece.title.clone().unwrap_or_default()) {
            Entry::Occupied(known) => {
                let known = &mut self.found.pieces[*known.get()];
                known.text.push_str("\n\n");
                known.text.push_str(&piece.text);
            }
            Entry::Vacant(free) => {
                free.insert(next);
                self.found.pieces.push(piece);
            }
        }
    }

    fn imports(&mut self, number: usize, line: &str) {
        if self.note != Note::WithImports {
            return;
        }
        // An import in a code span is none.
        let outside = line.split('`').step_by(2).flat_map(str::split_whitespace);
        for word in outside {
            let path = word.strip_prefix('@').unwrap_or_default();
            if path.contains(['/', '.']) {
                let place = format!("{}:{number}", self.file.name);
                let word = word.trim_end_matches(['.', ',', ';', ')']);
                self.found.left.push(format!(
                    "{place}: {word} is kept as words; bring the file that it imports too"
                ));
            }
        }
    }
}

/// The column of a list item's marker, and the text after it. The number of a numbered item is part of its text.
fn marker(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(' ');
    let at = line.len() - rest.len();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (length, is_number) = match rest.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => (1, false),
        b'.' | b')' if (1..=9).contains(&digits) => (digits + 1, true),
        _ => return None,
    };
    let after = &rest[length..];
    let is_item = at <= 3 && (after.is_empty() || after.starts_with([' ', '\t'])) && !is_rule(line);
    is_item.then(|| (at, if is_number { rest } else { after.trim_start() }))
}

/// A thematic break: three or more of one mark.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
    marks.len() >= 3 && ['-', '*', '_'].contains(&marks[0]) && marks.iter().all(|c| *c == marks[0])
}

fn opens_comment(line: &str) -> bool {
    line.rfind("<!--").is_some_and(|at| !line[at..].contains("-->"))
}

/// Whether an item says how its note is related to another: `type [[Target]] (context)`, with the type as one word or in
/// quotes and the context optional. An item with other words after it is a sentence.
fn is_relation(text: &str) -> bool {
    let Some((kind, rest)) = text.split_once("[[") else {
        return false;
    };
    let kind = kind.trim();
    let is_quoted = kind.len() > 2 && kind.starts_with(['"', '\'']) && kind.ends_with(['"', '\'']);
    let is_word = !kind.is_empty() && !kind.contains(char::is_whitespace);
    let is_last = rest.split_once("]]").is_some_and(|(_, after)| {
        let after = after.trim();
        after.is_empty() || (after.starts_with('(') && after.ends_with(')'))
    });
    is_last && (is_quoted || is_word)
}
