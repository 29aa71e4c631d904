//! `Verbatim Context` from closed code fences.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::MAX_ADDITIONS;
use super::label::Label;
use super::memory;
use super::transcript::{Code, Transcript, Voice};
use super::words::{bullet, folded, shortened};
use crate::domain::document::Record;
use crate::domain::ids::RecordId;
use crate::llm::Source;

/// Larger pieces of code are looked up where they live, not remembered; in bytes.
const MAX_SNIPPET_BYTES: usize = 8 * 1024;
/// Fences that hold output, not something to be kept to the byte.
const OUTPUT: [&str; 8] = [
    "text",
    "txt",
    "console",
    "log",
    "logs",
    "output",
    "plaintext",
    "stdout",
];

/// A snippet on its way into the answer.
struct Snippet {
    label: Label,
    text: String,
    weight: u8,
}

/// The section in the update DSL; none where there is nothing new.
pub(super) fn section(source: &Source) -> Option<String> {
    let kept = memory::snippets(&source.document);
    let task = bullet(
        source
            .task
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default(),
    );
    let chosen = heaviest(fresh(
        &Transcript::of(&source.messages).codes,
        task.as_deref(),
        &kept,
    ));
    if chosen.is_empty() {
        return None;
    }
    let reason = match task {
        Some(task) => format!(
            "it was shown while working on \"{}\"",
            shortened(&task.replace(": ", " - "), 80)
        ),
        None => "it was shown in the session".to_owned(),
    };
    let mut text = String::from("VERBATIM_CONTEXT:\n  ADD:\n");
    for snippet in &chosen {
        text.push_str(&format!("    - because {reason}: {} =>", snippet.label.text));
        text.push_str(&written(&snippet.text));
    }
    let old: Vec<RecordId> = kept
        .iter()
        .filter(|kept| is_superseded(kept, &chosen))
        .map(|kept| kept.id)
        .collect();
    if !old.is_empty() {
        text.push_str("  ARCHIVE:\n");
    }
    for id in old {
        text.push_str(&format!(
            "    - {id} because a newer snippet of the same label was shown\n"
        ));
    }
    Some(text)
}

/// The snippets that are worth keeping and not kept yet, in the order they were shown. Of one text the first
/// counts, of one place the last.
fn fresh(codes: &[Code], task: Option<&str>, kept: &[Record]) -> Vec<Snippet> {
    let known: HashSet<&str> = kept.iter().map(|kept| kept.content.as_str()).collect();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut texts = HashSet::new();
    let mut found: Vec<Option<Snippet>> = Vec::new();
    for code in codes {
        let text = without_blank_ends(&code.body);
        if !is_worth_keeping(code, text) || known.contains(text) || !texts.insert(text.to_owned()) {
            continue;
        }
        let label = Label::of(code, task);
        if label.is_place
            && let Some(earlier) = places.insert(folded(&label.text), found.len())
        {
            found[earlier] = None;
        }
        let weight = label.weight + u8::from(code.voice != Voice::Tool);
        found.push(Some(Snippet {
            label,
            text: text.to_owned(),
            weight,
        }));
    }
    found.into_iter().flatten().collect()
}

/// The heaviest, of equal ones the latest; in the order they were shown.
fn heaviest(snippets: Vec<Snippet>) -> Vec<Snippet> {
    let mut ranked: Vec<(usize, Snippet)> = snippets.into_iter().enumerate().collect();
    ranked.sort_by_key(|(index, snippet)| (Reverse(snippet.weight), Reverse(*index)));
    ranked.truncate(MAX_ADDITIONS);
    ranked.sort_by_key(|(index, _)| *index);
    ranked.into_iter().map(|(_, snippet)| snippet).collect()
}

fn is_worth_keeping(code: &Code, text: &str) -> bool {
    let language = code
        .info
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let is_output = OUTPUT.contains(&language.as_str()) || (language.is_empty() && code.voice == Voice::Tool);
    let says_something = text.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    let is_placeholder =
        text.starts_with('<') && text.ends_with('>') && !text.contains(['\n', '/', '=', '"']);
    // A fence inside the fence would be read as the snippet's own; and no document holds a NUL.
    let opens_fence = text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~");
    let fits = text.len() <= MAX_SNIPPET_BYTES && !text.contains('\0');
    says_something && fits && !is_output && !is_placeholder && !opens_fence
}

fn is_superseded(kept: &Record, chosen: &[Snippet]) -> bool {
    let label = folded(kept.label.as_deref().unwrap_or_default());
    chosen
        .iter()
        .any(|snippet| snippet.label.is_place && folded(&snippet.label.text) == label)
}

/// A snippet behind its `=>`, so that reading gives the same bytes: each line is indented by two more than
/// the bullet, and a first line with an indentation of its own stands behind the arrow, where that stays.
fn written(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut written = String::with_capacity(text.len() + 64);
    let starts_indented = text.starts_with(char::is_whitespace);
    if starts_indented || !text.contains('\n') {
        written.push(' ');
        written.push_str(lines.next().unwrap_or_default());
    }
    written.push('\n');
    for line in lines {
        if !line.is_empty() {
            written.push_str("      ");
            written.push_str(line);
        }
        written.push('\n');
    }
    written
}

/// The text without blank lines before and behind it.
fn without_blank_ends(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let end = text.trim_end().len();
    let stop = text[end..].find('\n').map_or(text.len(), |length| end + length);
    if line >= stop {
        ""
    } else {
        text[line..stop].strip_suffix('\r').unwrap_or(&text[line..stop])
    }
}
