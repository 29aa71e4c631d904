//! Which version brought each line of a document in.
//!
//! The origins of a version follow from those of the version before and the two texts: an unchanged line keeps
//! its origin, a line that was moved within the document takes it along, any other line is of the new version.
//! Line ends do not count, so that a last line that gets its line end later stays of its own version.

use super::lines::{is_blank, without_end};
use foldhash::fast::RandomState;
use memchr::memchr_iter;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{HashMap, VecDeque};
use std::iter::repeat_n;

/// Lines that stand together and came in with one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The version that brought them in.
    pub version: i64,
    /// How many they are; at least one.
    pub lines: usize,
}

/// Where the lines of one document come from, from the first line to the last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origins(Vec<Run>);

impl Origins {
    /// The origins of a document that has nothing before it.
    #[must_use]
    pub fn of_first(text: &str, version: i64) -> Self {
        let mut origins = Self::default();
        origins.push(Run {
            version,
            lines: count(text),
        });
        origins
    }

    /// The origins as they were written down.
    #[must_use]
    pub fn from_runs(runs: impl IntoIterator<Item = Run>) -> Self {
        let mut origins = Self::default();
        runs.into_iter().for_each(|run| origins.push(run));
        origins
    }

    /// The runs of lines, in document order; no two neighbours are of one version.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.0
    }

    /// How many lines they are about.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.0.iter().map(|run| run.lines).sum()
    }

    /// The version of each line, in document order.
    pub fn versions(&self) -> impl Iterator<Item = i64> {
        self.0.iter().flat_map(|run| repeat_n(run.version, run.lines))
    }

    /// The origins after the next version: `self` are those of `before`, and `version` made `after` of it. Only
    /// the lines between the first and the last difference are compared.
    #[must_use]
    pub fn after(&self, before: &str, after: &str, version: i64) -> Self {
        let same = Same::of(before, after);
        let old: Vec<_> = lines(&before[same.head..before.len() - same.tail]).collect();
        let new: Vec<_> = lines(&after[same.head..after.len() - same.tail]).collect();
        let first = count(&before[..same.head]);
        let mut origins = Self::default();
        self.copy(0, first, &mut origins);
        let old_versions: Vec<_> = self.versions().skip(first).take(old.len()).collect();
        for line in compared(&old, &old_versions, &new) {
            origins.push(Run {
                version: line.unwrap_or(version),
                lines: 1,
            });
        }
        self.copy(first + old.len(), usize::MAX, &mut origins);
        origins
    }

    /// Appends the lines from one place to before another to `to`.
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

/// Beyond this many pairs of lines only equal lines are looked for, in their order: a writer waits for the result.
const MOST_PAIRS: usize = 16_000_000;

/// For each new line the version of the old line it is, if it is one.
fn compared(old: &[&str], old_versions: &[i64], new: &[&str]) -> Vec<Option<i64>> {
    let mut versions = vec![None; new.len()];
    let mut taken_out: HashMap<&str, VecDeque<i64>, RandomState> = HashMap::default();
    let ops = if old.len().saturating_mul(new.len()) > MOST_PAIRS {
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
                taken_out.entry(old[place]).or_default().extend(version);
            }
        }
    }
    // A line that stands elsewhere now was moved. Of blank lines nobody could tell.
    for (version, line) in versions.iter_mut().zip(new) {
        if version.is_none() && !is_blank(line) {
            *version = taken_out.get_mut(line).and_then(VecDeque::pop_front);
        }
    }
    versions
}

/// How many bytes of whole lines two texts share at their beginning and, behind that, at their end.
struct Same {
    head: usize,
    tail: usize,
}

impl Same {
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

/// Bytes compared at once: long enough for the processor to compare them as a block.
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

/// The lines of a text without their ends, as [`Origins`] count them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(without_end)
}

fn count(text: &str) -> usize {
    let ends = memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}
