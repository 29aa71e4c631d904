//! The built-in rules, for roles without a model: one pure function from the memory, the task and the messages to
//! operations.
//!
//! They hear what is said expressly, by the phrases of one table (`rules/markers.txt`), and nothing else:
//!
//! | said | becomes |
//! |---|---|
//! | a request to remember, a rule, a decision of the user; a finding that is called one | a learning |
//! | a record named by its id or quoted, and called wrong or outdated | its archiving |
//! | work that is reported as finished, in progress or left, in sentences, lists or check boxes | progress |
//! | a fenced or quoted text that the user asks to keep exactly | a snippet |
//!
//! Guesses, wishes, conditions, questions, jokes, what others say, what is withdrawn or denied, code, quotations
//! and messages of tools are not heard. Text is copied, never rephrased. When in doubt nothing is stored.
//! docs/quality.md describes them.

mod markers;
mod progress;
mod session;
mod snippets;

use super::ConversationMessage;
use crate::domain::document::{Record, records};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Operation};
use crate::domain::text::words::is_single_char_word;
use crate::domain::text::{bare_words, has_secret};
use markers::{Kind, Mark, markers};
use session::{Session, Speaker, Statement, quotations};
use std::collections::BTreeSet;
use std::ops::Range;

/// The longest sentence that is kept, in bytes.
const LEARNING_BYTES: usize = 600;
/// The fewest words of a text that is kept; in Japanese, which writes no blanks, the fewest characters.
const LEAST_WORDS: usize = 2;
const LEAST_CHARACTERS: usize = 5;
/// Of a sentence that calls a record wrong, so many quotations are looked for in the memory.
const MAX_QUOTATIONS: usize = 3;
/// Parts of the markers of a cause. Only the last cause that a session names stands.
const CAUSES: [&str; 7] = [
    "cause",
    "culprit",
    "ursache",
    "auslöser",
    "coupable",
    "causa",
    "原因",
];

/// What the session says expressly, as operations on a memory. Deterministic, linear in the input.
#[must_use]
pub fn operations(memory: &str, task: &str, messages: &[ConversationMessage]) -> Vec<Operation> {
    let session = Session::read(task, messages);
    let active: Vec<Active> = records(memory).into_iter().map(Active::of).collect();
    let mut operations: Vec<Operation> = progress::rewritten(memory, task, messages.is_empty(), &session)
        .map(Operation::RewriteProgress)
        .into_iter()
        .collect();
    let corrections = corrections(&session, &active);
    operations.extend(learnings(&session, &active, &corrections));
    operations.extend(snippets::kept(&session, &active));
    operations.extend(corrections.into_iter().map(|correction| Operation::Archive {
        id: correction.id,
        reason: correction.reason,
        ground: None,
    }));
    operations
}

/// A record of the memory, and its bare words, which quotations are looked for in.
struct Active {
    record: Record,
    content: String,
    label: String,
}

impl Active {
    fn of(record: Record) -> Self {
        Self {
            content: format!(" {} ", bare_words(&record.content)),
            label: record.label.as_deref().map(bare_words).unwrap_or_default(),
            record,
        }
    }
}

/// A record that is called wrong, and what is said to hold instead.
struct Correction {
    id: RecordId,
    reason: String,
    instead: Option<String>,
}

fn learnings(session: &Session<'_>, active: &[Active], corrections: &[Correction]) -> Vec<Operation> {
    let last_cause = session.statements.iter().rev().find_map(|statement| {
        let mark = heard(statement, Kind::Cause)?;
        names_a_cause(statement, &mark).then_some(statement.message)
    });
    let mut known: BTreeSet<String> = active
        .iter()
        .map(|active| active.content.trim().to_owned())
        .collect();
    let mut added = Vec::new();
    let mut add = |content: String, reason: String, replaces: Option<RecordId>| {
        if content.len() <= LEARNING_BYTES && !has_secret(&content) && known.insert(bare_words(&content)) {
            added.push(Operation::Add(AddedRecord {
                reason,
                content,
                replaces,
                ..AddedRecord::default()
            }));
        }
    };
    for correction in corrections {
        if let Some(instead) = correction.instead.clone() {
            let replaces = Some(correction.id).filter(|id| id.kind == RecordKind::Learning);
            add(instead, correction.reason.clone(), replaces);
        }
    }
    for statement in &session.statements {
        if heard(statement, Kind::Obsolete).is_some() && names_a_record(statement, active) {
            continue;
        }
        let kinds = [
            (Kind::Keep, "keep"),
            (Kind::Rule, "rule"),
            (Kind::Decision, "decision"),
            (Kind::Cause, "cause"),
        ];
        for (kind, name) in kinds {
            let Some(mark) = heard(statement, kind) else {
                continue;
            };
            let is_old = kind == Kind::Cause
                && names_a_cause(statement, &mark)
                && Some(statement.message) != last_cause;
            if let Some(content) = content(statement, &mark).filter(|_| !is_old) {
                add(content, markers().reason(name, mark.language), None);
                break;
            }
        }
    }
    added
}

fn names_a_cause(statement: &Statement<'_>, mark: &Mark) -> bool {
    let said = &statement.folded[mark.start..mark.end];
    CAUSES.iter().any(|cause| said.contains(cause))
}

/// The marker by which a statement says something of this kind, unless another part of it speaks against that.
fn heard(statement: &Statement<'_>, kind: Kind) -> Option<Mark> {
    if let Some((listed, language)) = statement.listed
        && listed == kind
    {
        // At the beginning of an item "wrote" has no subject: it is what the speaker did.
        let doubts = |mark: &Mark| mark.kind == Kind::Doubt || mark.kind == Kind::Hearsay && mark.start > 0;
        let of_user = matches!(kind, Kind::Keep | Kind::Rule | Kind::Decision | Kind::Exact);
        let by_another = of_user && statement.speaker == Speaker::Assistant;
        let is_doubted = statement.asks || statement.marks.iter().any(doubts);
        let is_meant = !(by_another || is_doubted);
        return is_meant.then_some(Mark {
            kind,
            language,
            start: 0,
            end: 0,
            kept_from: 0,
            is_label: true,
            opens: true,
        });
    }
    let mut marks = statement.marks.iter().filter(|mark| mark.kind == kind);
    marks.find(|mark| is_meant(statement, mark)).copied()
}

fn is_meant(statement: &Statement<'_>, mark: &Mark) -> bool {
    use Kind::{Condition, Decision, Denial, Done, Doubt, Hearsay, Not, Passing, Wanted};
    let user = statement.speaker == Speaker::User;
    let others = || {
        // A doubt or a denial may also be among the words that a `*` stands for, or reach out of the marker: "wir nehmen an".
        // Other markers have a "not" of their own.
        let is_against = |kind: Kind| kind == Doubt || kind == Not && matches!(mark.kind, Done | Decision);
        let is_apart = move |other: &&Mark| {
            let is_within = mark.start < other.start && other.end < mark.end;
            let reaches_out = other.start < mark.start || other.end > mark.end;
            let is_disjoint = other.end <= mark.start || other.start >= mark.end;
            is_disjoint || (is_against(other.kind) && (is_within || reaches_out))
        };
        statement.marks.iter().filter(is_apart)
    };
    let has = |kinds: &[Kind]| others().any(|other| kinds.contains(&other.kind));
    // Before the marker, in it, or directly after it.
    let near = |kind: Kind| {
        let after =
            mark.end + (statement.folded[mark.end..].len() - statement.folded[mark.end..].trim_start().len());
        others().any(|other| other.kind == kind && (other.start < mark.end || other.start == after))
    };
    if statement.asks {
        return false;
    }
    let is_to_do = matches!(statement.listed, Some((Kind::Doing | Kind::Next, _)));
    match mark.kind {
        Kind::Keep => user && !has(&[Doubt]) && !near(Not),
        Kind::Rule => user && !has(&[Doubt, Hearsay, Passing]) && !near_negation_of_rule(statement, mark),
        Kind::Decision => user && !has(&[Doubt, Hearsay, Passing, Condition]) && !near(Not),
        Kind::Cause => !has(&[Doubt, Hearsay]) && !near(Not),
        // "Done: the lexer is not done."
        Kind::Done if mark.is_label && has(&[Denial]) => false,
        Kind::Done => !has(&[Doubt, Hearsay]) && ![Not, Condition, Wanted].into_iter().any(near),
        Kind::Doing | Kind::Next => !has(&[Doubt, Hearsay]) && !near(Condition),
        Kind::Obsolete => !is_to_do && !has(&[Doubt, Hearsay, Condition, Not]),
        Kind::Exact => user && !has(&[Doubt, Not]),
        _ => false,
    }
}

/// "It is not that we always …", "there is no rule that …".
fn near_negation_of_rule(statement: &Statement<'_>, mark: &Mark) -> bool {
    let mut marks = statement.marks.iter();
    marks.any(|other| other.kind == Kind::Not && other.end <= mark.start)
}

/// The text that is kept of a statement: what its marker introduces, otherwise all of it. A sentence that only points
/// to the one before it ("it closes at six") is kept together with that, or not at all.
fn content(statement: &Statement<'_>, mark: &Mark) -> Option<String> {
    let ends_with_marker = statement.folded[mark.start..].starts_with(',');
    let text = match ends_with_marker {
        true => &statement.text[..mark.start],
        false => &statement.text[mark.kept_from..],
    };
    let from = statement.text.len() - text.len();
    let folded = if ends_with_marker {
        &statement.folded[..mark.start]
    } else {
        &statement.folded[from..]
    };
    let said = tidy(&text[markers().interjections(folded)..])?;
    if markers().begins_with_pronoun(folded, text) {
        let before = statement.before.filter(|_| mark.kept_from == 0)?;
        let says_something =
            before.split_whitespace().count() > LEAST_WORDS || before.chars().any(is_single_char_word);
        return says_something.then(|| format!("{} {said}", before.trim()));
    }
    // "Please remember this" alone says nothing.
    if mark.kind == Kind::Keep
        && !mark.is_label
        && said.len() <= mark.end - mark.start + LEAST_CHARACTERS
        && mark.kept_from == 0
    {
        return None;
    }
    Some(said)
}

/// A text on one line that begins with a capital letter and ends without a full stop; `None` if it says too little.
fn tidy(text: &str) -> Option<String> {
    tidy_of(text, LEAST_WORDS)
}

/// The same of a text that says enough with so many words.
fn tidy_of(text: &str, least: usize) -> Option<String> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "*_,:：–—".contains(c));
    let text = text.trim_end_matches(['.', '。', ';']).trim();
    let words = text.split_whitespace().count();
    let is_japanese = text.chars().any(is_single_char_word);
    let is_enough = match is_japanese {
        true => text.chars().count() >= LEAST_CHARACTERS,
        false => words >= least && text.chars().any(char::is_alphanumeric),
    };
    let mut chars = text.chars();
    let first = chars
        .next()
        .filter(|_| is_enough && !markers().is_nothing(&bare_words(text)))?;
    let starts_with_name = text
        .split_whitespace()
        .next()
        .is_some_and(|word| word.contains(|c: char| !c.is_alphabetic() || c.is_uppercase()));
    Some(match starts_with_name {
        true => text.to_owned(),
        false => first.to_uppercase().chain(chars).collect(),
    })
}

fn names_a_record(statement: &Statement<'_>, active: &[Active]) -> bool {
    !ids_in(&statement.folded).is_empty() || !quoted_records(statement.text, active).is_empty()
}

/// The active records that the statements call wrong.
fn corrections(session: &Session<'_>, active: &[Active]) -> Vec<Correction> {
    let known: BTreeSet<RecordId> = active.iter().map(|active| active.record.id).collect();
    let (mut done, mut corrections) = (BTreeSet::new(), Vec::new());
    for statement in &session.statements {
        let mark = heard(statement, Kind::Obsolete);
        let called = mark.and_then(|mark| Some((called_wrong(statement, &mark)?, mark)));
        let Some(((named, rest), mark)) = called else {
            continue;
        };
        let mut ids = ids_in(&statement.folded[named.clone()]);
        ids.extend(quoted_records(&statement.text[named], active));
        ids.retain(|id| known.contains(id) && done.insert(*id));
        // It holds once, also if it replaces several records.
        let mut instead = rest.and_then(|kept_from| content(statement, &Mark { kept_from, ..mark }));
        corrections.extend(ids.into_iter().map(|id| Correction {
            id,
            reason: markers().reason("obsolete", mark.language),
            instead: instead.take(),
        }));
    }
    corrections
}

/// Where a sentence names what it calls wrong, and where the colon stands behind which it says what holds instead. `None` if it
/// says anything else: "all but KL-3 is wrong", "the test of KL-3 is wrong", "KL-3 is wrong for guests", "I was wrong: KL-3 holds".
fn called_wrong(statement: &Statement<'_>, mark: &Mark) -> Option<(Range<usize>, Option<usize>)> {
    let folded = statement.folded.as_str();
    // "Please note that KL-3 is wrong."
    let introduces = |other: &&Mark| {
        let opens_sentence = markers().filler(folded) >= other.start && other.kept_from <= mark.start;
        opens_sentence && matches!(other.kind, Kind::Keep | Kind::Decision)
    };
    let introduced = statement.marks.iter().filter(introduces);
    let from = introduced.map(|other| other.kept_from).max().unwrap_or(0);
    let from = from + markers().filler(&folded[from..mark.start]);
    let mut end = mark.end + markers().naming(&folded[mark.end..]);
    let mut named = from..mark.start;
    if named.is_empty() {
        // "Delete KL-3", "no longer true: KL-3".
        if !names(&folded[mark.end..end]) {
            end = folded.len() - folded[end..].trim_start_matches([':', '：']).len();
            end += markers().naming(&folded[end..]);
        }
        named = mark.end..end;
    } else if markers().naming(&folded[named.clone()]) < named.len() || names(&folded[mark.end..end]) {
        return None;
    }
    let rest = &folded[end..];
    let after_stop = rest.trim_start_matches(['.', '!', ';', '。', '！']);
    let stops = after_stop.len() < rest.len() && !after_stop.starts_with(char::is_alphanumeric);
    let instead = rest.starts_with([':', '：', '–', '—', '-']).then_some(end);
    let is_whole = rest.is_empty() || stops || instead.is_some() || markers().gives_reason(rest);
    is_whole.then_some((named, instead))
}

/// Whether a folded text has an id or a quotation.
fn names(folded: &str) -> bool {
    folded.contains('\u{1a}') || !ids_in(folded).is_empty()
}

/// The ids of learnings and snippets in a folded text.
fn ids_in(folded: &str) -> BTreeSet<RecordId> {
    let words = folded.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let ids = words.filter_map(|word| word.to_ascii_uppercase().parse::<RecordId>().ok());
    ids.filter(|id| matches!(id.kind, RecordKind::Learning | RecordKind::Verbatim))
        .collect()
}

/// The record that a quotation is part of, if there is only one.
fn quoted_records(text: &str, active: &[Active]) -> Vec<RecordId> {
    let mut ids = Vec::new();
    for quoted in quotations(text).into_iter().take(MAX_QUOTATIONS).map(bare_words) {
        if quoted.split(' ').count() < LEAST_WORDS && !quoted.chars().any(is_single_char_word) {
            continue;
        }
        let whole_words = format!(" {quoted} ");
        let holds = |active: &&Active| active.content.contains(&whole_words) || active.label == quoted;
        let mut holding = active.iter().filter(holds);
        if let (Some(active), None) = (holding.next(), holding.next()) {
            ids.push(active.record.id);
        }
    }
    ids
}

#[cfg(test)]
mod tests;
