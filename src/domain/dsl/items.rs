//! Parses the text of one item: `because <reason>: <content>` and `<ID> because <reason>`.

use super::bullets::is_placeholder;
use crate::domain::consolidation::Ground;
use crate::domain::document::{Expiry, Marks};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{FaultKind, Operation};

/// Maximum number of ids in one `ARCHIVE` item: each gets a copy of the reason.
const MAX_IDS: usize = 100;

/// Maximum length in bytes of a reason shared by several ids of an item: each gets a copy.
const MAX_SHARED_REASON: usize = 1_000;

/// A kind of fault and its message.
pub(super) type ItemFault = (FaultKind, String);

/// The parts of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Addition<'t> {
    pub(super) reason: &'t str,
    /// The content without surrounding blanks.
    pub(super) content: &'t str,
}

/// Returns the text after a leading `because`, in any case; `None` if the item does not start with it.
pub(super) fn after_because(text: &str) -> Option<&str> {
    const WORD: &str = "because";
    let begins = text.get(..WORD.len())?.eq_ignore_ascii_case(WORD);
    let after = &text[WORD.len()..];
    let ends = after.is_empty() || after.starts_with(|c: char| c == ':' || c.is_whitespace());
    (begins && ends).then_some(after)
}

/// Splits an addition. The reason ends at the first colon followed by a blank or the end, or else at the
/// first colon, so that `because std::fs blocks: use tokio` has the reason `std::fs blocks`.
pub(super) fn addition(text: &str) -> Result<Addition<'_>, ItemFault> {
    let missing = || {
        (
            FaultKind::MissingReason,
            "an item to add begins with `because`, a reason and a colon: `- because <reason>: <content>`"
                .to_owned(),
        )
    };
    let after = after_because(text).ok_or_else(missing)?;
    let (reason, content) = match reason_end(after) {
        Some(at) => (&after[..at], &after[at + 1..]),
        None => (after, ""),
    };
    let (reason, content) = (reason.trim(), content.trim());
    if reason.is_empty() {
        return Err(missing());
    }
    if content.is_empty() {
        return Err((
            FaultKind::EmptyContent,
            "nothing follows the reason and its colon: write what is to be kept".to_owned(),
        ));
    }
    Ok(Addition { reason, content })
}

/// Byte offset of the colon that ends the reason.
pub(super) fn reason_end(text: &str) -> Option<usize> {
    let mut first = None;
    for (at, _) in text.match_indices(':') {
        let after = text[at + 1..].chars().next();
        if after.is_none_or(char::is_whitespace) {
            return Some(at);
        }
        first = first.or(Some(at));
    }
    first
}

/// Parses a learning from the folded text of its item.
pub(super) fn learning(text: &str) -> Result<Operation, ItemFault> {
    let Addition { reason, content } = addition(text)?;
    if is_placeholder(reason) || is_placeholder(content) {
        return Err(placeholder());
    }
    Ok(Operation::AddLearning {
        reason: reason.to_owned(),
        content: content.to_owned(),
        replaces: None,
        merges: Vec::new(),
        marks: Marks::default(),
    })
}

/// The fault for a template placeholder that was returned unchanged.
pub(super) fn placeholder() -> ItemFault {
    (
        FaultKind::Placeholder,
        "a placeholder in angle brackets was copied: write real content in its place".to_owned(),
    )
}

/// One id of an `ARCHIVE` item and its operation or fault.
pub(super) struct ParsedArchiving {
    pub(super) id: Option<RecordId>,
    pub(super) outcome: Result<Operation, ItemFault>,
}

/// Parses the archivings of one item: one per id.
pub(super) fn archive(text: &str, kind: RecordKind) -> Vec<ParsedArchiving> {
    let form = format!("`- {}-3 because <reason>`", kind.prefix());
    let failed = |id: Option<RecordId>, wrong: FaultKind, detail: String| {
        vec![ParsedArchiving {
            id,
            outcome: Err((wrong, detail)),
        }]
    };
    let (ids, reason) = split_archive(text);
    let (ids, ground) = match split_ground(ids) {
        Ok(split) => split,
        Err(wrong) => {
            return vec![ParsedArchiving {
                id: None,
                outcome: Err(wrong),
            }];
        }
    };
    if reason.is_empty() {
        let id = ids.split_whitespace().next().and_then(|name| read_id(bare(name)));
        return failed(
            id,
            FaultKind::MissingReason,
            format!("an archiving needs its reason: {form}"),
        );
    }
    let named = names(ids);
    if named.is_empty() {
        return failed(
            None,
            FaultKind::MalformedId,
            format!("an archiving begins with an id: {form}"),
        );
    }
    if named.len() > MAX_IDS {
        let detail = format!("one item archives at most {MAX_IDS} records: {form}");
        return failed(None, FaultKind::MalformedId, detail);
    }
    if named.len() > 1 && reason.len() > MAX_SHARED_REASON {
        let detail = format!(
            "a reason for several records has at most {MAX_SHARED_REASON} bytes; archive each with its own: {form}"
        );
        return failed(None, FaultKind::TooLarge, detail);
    }
    named
        .into_iter()
        .map(|name| archive_one(name, reason, (kind, ground)))
        .collect()
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
fn split_ground(ids: &str) -> Result<(&str, Option<Ground>), ItemFault> {
    let lower = ids.to_ascii_lowercase();
    let kept_after = |phrase: &str| {
        let at = lower.find(phrase)?;
        Some((&ids[..at], ids[at + phrase.len()..].trim()))
    };
    let (before, ground) = if let Some((before, name)) = kept_after(" duplicate of ") {
        (before, Ground::DuplicateOf(kept(name)?))
    } else if let Some((before, name)) = kept_after(" superseded by ") {
        (before, Ground::SupersededBy(kept(name)?))
    } else if let Some(before) = lower.strip_suffix(" expired") {
        (&ids[..before.len()], Ground::Expired)
    } else {
        return Ok((ids, None));
    };
    let before = before.trim_end();
    let bare = [" is a", " is", " as a", " as", ":"]
        .iter()
        .find_map(|word| before.strip_suffix(word));
    Ok((bare.unwrap_or(before), Some(ground)))
}

/// The id of the record that stays in the place of an archived one.
pub(super) fn kept(name: &str) -> Result<RecordId, ItemFault> {
    let bare = bare(name);
    read_id(bare).ok_or_else(|| malformed(bare, None))
}

/// Parses a merge: `KL-3, KL-8 because <reason>: <the text that says all that they say>`.
pub(super) fn merge(text: &str) -> Result<Operation, ItemFault> {
    let (ids, _) = split_archive(text);
    let Addition { reason, content } = addition(text[ids.len()..].trim_start_matches([':', ' ']))?;
    let ids: Vec<&str> = names(ids);
    merged(&ids, reason, content)
}

/// A merge of the records of these names.
pub(super) fn merged(ids: &[&str], reason: &str, content: &str) -> Result<Operation, ItemFault> {
    if !(2..=MAX_IDS).contains(&ids.len()) {
        let detail =
            "a merge names at least two learnings: `- KL-3, KL-8 because <reason>: <text>`".to_owned();
        return Err((FaultKind::MalformedId, detail));
    }
    if is_placeholder(reason) || is_placeholder(content) {
        return Err(placeholder());
    }
    let merges = ids.iter().map(|name| kept(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(id) = merges.iter().find(|id| id.kind != RecordKind::Learning) {
        let detail = format!("{id} is no learning: only learnings are merged");
        return Err((FaultKind::WrongSectionId, detail));
    }
    Ok(Operation::AddLearning {
        reason: reason.to_owned(),
        content: content.to_owned(),
        replaces: None,
        merges,
        marks: Marks::default(),
    })
}

/// The fault of a change of marks that names none, or one that cannot be read.
pub(super) fn no_mark() -> ItemFault {
    (
        FaultKind::MalformedMark,
        "marks are `pinned` or `unpinned`, and `until` with a date (2027-08-31), a time (2027-08-31T12:00:00Z) or `never`"
            .to_owned(),
    )
}

/// Parses a change of marks: `KL-3 pinned, until 2027-08-31 because <reason>`.
pub(super) fn mark(text: &str, kind: RecordKind) -> Vec<ParsedArchiving> {
    let (named, reason) = split_archive(text);
    let (name, marks) = named.split_once(char::is_whitespace).unwrap_or((named, ""));
    // The id is read as that of an archiving.
    let form = format!("{name} because {reason}");
    let mut read = archive(&form, kind);
    for parsed in &mut read {
        if let Ok(Operation::Archive { id, reason, .. }) = &parsed.outcome {
            parsed.outcome = changed_marks(*id, reason, marks).ok_or_else(no_mark);
        }
    }
    read
}

fn changed_marks(id: RecordId, reason: &str, marks: &str) -> Option<Operation> {
    let (mut pinned, mut until) = (None, None);
    for mark in marks.split(',').map(str::trim) {
        match mark {
            "pinned" if pinned.is_none() => pinned = Some(true),
            "unpinned" if pinned.is_none() => pinned = Some(false),
            _ if until.is_none() => {
                until = Some(mark.strip_prefix("until ")?.trim().parse::<Expiry>().ok()?);
            }
            _ => return None,
        }
    }
    Some(Operation::Mark {
        id,
        reason: reason.to_owned(),
        pinned,
        until,
    })
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

/// Strips the decoration that models put around an id.
pub(super) fn bare(name: &str) -> &str {
    name.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '*' | '`' | '_' | ':')
    })
}

pub(super) fn read_id(bare: &str) -> Option<RecordId> {
    let (prefix, digits) = bare.split_once('-')?;
    let kind = prefix_kind(prefix)?;
    format!("{}-{digits}", kind.prefix()).parse().ok()
}

fn archive_one(name: &str, reason: &str, (kind, ground): (RecordKind, Option<Ground>)) -> ParsedArchiving {
    let bare = bare(name);
    let failed = |id: Option<RecordId>, wrong: ItemFault| ParsedArchiving {
        id,
        outcome: Err(wrong),
    };
    let is_template = |(prefix, rest)| prefix_kind(prefix).is_some() && is_placeholder(rest);
    if bare.split_once('-').is_some_and(is_template) {
        return failed(None, placeholder());
    }
    let Some(id) = read_id(bare) else {
        return failed(None, malformed(bare, Some(kind)));
    };
    // What has a ground is checked by it, so records of any kind may be named, decisions too.
    if id.kind != kind && ground.is_none() {
        let detail = format!(
            "{id} is not an id of this section, whose ids begin with {}-",
            kind.prefix()
        );
        return failed(Some(id), (FaultKind::WrongSectionId, detail));
    }
    if is_placeholder(reason) {
        return failed(Some(id), placeholder());
    }
    ParsedArchiving {
        id: Some(id),
        outcome: Ok(Operation::Archive {
            id,
            reason: reason.to_owned(),
            ground,
        }),
    }
}

/// The fault for a malformed id.
pub(super) fn malformed(id: &str, kind: Option<RecordKind>) -> ItemFault {
    let prefix = kind.map_or_else(|| "KL- or VC-".to_owned(), |kind| format!("{}-", kind.prefix()));
    let detail = format!(
        "`{}` is not an id: write {prefix} and a number of at least 1 without leading zeros",
        excerpt(id)
    );
    (FaultKind::MalformedId, detail)
}

/// The beginning of a text, for a message.
pub(super) fn excerpt(text: &str) -> &str {
    const CHARS: usize = 60;
    text.char_indices()
        .nth(CHARS)
        .map_or(text, |(end, _)| &text[..end])
}

fn prefix_kind(prefix: &str) -> Option<RecordKind> {
    prefix.to_ascii_uppercase().parse().ok()
}

/// Whether a text begins with something that looks like an id, as an archiving does.
pub(super) fn begins_with_id(text: &str) -> bool {
    let bare = text.trim_start_matches(['[', '(', '*', '`', '_']);
    let Some((prefix, rest)) = bare.split_once('-') else {
        return false;
    };
    RecordKind::ALL
        .iter()
        .any(|kind| kind.prefix().eq_ignore_ascii_case(prefix))
        && rest.starts_with(|c: char| c.is_ascii_digit() || c == '<')
}
