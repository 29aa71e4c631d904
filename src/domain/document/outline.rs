//! Finds the sections, headings, records and fences of a document in one pass over its lines.

use super::headings::{Heading, Headings, heading_of};
use super::lines::{Fence, indent, is_blank, lines};
use super::managed::{ManagedSection, bare_title, without_closing_run};
use std::ops::Range;

/// A section: a level-1 heading and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading text without surrounding blanks and a closing run of `#`.
    pub title: String,
    /// The managed section it is; `None` for a free one.
    pub managed: Option<ManagedSection>,
    /// Byte range from the heading line to the end of the section.
    pub range: Range<usize>,
    /// Byte range of the content after the heading line.
    pub body: Range<usize>,
}

/// A bullet in column 0 of a managed section and the lines that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::domain) struct Bullet {
    /// The section that contains it.
    pub(in crate::domain) section: ManagedSection,
    /// Byte range from its dash to the end of its last line that is not blank.
    pub(in crate::domain) range: Range<usize>,
}

/// The structure of a document as found by one pass.
#[derive(Debug, Clone, Default)]
pub(in crate::domain) struct Layout {
    pub(in crate::domain) sections: Vec<Section>,
    /// Headings of all levels.
    pub(super) headings: Headings,
    /// In document order.
    pub(in crate::domain) bullets: Vec<Bullet>,
    /// Index in `sections` of each managed section, in the order of [`ManagedSection::ALL`].
    managed: [Option<usize>; ManagedSection::ALL.len()],
    /// A fence that is still open at the end of the text.
    open_fence: Option<Fence>,
}

/// Returns the level-1 sections of a document, in order. Text before the first heading belongs to none.
/// Linear.
#[must_use]
pub fn outline(text: &str) -> Vec<Section> {
    Layout::of(text).sections
}

/// Returns the headings of a document, of all levels. Linear.
#[must_use]
pub fn headings(text: &str) -> Headings {
    Layout::of(text).headings
}

/// Returns a section including its heading line. The name is the short name of a managed section, a title,
/// or, for a heading of any level, its title path (`Facts/Network`), in which a short name may replace the
/// title of a managed section. Ignores case, closing runs of `#` and closing colons. A managed section takes
/// precedence over a free one, a title over a path, and the first match over later ones. Linear.
#[must_use]
pub fn find_section<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let Layout {
        sections, headings, ..
    } = Layout::of(text);
    let managed = ManagedSection::from_name(name.trim()).or_else(|| ManagedSection::from_title(name));
    let wanted = bare_title(name).to_lowercase();
    sections
        .iter()
        .find(|section| managed.is_some() && section.managed == managed)
        .or_else(|| {
            sections
                .iter()
                .find(|section| bare_title(&section.title).to_lowercase() == wanted)
        })
        .map(|section| &section.range)
        .or_else(|| headings.find(name).map(|heading| &heading.range))
        .map(|range| &text[range.clone()])
}

/// Whether a document has a free section titled `Progress` in addition to the managed `Current Progress`.
#[must_use]
pub fn has_free_progress(text: &str) -> bool {
    let sections = outline(text);
    sections.iter().any(|section| {
        section.managed.is_none() && bare_title(&section.title).eq_ignore_ascii_case("progress")
    })
}

/// Returns the line, with its line end, that closes a code fence still open at the end of a text.
#[must_use]
pub fn closing_fence(text: &str) -> Option<String> {
    Layout::of(text).closing_line()
}

impl Layout {
    /// Parses a document. A byte order mark occupies no column. Linear.
    pub(in crate::domain) fn of(text: &str) -> Self {
        let mut layout = Self::default();
        let mut in_bullet = false;
        let begin = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        for line in lines(text, begin..text.len()) {
            if let Some(fence) = layout.open_fence {
                if fence.is_closed_by(line.text) {
                    layout.open_fence = None;
                }
                continue;
            }
            if is_blank(line.text) {
                continue;
            }
            if in_bullet && indent(line.text) >= 2 {
                layout.extend_bullet(line.end);
                continue;
            }
            in_bullet = false;
            if let Some((level, title)) = heading_of(line.text) {
                layout.open_heading(level, title, line.start, line.end);
            } else if let Some(fence) = Fence::opened_by(line.text) {
                layout.open_fence = Some(fence);
            } else if line.text.starts_with("- ") {
                in_bullet = layout.open_bullet(line.start..line.end);
            }
        }
        layout.close_section(text.len());
        layout.headings.close(1, text.len());
        layout
    }

    /// Returns a managed section if the document has it.
    pub(in crate::domain) fn managed(&self, section: ManagedSection) -> Option<&Section> {
        self.managed[section as usize].map(|index| &self.sections[index])
    }

    /// The line to write before anything appended to a document that ends inside an open fence.
    pub(in crate::domain) fn closing_line(&self) -> Option<String> {
        self.open_fence.map(Fence::closing_line)
    }

    fn open_heading(&mut self, level: u8, title: &str, start: usize, body: usize) {
        if level == 1 {
            self.open_section(title, start, body);
        }
        self.headings.open(Heading {
            level,
            title: without_closing_run(title).to_owned(),
            managed: self.sections.last().and_then(|section| section.managed),
            range: start..body,
            parent: None,
        });
    }

    fn open_section(&mut self, heading: &str, start: usize, body: usize) {
        self.close_section(start);
        let managed = ManagedSection::from_title(heading).filter(|section| self.managed(*section).is_none());
        if let Some(section) = managed {
            self.managed[section as usize] = Some(self.sections.len());
        }
        let title = without_closing_run(heading).to_owned();
        self.sections.push(Section {
            title,
            managed,
            range: start..body,
            body: body..body,
        });
    }

    fn close_section(&mut self, end: usize) {
        if let Some(section) = self.sections.last_mut() {
            section.range.end = end;
            section.body.end = end;
        }
    }

    /// Adds a bullet. Returns whether the following lines can belong to it, which is true in managed
    /// sections.
    fn open_bullet(&mut self, range: Range<usize>) -> bool {
        let section = self.sections.last().and_then(|section| section.managed);
        if let Some(section) = section {
            self.bullets.push(Bullet { section, range });
        }
        section.is_some()
    }

    fn extend_bullet(&mut self, end: usize) {
        if let Some(bullet) = self.bullets.last_mut() {
            bullet.range.end = end;
        }
    }
}

impl Section {
    /// Byte offset after the last line that is not blank. New text is inserted here, so the blank lines
    /// before the next heading stay.
    pub(in crate::domain) fn written_end(&self, text: &str) -> usize {
        let body = &text[self.body.clone()];
        let written = body.trim_end_matches([' ', '\t', '\r', '\n']).len();
        let rest = body[written..]
            .find('\n')
            .map_or(body.len() - written, |lf| lf + 1);
        if written == 0 {
            self.body.start
        } else {
            self.body.start + written + rest
        }
    }
}
