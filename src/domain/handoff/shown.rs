//! The input text for a model that writes a handoff.

use super::citation::Citation;
use super::material::{Material, SectionChanges, noun, record_text};
use crate::domain::text::visible_line;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum number of records in the input, latest change first.
const RECORDS: usize = 100;

/// Maximum number of characters per entry.
const ENTRY_CHARS: usize = 500;

/// Renders the entries as text, one line each after its citation, and returns the citations that the model
/// may use.
#[must_use]
pub fn shown(material: &Material) -> (String, BTreeSet<Citation>) {
    let mut text = String::new();
    let mut citations = BTreeSet::new();
    let mut entry = |citation: Citation, what: &str, content: &str| {
        // Brackets would look like citations of other entries.
        let content: String = visible_line(content)
            .chars()
            .take(ENTRY_CHARS)
            .map(|c| match c {
                '[' => '(',
                ']' => ')',
                other => other,
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{citation}] {what}: {content}");
        citations.insert(citation);
    };
    for section in [material.status(), material.progress()] {
        if let Some(supplied) = material.supplied.get(&section) {
            entry(section, "active, the state of the work", &supplied.text);
        }
    }
    let SectionChanges {
        goal,
        blocker,
        completed,
        in_progress,
        remaining,
        ..
    } = &material.section_changes;
    let steps = &material.steps;
    for (name, _, value) in [("Goal", goal, &steps.goal), ("Blocker", blocker, &steps.blocker)]
        .into_iter()
        .filter(|(_, has_changed, _)| **has_changed)
    {
        let value = value.as_deref().unwrap_or("none is stated any more");
        entry(
            material.status(),
            "changed in this window",
            &format!("{name}: {value}"),
        );
    }
    for (name, bullets) in [
        ("Completed", completed),
        ("In Progress", in_progress),
        ("Remaining", remaining),
    ] {
        if !bullets.is_empty() {
            let what = format!("new in this window under {name}");
            entry(material.progress(), &what, &bullets.join("; "));
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
        entry(changed.citation(), &what, &record_text(&changed.life));
    }
    for life in material.replacements.iter().take(RECORDS) {
        if let Some(citation) = material.citation_of(life.id) {
            let what = format!(
                "active {}, took the place of another",
                noun(life.id.kind).to_lowercase()
            );
            entry(citation, &what, &record_text(life));
        }
    }
    (text, citations)
}
