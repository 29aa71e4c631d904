//! What the document holds already, as far as the rules need it.

use super::words::{is_grammar, one_line};
use crate::domain::operation::Progress;

/// The previous `Current Progress`, each bullet on one line. Bullets of other sub-headings are not taken over,
/// nor those that would read as the grammar's own words in an answer.
pub(super) fn progress(document: &str) -> Progress {
    let mut progress = Progress::default();
    let mut nowhere = Vec::new();
    let mut list = &mut nowhere;
    for line in section(document, "current progress").lines() {
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

/// What the `Key Learnings` bullets say, without ids, times and reasons.
pub(super) fn learnings(document: &str) -> Vec<String> {
    let bullets = bullets(document, "key learnings").into_iter();
    bullets
        .map(|bullet| without_reason(bullet.text.join(" ").trim()).to_owned())
        .collect()
}

/// An entry of `Verbatim Context`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// `VC-<n>`, where the bullet has an id.
    pub(super) id: Option<String>,
    /// What the snippet is.
    pub(super) label: String,
    /// The snippet, byte for byte.
    pub(super) snippet: String,
}

/// The entries of `Verbatim Context`.
pub(super) fn snippets(document: &str) -> Vec<Kept> {
    bullets(document, "verbatim context")
        .into_iter()
        .filter_map(Bullet::into_kept)
        .collect()
}

#[derive(Default)]
struct Bullet<'a> {
    id: Option<&'a str>,
    /// The first line behind id and time, then the lines below without two spaces of indentation.
    text: Vec<&'a str>,
}

impl<'a> Bullet<'a> {
    fn of(line: &'a str) -> Self {
        let mut rest = line.trim_start();
        let id = rest.split(' ').next().filter(|word| is_record_id(word));
        rest = id.map_or(rest, |id| rest[id.len()..].trim_start());
        if let Some((_, behind)) = rest.strip_prefix('[').and_then(|time| time.split_once(']')) {
            rest = behind.trim_start();
        }
        Self { id, text: vec![rest] }
    }

    fn into_kept(self) -> Option<Kept> {
        let (head, first) = self.text.first()?.split_once("=>")?;
        let label = without_reason(head);
        let first = first.strip_prefix(' ').unwrap_or(first);
        let lines = (!first.is_empty())
            .then_some(first)
            .into_iter()
            .chain(self.text.into_iter().skip(1));
        let snippet = lines.collect::<Vec<_>>().join("\n");
        Some(Kept {
            id: self.id.map(str::to_owned),
            label: label.trim().to_owned(),
            snippet: snippet.trim_end_matches('\n').to_owned(),
        })
    }
}

/// A reason ends at the first colon with a blank behind it, as in the document's own grammar.
fn without_reason(text: &str) -> &str {
    text.strip_prefix("because ")
        .and_then(|text| text.split_once(": "))
        .map_or(text, |(_, rest)| rest)
}

fn bullets<'a>(document: &'a str, title: &str) -> Vec<Bullet<'a>> {
    let mut bullets: Vec<Bullet<'a>> = Vec::new();
    let mut inside = false;
    for line in section(document, title).split('\n') {
        if let Some(text) = line.strip_prefix("- ") {
            bullets.push(Bullet::of(text));
            inside = true;
        } else if line.trim().is_empty() || line.starts_with("  ") {
            if let Some(bullet) = bullets.last_mut().filter(|_| inside) {
                bullet.text.push(line.strip_prefix("  ").unwrap_or(line));
            }
        } else {
            inside = false;
        }
    }
    bullets
}

/// The body of the first section of this title (given in small letters).
fn section<'a>(document: &'a str, title: &str) -> &'a str {
    let mut fence: Option<&str> = None;
    let mut bullet = false;
    let mut begin = None;
    let mut offset = 0;
    for line in document.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let deeper = line.trim().is_empty() || line.starts_with("  ");
        let mark = fence_mark(line);
        if let Some(open) = fence {
            let closes = mark.is_some_and(|mark| mark.starts_with(open) && line.trim().len() == mark.len());
            fence = if closes { None } else { fence };
        } else if bullet && deeper {
            // A record's own lines open nothing.
        } else if let Some(heading) = line.strip_prefix("# ") {
            if let Some(begin) = begin {
                return &document[begin..start];
            }
            bullet = false;
            let name = heading
                .trim()
                .trim_end_matches('#')
                .trim_end()
                .trim_end_matches(':')
                .trim_end();
            begin = (name.to_lowercase() == title).then_some(offset);
        } else {
            bullet = begin.is_some() && line.starts_with("- ");
            fence = mark;
        }
    }
    begin.map_or("", |begin| &document[begin..])
}

fn fence_mark(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let character = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(character).len();
    (length >= 3 && line.len() - text.len() <= 3).then(|| &text[..length])
}

fn is_record_id(word: &str) -> bool {
    word.parse::<crate::domain::ids::RecordId>().is_ok()
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
        assert_eq!(learnings(DOCUMENT), ["learned", "by hand"]);
        let kept = |id: &str, label: &str, snippet: &str| Kept {
            id: Some(id.to_owned()),
            label: label.to_owned(),
            snippet: snippet.to_owned(),
        };
        let expected = [
            kept("VC-1", "Makefile", "# test:\n\tcargo test"),
            kept("VC-2", "one", "line"),
        ];
        assert_eq!(snippets(DOCUMENT), expected);
    }

    #[test]
    fn an_empty_document_holds_nothing() {
        assert_eq!(progress(""), Progress::default());
        assert!(learnings("").is_empty() && snippets("# Verbatim Context").is_empty());
    }
}
