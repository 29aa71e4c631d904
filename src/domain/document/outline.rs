//! Finds the sections, headings, records and fences of a document in one pass over its lines.

use super::headings::{Heading, Headings, heading_of};
use super::lines::{Fence, indent, is_blank, lines};
use super::managed::{ManagedSection, bare_title, without_closing_run};
use memchr::memmem;
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

/// Whether a document has a free section titled `Progress` in addition to the managed one.
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
        let mut reading = Reading::of(text);
        for line in lines(text, begin_of(text)..text.len()) {
            match reading.line(line.text) {
                Meaning::Heading(level, title) => {
                    layout.open_heading(level, title, reading.section, line.start..line.end);
                }
                Meaning::Bullet(section) => layout.bullets.push(Bullet {
                    section,
                    range: line.start..line.end,
                }),
                Meaning::OfBullet => extend_last(&mut layout.bullets, line.end),
                Meaning::Text => {}
            }
        }
        layout.open_fence = reading.open_fence;
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

    /// Adds a heading; `managed` is the managed section that it opens or belongs to.
    fn open_heading(&mut self, level: u8, title: &str, managed: Option<ManagedSection>, line: Range<usize>) {
        if level == 1 {
            self.open_section(title, managed, line.clone());
        }
        self.headings.open(Heading {
            level,
            title: without_closing_run(title).to_owned(),
            managed,
            range: line,
            parent: None,
        });
    }

    fn open_section(&mut self, heading: &str, managed: Option<ManagedSection>, line: Range<usize>) {
        self.close_section(line.start);
        if let Some(section) = managed {
            self.managed[section as usize] = Some(self.sections.len());
        }
        let title = without_closing_run(heading).to_owned();
        self.sections.push(Section {
            title,
            managed,
            body: line.end..line.end,
            range: line,
        });
    }

    fn close_section(&mut self, end: usize) {
        if let Some(section) = self.sections.last_mut() {
            section.range.end = end;
            section.body.end = end;
        }
    }
}

/// The bullets that [`Layout`] has of a document, when nothing else of it is wanted. Linear.
pub(super) fn bullets(text: &str) -> Vec<Bullet> {
    let mut reading = Reading::of(text);
    let mut bullets = Vec::new();
    for line in lines(text, begin_of(text)..text.len()) {
        match reading.line(line.text) {
            Meaning::Bullet(section) => bullets.push(Bullet {
                section,
                range: line.start..line.end,
            }),
            Meaning::OfBullet => extend_last(&mut bullets, line.end),
            Meaning::Heading(..) | Meaning::Text => {}
        }
    }
    bullets
}

/// Whether a line of the document is the heading with the service's title of a section. Lines in code fences count
/// too: the answer must not depend on what is read as managed, and an author who shows that title knows it.
fn has_title_of(text: &str, section: ManagedSection) -> bool {
    let text = &text[begin_of(text)..];
    let after_lf = memmem::find_iter(text.as_bytes(), "\n# ").map(|lf| lf + 1);
    let first = text.starts_with("# ").then_some(0);
    first.into_iter().chain(after_lf).any(|start| {
        let line = text[start..].lines().next().unwrap_or_default();
        ManagedSection::from_title(&line["# ".len()..]) == Some(section)
    })
}

/// Where the first line of a document begins: after a byte order mark, if there is one.
fn begin_of(text: &str) -> usize {
    if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    }
}

fn extend_last(bullets: &mut [Bullet], end: usize) {
    if let Some(bullet) = bullets.last_mut() {
        bullet.range.end = end;
    }
}

/// What a line is, by the lines before it.
enum Meaning<'t> {
    /// A heading of this level, and its text.
    Heading(u8, &'t str),
    /// A bullet of a managed section begins.
    Bullet(ManagedSection),
    /// It is not blank and belongs to the bullet before it.
    OfBullet,
    /// Anything else: it may be inside a bullet, and be blank.
    Text,
}

/// What the lines that were read mean for the next one.
struct Reading<'t> {
    text: &'t str,
    open_fence: Option<Fence>,
    in_bullet: bool,
    /// The managed section that contains the next line.
    section: Option<ManagedSection>,
    /// Which managed sections were opened, by their places in [`ManagedSection::ALL`].
    opened: [bool; ManagedSection::ALL.len()],
    /// Whether a line has the service's own title of a section, of those that were asked for.
    titled: [Option<bool>; ManagedSection::ALL.len()],
}

impl<'d> Reading<'d> {
    fn of(text: &'d str) -> Self {
        Self {
            text,
            open_fence: None,
            in_bullet: false,
            section: None,
            opened: [false; ManagedSection::ALL.len()],
            titled: [None; ManagedSection::ALL.len()],
        }
    }

    /// Reads the next line. Its first byte decides what it can be: most lines are text, or belong to a bullet.
    #[inline]
    fn line<'t>(&mut self, line: &'t str) -> Meaning<'t> {
        if let Some(fence) = self.open_fence {
            if fence.is_closed_by(line) {
                self.open_fence = None;
            }
            return Meaning::Text;
        }
        match line.as_bytes().first() {
            None => return Meaning::Text,
            Some(b' ' | b'\t' | b'\r') => {
                if is_blank(line) {
                    return Meaning::Text;
                }
                if self.in_bullet && indent(line) >= 2 {
                    return Meaning::OfBullet;
                }
                self.open_fence = Fence::opened_by(line);
            }
            Some(b'#') => {
                if let Some((level, title)) = heading_of(line) {
                    self.open_heading(level, title);
                    return Meaning::Heading(level, title);
                }
            }
            Some(b'`' | b'~') => self.open_fence = Fence::opened_by(line),
            // The lines below belong to it in managed sections only.
            Some(b'-') if line.starts_with("- ") => {
                self.in_bullet = self.section.is_some();
                return self.section.map_or(Meaning::Text, Meaning::Bullet);
            }
            Some(_) => {}
        }
        self.in_bullet = false;
        Meaning::Text
    }

    fn open_heading(&mut self, level: u8, title: &str) {
        self.in_bullet = false;
        if level == 1 {
            let is_opened = |section: &ManagedSection| self.opened[*section as usize];
            let (text, titled) = (self.text, &mut self.titled);
            let mut authors = || {
                let section = ManagedSection::from_authors_title(title)?;
                let is_titled = titled[section as usize].get_or_insert_with(|| has_title_of(text, section));
                (!*is_titled).then_some(section)
            };
            self.section = ManagedSection::from_title(title)
                .or_else(&mut authors)
                .filter(|section| !is_opened(section));
            if let Some(section) = self.section {
                self.opened[section as usize] = true;
            }
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
