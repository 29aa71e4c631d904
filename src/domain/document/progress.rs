//! The lists of `Current Progress` and their bullets, as they are written.

use super::lines::Fence;
use super::outline::{ManagedSection, managed_body};
use super::render::written_lists;
use crate::domain::operation::Progress;
use crate::domain::text::{bare_words, is_nothing, visible_line};

/// The bullets of a document's `Current Progress`, each on one line. Bullets that say that there is nothing are left out, and
/// what stands in a fence is no bullet. Linear.
#[must_use]
pub fn progress_of(document: &str) -> Progress {
    written_progress_of(document).with_bullets(visible_line)
}

/// The same bullets as they are written, with the lines below them that belong to them.
fn written_progress_of(document: &str) -> Progress {
    // Of each bullet its list, by the place in `Progress::TITLES`; `None` for one that does not count.
    let mut bullets: Vec<(Option<usize>, String)> = Vec::new();
    let (mut list, mut fence, mut is_open) = (None, None, false);
    for line in managed_body(document, ManagedSection::CurrentProgress).lines() {
        let bare = line.trim_end();
        let continues = is_open && (bare.is_empty() || bare.starts_with([' ', '\t']));
        if let Some(open) = fence {
            fence = Some(open).filter(|open: &Fence| !open.is_closed_by(bare));
        } else if let Some((_, bullet)) = bullets.last_mut().filter(|_| continues) {
            bullet.push('\n');
            bullet.push_str(if bare.is_empty() { "" } else { line });
        } else {
            fence = Fence::opened_by(bare);
            is_open = bare.starts_with("- ") || bare.starts_with("* ");
            if bare.starts_with('#') {
                list = list_of(bare);
            } else if is_open {
                let text = line[1..].trim_start();
                bullets.push((list.filter(|_| !says_nothing(text.trim_end())), text.to_owned()));
            }
        }
    }
    let mut lists: [Vec<String>; 3] = Default::default();
    for (list, bullet) in bullets {
        if let Some(list) = list {
            lists[list].push(bullet.trim_end_matches('\n').to_owned());
        }
    }
    let [completed, in_progress, remaining] = lists;
    Progress {
        completed,
        in_progress,
        remaining,
    }
}

/// Whether a bullet says that there is nothing. Other signs than these say something without a word: "`<=` → `<`".
fn says_nothing(text: &str) -> bool {
    let is_empty = |c: char| c.is_alphanumeric() || c.is_whitespace() || "-–—.()[]/_*".contains(c);
    is_nothing(text) && text.chars().all(is_empty)
}

/// The list below a heading.
fn list_of(heading: &str) -> Option<usize> {
    let title = heading
        .trim_start_matches('#')
        .trim_end_matches([':', '#', ' '])
        .trim();
    let mut titles = Progress::TITLES.iter();
    titles.position(|known| known.eq_ignore_ascii_case(title))
}

/// The bullets of a document's `Current Progress` as they are written, several lines if they have them; `None` if the section
/// has more than them, which a rewriting by them would remove: sentences, lists under other titles, code. Linear.
pub(in crate::domain) fn whole_progress_of(document: &str) -> Option<Progress> {
    let progress = written_progress_of(document);
    let body = managed_body(document, ManagedSection::CurrentProgress);
    (content_of(body) == content_of(&written_lists(&progress))).then_some(progress)
}

/// The bullets of a document's `Current Progress`, each on one line; `None` if writing them so would lose more than line ends.
/// Linear.
#[must_use]
pub fn plain_progress_of(document: &str) -> Option<Progress> {
    let written = whole_progress_of(document)?;
    let mut bullets = written.lists().into_iter().flat_map(|(_, list)| list);
    bullets
        .all(|bullet| is_plain(bullet))
        .then(|| progress_of(document))
}

/// Whether a bullet says the same on one line: it has no list, code or paragraph of its own, and no code with blanks that count.
fn is_plain(bullet: &str) -> bool {
    let is_text = |line: &str| {
        let behind_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = behind_number.len() < line.len() && behind_number.starts_with(['.', ')']);
        let is_marked = line.is_empty() || line.starts_with(['-', '*', '+', '>', '|', '#']);
        !is_numbered && !is_marked && Fence::opened_by(line).is_none()
    };
    let has_blanks = |line: &str| line.contains('`') && line.contains("  ");
    let mut lines = bullet.lines().map(str::trim);
    lines.next().is_some_and(|first| !has_blanks(first))
        && lines.all(|line| is_text(line) && !has_blanks(line))
}

/// The words of a body of `Current Progress` in any order, without its titles and without lines that say that there is nothing.
fn content_of(body: &str) -> Vec<String> {
    let says_something = |line: &&str| !says_nothing(line.trim_start_matches([' ', '\t', '-', '*']));
    let lines = body.lines().filter(says_something).map(bare_words);
    let is_title = |line: &String| {
        Progress::TITLES
            .iter()
            .any(|title| title.eq_ignore_ascii_case(line))
    };
    let lines = lines.filter(|line| !is_title(line));
    let mut words = Vec::new();
    for line in lines {
        words.extend(line.split(' ').map(str::to_owned));
    }
    words.sort_unstable();
    words
}
