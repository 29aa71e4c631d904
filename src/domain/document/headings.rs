//! Headings of all levels, and the paths of titles that name what stands under them.

use super::managed::{ManagedSection, bare_title};
use std::ops::Range;

/// The deepest level a heading has.
const DEEPEST: usize = 6;

/// Stands between the titles of a path.
const SEPARATOR: &str = "/";

/// A heading of any level and what stands under it, outside fences and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6: how many `#` it has.
    pub level: u8,
    /// Its text without surrounding blanks and a closing run of `#`.
    pub title: String,
    /// The managed section it opens or stands in; none in a free one.
    pub managed: Option<ManagedSection>,
    /// From its line to the next heading of its level or above, in bytes.
    pub range: Range<usize>,
    /// The heading it stands under, by its place among all headings.
    pub(super) parent: Option<usize>,
}

/// The headings of one document, in its order.
#[derive(Debug, Clone, Default)]
pub struct Headings {
    all: Vec<Heading>,
    /// Those whose end is not seen yet, by their places; each stands under the one before it.
    open: Vec<usize>,
}

/// Level and text of a line that is a heading: one to six `#` from column 0 on and a blank.
pub(super) fn heading_of(line: &str) -> Option<(u8, &str)> {
    let rest = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - rest.len())
        .ok()
        .filter(|level| (1..=6).contains(level))?;
    Some((level, rest.strip_prefix(' ')?))
}

impl Headings {
    /// All of them, in the order of the document.
    #[must_use]
    pub fn all(&self) -> &[Heading] {
        &self.all
    }

    /// The titles that lead to a heading, and its own, with `/` between them: `Facts/Network`.
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

    /// Takes in the next heading.
    pub(super) fn open(&mut self, mut heading: Heading) {
        self.close(heading.level, heading.range.start);
        heading.parent = self.open.last().copied();
        self.open.push(self.all.len());
        self.all.push(heading);
    }

    /// Ends what a heading of this level ends.
    pub(super) fn close(&mut self, level: u8, end: usize) {
        while let Some(last) = self.open.pop_if(|last| self.all[*last].level >= level) {
            self.all[last].range.end = end;
        }
    }

    /// The first heading with this path.
    pub(super) fn find(&self, path: &str) -> Option<&Heading> {
        let wanted = comparable(path);
        // Made once a heading: a document may repeat a long title's path as often as it has lines.
        let titles: Vec<_> = self
            .all
            .iter()
            .map(|heading| comparable(&heading.title))
            .collect();
        (0..self.all.len())
            .find(|place| self.has_path(*place, &titles, &wanted))
            .map(|place| &self.all[place])
    }

    /// Compares from the last title to the first, so that all titles but the last are seldom looked at.
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

/// A title or path without what does not count when it is compared. A title with a slash is like a path.
fn comparable(path: &str) -> String {
    let titles: Vec<_> = path.split(SEPARATOR).map(bare_title).collect();
    titles.join(SEPARATOR).to_lowercase()
}
