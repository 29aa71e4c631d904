//! Snippets that the user asks to keep exactly.

use super::markers::{Kind, markers};
use super::session::{FencedText, Session, Statement, quotations};
use super::{Active, heard};
use crate::domain::ids::RecordKind;
use crate::domain::operation::Operation;
use crate::domain::text::has_secret;
use std::collections::BTreeSet;

/// The longest label, in characters.
const LABEL_CHARS: usize = 60;

/// Additions of the texts that are asked for: the fence after the request, or the one before it in the same message;
/// a quotation in the request itself; or the last fence of an earlier message.
pub(super) fn kept(session: &Session<'_>, active: &[Active]) -> Vec<Operation> {
    let kept = active
        .iter()
        .map(|active| &active.record)
        .filter(|record| record.id.kind == RecordKind::Verbatim);
    let mut known: BTreeSet<String> = kept.map(|record| record.content.trim().to_owned()).collect();
    let mut added = Vec::new();
    for statement in &session.statements {
        let Some(mark) = heard(statement, Kind::Exact) else {
            continue;
        };
        let Some((info, snippet)) = asked_for(session, statement) else {
            continue;
        };
        let snippet = without_end(snippet);
        // Many requests may ask for the same long text: it is searched for credentials once.
        if snippet.trim().is_empty() || known.contains(snippet.trim()) {
            continue;
        }
        known.insert(snippet.trim().to_owned());
        let label = label(info, snippet);
        if !has_secret(snippet) && !has_secret(&label) {
            let reason = markers().reason("exact", mark.language);
            added.push(Operation::snippet(reason, label, snippet));
        }
    }
    added
}

fn asked_for<'t>(session: &Session<'t>, statement: &Statement<'t>) -> Option<(&'t str, &'t str)> {
    let text = |fence: &FencedText<'t>| (fence.info, fence.code);
    let here = || {
        let fences = session.fences.iter();
        fences.filter(|fence| fence.message == statement.message)
    };
    let after = here().find(|fence| fence.start > statement.start);
    if let Some(fence) = after.or(here().next_back()) {
        return Some(text(fence));
    }
    if let Some(quoted) = quotations(statement.text)
        .into_iter()
        .max_by_key(|quoted| quoted.len())
    {
        return Some(("", quoted));
    }
    let earlier = session
        .fences
        .iter()
        .rev()
        .find(|fence| fence.message < statement.message);
    earlier.filter(|fence| fence.message > 0).map(text)
}

/// The text without the end of its last line and blank lines around it.
fn without_end(code: &str) -> &str {
    let mut code = code.trim_end_matches(['\n', '\r', ' ', '\t']);
    while let Some((line, rest)) = code.split_once('\n')
        && line.trim().is_empty()
    {
        code = rest;
    }
    code
}

/// What the snippet is: the path or the language of its fence and the first line. Never a sentence of the session.
fn label(info: &str, snippet: &str) -> String {
    let mut words = info.split_whitespace();
    let path = words
        .clone()
        .find(|word| word.contains(['/', '.']))
        .map(|word| word.rsplit('=').next().unwrap_or(word).trim_matches(['"', '\'']));
    let first = snippet.trim_start().lines().next().unwrap_or_default().trim();
    let label = match (path, words.next()) {
        (Some(path), _) => path.to_owned(),
        (None, Some(language)) => format!("{language}, {first}"),
        (None, None) => format!("text, {first}"),
    };
    let cut: String = label
        .chars()
        .filter(|c| !c.is_control())
        .take(LABEL_CHARS)
        .collect();
    cut.replace("=>", "->")
}
