//! Tracks which version introduced each line of a document.
//!
//! The origins of a version are computed from those of the previous version and the two texts: an unchanged
//! line keeps its origin, a line moved within the document keeps it too, and any other line belongs to the
//! new version. Line ends are ignored, so a last line that later gets a line end keeps its version. The unified diff of two documents is made here too.

use super::lines::{is_blank, without_end};
use foldhash::fast::RandomState;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, group_diff_ops};
use std::collections::{HashMap, VecDeque};
use std::iter::repeat_n;

/// Consecutive lines introduced by one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The version that introduced them.
    pub version: i64,
    /// Number of lines; at least one.
    pub lines: usize,
}

/// The origin of every line of one document, in document order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origins(Vec<Run>);

impl Origins {
    /// The origins of a first version.
    #[must_use]
    pub fn of_first(text: &str, version: i64) -> Self {
        let lines = lines(text).count();
        Self::from_runs([Run { version, lines }])
    }

    /// Restores origins from stored runs.
    #[must_use]
    pub fn from_runs(runs: impl IntoIterator<Item = Run>) -> Self {
        let mut origins = Self::default();
        runs.into_iter().for_each(|run| origins.push(run));
        origins
    }

    /// The runs in document order; neighbours have different versions.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.0
    }

    /// Total number of lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.0.iter().map(|run| run.lines).sum()
    }

    /// The version of each line, in document order.
    pub fn versions(&self) -> impl Iterator<Item = i64> {
        self.0.iter().flat_map(|run| repeat_n(run.version, run.lines))
    }

    /// Computes the origins of the next version. `self` are the origins of `before`; `version` changed
    /// `before` into `after`.
    #[must_use]
    pub fn after(&self, before: &str, after: &str, version: i64) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (lines(before).collect(), lines(after).collect());
        let mut versions: Vec<i64> = self.versions().take(old.len()).collect();
        versions.resize(old.len(), version);
        let matched = match_lines(&old, &versions, &new).into_iter();
        let runs = matched.map(|origin| Run {
            version: origin.unwrap_or(version),
            lines: 1,
        });
        Self::from_runs(runs)
    }

    fn push(&mut self, run: Run) {
        match self.0.last_mut() {
            Some(last) if last.version == run.version => last.lines += run.lines,
            _ if run.lines > 0 => self.0.push(run),
            _ => {}
        }
    }
}

/// For each new line, the version of the old line that it matches, if any.
fn match_lines(old: &[&str], old_versions: &[i64], new: &[&str]) -> Vec<Option<i64>> {
    let mut versions = vec![None; new.len()];
    let mut removed: HashMap<&str, VecDeque<i64>, RandomState> = HashMap::default();
    for op in differences(old, new) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            for offset in 0..len {
                versions[new_index + offset] = old_versions.get(old_index + offset).copied();
            }
        } else {
            for place in op.old_range() {
                let version = old_versions.get(place).copied();
                removed.entry(old[place]).or_default().extend(version);
            }
        }
    }
    // A removed line that appears elsewhere was moved. Blank lines are too ambiguous to match.
    for (version, line) in versions.iter_mut().zip(new) {
        if version.is_none() && !is_blank(line) {
            *version = removed.get_mut(line).and_then(VecDeque::pop_front);
        }
    }
    versions
}

/// The lines of a text without line ends, as [`Origins`] counts them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(without_end)
}

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
    let mut out = String::new();
    for hunk in group_diff_ops(differences(&old, &new), CONTEXT_LINES) {
        if out.is_empty() {
            out.push_str(&format!("--- {before_name}\n+++ {after_name}\n"));
        }
        out.push_str(&format!("{}\n", UnifiedHunkHeader::new(&hunk)));
        for change in hunk.iter().flat_map(|op| op.iter_changes(&old[..], &new[..])) {
            out.push_str(&format!("{}{}", change.tag(), change.value()));
            if !change.value().ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// What became of which lines. The one algorithm is called by its name: chosen at run time, each of the library's would
/// be compiled for each use.
fn differences(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut captured = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut captured, old, 0..old.len(), new, 0..new.len());
    captured.into_inner().into_inner().into_ops()
}
