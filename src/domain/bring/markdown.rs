//! Markdown: each bullet is a learning, what else there is stays text under its heading.
//!
//! ```text
//! # …                a section; its text without the bullets is kept under this title
//! ## … to ######     the path of the bullets below; kept if there is text below
//! - … or 1. …        a learning with all lines that belong to it, as one line; with a code block in it, text
//! other lines        text: paragraphs, tables, code blocks, comments
//! --- … ---          front matter at the beginning, kept as a code block
//! ```
//!
//! Blocks are those of CommonMark, within sections as the service reads them: whatever is open above a section ends there.

use super::back::fence_around;
use super::file::{BadInput, SourceFile};
use super::{Piece, Pieces, brief};
use crate::domain::document::{heading_of, lines, outline};
use crate::domain::text::lines::offset_in;
use crate::domain::text::one_line;
use pulldown_cmark::{Event, Parser, Tag, TagEnd, TextMergeWithOffset};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

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
    let text = file.text.as_str();
    let first = text.trim_start();
    if first.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(first).is_ok() {
        return Err(file.bad(text.len() - first.len(), "this is JSON; expected Markdown"));
    }
    let front = front_matter(file, note == Note::BasicMemory)?;
    let title = front.title.filter(|_| note == Note::BasicMemory);
    let mut reading = Reading {
        file,
        note,
        subject: title.unwrap_or(&file.name),
        found: Pieces::default(),
        titles: HashMap::new(),
        headings: Vec::new(),
        body: front.kept,
    };
    let sections = outline(&text[front.end..]);
    let above = sections
        .first()
        .map_or(text.len() - front.end, |first| first.range.start);
    reading.section(reading.subject, 0, front.end..front.end + above);
    for section in &sections {
        let (at, body) = (front.end + section.range.start, front.end + section.body.start);
        reading.headings.push(Heading::new(1, at, &text[at..body]));
        reading.section(&section.title, at, body..front.end + section.body.end);
    }
    Ok(reading.found)
}

/// What stands before a note.
#[derive(Default)]
struct FrontMatter<'t> {
    title: Option<&'t str>,
    /// As a code block.
    kept: String,
    /// Where the text after it begins.
    end: usize,
}

fn front_matter(file: &SourceFile, is_required: bool) -> Result<FrontMatter<'_>, BadInput> {
    const FORM: &str =
        "expected a note of basic-memory, which begins with front matter between two lines ---";
    let text = file.text.as_str();
    let mut marks = lines(text)
        .enumerate()
        .filter(|(_, line)| line.text.trim_end() == "---");
    let begin = marks.next().filter(|(place, _)| *place == 0);
    let (begin, end) = match (begin, marks.next()) {
        (Some((_, begin)), Some((_, end))) => (begin.end, end),
        _ if !is_required => return Ok(FrontMatter::default()),
        (Some(_), None) => return Err(file.bad(0, format!("the front matter never ends; {FORM}"))),
        (None, _) => return Err(file.bad(0, FORM)),
    };
    let inside = &text[begin..end.start];
    // Two rules with text between them are none.
    let is_named = |line: &str| line.contains(':') && !line.starts_with([' ', '\t', '-', '#']);
    if !is_required && !lines(inside).next().is_some_and(|line| is_named(line.text)) {
        return Ok(FrontMatter::default());
    }
    let is_entry =
        |line: &str| line.starts_with([' ', '\t', '-', '#']) || line.contains(':') || line.trim().is_empty();
    if let Some(wrong) = lines(inside).find(|line| is_required && !is_entry(line.text)) {
        let what = format!("this is not `name: value`; {FORM}");
        return Err(file.bad(begin + wrong.start, what));
    }
    let title = inside.lines().rev().find_map(|line| line.strip_prefix("title:"));
    let title = title.map(|title| title.trim().trim_matches(['"', '\'']));
    let fence = fence_around(inside);
    Ok(FrontMatter {
        title: title.filter(|title| !title.is_empty()),
        kept: format!("{fence}yaml\n{inside}{fence}\n"),
        end: end.end,
    })
}

/// A heading that the next line is below.
struct Heading<'t> {
    level: u8,
    at: usize,
    line: &'t str,
    /// Whether it is in the section's text; that of level 1 is its title.
    is_shown: bool,
    /// Whether a learning names it.
    is_named: bool,
}

impl<'t> Heading<'t> {
    fn new(level: u8, at: usize, line: &'t str) -> Self {
        Self {
            level,
            at,
            line: line.trim_end(),
            is_shown: false,
            is_named: false,
        }
    }
}

struct Reading<'f> {
    file: &'f SourceFile,
    note: Note,
    found: Pieces,
    /// The section of each title, by its index among the pieces.
    titles: HashMap<String, usize>,
    /// The title of the note, of which relations are.
    subject: &'f str,
    /// The headings that the next line is below.
    headings: Vec<Heading<'f>>,
    /// The text of the section so far.
    body: String,
}

impl<'f> Reading<'f> {
    /// Reads a section. Of a title that the file has already, the text is added to that section.
    fn section(&mut self, title: &str, at: usize, range: Range<usize>) {
        let text = &self.file.text[range.clone()];
        let mut written = 0;
        for (block, level) in self.blocks(range.start, text) {
            self.text(&text[written..block.start]);
            written = block.end;
            let (at, lines) = (range.start + block.start, &text[block]);
            match level {
                None => self.learning(title, at, lines),
                Some(level) => {
                    self.leave(level);
                    self.headings.push(Heading::new(level, at, lines));
                }
            }
        }
        self.text(&text[written..]);
        self.leave(1);
        let body = std::mem::take(&mut self.body);
        if body.is_empty() {
            return;
        }
        let piece = Piece::section(title, &body, self.file, self.file.place(at));
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

    /// The lines of the headings below level 1 with their levels, and those of the items without code blocks, which one line
    /// cannot represent. Lists what is imported.
    fn blocks(&mut self, from: usize, text: &str) -> Vec<(Range<usize>, Option<u8>)> {
        let (mut found, mut depth) = (Vec::new(), 0);
        let (mut has_code, mut in_code) = (false, false);
        for (event, range) in TextMergeWithOffset::new(Parser::new(text).into_offset_iter()) {
            match event {
                Event::Start(tag) => {
                    depth += 1;
                    match tag {
                        Tag::Item if depth == 2 => has_code = false,
                        Tag::CodeBlock(_) => (has_code, in_code) = (true, true),
                        _ => {}
                    }
                }
                Event::End(tag) => {
                    match tag {
                        TagEnd::Item if depth == 2 && !has_code => {
                            found.push((whole_lines(text, range), None));
                        }
                        TagEnd::Heading(_) if depth == 1 => {
                            let lines = whole_lines(text, range);
                            let level = heading_of(&text[lines.clone()]).map(|(level, _)| level);
                            found.extend(level.filter(|level| *level > 1).map(|_| (lines, level)));
                        }
                        TagEnd::CodeBlock => in_code = false,
                        _ => {}
                    }
                    depth -= 1;
                }
                Event::Text(_) if self.note == Note::WithImports && !in_code => {
                    self.imports(from + range.start, &text[range]);
                }
                _ => {}
            }
        }
        found
    }

    fn learning(&mut self, section: &str, at: usize, item: &str) {
        let item = item.trim();
        // The number of a numbered item is part of its text.
        let mut text = one_line(item.strip_prefix(['-', '*', '+']).unwrap_or(item));
        if text.is_empty() {
            return;
        }
        if self.note == Note::BasicMemory && is_relation(&text) {
            // Its subject is the note, which the line alone does not say.
            text = format!("{} {text}", one_line(self.subject));
        }
        for heading in &mut self.headings {
            heading.is_named = true;
        }
        let section = Some(section).filter(|title| *title != self.file.name);
        let below = self.headings.iter().filter(|heading| heading.level > 1);
        let below = below.map(|heading| heading.line.trim_matches('#').trim());
        let path: Vec<&str> = section.into_iter().chain(below).collect();
        self.found.pieces.push(Piece {
            text,
            place: self.file.place(at),
            detail: brief(&path.join(" > ")),
            ..Piece::default()
        });
    }

    /// Ends the headings of this level and below. One that has nothing below it is listed.
    fn leave(&mut self, level: u8) {
        for heading in self.headings.extract_if(.., |heading| heading.level >= level) {
            if !heading.is_shown && !heading.is_named {
                let (place, title) = (self.file.place(heading.at), brief(heading.line));
                let left = format!("{place}: {title}, with nothing below it");
                self.found.left.push(left);
            }
        }
    }

    /// Adds text below the headings it is under, after an empty line.
    fn text(&mut self, lines: &str) {
        let blank = lines.len() - lines.trim_start().len();
        let begin = lines[..blank].rfind('\n').map_or(0, |lf| lf + 1);
        let lines = lines[begin..].trim_end();
        if lines.is_empty() {
            return;
        }
        let mut gap = if self.body.is_empty() { "" } else { "\n" };
        for heading in &mut self.headings {
            if !std::mem::replace(&mut heading.is_shown, true) && heading.level > 1 {
                let before = if self.body.is_empty() { "" } else { "\n" };
                self.body.extend([before, heading.line, "\n"]);
                gap = "";
            }
        }
        self.body.extend([gap, lines, "\n"]);
    }

    /// Lists the files that a text outside code imports.
    fn imports(&mut self, at: usize, text: &str) {
        for word in text.split_whitespace() {
            let path = word.strip_prefix('@').unwrap_or_default();
            if path.contains(['/', '.']) {
                let place = self.file.place(at + offset_in(text, word));
                let word = word.trim_end_matches(['.', ',', ';', ')']);
                self.found.left.push(format!(
                    "{place}: {word} is kept as words; bring the file that it imports too"
                ));
            }
        }
    }
}

/// All lines of a block, without the blank ones after it.
fn whole_lines(text: &str, block: Range<usize>) -> Range<usize> {
    let start = text[..block.start].rfind('\n').map_or(0, |lf| lf + 1);
    let last = block.start + text[block].trim_end().len();
    let end = text[last..].find('\n').map_or(text.len(), |lf| last + lf + 1);
    start..end
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
