//! Judges progress bullet by bullet.

use super::judge::{Judge, Judged, Support};
use super::ruling::{Ruling, example, not_comparable};
use crate::domain::operation::{FaultKind, Item, Operation, Progress};
use crate::domain::text::content_words::{Word, content_words};
use crate::domain::text::{bare_words, has_secret};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;

/// Removes unsupported and duplicate bullets, and then checks that something is left in progress.
pub(super) fn judge(judge: &Judge<'_>, progress: Progress, range: Range<usize>) -> Judged {
    let before = content_words(judge.case.progress);
    let known: HashSet<String, RandomState> = judge.case.progress.lines().map(bare_words).collect();
    let mut seen: HashSet<String, RandomState> = HashSet::default();
    let mut rulings = Vec::new();
    let mut words = Vec::new();
    let had_work = !progress.in_progress.is_empty();
    let mut kept = |bullets: Vec<String>, is_plan: bool| -> Vec<String> {
        let mut good = Vec::with_capacity(bullets.len());
        for bullet in bullets {
            let folded = bare_words(&bullet);
            if seen.contains(&folded) {
                continue;
            }
            let own = content_words(&bullet);
            let mut ruling = bullet_ruling(judge, &bullet, &own, (&before, known.contains(&folded)));
            // A plan claims nothing: nobody is misled by a step in words of its own.
            if let Some(ruling) = &mut ruling {
                ruling.is_warning |= is_plan && ruling.kind == FaultKind::Ungrounded;
            }
            let is_applied = ruling.as_ref().is_none_or(|ruling| ruling.is_warning);
            rulings.extend(ruling.map(|ruling| Ruling {
                bullet: Some(bullet.clone()),
                ..ruling
            }));
            if is_applied {
                seen.insert(folded);
                words.extend(own.into_iter().map(|word| word.key));
                good.push(bullet);
            }
        }
        good
    };
    let progress = Progress {
        completed: kept(progress.completed, false),
        in_progress: kept(progress.in_progress, true),
        remaining: kept(progress.remaining, true),
    };
    let item = if had_work && progress.in_progress.is_empty() {
        let detail = "No bullet is left under In Progress, so the progress before stays; write at least one that the \
                      task or the messages name.";
        rulings.push(Ruling::of(FaultKind::MissingInProgress, detail));
        None
    } else {
        let operation = Operation::RewriteProgress(progress);
        Some(Item { operation, range })
    };
    words.sort_unstable();
    words.dedup();
    Judged {
        item,
        evidence: judge.index.evidence(words),
        rulings,
    }
}

fn bullet_ruling(
    judge: &Judge<'_>,
    bullet: &str,
    words: &[Word],
    (before, is_known): (&[Word], bool),
) -> Option<Ruling> {
    let ruling = match judge.support(bullet, words, 1, before) {
        _ if judge.case.examples.has(bullet) => Some(example()),
        _ if is_known => None,
        Support::Yes => None,
        Support::NotComparable => Some(not_comparable()),
        Support::No => {
            let detail = "The bullet shares no word that means something with the task, the messages or the progress \
                          before; leave it out, or say it in their words.";
            Some(judge.ungrounded(detail))
        }
    };
    judge.or_secret(ruling, || has_secret(bullet))
}
