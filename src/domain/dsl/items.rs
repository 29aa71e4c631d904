//! Parses the text of one item: `because <reason>: <content>` and `<ID> because <reason>`.

use super::lines::{is_no_change, is_placeholder, is_template_snippet};
use crate::domain::consolidation::Ground;
use crate::domain::document::{changed_marks, reason_end};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Fault, FaultKind, Operation, Role};
use crate::domain::text::lines::{one_line, start_of};

/// Maximum number of ids in one `ARCHIVE` item: each gets a copy of the reason.
const MAX_IDS: usize = 100;

/// Maximum length in bytes of a reason shared by several ids of an item: each gets a copy.
const MAX_SHARED_REASON: usize = 1_000;

/// Number of characters of a text that a message quotes.
pub(super) const EXCERPT_CHARS: usize = 60;

/// The warning about an insight of several lines.
pub(super) fn joined() -> Fault {
    let detail = "an insight is one line; its lines were joined with blanks";
    Fault::new(FaultKind::MultiLineInsight, detail)
}

/// Returns the text after a leading `because`, in any case; `None` if the item does not start with it.
pub(super) fn after_because(text: &str) -> Option<&str> {
    const WORD: &str = "because";
    let begins = text.get(..WORD.len())?.eq_ignore_ascii_case(WORD);
    let after = &text[WORD.len()..];
    let ends = after.is_empty() || after.starts_with(|c: char| c == ':' || c.is_whitespace());
    (begins && ends).then_some(after)
}

/// Whether a line without a bullet is an addition: it has its reason and its content. One that is not below its list has no
/// capital, as a sentence has.
pub(super) fn is_unmarked_addition(line: &str, is_below: bool) -> bool {
    let line = line.trim_start_matches('-');
    let (reason, content) = split(line);
    (is_below || line.starts_with("because")) && !reason.is_empty() && !content.is_empty()
}

/// Whether a line without a bullet names records and nothing else, and says why.
pub(super) fn is_unmarked_archiving(line: &str) -> bool {
    let (ids, reason) = split_archive(line);
    let is_id = |name: &str| record_id(name, None).is_ok();
    !reason.is_empty() && split_ground(ids).is_ok_and(|(ids, _)| names(ids).into_iter().all(is_id))
}

/// Splits the text of an addition into its reason and its content, without the blanks around them; what is missing is
/// empty. The reason ends at the first colon followed by a blank or the end, or else at the first colon, so that
/// `because std::fs blocks: use tokio` has the reason `std::fs blocks`.
pub(super) fn split(text: &str) -> (&str, &str) {
    let after = after_because(text).unwrap_or_default();
    match reason_end(after, char::is_whitespace) {
        Some(at) => (after[..at].trim(), after[at + 1..].trim()),
        None => (after.trim(), ""),
    }
}

/// Parses a learning from the folded text of its item.
pub(super) fn learning(text: &str) -> Result<AddedRecord, Fault> {
    let (reason, content) = split(text);
    addition(reason, None, content.to_owned())
}

/// The record of an addition: a learning, or with a label a snippet.
pub(super) fn addition(reason: &str, label: Option<&str>, content: String) -> Result<AddedRecord, Fault> {
    if reason.is_empty() {
        let detail = "an addition needs its reason, why it is worth keeping; in text it begins with `because`, \
                      the reason and a colon: `- because <reason>: <content>`";
        return Err(Fault::new(FaultKind::MissingReason, detail));
    }
    if content.trim().is_empty() {
        let detail = "it has no content: write what is to be kept, in text after the reason and its colon";
        return Err(Fault::new(FaultKind::EmptyContent, detail));
    }
    let is_template = match label {
        Some("") => {
            let detail = "a snippet needs its label, what it is, such as a file path or a config key; in text `=>` \
                          follows it: `- because <reason>: <label> => <snippet>`";
            return Err(Fault::new(FaultKind::MissingLabel, detail));
        }
        Some(label) => is_placeholder(label) || is_template_snippet(&content),
        None => is_placeholder(&content),
    };
    if is_template || is_placeholder(reason) {
        return Err(placeholder());
    }
    Ok(AddedRecord {
        reason: reason.to_owned(),
        label: label.map(str::to_owned),
        content,
        ..AddedRecord::default()
    })
}

/// The fault for a template placeholder that was returned unchanged.
pub(super) fn placeholder() -> Fault {
    let detail = "a placeholder in angle brackets was copied: write real content in its place";
    Fault::new(FaultKind::Placeholder, detail)
}

/// What was read of an item about records: an operation or a fault for each of its ids, or the fault of the item.
pub(super) type OfRecords = Vec<Result<Operation, Fault>>;

/// Parses the archivings of one item: one per id.
pub(super) fn archive(text: &str, kind: RecordKind) -> OfRecords {
    let (ids, reason) = split_archive(text);
    let (ids, ground) = match split_ground(ids) {
        Ok(split) => split,
        Err(wrong) => return vec![Err(wrong)],
    };
    let operation = |id| {
        Ok(Operation::Archive {
            id,
            reason: reason.to_owned(),
            ground,
        })
    };
    of_records(ids, reason, (kind, ground.is_some()), operation)
}

/// Parses a change of marks: `KL-3 pinned, until 2027-08-31 because <reason>`.
pub(super) fn mark(text: &str, kind: RecordKind) -> OfRecords {
    let (ids, reason) = split_archive(text);
    let (name, marks) = ids.split_once(char::is_whitespace).unwrap_or((ids, ""));
    let marks = || marks.split(',').map(str::trim);
    let operation = |id| {
        let (pinned, until) = changed_marks(marks()).ok_or_else(no_mark)?;
        Ok(Operation::Mark {
            id,
            reason: reason.to_owned(),
            pinned,
            until,
        })
    };
    of_records(name, reason, (kind, false), operation)
}

/// The operation on each of the named records, or its fault. What has a ground may be of any kind, decisions too: it is
/// checked by its ground.
fn of_records(
    ids: &str,
    reason: &str,
    (kind, has_ground): (RecordKind, bool),
    operation: impl Fn(RecordId) -> Result<Operation, Fault>,
) -> OfRecords {
    let mut names = names(ids);
    // Prose, such as `all but KL-1, KL-2` or `KL-1 and KL-2 stay`, may not mean the ids beside it.
    let is_prose = |name: &&&str| name.contains(char::is_whitespace) && record_id(name, None).is_err();
    if let Some(prose) = names.iter().find(is_prose) {
        names = vec![prose];
    }
    if names.is_empty() || reason.is_empty() {
        // One fault of the item.
        names = vec![ids.split_whitespace().next().unwrap_or_default()];
    }
    let too_many = match names.len() {
        ..=1 => None,
        count if count > MAX_IDS => Some(FaultKind::MalformedId),
        _ => (reason.len() > MAX_SHARED_REASON).then_some(FaultKind::TooLarge),
    };
    if let Some(wrong) = too_many {
        let detail = format!(
            "one item names at most {MAX_IDS} records, and several with a reason of at most {MAX_SHARED_REASON} bytes"
        );
        return vec![Err(Fault::new(wrong, detail))];
    }
    let of_section = |id: RecordId| match id.kind == kind || has_ground {
        true => operation(id),
        false => Err(wrong_section(id, kind)),
    };
    let outcomes = names
        .into_iter()
        .map(|name| on_record(name, reason, Some(kind), of_section));
    outcomes.collect()
}

fn wrong_section(id: RecordId, kind: RecordKind) -> Fault {
    let prefix = kind.prefix();
    let detail = format!("{id} is not an id of this section, whose ids begin with {prefix}-");
    Fault::new(FaultKind::WrongSectionId, detail)
}

/// The fault of an operation in the section of a role, by its model, that takes out a record of another role's section.
pub(super) fn foreign(own: Role, operation: &Operation) -> Option<Fault> {
    let id = operation.leaving().next()?;
    let is_foreign = operation.role().is_some_and(|role| role != own);
    is_foreign.then_some(wrong_section(id, own.record_kind()?).of(Some(id)))
}

/// The operation on a record, by its id as it is written. `kind` is that of the section it is in, if it is in one.
pub(super) fn on_record(
    name: &str,
    reason: &str,
    kind: Option<RecordKind>,
    operation: impl Fn(RecordId) -> Result<Operation, Fault>,
) -> Result<Operation, Fault> {
    let id = record_id(name, kind);
    // `KL-3 because no change` asks for none.
    if reason.is_empty() || is_no_change(reason) {
        let prefix = kind.unwrap_or(RecordKind::Learning).prefix();
        let detail = format!(
            "archiving or marking a record needs its reason; in text `because` precedes it: `- {prefix}-3 because <reason>`"
        );
        return Err(Fault::new(FaultKind::MissingReason, detail).of(id.ok()));
    }
    let id = id?;
    let operation = operation(id).map_err(|wrong| wrong.of(id))?;
    match is_placeholder(reason) {
        true => Err(placeholder().of(id)),
        false => Ok(operation),
    }
}

/// The ids of an item, as they are written.
fn names(ids: &str) -> Vec<&str> {
    ids.split([',', ';', '&'])
        .flat_map(|part| part.split(" and "))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect()
}

/// Splits the ground off the ids of an archiving: `duplicate of KL-3`, `superseded by KL-3` or `expired`.
fn split_ground(ids: &str) -> Result<(&str, Option<Ground>), Fault> {
    type Phrase = (&'static str, fn(RecordId) -> Ground);
    const OF: [Phrase; 2] = [
        (" duplicate of ", Ground::DuplicateOf),
        (" superseded by ", Ground::SupersededBy),
    ];
    let lower = ids.to_ascii_lowercase();
    let mut phrases = OF.into_iter();
    let found = phrases.find_map(|(phrase, ground)| Some((lower.find(phrase)?, phrase.len(), ground)));
    let (at, ground) = match (found, lower.strip_suffix(" expired")) {
        (Some((at, length, ground)), _) => (at, ground(record_id(&ids[at + length..], None)?)),
        (None, Some(before)) => (before.len(), Ground::Expired),
        (None, None) => return Ok((ids, None)),
    };
    let before = ids[..at].trim_end();
    let bare = [" is a", " is", " was", " has been", " has", " as a", " as", ":"]
        .iter()
        .find_map(|word| before.strip_suffix(word));
    Ok((bare.unwrap_or(before), Some(ground)))
}

/// Parses a merge: `KL-3, KL-8 because <reason>: <the text that says all that they say>`.
pub(super) fn merge(text: &str) -> Result<AddedRecord, Fault> {
    let (ids, _) = split_archive(text);
    let because = text[ids.len()..].trim_start_matches(|c: char| c == ':' || c.is_whitespace());
    let (reason, content) = split(because);
    merged(&names(ids), reason, content)
}

/// The learning that others are merged into.
pub(super) fn merged(ids: &[&str], reason: &str, content: &str) -> Result<AddedRecord, Fault> {
    let added = match addition(reason, None, content.to_owned()) {
        Err(wrong) if wrong.kind < FaultKind::MalformedId => return Err(wrong),
        // A placeholder is reported after the ids.
        added => added,
    };
    if ids.len() < 2 {
        let detail = "a merge names at least two learnings: `- KL-3, KL-8 because <reason>: <text>`";
        return Err(Fault::new(FaultKind::MalformedId, detail));
    }
    let added = added?;
    let ids = ids.iter().map(|name| record_id(name, None));
    let merges: Vec<RecordId> = ids.collect::<Result<_, _>>()?;
    if let Some(id) = merges.iter().find(|id| id.kind != RecordKind::Learning) {
        let detail = format!("{id} is no learning: only learnings are merged");
        return Err(Fault::new(FaultKind::WrongSectionId, detail));
    }
    Ok(AddedRecord { merges, ..added })
}

/// The fault of a change of marks that names none, or one that cannot be read.
pub(super) fn no_mark() -> Fault {
    let detail = "marks are `pinned` or `unpinned`, and `until` with a date (2027-08-31), a time \
                  (2027-08-31T12:00:00Z) or `never`";
    Fault::new(FaultKind::MalformedMark, detail)
}

/// Splits a text at the first word `because` into ids and reason; without it the whole text is the first
/// part.
fn split_archive(text: &str) -> (&str, &str) {
    const WORD: &str = "because";
    let bytes = text.as_bytes();
    let at = (0..bytes.len().saturating_sub(WORD.len() - 1)).find(|at| {
        let end = at + WORD.len();
        bytes[*at..end].eq_ignore_ascii_case(WORD.as_bytes())
            && (*at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
            && bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric())
    });
    let Some(at) = at else { return (text, "") };
    let (ids, reason) = (text[..at].trim(), text[at + WORD.len()..].trim());
    (
        ids.trim_end_matches(':').trim_end(),
        reason.trim_start_matches(':').trim_start(),
    )
}

/// Reads an id in any of the spellings of models, without the decoration that they put around it.
pub(super) fn record_id(name: &str, kind: Option<RecordKind>) -> Result<RecordId, Fault> {
    let is_decoration = |c: char| c.is_whitespace() || "[]()*`_:".contains(c);
    let bare = name.trim_matches(is_decoration);
    let (prefix, number) = bare.split_once(['-', '\u{2011}']).unwrap_or_default();
    let prefix = prefix.to_ascii_uppercase();
    if prefix.parse::<RecordKind>().is_ok() && is_placeholder(number) {
        return Err(placeholder());
    }
    format!("{prefix}-{number}").parse().map_err(|_| {
        let form = kind.map_or_else(|| "KL- or VC-".to_owned(), |kind| format!("{}-", kind.prefix()));
        let detail = format!(
            "`{}` is not an id: write {form} and a number from 1 to {} without leading zeros",
            one_line(start_of(bare, EXCERPT_CHARS)),
            i64::MAX
        );
        Fault::new(FaultKind::MalformedId, detail)
    })
}

/// Whether the text of a bullet begins as an item of records does: it says why, or begins with an id.
pub(super) fn begins_as_item(text: &str) -> bool {
    after_because(text).is_some() || begins_with_id(text)
}

/// Whether a text begins with something that looks like an id, as an archiving does.
pub(crate) fn begins_with_id(text: &str) -> bool {
    let bare = text.trim_start_matches(['[', '(', '*', '`', '_']);
    let Some((prefix, rest)) = bare.split_once('-') else {
        return false;
    };
    RecordKind::ALL
        .iter()
        .any(|kind| kind.prefix().eq_ignore_ascii_case(prefix))
        && rest.starts_with(|c: char| c.is_ascii_digit() || c == '<')
}
