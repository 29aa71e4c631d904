//! Reads the parts of the document that the rules need.

use super::text::{is_grammar, one_line};
use crate::domain::document::{ManagedSection, Record, find_section, records};
use crate::domain::ids::RecordKind;
use crate::domain::operation::Progress;

/// The previous `Current Progress`, each bullet on one line. Skips bullets of other sub-headings and bullets
/// that would be read as DSL keywords in an answer.
pub(super) fn progress(document: &str) -> Progress {
    let mut progress = Progress::default();
    let mut nowhere = Vec::new();
    let mut list = &mut nowhere;
    for line in find_section(document, ManagedSection::CurrentProgress.name())
        .unwrap_or_default()
        .lines()
    {
        if let Some(title) = line.strip_prefix("## ") {
            list = match title
                .trim()
                .trim_end_matches([':', '#', ' '])
                .to_lowercase()
                .as_str()
            {
                "completed" => &mut progress.completed,
                "in progress" => &mut progress.in_progress,
                "remaining" => &mut progress.remaining,
                _ => &mut nowhere,
            };
        } else if let Some(bullet) = line.strip_prefix("- ").or(line.strip_prefix("* ")) {
            list.push(one_line(bullet));
        } else if line.starts_with("  ")
            && let Some(bullet) = list.last_mut()
        {
            bullet.push_str(&format!(" {}", one_line(line)));
        }
    }
    for list in [
        &mut progress.completed,
        &mut progress.in_progress,
        &mut progress.remaining,
    ] {
        list.retain(|bullet| !is_grammar(bullet));
    }
    progress
}

/// The records of a kind.
pub(super) fn records_of(document: &str, kind: RecordKind) -> Vec<Record> {
    let records = records(document).into_iter();
    records.filter(|record| record.id.kind == kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Notes\n```\n# Current Progress\n```\n# current progress\n## Completed\n- A\n\
        ## In Progress\n- B\n\n# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because x: learned\n- by hand\n\
        # Verbatim Context\n- VC-1 [2026-11-21T02:00:00Z] because y: Makefile =>\n  # test:\n  \tcargo test\n\n\
        - VC-2 one => line\n# Other\n- VC-9 x => y\n";

    #[test]
    fn the_managed_sections_are_read() {
        let progress = progress(DOCUMENT);
        assert_eq!(
            (progress.completed, progress.in_progress),
            (vec!["A".to_owned()], vec!["B".to_owned()])
        );
        let learned = records_of(DOCUMENT, RecordKind::Learning);
        assert_eq!(learned[0].content, "learned");
        let snippets: Vec<_> = records_of(DOCUMENT, RecordKind::Verbatim)
            .into_iter()
            .map(|kept| (kept.label, kept.content))
            .collect();
        let expected = |label: &str, snippet: &str| (Some(label.to_owned()), snippet.to_owned());
        assert_eq!(
            snippets,
            [
                expected("Makefile", "# test:\n\tcargo test"),
                expected("one", "line")
            ]
        );
    }

    #[test]
    fn an_empty_document_holds_nothing() {
        assert_eq!(progress(""), Progress::default());
        assert!(records_of("# Verbatim Context", RecordKind::Verbatim).is_empty());
    }
}
