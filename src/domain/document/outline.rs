//! Finds the sections, headings, records and fences of a document in one pass over its lines.

use super::lines::{Fence, indent, is_blank, lines};
use crate::domain::ids::RecordKind;
use memchr::memmem;
use std::collections::HashMap;
use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

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

/// The body of a managed section; empty if the document has none. Linear.
#[must_use]
pub fn managed_body(text: &str, section: ManagedSection) -> &str {
    let mut sections = outline(text).into_iter();
    sections
        .find(|found| found.managed == Some(section))
        .map_or("", |found| &text[found.body])
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

/// A section that the service writes. Every other section is free: no operation changes a byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr)]
#[strum(ascii_case_insensitive)]
pub enum ManagedSection {
    /// Work that is completed, in progress and remaining; always rewritten as a whole.
    #[strum(serialize = "progress")]
    CurrentProgress,
    /// KL records.
    #[strum(serialize = "learnings")]
    KeyLearnings,
    /// VC records.
    #[strum(serialize = "verbatim")]
    VerbatimContext,
    /// Goal and blocker; always rewritten as a whole.
    #[strum(serialize = "status")]
    ActiveContext,
    /// T records, newest first.
    #[strum(serialize = "tasks")]
    RecentTasks,
    /// D records, newest first.
    #[strum(serialize = "decisions")]
    Decisions,
}

impl ManagedSection {
    /// All sections, in the order in which missing ones are appended to a document.
    pub const ALL: [Self; 6] = [
        Self::CurrentProgress,
        Self::KeyLearnings,
        Self::VerbatimContext,
        Self::ActiveContext,
        Self::RecentTasks,
        Self::Decisions,
    ];

    /// The heading title that the service writes.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::CurrentProgress => "Current Progress",
            Self::KeyLearnings => "Key Learnings",
            Self::VerbatimContext => "Verbatim Context",
            Self::ActiveContext => "Active Context",
            Self::RecentTasks => "Recent Tasks",
            Self::Decisions => "Decisions",
        }
    }

    /// Returns the section with this title. Ignores case, surrounding blanks, a closing run of `#` and a
    /// closing `:`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        Self::ALL
            .into_iter()
            .find(|section| section.title().eq_ignore_ascii_case(bare))
    }

    /// Returns the section that authors give this title in their own words; compared as [`Self::from_title`] does.
    pub(super) fn from_authors_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        let titles = [
            ("Progress", Self::CurrentProgress),
            ("Learnings", Self::KeyLearnings),
            ("Verbatim", Self::VerbatimContext),
        ];
        titles
            .into_iter()
            .find(|(title, _)| title.eq_ignore_ascii_case(bare))
            .map(|(_, section)| section)
    }

    /// The short name used in queries (`?section=progress`).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the section with this short name, ignoring case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The kind of record in the section; `None` for the two sections that are rewritten as a whole.
    #[must_use]
    pub fn record_kind(self) -> Option<RecordKind> {
        match self {
            Self::KeyLearnings => Some(RecordKind::Learning),
            Self::VerbatimContext => Some(RecordKind::Verbatim),
            Self::RecentTasks => Some(RecordKind::Task),
            Self::Decisions => Some(RecordKind::Decision),
            Self::CurrentProgress | Self::ActiveContext => None,
        }
    }

    /// Returns the section that contains records of a kind.
    #[must_use]
    pub fn of_records(kind: RecordKind) -> Self {
        match kind {
            RecordKind::Learning => Self::KeyLearnings,
            RecordKind::Verbatim => Self::VerbatimContext,
            RecordKind::Task => Self::RecentTasks,
            RecordKind::Decision => Self::Decisions,
        }
    }
}

/// Strips surrounding blanks and a closing run of `#`. The run needs a blank before it, so `# C#` keeps its
/// name.
pub(super) fn without_closing_run(heading: &str) -> &str {
    let title = heading.trim();
    let open = title.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        title
    }
}

/// Normalises a title for comparison; the caller ignores case.
pub(super) fn bare_title(title: &str) -> &str {
    let title = without_closing_run(title);
    title.strip_suffix(':').unwrap_or(title).trim_end()
}

/// The deepest heading level.
const DEEPEST: usize = 6;

/// Separates the titles of a path.
const SEPARATOR: &str = "/";

/// A heading of any level and its content, outside fences and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6: the number of `#`.
    pub level: u8,
    /// The text without surrounding blanks and a closing run of `#`.
    pub title: String,
    /// The managed section that the heading opens or is inside; `None` in a free section.
    pub managed: Option<ManagedSection>,
    /// Byte range from the heading line to the next heading of the same or a higher level.
    pub range: Range<usize>,
    /// Index of the parent heading in `all`.
    pub(super) parent: Option<usize>,
}

/// The headings of one document, in document order.
#[derive(Debug, Clone, Default)]
pub struct Headings {
    all: Vec<Heading>,
    /// Indices of headings whose end has not been seen yet; each is the parent of the next.
    open: Vec<usize>,
}

/// Level and text if the line is a heading: one to six `#` from column 0 and a blank.
pub(in crate::domain) fn heading_of(line: &str) -> Option<(u8, &str)> {
    let rest = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - rest.len())
        .ok()
        .filter(|level| (1..=6).contains(level))?;
    Some((level, rest.strip_prefix(' ')?))
}

impl Headings {
    /// All headings, in document order.
    #[must_use]
    pub fn all(&self) -> &[Heading] {
        &self.all
    }

    /// The titles of all parent headings and of the heading itself, joined by `/`: `Facts/Network`.
    #[must_use]
    pub fn path(&self, heading: &Heading) -> String {
        let mut titles = Vec::with_capacity(DEEPEST);
        let mut at = Some(heading);
        while let Some(heading) = at {
            titles.push(heading.title.as_str());
            at = heading.parent.map(|parent| &self.all[parent]);
        }
        titles.reverse();
        titles.join(SEPARATOR)
    }

    /// Adds the next heading.
    pub(super) fn open(&mut self, mut heading: Heading) {
        self.close(heading.level, heading.range.start);
        heading.parent = self.open.last().copied();
        self.open.push(self.all.len());
        self.all.push(heading);
    }

    /// Closes all open headings of this level or deeper.
    pub(super) fn close(&mut self, level: u8, end: usize) {
        while let Some(last) = self.open.pop_if(|last| self.all[*last].level >= level) {
            self.all[last].range.end = end;
        }
    }

    /// Returns the first heading with this path.
    pub(super) fn find(&self, path: &str) -> Option<&Heading> {
        let wanted = comparable(path);
        // Computed once per heading: a document may repeat the path of a long title once per line.
        let titles: Vec<_> = self
            .all
            .iter()
            .map(|heading| comparable(&heading.title))
            .collect();
        (0..self.all.len())
            .find(|place| self.has_path(*place, &titles, &wanted))
            .map(|place| &self.all[place])
    }

    /// Compares from the last title to the first, so most headings are rejected by one comparison.
    fn has_path(&self, place: usize, titles: &[String], wanted: &str) -> bool {
        let Some(parent) = self.all[place].parent else {
            let short = self.all[place].managed.map(ManagedSection::name);
            return titles[place] == wanted || short == Some(wanted);
        };
        wanted
            .strip_suffix(titles[place].as_str())
            .and_then(|rest| rest.strip_suffix(SEPARATOR))
            .is_some_and(|rest| self.has_path(parent, titles, rest))
    }
}

/// Normalises a title or path for comparison. A title that contains a slash is treated like a path.
fn comparable(path: &str) -> String {
    let titles: Vec<_> = path.split(SEPARATOR).map(bare_title).collect();
    titles.join(SEPARATOR).to_lowercase()
}

/// Differences between two documents outside their records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionsChanged {
    /// Whether `Current Progress` differs, or exists in only one of the documents.
    pub progress: bool,
    /// Titles of the free sections that differ or exist in only one document: first those of the new document
    /// in its order, then those that exist only in the old one.
    pub free: Vec<String>,
}

/// A section without records: its key, its title as written, and its text.
struct ComparedSection<'t> {
    key: Key,
    title: String,
    body: &'t str,
}

/// Free sections with the same title are distinguished by their order.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Progress,
    Free(String, usize),
}

/// Compares two documents section by section. Ignores the position of a section and trailing blank lines.
/// Skips sections with records and `Active Context`. Linear.
#[must_use]
pub fn sections_changed(before: &str, after: &str) -> SectionsChanged {
    let after = compared_sections(after);
    let mut removed = compared_sections(before);
    let was: HashMap<_, _> = removed
        .iter()
        .map(|section| (&section.key, section.body))
        .collect();
    let mut changed = SectionsChanged::default();
    for section in &after {
        if was.get(&section.key) != Some(&section.body) {
            changed.take(section);
        }
    }
    let is: HashMap<_, _> = after.iter().map(|section| (&section.key, ())).collect();
    removed.retain(|section| !is.contains_key(&section.key));
    removed.iter().for_each(|section| changed.take(section));
    changed
}

impl SectionsChanged {
    fn take(&mut self, section: &ComparedSection<'_>) {
        match section.key {
            Key::Progress => self.progress = true,
            Key::Free(..) => self.free.push(section.title.clone()),
        }
    }
}

fn compared_sections(text: &str) -> Vec<ComparedSection<'_>> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let sections = outline(text).into_iter().filter_map(|section| {
        let key = match section.managed {
            Some(ManagedSection::CurrentProgress) => Key::Progress,
            Some(_) => return None,
            None => {
                let title = bare_title(&section.title).to_lowercase();
                let count = seen.entry(title.clone()).or_default();
                *count += 1;
                Key::Free(title, *count)
            }
        };
        Some(ComparedSection {
            key,
            title: section.title,
            body: text[section.body].trim_end_matches([' ', '\t', '\r', '\n']),
        })
    });
    sections.collect()
}
