//! The unified diff of two documents.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use std::ops::Range;

/// Number of unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the unified diff between two texts with three lines of context; empty if they are equal. Only LF
/// ends a line, so a lone CR cannot break the format.
///
/// The result depends only on the texts: there is no deadline. The algorithm bounds its own work, so the diff
/// is not always the shortest one.
#[must_use]
pub fn unified_diff(before: &str, after: &str, before_name: &str, after_name: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let hunks = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT_LINES);
    let mut out = String::new();
    for hunk in hunks
        .iter()
        .filter(|hunk| hunk.iter().any(|op| !matches!(op, DiffOp::Equal { .. })))
    {
        if out.is_empty() {
            out.push_str(&format!("--- {before_name}\n+++ {after_name}\n"));
        }
        push_hunk(&mut out, hunk, &old, &new);
    }
    out
}

fn push_hunk(out: &mut String, hunk: &[DiffOp], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let of_old = position(first.old_range().start..last.old_range().end);
    let of_new = position(first.new_range().start..last.new_range().end);
    out.push_str(&format!("@@ -{of_old} +{of_new} @@\n"));
    for op in hunk {
        if matches!(op, DiffOp::Equal { .. }) {
            push_lines(out, ' ', &old[op.old_range()]);
        } else {
            push_lines(out, '-', &old[op.old_range()]);
            push_lines(out, '+', &new[op.new_range()]);
        }
    }
}

/// Formats a range of lines for a hunk header: counted from 1; a single line without its length; an empty
/// range as the line before it.
fn position(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        length => format!("{},{length}", lines.start + 1),
    }
}

fn push_lines(out: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
