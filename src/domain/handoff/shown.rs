//! What a model is shown to write a handoff from.

use super::citation::Citation;
use super::material::{Material, noun, wording};
use super::quote::one_line;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Records that a model is shown, the newest changes first.
const RECORDS: usize = 100;

/// Characters of one entry.
const ENTRY_CHARS: usize = 500;

/// The entries as text, one a line behind its citation, and what may be cited therefore.
#[must_use]
pub fn shown(material: &Material) -> (String, BTreeSet<Citation>) {
    let mut text = String::new();
    let mut citations = BTreeSet::new();
    let mut entry = |citation: Citation, what: &str, said: &str| {
        // Brackets would look like citations of other entries.
        let said: String = one_line(said)
            .chars()
            .take(ENTRY_CHARS)
            .map(|c| match c {
                '[' => '(',
                ']' => ')',
                other => other,
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{citation}] {what}: {said}");
        citations.insert(citation);
    };
    for section in [material.status(), material.progress()] {
        if let Some(supplied) = material.supplied.get(&section) {
            entry(section, "active, the state of the work", &supplied.text);
        }
    }
    for changed in material.entries.iter().take(RECORDS) {
        let state = if changed.is_active() { "active" } else { "archived" };
        let changes: Vec<&str> = changed.changes.iter().map(|change| change.name()).collect();
        let what = format!(
            "{state} {}, {}",
            noun(changed.life.id.kind).to_lowercase(),
            changes.join(", then ")
        );
        entry(changed.citation(), &what, &wording(&changed.life));
    }
    for life in material.replacements.iter().take(RECORDS) {
        if let Some(citation) = material.citation_of(life.id) {
            let what = format!(
                "active {}, took the place of another",
                noun(life.id.kind).to_lowercase()
            );
            entry(citation, &what, &wording(life));
        }
    }
    (text, citations)
}
