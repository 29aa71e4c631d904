//! Compiles the lines by rules, without a model: only what the records and the document contain.

use super::line::{Citation, Line, Part, quoted};
use super::material::{Entry, Material, content_text, noun};
use crate::domain::history::{ChangeKind, RecordLife};
use crate::domain::ids::RecordKind;
use std::collections::BTreeMap;

/// Maximum number of citations per line; a line about more records cites the newest.
const CITATIONS_OF_A_LINE: usize = 8;

/// Prefix of the reason with which a superseded decision is archived; the whole reason if the new decision
/// has none.
const SUPERSEDED: &str = "superseded: ";
const SUPERSEDED_ALONE: &str = "superseded";

/// Compiles the lines of the sections that are derived from the memory. Deterministic.
#[must_use]
pub fn compile(material: &Material<'_>) -> BTreeMap<Part, Vec<Line>> {
    BTreeMap::from([
        (Part::Summary, summary(material)),
        (Part::StartHere, start_here(material)),
        (Part::RecentChanges, recent_changes(material)),
        (Part::CurrentContext, current_context(material)),
        (Part::Replaced, replaced(material)),
        (Part::OpenQuestions, open_questions(material)),
    ])
}

/// The text of a record in quotes, and behind it the reason for keeping it.
fn quoted_content(life: &RecordLife) -> String {
    let content = quoted(&content_text(life));
    match &life.record.reason {
        Some(reason) => format!("{content}, because {}", quoted(reason)),
        None => content,
    }
}

/// The changes, in the order in which a summary counts them.
const CHANGES: [ChangeKind; 5] = [
    ChangeKind::Added,
    ChangeKind::Changed,
    ChangeKind::Restored,
    ChangeKind::Superseded,
    ChangeKind::Archived,
];

/// One line per kind of record: the total, and the number of records per last change (added, changed, and so
/// on).
fn summary(material: &Material<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(status_line("Goal", material.steps.goal.as_ref(), material));
    for kind in RecordKind::ALL {
        let of_kind = || {
            let entries = material.entries.iter();
            entries.filter(|entry| entry.life.record.id.kind == kind)
        };
        let counts = CHANGES.into_iter().filter_map(|change| {
            let count = of_kind().filter(|entry| last_change(entry) == change).count();
            (count > 0).then(|| format!("{count} {}", word(change)))
        });
        let counts: Vec<String> = counts.collect();
        let active_citations = material.active_citations(kind);
        if counts.is_empty() && active_citations.is_empty() {
            continue;
        }
        let mut text = format!("{}s: {} active", noun(kind), active_citations.len());
        let mut citations = active_citations;
        if !counts.is_empty() {
            let more = match material.snapshot.has_more_changes {
                true => ", and earlier changes",
                false => "",
            };
            text.push_str(&format!("; in this window {}{more}", counts.join(", ")));
            citations = of_kind().map(Entry::citation).collect();
        }
        citations.truncate(CITATIONS_OF_A_LINE);
        lines.push(Line { text, citations });
    }
    lines
}

/// What became of a record in the end. One that ended may have been recorded as archived before it was known what replaced it.
fn last_change(entry: &Entry<'_>) -> ChangeKind {
    match &entry.life.end {
        Some(end) => ChangeKind::end(end.superseded_by),
        None => {
            let mut changes = entry.changes.iter().rev().copied();
            let last = changes.find(|change| !change.is_end());
            last.unwrap_or(ChangeKind::Restored)
        }
    }
}

fn word(change: ChangeKind) -> &'static str {
    match change {
        ChangeKind::Superseded => "replaced",
        other => other.name(),
    }
}

/// The next steps as the document states them; nothing is invented.
fn start_here(material: &Material<'_>) -> Vec<Line> {
    let steps = &material.steps;
    let status = [("Blocker", &steps.blocker), ("Goal", &steps.goal)];
    let status = status
        .into_iter()
        .filter_map(|(name, value)| status_line(name, value.as_ref(), material));
    let lists = [
        ("In progress", &steps.progress.in_progress),
        ("Remaining", &steps.progress.remaining),
    ];
    status.chain(bullet_lines(lists, material)).collect()
}

/// Goal or blocker.
fn status_line(name: &str, value: Option<&String>, material: &Material<'_>) -> Option<Line> {
    Some(Line::of(format!("{name}: {}", quoted(value?)), material.status()))
}

/// A line for each bullet of these lists of the progress.
fn bullet_lines<const N: usize>(lists: [(&str, &Vec<String>); N], material: &Material<'_>) -> Vec<Line> {
    let lines = lists.into_iter().flat_map(|(name, bullets)| {
        bullets
            .iter()
            .map(move |bullet| Line::of(format!("{name}: {}", quoted(bullet)), material.progress()))
    });
    lines.collect()
}

/// What changed in goal, blocker and progress, then each record.
fn recent_changes(material: &Material<'_>) -> Vec<Line> {
    let lines = material.entries.iter().map(|entry| {
        let last = last_change(entry);
        let mut words: Vec<&str> = entry
            .changes
            .iter()
            .filter(|change| !change.is_end() && **change != last)
            .map(|change| word(*change))
            .collect();
        words.push(word(last));
        let text = format!(
            "{} {} {} in version {}: {}",
            noun(entry.life.record.id.kind),
            entry.life.record.id,
            words.join(", then "),
            entry.last.version,
            quoted_content(entry.life)
        );
        Line::of(text, entry.citation())
    });
    section_changes(material).into_iter().chain(lines).collect()
}

fn section_changes(material: &Material<'_>) -> Vec<Line> {
    let changes = &material.section_changes;
    let status = changes.status.iter().map(|(name, value)| {
        let text = match value {
            Some(value) => format!("{name} is now {}", quoted(value)),
            None => format!("{name} is no longer stated"),
        };
        Line::of(text, material.status())
    });
    let lists = [
        ("Completed", &changes.new.completed),
        ("Now in progress", &changes.new.in_progress),
        ("Now remaining", &changes.new.remaining),
    ];
    let progress = bullet_lines(lists, material);
    let gone = (changes.dropped > 0).then(|| {
        let text = format!("Steps that are no longer listed: {}", changes.dropped);
        Line::of(text, material.progress())
    });
    status.chain(progress).chain(gone).collect()
}

fn current_context(material: &Material<'_>) -> Vec<Line> {
    let active = material.active();
    active.map(record_line).collect()
}

fn record_line((life, citation): (&RecordLife, Citation)) -> Line {
    let (noun, id) = (noun(life.record.id.kind), life.record.id);
    Line::of(format!("{noun} {id}: {}", quoted_content(life)), citation)
}

fn replaced(material: &Material<'_>) -> Vec<Line> {
    let ended = material.entries.iter().filter(|entry| !entry.is_active());
    let lines = ended.map(|entry| {
        let (noun, id) = (noun(entry.life.record.id.kind), entry.life.record.id);
        let mut citations = vec![entry.citation()];
        let end = entry.life.end.as_ref();
        let by = end.and_then(|end| end.superseded_by);
        let reason = end.and_then(|end| end.reason.as_deref());
        let reason = reason.map(|reason| match by {
            Some(_) => reason.strip_prefix(SUPERSEDED).unwrap_or(reason),
            None => reason,
        });
        let reason = reason.filter(|reason| by.is_none() || *reason != SUPERSEDED_ALONE);
        let reason = reason.map_or_else(String::new, |reason| format!(" because {}", quoted(reason)));
        let current = entry.current.and_then(|id| Some((id, material.citation_of(id)?)));
        citations.extend(current.map(|(_, citation)| citation));
        // `reason` belongs to the record's own end, so it follows the first replacement of a chain.
        let how = match (by, current) {
            (None, _) => format!("was archived{reason}"),
            (Some(by), Some((current, _))) if by == current => format!("was replaced by {by}{reason}"),
            (Some(by), Some((current, _))) => {
                format!("was replaced by {current}, first by {by}{reason}")
            }
            (Some(by), None) => format!("was replaced by {by}{reason}; {by} is archived too"),
        };
        let text = format!("{noun} {id} {how}: {}", quoted(&content_text(entry.life)));
        Line { text, citations }
    });
    lines.collect()
}

/// The blocker, progress bullets and active records that end in a question mark, and records that expire soon.
fn open_questions(material: &Material<'_>) -> Vec<Line> {
    let steps = &material.steps;
    let blocker = status_line("Blocker", steps.blocker.as_ref(), material).into_iter();
    let bullets = steps.progress.in_progress.iter().chain(&steps.progress.remaining);
    let bullets = bullets
        .filter(|bullet| asks(bullet))
        .map(|bullet| Line::of(quoted(bullet), material.progress()));
    let records = material
        .active()
        .filter(|(life, _)| {
            life.record.id.kind != RecordKind::Verbatim && life.record.content.lines().any(asks)
        })
        .map(record_line);
    let expiring = material.expiring.iter().cloned();
    blocker.chain(expiring).chain(bullets).chain(records).collect()
}

fn asks(text: impl AsRef<str>) -> bool {
    let quoted_content = text
        .as_ref()
        .trim_end_matches([' ', '\t', '\r', '"', '\'', ')', '*', '_', '`']);
    quoted_content.ends_with(['?', '？', '؟'])
}
