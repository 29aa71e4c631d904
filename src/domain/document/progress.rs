//! The lists of `Current Progress` and their bullets, as they are written.

use super::lines::Fence;
use super::outline::{ManagedSection, managed_body};
use crate::domain::operation::Progress;
use crate::domain::text::{is_nothing, visible_line};
use std::ops::Range;

/// The part below one heading.
struct ProgressPart {
    /// The list, by its place in [`Progress::TITLES`]; `None` for any other part.
    list: Option<usize>,
    /// The indices of the lines of each bullet, without blank lines after it.
    bullets: Vec<Range<usize>>,
}

/// The parts of a body of `Current Progress`, of which these are the lines. What stands in a fence is no bullet. Linear.
fn progress_parts(lines: &[&str]) -> Vec<ProgressPart> {
    let mut parts: Vec<ProgressPart> = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut is_open = false;
    for (place, line) in lines.iter().enumerate() {
        let bare = line.trim_end();
        let continues = is_open && (bare.is_empty() || bare.starts_with([' ', '\t']));
        if let Some(open) = fence {
            fence = (!open.is_closed_by(bare)).then_some(open);
        } else if !continues {
            fence = Fence::opened_by(bare);
            is_open = fence.is_none() && (bare.starts_with("- ") || bare.starts_with("* "));
            if bare.starts_with('#') {
                let title = bare
                    .trim_start_matches('#')
                    .trim_end_matches([':', '#', ' '])
                    .trim();
                let mut titles = Progress::TITLES.iter();
                parts.push(ProgressPart {
                    list: titles.position(|known| known.eq_ignore_ascii_case(title)),
                    bullets: Vec::new(),
                });
            }
        }
        let Some(part) = parts.last_mut().filter(|_| is_open) else {
            continue;
        };
        match part.bullets.last_mut().filter(|_| continues) {
            // Blank lines after a bullet do not belong to it.
            Some(_) if bare.is_empty() => {}
            Some(bullet) => bullet.end = place + 1,
            None => part.bullets.push(place..place + 1),
        }
    }
    parts
}

/// The bullets of a document's `Current Progress`, each on one line. Bullets that say that there is nothing are left out. Linear.
#[must_use]
pub fn progress_of(document: &str) -> Progress {
    let lines: Vec<&str> = managed_body(document, ManagedSection::CurrentProgress)
        .lines()
        .collect();
    let mut lists: [Vec<String>; 3] = Default::default();
    for part in progress_parts(&lines) {
        let Some(list) = part.list else { continue };
        for bullet in part.bullets {
            let first = lines[bullet.start].trim_start_matches(['-', '*']);
            if !is_nothing(first.trim()) {
                let rest = &lines[bullet.start + 1..bullet.end];
                lists[list].push(visible_line(&[&[first], rest].concat().join(" ")));
            }
        }
    }
    let [completed, in_progress, remaining] = lists;
    Progress {
        completed,
        in_progress,
        remaining,
    }
}
