//! What stands above a handoff when it is read: its freshness.

use super::freshness::{Freshness, Status};
use std::fmt::Write as _;

/// Lines of reasons, and of stale lines, that a preface shows.
const SHOWN: usize = 20;

/// The freshness as a Markdown quotation with an empty line behind it. It says no time of its own, so that equal
/// states have equal prefaces.
#[must_use]
pub fn preface(
    freshness: &Freshness,
    generated_at: chrono::DateTime<chrono::Utc>,
    base_version: i64,
) -> String {
    let mut text = format!(
        "> Freshness: {}. Made at {} from version {base_version}.\n",
        freshness.status.name(),
        generated_at.format("%Y-%m-%dT%H:%M:%SZ"),
    );
    for reason in freshness.reasons.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "> - {}: {}", reason.kind, reason.detail);
    }
    if freshness.reasons.len() > SHOWN {
        let _ = writeln!(text, "> - and {} more reasons", freshness.reasons.len() - SHOWN);
    }
    if !freshness.stale_lines.is_empty() {
        text.push_str(">\n> Lines that do not hold any more (numbers count from the title below):\n>\n");
        for line in freshness.stale_lines.iter().take(SHOWN) {
            let _ = writeln!(
                text,
                "> - line {}, [{}]: {}",
                line.line, line.citation, line.reason
            );
        }
        if freshness.stale_lines.len() > SHOWN {
            let _ = writeln!(text, "> - and {} more", freshness.stale_lines.len() - SHOWN);
        }
    }
    if freshness.status == Status::Stale {
        text.push_str(">\n> Refresh it with `POST …/handoff/refresh` before you rely on it.\n");
    }
    text.push('\n');
    text
}
