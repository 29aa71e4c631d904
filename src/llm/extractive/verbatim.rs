//! `Verbatim Context` from closed code fences.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::apart::may_hold_text;
use super::caps::MAX_ADDITIONS;
use super::code::{Code, Form};
use super::contradiction::{Outdated, outdated};
use super::cues::{Sign, any_signs};
use super::label::Label;
use super::learnings::archives;
use super::memory;
use super::secrets::has_secret;
use super::sentence::Voice;
use super::session::Session;
use super::text::{folded, shortened};
use super::work::task_bullet;
use crate::domain::document::Record;
use crate::domain::ids::RecordKind;
use crate::llm::Source;

/// Maximum size of a snippet in bytes; larger code belongs in a file.
const MAX_SNIPPET_BYTES: usize = 8 * 1024;
/// Languages of fences that contain output rather than code.
const OUTPUT: [&str; 12] = [
    "text",
    "txt",
    "console",
    "log",
    "logs",
    "output",
    "plaintext",
    "stdout",
    "diff",
    "patch",
    "html",
    "quote",
];
/// A candidate for the answer.
struct Snippet {
    label: Label,
    text: String,
    weight: u8,
}

/// The section in the update DSL; `None` if there is nothing new.
pub(super) fn section(source: &Source) -> Option<String> {
    let kept = memory::records_of(&source.document, RecordKind::Verbatim);
    let texts = source.messages.iter().map(|message| message.content.as_str());
    let mut texts = texts.chain(std::iter::once(source.task.as_str()));
    if kept.is_empty() && !texts.any(|text| text.contains('`') || text.contains("~~~") || may_hold_text(text))
    {
        return None;
    }
    let session = Session::of(source);
    let task = task_bullet(&source.task);
    let chosen = highest_scored(fresh(&session, task.as_deref(), &kept));
    let mut outdated_records = outdated(&session, &kept);
    for kept in kept.iter().filter(|kept| is_superseded(kept, &chosen)) {
        if !outdated_records
            .iter()
            .any(|outdated_records| outdated_records.id == kept.id)
        {
            outdated_records.push(Outdated {
                id: kept.id,
                reason: "a newer snippet of the same label was shown",
                instead: None,
            });
        }
    }
    if chosen.is_empty() && outdated_records.is_empty() {
        return None;
    }
    let reason = match task {
        Some(task) => format!(
            "it was shown while working on \"{}\"",
            shortened(&task.replace(": ", " - "), 80)
        ),
        None => "it was shown in the session".to_owned(),
    };
    let mut text = String::from("VERBATIM_CONTEXT:\n");
    if !chosen.is_empty() {
        text.push_str("  ADD:\n");
    }
    for snippet in &chosen {
        text.push_str(&format!("    - because {reason}: {} =>", snippet.label.text));
        text.push_str(&written(&snippet.text));
    }
    text.push_str(&archives(&outdated_records));
    Some(text)
}

/// The new snippets that are worth keeping, in order. Of equal texts the first is used, of equal file names
/// the last.
fn fresh(session: &Session, task: Option<&str>, kept: &[Record]) -> Vec<Snippet> {
    let known: HashSet<&str> = kept.iter().map(|kept| kept.content.as_str()).collect();
    let denied = session.denied();
    let keeping = messages_that_keep(session);
    let exact = messages_with_exact_text(session);
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut texts = HashSet::new();
    let mut found: Vec<Option<Snippet>> = Vec::new();
    for code in &session.codes {
        let text = without_blank_ends(&code.body);
        let asked_for = keeping.contains(&code.message);
        if denied.binary_search(&code.message).is_ok()
            || !(asked_for || is_offered(code))
            || (code.form == Form::Rest && !asks_for_the_text(&code.lead))
            || (code.form == Form::Quotation && !exact.contains(&code.message))
            || !is_worth_keeping(code, text)
            || known.contains(text)
            || !texts.insert(text.to_owned())
        {
            continue;
        }
        let label = Label::of(code, task);
        if label.is_place
            && let Some(earlier) = places.insert(folded(&label.text), found.len())
        {
            found[earlier] = None;
        }
        let weight = label.weight + if asked_for { 10 } else { 0 };
        found.push(Some(Snippet {
            label,
            text: text.to_owned(),
            weight,
        }));
    }
    found.into_iter().flatten().collect()
}

/// Whether it is code of the assistant with a language or a file name. Code pasted by a user may be wrong.
fn is_offered(code: &Code) -> bool {
    code.form == Form::Fence
        && code.voice == Voice::Assistant
        && (!code.info.trim().is_empty() || Label::of(code, None).is_place)
}

/// Whether a line asks to keep the following text verbatim.
fn asks_for_the_text(lead: &str) -> bool {
    any_signs(lead).contains(&Sign::Exact)
}

/// Messages with a text that the user wants verbatim, according to the same message or the next.
fn messages_with_exact_text(session: &Session) -> HashSet<usize> {
    let sentence = session.meant().filter(|sentence| sentence.voice == Voice::User);
    sentence
        .filter(|sentence| sentence.has(Sign::Exact))
        .flat_map(|sentence| [sentence.message, sentence.message.saturating_sub(1)])
        .collect()
}

/// Messages whose code the user asked to keep, in the same message or the next.
fn messages_that_keep(session: &Session) -> HashSet<usize> {
    let asks = session
        .meant()
        .filter(|sentence| sentence.voice == Voice::User && !sentence.asks)
        .filter(|sentence| sentence.has_any(&[Sign::Keep, Sign::Exact]));
    asks.flat_map(|sentence| [sentence.message, sentence.message.saturating_sub(1)])
        .collect()
}

/// The snippets with the highest weight, the latest first among equals; returned in their original order.
fn highest_scored(snippets: Vec<Snippet>) -> Vec<Snippet> {
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
    let is_output = OUTPUT.contains(&language.as_str());
    let says_something = text.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    let is_placeholder =
        text.starts_with('<') && text.ends_with('>') && !text.contains(['\n', '/', '=', '"']);
    // A nested fence would be read as the snippet's own; NUL is not allowed in documents.
    let opens_fence = text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~");
    let fits = text.len() <= MAX_SNIPPET_BYTES && !text.contains('\0');
    says_something && fits && !is_output && !is_placeholder && !opens_fence && !text.lines().any(has_secret)
}

fn is_superseded(kept: &Record, chosen: &[Snippet]) -> bool {
    let label = folded(kept.label.as_deref().unwrap_or_default());
    chosen
        .iter()
        .any(|snippet| snippet.label.is_place && folded(&snippet.label.text) == label)
}

/// Formats a snippet after its `=>` so that parsing returns the same bytes: lines are indented by two more
/// than the bullet; a first line with its own indentation follows the arrow directly, where its indentation
/// is kept.
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

/// The text without surrounding blank lines.
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
