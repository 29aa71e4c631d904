//! Finds the sections, headings, records and fences of a document in one pass over its lines.

use super::lines::{Fence, Line, indent, is_blank, lines};
use crate::domain::ids::RecordKind;
use std::collections::{HashMap, HashSet};
use std::iter::successors;
use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

/// A heading of any level outside fences and records, and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 to 6: the number of `#`.
    pub level: u8,
    /// The heading text without surrounding blanks and a closing run of `#`.
    pub title: String,
    /// The managed section that it is, or is inside; `None` for a free one.
    pub managed: Option<ManagedSection>,
    /// Byte range from the heading line to the next heading of the same or a higher level.
    pub range: Range<usize>,
    /// Byte range of the content after the heading line.
    pub body: Range<usize>,
    /// Index of the section that contains it, in [`Headings::all`].
    parent: Option<usize>,
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
    headings: Headings,
    /// In document order.
    pub(in crate::domain) bullets: Vec<Bullet>,
    /// A fence that is still open at the end of the text.
    open_fence: Option<Fence>,
}

/// Returns the level-1 sections of a document, in order. Text before the first heading belongs to none.
/// Linear.
#[must_use]
pub fn outline(text: &str) -> Vec<Section> {
    let mut sections = Layout::of(text).headings.0;
    sections.retain(|section| section.level == 1);
    sections
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
    let layout = Layout::of(text);
    let short = name.trim().parse().ok();
    let managed = short.or_else(|| ManagedSection::from_title(name));
    let wanted = bare_title(name).to_lowercase();
    let mut sections = layout.sections();
    let is_title = |section: &&Section| bare_title(&section.title).to_lowercase() == wanted;
    sections
        .clone()
        .find(|section| managed.is_some() && section.managed == managed)
        .or_else(|| sections.find(is_title))
        .or_else(|| layout.headings.find(name))
        .map(|section| &text[section.range.clone()])
}

/// The body of a managed section; empty if the document has none. Linear.
#[must_use]
pub fn managed_body(text: &str, section: ManagedSection) -> &str {
    let layout = Layout::of(text);
    let found = layout.managed(section);
    found.map_or("", |found| &text[found.body.clone()])
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
    ///
    /// Beside a section with the service's title the one with an author's title is free. Whether there is one is known at
    /// the end, so then the document is read again.
    pub(in crate::domain) fn of(text: &str) -> Self {
        let mut titled = [false; ManagedSection::ALL.len()];
        let layout = Self::read(text, titled);
        let free = layout.sections().filter(|section| section.managed.is_none());
        for own in free.filter_map(|section| ManagedSection::from_title(&section.title)) {
            titled[own as usize] = true;
        }
        match titled.contains(&true) {
            true => Self::read(text, titled),
            false => layout,
        }
    }

    fn read(text: &str, titled: [bool; ManagedSection::ALL.len()]) -> Self {
        let mut reading = Reading {
            layout: Self::default(),
            open: Vec::new(),
            in_bullet: false,
            section: None,
            opened: [false; ManagedSection::ALL.len()],
            titled,
        };
        for line in lines(text) {
            reading.line(&line);
        }
        reading.close(1, text.len());
        reading.layout
    }

    /// The level-1 sections, in order.
    pub(in crate::domain) fn sections(&self) -> impl Iterator<Item = &Section> + Clone {
        self.headings.0.iter().filter(|section| section.level == 1)
    }

    /// Returns a managed section if the document has it.
    pub(in crate::domain) fn managed(&self, section: ManagedSection) -> Option<&Section> {
        self.sections().find(|found| found.managed == Some(section))
    }

    /// The line to write before anything appended to a document that ends inside an open fence.
    pub(in crate::domain) fn closing_line(&self) -> Option<String> {
        self.open_fence.map(Fence::closing_line)
    }
}

/// What was found so far, and what the lines that were read mean for the next one.
struct Reading {
    layout: Layout,
    /// Indices of sections whose end has not been seen yet; each is the parent of the next.
    open: Vec<usize>,
    in_bullet: bool,
    /// The managed section that contains the next line.
    section: Option<ManagedSection>,
    /// Which managed sections were opened, by their places in [`ManagedSection::ALL`].
    opened: [bool; ManagedSection::ALL.len()],
    /// Which managed sections have a heading with the service's own title.
    titled: [bool; ManagedSection::ALL.len()],
}

impl Reading {
    /// Reads the next line. Its first byte decides what it can be: most lines are text, or belong to a bullet.
    #[inline]
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some(fence) = self.layout.open_fence {
            if fence.is_closed_by(text) {
                self.layout.open_fence = None;
            }
            return;
        }
        match text.as_bytes().first() {
            None => return,
            Some(b' ' | b'\t' | b'\r') => {
                if is_blank(text) {
                    return;
                }
                if self.in_bullet && indent(text) >= 2 {
                    if let Some(bullet) = self.layout.bullets.last_mut() {
                        bullet.range.end = line.end;
                    }
                    return;
                }
                self.layout.open_fence = Fence::opened_by(text);
            }
            Some(b'#') => {
                if let Some((level, title)) = heading_of(text) {
                    self.open_section(level, title, line);
                }
            }
            Some(b'`' | b'~') => self.layout.open_fence = Fence::opened_by(text),
            // The lines below belong to it in managed sections only.
            Some(b'-') if text.starts_with("- ") => {
                self.in_bullet = self.section.is_some();
                self.layout.bullets.extend(self.section.map(|section| Bullet {
                    section,
                    range: line.start..line.end,
                }));
                return;
            }
            Some(_) => {}
        }
        self.in_bullet = false;
    }

    fn open_section(&mut self, level: u8, title: &str, line: &Line<'_>) {
        self.close(level, line.start);
        if level == 1 {
            self.section = self.managed(title);
            if let Some(section) = self.section {
                self.opened[section as usize] = true;
            }
        }
        let parent = self.open.last().copied();
        self.open.push(self.layout.headings.0.len());
        self.layout.headings.0.push(Section {
            level,
            title: without_closing_run(title).to_owned(),
            managed: self.section,
            range: line.start..line.end,
            body: line.end..line.end,
            parent,
        });
    }

    /// Ends all open sections of this level or deeper.
    fn close(&mut self, level: u8, end: usize) {
        let sections = &mut self.layout.headings.0;
        while let Some(last) = self.open.pop_if(|last| sections[*last].level >= level) {
            sections[last].range.end = end;
            sections[last].body.end = end;
        }
    }

    /// The managed section that a level-1 heading opens.
    fn managed(&self, title: &str) -> Option<ManagedSection> {
        let authors =
            ManagedSection::from_authors_title(title).filter(|section| !self.titled[*section as usize]);
        let section = ManagedSection::from_title(title).or(authors);
        section.filter(|section| !self.opened[*section as usize])
    }
}

impl Section {
    /// Byte offset after the last line that is not blank. New text is inserted here, so the blank lines
    /// before the next heading stay.
    pub(in crate::domain) fn written_end(&self, text: &str) -> usize {
        let body = &text[self.body.clone()];
        let written = body.trim_end_matches([' ', '\t', '\r', '\n']).len();
        let line_end = body[written..]
            .find('\n')
            .map_or(body.len(), |lf| written + lf + 1);
        self.body.start + if written == 0 { 0 } else { line_end }
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

    /// Of all of them the heading title that the service writes, the one that authors give it in their own words, and the kind
    /// of its records.
    const TABLE: [(&str, &str, Option<RecordKind>); Self::ALL.len()] = [
        ("Current Progress", "Progress", None),
        ("Key Learnings", "Learnings", Some(RecordKind::Learning)),
        ("Verbatim Context", "Verbatim", Some(RecordKind::Verbatim)),
        ("Active Context", "Active Context", None),
        ("Recent Tasks", "Recent Tasks", Some(RecordKind::Task)),
        ("Decisions", "Decisions", Some(RecordKind::Decision)),
    ];

    /// The heading title that the service writes.
    #[must_use]
    pub fn title(self) -> &'static str {
        Self::TABLE[self as usize].0
    }

    /// Returns the section with this title. Ignores case, surrounding blanks, a closing run of `#` and a
    /// closing `:`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        let mut all = Self::ALL.into_iter();
        all.find(|section| section.title().eq_ignore_ascii_case(bare))
    }

    /// Returns the section that authors give this title in their own words; compared as [`Self::from_title`] does.
    fn from_authors_title(title: &str) -> Option<Self> {
        let bare = bare_title(title);
        let mut all = Self::ALL.into_iter();
        all.find(|section| Self::TABLE[*section as usize].1.eq_ignore_ascii_case(bare))
    }

    /// The short name used in queries (`?section=progress`), where its case does not count.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The kind of record in the section; `None` for the two sections that are rewritten as a whole.
    #[must_use]
    pub fn record_kind(self) -> Option<RecordKind> {
        Self::TABLE[self as usize].2
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

/// Separates the titles of a path.
const SEPARATOR: &str = "/";

/// The sections of one document of all levels, in document order.
#[derive(Debug, Clone, Default)]
pub struct Headings(Vec<Section>);

/// Level and text if the line is a heading: one to six `#` from column 0 and a blank.
pub(in crate::domain) fn heading_of(line: &str) -> Option<(u8, &str)> {
    let rest = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - rest.len())
        .ok()
        .filter(|level| (1..=6).contains(level))?;
    Some((level, rest.strip_prefix(' ')?))
}

impl Headings {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Section] {
        &self.0
    }

    /// The titles of all parent headings and of the heading itself, joined by `/`: `Facts/Network`.
    #[must_use]
    pub fn path(&self, section: &Section) -> String {
        let parent = |section: &&Section| section.parent.map(|parent| &self.0[parent]);
        let titles = successors(Some(section), parent).map(|section| section.title.as_str());
        let mut titles: Vec<_> = titles.collect();
        titles.reverse();
        titles.join(SEPARATOR)
    }

    /// Returns the first section with this path.
    fn find(&self, path: &str) -> Option<&Section> {
        let wanted = comparable(path);
        // Computed once per heading: a document may repeat the path of a long title once per line.
        let titles: Vec<_> = self.0.iter().map(|section| comparable(&section.title)).collect();
        (0..titles.len())
            .find(|place| self.has_path(*place, &titles, &wanted))
            .map(|place| &self.0[place])
    }

    /// Compares from the last title to the first, so most headings are rejected by one comparison.
    fn has_path(&self, place: usize, titles: &[String], wanted: &str) -> bool {
        let Some(parent) = self.0[place].parent else {
            let short = self.0[place].managed.map(ManagedSection::name);
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

/// A section without records: what it is, its title as written, and its text. Free sections with the same title are
/// distinguished by their order.
struct ComparedSection<'t> {
    key: (Option<ManagedSection>, String, usize),
    title: String,
    body: &'t str,
}

/// Compares two documents section by section. Ignores the position of a section and trailing blank lines.
/// Skips sections with records and `Active Context`. Linear.
#[must_use]
pub fn sections_changed(before: &str, after: &str) -> SectionsChanged {
    let (before, after) = (compared_sections(before), compared_sections(after));
    let was: HashMap<_, _> = before
        .iter()
        .map(|section| (&section.key, section.body))
        .collect();
    let is: HashSet<_> = after.iter().map(|section| &section.key).collect();
    let differs = |section: &&ComparedSection<'_>| was.get(&section.key) != Some(&section.body);
    let is_gone = |section: &&ComparedSection<'_>| !is.contains(&section.key);
    let (mut progress, mut free) = (false, Vec::new());
    for section in after.iter().filter(differs).chain(before.iter().filter(is_gone)) {
        match section.key {
            (Some(_), ..) => progress = true,
            (None, ..) => free.push(section.title.clone()),
        }
    }
    SectionsChanged { progress, free }
}

fn compared_sections(text: &str) -> Vec<ComparedSection<'_>> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let is_compared =
        |section: &Section| matches!(section.managed, None | Some(ManagedSection::CurrentProgress));
    let sections = outline(text).into_iter().filter(is_compared).map(|section| {
        // A managed section is one, whatever title its author gave it.
        let title = match section.managed {
            Some(_) => String::new(),
            None => bare_title(&section.title).to_lowercase(),
        };
        let count = seen.entry(title.clone()).or_default();
        *count += usize::from(section.managed.is_none());
        ComparedSection {
            key: (section.managed, title, *count),
            title: section.title,
            body: text[section.body].trim_end_matches([' ', '\t', '\r', '\n']),
        }
    });
    sections.collect()
}
