//! Tracks which version introduced each line of a document.
//!
//! The origins of a version are computed from those of the previous version and the two texts: an unchanged
//! line keeps its origin, a line moved within the document keeps it too, and any other line belongs to the
//! new version. Line ends are ignored, so a last line that later gets a line end keeps its version.

use super::lines::{is_blank, without_end};
use foldhash::fast::RandomState;
use memchr::memchr_iter;
use similar::{Algorithm, DiffOp, capture_diff_slices};
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
        let mut origins = Self::default();
        origins.push(Run {
            version,
            lines: count(text),
        });
        origins
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
    /// `before` into `after`. Only the lines between the first and the last difference are compared.
    #[must_use]
    pub fn after(&self, before: &str, after: &str, version: i64) -> Self {
        let same = CommonEnds::of(before, after);
        let old: Vec<_> = lines(&before[same.head..before.len() - same.tail]).collect();
        let new: Vec<_> = lines(&after[same.head..after.len() - same.tail]).collect();
        let first = count(&before[..same.head]);
        let mut origins = Self::default();
        self.copy(0, first, &mut origins);
        let old_versions: Vec<_> = self.versions().skip(first).take(old.len()).collect();
        for line in match_lines(&old, &old_versions, &new) {
            origins.push(Run {
                version: line.unwrap_or(version),
                lines: 1,
            });
        }
        self.copy(first + old.len(), usize::MAX, &mut origins);
        origins
    }

    /// Appends the origins of lines `from..end` to `to`.
    fn copy(&self, from: usize, end: usize, to: &mut Self) {
        let mut at = 0;
        for run in &self.0 {
            let (first, last) = (at.max(from), (at + run.lines).min(end));
            at += run.lines;
            if first < last {
                to.push(Run {
                    version: run.version,
                    lines: last - first,
                });
            }
        }
    }

    fn push(&mut self, run: Run) {
        match self.0.last_mut() {
            Some(last) if last.version == run.version => last.lines += run.lines,
            _ if run.lines > 0 => self.0.push(run),
            _ => {}
        }
    }
}

/// Above this many line pairs no diff is computed and only moved lines are matched, because a writer waits
/// for the result.
const MAX_LINE_PAIRS: usize = 16_000_000;

/// For each new line, the version of the old line that it matches, if any.
fn match_lines(old: &[&str], old_versions: &[i64], new: &[&str]) -> Vec<Option<i64>> {
    let mut versions = vec![None; new.len()];
    let mut removed: HashMap<&str, VecDeque<i64>, RandomState> = HashMap::default();
    let ops = if old.len().saturating_mul(new.len()) > MAX_LINE_PAIRS {
        vec![DiffOp::Replace {
            old_index: 0,
            old_len: old.len(),
            new_index: 0,
            new_len: new.len(),
        }]
    } else {
        capture_diff_slices(Algorithm::Myers, old, new)
    };
    for op in ops {
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

/// Length in bytes of the common prefix of whole lines and, after it, of the common suffix.
struct CommonEnds {
    head: usize,
    tail: usize,
}

impl CommonEnds {
    fn of(before: &str, after: &str) -> Self {
        let (before, after) = (before.as_bytes(), after.as_bytes());
        let shared = shared_head(before, after);
        let line_start = |at: usize| {
            before[..at]
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |lf| lf + 1)
        };
        let head = line_start(shared);
        let (before, after) = (&before[head..], &after[head..]);
        let tail = shared_tail(before, after);
        let starts_line = |text: &[u8]| tail == text.len() || text[text.len() - tail - 1] == b'\n';
        let tail = if starts_line(before) && starts_line(after) {
            tail
        } else {
            let shared = &before[before.len() - tail..];
            shared
                .iter()
                .position(|b| *b == b'\n')
                .map_or(0, |lf| tail - lf - 1)
        };
        Self { head, tail }
    }
}

/// Number of bytes compared at once, so that the compiler can vectorise the comparison.
const BLOCK: usize = 256;

fn shared_head(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let at = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
}

fn shared_tail(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.rchunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK));
    let at = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let (a, b) = (&a[..a.len() - at], &b[..b.len() - at]);
    let rest = a.iter().rev().zip(b.iter().rev());
    at + rest.take_while(|(a, b)| a == b).count()
}

/// The lines of a text without line ends, as [`Origins`] counts them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(without_end)
}

fn count(text: &str) -> usize {
    let ends = memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}
