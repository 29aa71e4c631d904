//! Headings of all levels, and the title paths that name their content.

use super::managed::{ManagedSection, bare_title};
use std::ops::Range;

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
