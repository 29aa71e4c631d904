//! The preface shown above a handoff when it is read: its freshness.

use super::freshness::{Freshness, Status};
use std::fmt::Write as _;

/// How a preface names the way to refresh; the command line names its own instead.
pub const REFRESH_ROUTE: &str = "`POST …/handoff/refresh`";

/// Maximum number of reasons, and of stale lines, in a preface.
const SHOWN: usize = 20;

/// Renders the freshness as a Markdown quotation followed by an empty line. It contains no current time, so
/// equal states have equal prefaces.
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
        text.push_str(">\n> Lines that are no longer valid (numbers count from the title below):\n>\n");
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
        text.push_str(&format!(
            ">\n> Refresh it with {REFRESH_ROUTE} before you rely on it.\n"
        ));
    }
    text.push('\n');
    text
}
