//! Compiles the lines by rules, without a model: only what the records and the document contain.

use super::citation::Citation;
use super::draft::{Caps, Draft, Line};
use super::material::{Entry, Material, SectionChanges, content_text, noun};
use super::part::Part;
use super::quote::quote;
use crate::domain::history::{ChangeKind, RecordLife};
use crate::domain::ids::RecordKind;

/// Maximum number of citations per line; a line about more records cites the newest.
const CITATIONS_OF_A_LINE: usize = 8;

/// Prefix of the reason with which a superseded decision is archived; the whole reason if the new decision
/// has none.
const SUPERSEDED: &str = "superseded: ";
const SUPERSEDED_ALONE: &str = "superseded";

/// Compiles the lines of the sections that are derived from the memory. Deterministic.
#[must_use]
pub fn compile(material: &Material, caps: &Caps) -> Draft {
    let mut draft = Draft::default();
    for (part, mut lines) in [
        (Part::Summary, summary(material, caps)),
        (Part::StartHere, start_here(material, caps)),
        (Part::RecentChanges, recent_changes(material, caps)),
        (Part::CurrentContext, current_context(material, caps)),
        (Part::Replaced, replaced(material, caps)),
        (Part::OpenQuestions, open_questions(material, caps)),
    ] {
        if lines.len() > caps.section_lines {
            draft.left_out.insert(part, lines.len() - caps.section_lines);
            lines.truncate(caps.section_lines);
        }
        draft.lines.insert(part, lines);
    }
    draft
}

fn line(text: String, citation: Citation) -> Line {
    Line {
        text,
        citations: vec![citation],
    }
}

fn quoted(text: &str, caps: &Caps) -> String {
    format!("\"{}\"", quote(text, caps.line_chars))
}

/// The text of a record in quotes, and behind it the reason for keeping it.
fn quoted_content(life: &RecordLife, caps: &Caps) -> String {
    let content = quoted(&content_text(life), caps);
    match &life.reason {
        Some(reason) => format!("{content}, because {}", quoted(reason, caps)),
        None => content,
    }
}

/// One line per kind of record: the total, and the number of records per last change (added, changed, and so
/// on).
fn summary(material: &Material, caps: &Caps) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(goal) = &material.steps.goal {
        lines.push(line(format!("Goal: {}", quoted(goal, caps)), material.status()));
    }
    for kind in RecordKind::ALL {
        let of_kind = || material.entries.iter().filter(|entry| entry.life.id.kind == kind);
        let counts: Vec<String> = [
            ChangeKind::Added,
            ChangeKind::Changed,
            ChangeKind::Restored,
            ChangeKind::Superseded,
            ChangeKind::Archived,
        ]
        .into_iter()
        .filter_map(|change| {
            let count = of_kind().filter(|entry| last_change(entry) == change).count();
            (count > 0).then(|| format!("{count} {}", word(change)))
        })
        .collect();
        let active_citations = material.active_citations(kind);
        if counts.is_empty() && active_citations.is_empty() {
            continue;
        }
        let mut text = format!("{}s: {} active", noun(kind), active_citations.len());
        let citations: Vec<Citation> = if counts.is_empty() {
            active_citations
                .iter()
                .copied()
                .take(CITATIONS_OF_A_LINE)
                .collect()
        } else {
            let more = if material.has_more_changes {
                ", and earlier changes"
            } else {
                ""
            };
            text.push_str(&format!("; in this window {}{more}", counts.join(", ")));
            of_kind().take(CITATIONS_OF_A_LINE).map(Entry::citation).collect()
        };
        lines.push(Line { text, citations });
    }
    lines
}

/// The last change of a record. An end recorded as an archiving may later be known to be a replacement.
fn last_change(entry: &Entry) -> ChangeKind {
    let replaced = entry
        .life
        .end
        .as_ref()
        .is_some_and(|end| end.superseded_by.is_some());
    match entry.changes.last() {
        Some(ChangeKind::Archived) if replaced => ChangeKind::Superseded,
        Some(change) if change.is_end() == entry.life.end.is_some() => *change,
        // For a record that was restored and archived again both changes are listed, so its state decides.
        _ if replaced => ChangeKind::Superseded,
        _ if entry.life.end.is_some() => ChangeKind::Archived,
        _ if entry.changes.contains(&ChangeKind::Restored) => ChangeKind::Restored,
        _ => ChangeKind::Changed,
    }
}

fn word(change: ChangeKind) -> &'static str {
    match change {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Archived => "archived",
        ChangeKind::Superseded => "replaced",
        ChangeKind::Restored => "restored",
    }
}

/// The next steps as the document states them; nothing is invented.
fn start_here(material: &Material, caps: &Caps) -> Vec<Line> {
    let steps = &material.steps;
    let status = [("Blocker", &steps.blocker), ("Goal", &steps.goal)];
    let status = status.into_iter().filter_map(|(name, value)| {
        let text = format!("{name}: {}", quoted(value.as_ref()?, caps));
        Some(line(text, material.status()))
    });
    let lists = [
        ("In progress", &steps.in_progress),
        ("Remaining", &steps.remaining),
    ];
    let work = lists.into_iter().flat_map(|(name, bullets)| {
        bullets
            .iter()
            .map(move |bullet| line(format!("{name}: {}", quoted(bullet, caps)), material.progress()))
    });
    status.chain(work).collect()
}

/// What changed in goal, blocker and progress, then each record.
fn recent_changes(material: &Material, caps: &Caps) -> Vec<Line> {
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
            noun(entry.life.id.kind),
            entry.life.id,
            words.join(", then "),
            entry.last.version,
            quoted_content(&entry.life, caps)
        );
        line(text, entry.citation())
    });
    section_changes(material, caps).into_iter().chain(lines).collect()
}

fn section_changes(material: &Material, caps: &Caps) -> Vec<Line> {
    let SectionChanges {
        goal,
        blocker,
        completed,
        in_progress,
        remaining,
        dropped,
        free: _,
    } = &material.section_changes;
    let steps = &material.steps;
    let status = [("Goal", goal, &steps.goal), ("Blocker", blocker, &steps.blocker)]
        .into_iter()
        .filter(|(_, has_changed, _)| **has_changed)
        .map(|(name, _, value)| {
            let text = match value {
                Some(value) => format!("{name} is now {}", quoted(value, caps)),
                None => format!("{name} is no longer stated"),
            };
            line(text, material.status())
        });
    let lists = [
        ("Completed", completed),
        ("Now in progress", in_progress),
        ("Now remaining", remaining),
    ];
    let progress = lists.into_iter().flat_map(|(name, bullets)| {
        bullets
            .iter()
            .map(move |bullet| line(format!("{name}: {}", quoted(bullet, caps)), material.progress()))
    });
    let gone = (*dropped > 0).then(|| {
        let text = format!("Steps that are no longer listed: {dropped}");
        line(text, material.progress())
    });
    status.chain(progress).chain(gone).collect()
}

fn current_context(material: &Material, caps: &Caps) -> Vec<Line> {
    let active = material.active();
    active
        .map(|(life, citation)| {
            line(
                format!(
                    "{} {}: {}",
                    noun(life.id.kind),
                    life.id,
                    quoted_content(life, caps)
                ),
                citation,
            )
        })
        .collect()
}

fn replaced(material: &Material, caps: &Caps) -> Vec<Line> {
    let ended = material.entries.iter().filter(|entry| !entry.is_active());
    let lines = ended.map(|entry| {
        let (noun, id) = (noun(entry.life.id.kind), entry.life.id);
        let mut citations = vec![entry.citation()];
        let end = entry.life.end.as_ref();
        let by = end.and_then(|end| end.superseded_by);
        let reason = end.and_then(|end| end.reason.as_deref());
        let reason = reason.map(|reason| match by {
            Some(_) => reason.strip_prefix(SUPERSEDED).unwrap_or(reason),
            None => reason,
        });
        let reason = reason.filter(|reason| by.is_none() || *reason != SUPERSEDED_ALONE);
        let reason = reason.map_or_else(String::new, |reason| format!(" because {}", quoted(reason, caps)));
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
        let text = format!("{noun} {id} {how}: {}", quoted(&content_text(&entry.life), caps));
        Line { text, citations }
    });
    lines.collect()
}

/// The blocker, progress bullets and active records that end in a question mark, and records that expire soon.
fn open_questions(material: &Material, caps: &Caps) -> Vec<Line> {
    let steps = &material.steps;
    let blocker = steps.blocker.iter().map(|blocker| {
        let text = format!("Blocker: {}", quoted(blocker, caps));
        line(text, material.status())
    });
    let bullets = steps.in_progress.iter().chain(&steps.remaining);
    let bullets = bullets
        .filter(|bullet| asks(bullet))
        .map(|bullet| line(quoted(bullet, caps), material.progress()));
    let records = material
        .active()
        .filter(|(life, _)| life.id.kind != RecordKind::Verbatim && life.content.lines().any(asks))
        .map(|(life, citation)| {
            line(
                format!(
                    "{} {}: {}",
                    noun(life.id.kind),
                    life.id,
                    quoted_content(life, caps)
                ),
                citation,
            )
        });
    let expiring = material.expiring.iter().map(|record| {
        let verb = if record.is_past { "expired" } else { "expires" };
        let (noun, text) = (noun(record.id.kind), quoted(&record.text, caps));
        let text = format!("{noun} {} {verb} on {}: {text}", record.id, record.until);
        line(text, record.citation)
    });
    blocker.chain(expiring).chain(bullets).chain(records).collect()
}

fn asks(text: impl AsRef<str>) -> bool {
    let quoted_content = text
        .as_ref()
        .trim_end_matches([' ', '\t', '\r', '"', '\'', ')', '*', '_', '`']);
    quoted_content.ends_with(['?', '？', '؟'])
}
