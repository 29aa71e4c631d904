//! Compares the sections without records of two documents.

use super::managed::{ManagedSection, bare_title};
use super::outline::outline;
use std::collections::HashMap;

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
