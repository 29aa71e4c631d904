//! Which items of a text a memory accepts: the rules of the fault table that need the memory.

use super::Limits;
use crate::domain::document::{Entry, RecordLines, entries_of, normalised_snippet};
use crate::domain::faults::{KEPT_FAULTS, Omitted, cut};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{Fault, FaultKind, Item, Operation};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// A memory as validation sees it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Its document.
    pub document: &'a str,
    /// Ids that existed once and are not active, at least all that the text names. An id that is active all
    /// the same counts as active.
    pub ended: &'a BTreeSet<RecordId>,
}

/// What is left of a text after validation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validated {
    /// The accepted items, in input order.
    pub items: Vec<Item>,
    /// The faults of the parser and those found here, in input order; one for an item, the first of the table. The
    /// first [`KEPT_FAULTS`].
    pub faults: Vec<Fault>,
    /// How many more are found here.
    pub omitted: Omitted,
}

/// Validates what the parser read against a memory. `earlier` are the operations accepted from an earlier text
/// of the same update: what they archive is archived, what they add is there and counts for the limit.
///
/// An addition that replaces a record archives it, unless an item of its own does; both stand or fall together then.
///
/// A `placeholder` in an `ARCHIVE` item whose id never existed becomes `unknown_id`, which is earlier in the
/// table; a warning about an item that is rejected goes. Linear in the document and the items.
#[must_use]
pub fn validate(
    items: Vec<Item>,
    faults: Vec<Fault>,
    view: &View<'_>,
    earlier: &[Operation],
    limits: &Limits,
) -> Validated {
    let mut archives = Archives::of(view, earlier, &items);
    let verdicts: Vec<_> = items.iter().map(|item| archives.judge(&item.operation)).collect();
    let added: HashSet<RecordKind> = items
        .iter()
        .filter_map(|item| Some(addition(&item.operation)?.0))
        .collect();
    let stays = |entry: &Entry| entry.id.is_none_or(|id| !archives.ended_now.contains(&id));
    let like = entries_of(view.document, |kind| added.contains(&kind)).filter(stays);
    let mut additions = Additions::of(like, earlier, limits);
    let mut accepted = Vec::with_capacity(items.len());
    let mut rejected = Vec::new();
    let mut omitted = Omitted::default();
    let mut told: BTreeMap<usize, usize> = BTreeMap::new();
    for (mut item, verdict) in items.into_iter().zip(verdicts) {
        // Where the archiving of the replaced record is rejected, the addition is one like any other.
        let replaces = item.operation.replaces();
        if verdict.is_none() && replaces.is_some_and(|id| !archives.ended_now.contains(&id)) {
            item.operation.replace_nothing();
        }
        match verdict.or_else(|| additions.judge(&item.operation)) {
            None => accepted.push(item),
            Some((kind, detail)) => {
                told.insert(item.range.start, item.range.end);
                if rejected.len() < KEPT_FAULTS {
                    rejected.push(fault_of(&item, kind, detail));
                } else {
                    omitted.count(kind, item.range.start);
                }
            }
        }
    }
    let mut faults: Vec<_> = faults
        .into_iter()
        .filter(|fault| !is_warning_within(&told, fault))
        .map(|fault| archives.without_placeholder(fault))
        .collect();
    faults.extend(rejected);
    faults.sort_by_key(|fault| fault.range.start);
    cut(&mut faults, &mut omitted);
    Validated {
        items: accepted,
        faults,
        omitted,
    }
}

/// Why an item is rejected, with the sentence that says so.
type Verdict = Option<(FaultKind, String)>;

/// Which records there are, and which are archived on the way.
struct Archives<'a> {
    active: HashSet<RecordId>,
    ended: &'a BTreeSet<RecordId>,
    /// Archived by an earlier text or an earlier item.
    ended_now: HashSet<RecordId>,
    /// What an item of this text, or an earlier text, archives by name, whether that is accepted or not.
    named: HashSet<RecordId>,
    /// What earlier additions replace.
    replaced: HashSet<RecordId>,
}

impl<'a> Archives<'a> {
    fn of(view: &View<'a>, earlier: &[Operation], items: &[Item]) -> Self {
        let archived = |operation: &Operation| match operation {
            Operation::Archive { id, .. } => Some(*id),
            _ => None,
        };
        let ended_now: HashSet<_> = earlier.iter().filter_map(archived).collect();
        let mut named = ended_now.clone();
        named.extend(items.iter().filter_map(|item| archived(&item.operation)));
        Self {
            active: RecordLines::of(view.document).all().map(|(id, _)| id).collect(),
            ended: view.ended,
            ended_now,
            named,
            replaced: earlier.iter().filter_map(Operation::replaces).collect(),
        }
    }

    fn existed(&self, id: RecordId) -> bool {
        self.active.contains(&id) || self.ended.contains(&id)
    }

    fn judge(&mut self, operation: &Operation) -> Verdict {
        if let Operation::Archive { id, .. } = operation {
            let detail = || format!("{id} was archived before; it needs no second ARCHIVE.");
            return self.judge_end(*id, detail);
        }
        let id = operation.replaces()?;
        let (kind, _, _) = addition(operation)?;
        if id.kind != kind {
            let detail = format!("{id} is of another section than what replaces it.");
            return Some((FaultKind::WrongSectionId, detail));
        }
        if !self.replaced.insert(id) {
            let detail = format!("{id} is replaced by an earlier item; one record takes its place.");
            return Some((FaultKind::AlreadyArchived, detail));
        }
        if self.named.contains(&id) {
            // The archiving is an item of its own: it says what is wrong about it, and the addition is good.
            return None;
        }
        let detail =
            || format!("{id} was archived before, so nothing can take its place; add without `replaces`.");
        self.judge_end(id, detail)
    }

    /// Whether a record can be archived; if so, it is.
    fn judge_end(&mut self, id: RecordId, again: impl FnOnce() -> String) -> Verdict {
        if !self.existed(id) {
            return Some((FaultKind::UnknownId, never_existed(id)));
        }
        if self.active.contains(&id) && self.ended_now.insert(id) {
            return None;
        }
        Some((FaultKind::AlreadyArchived, again()))
    }

    /// A placeholder that names a record that never existed is told as the latter.
    fn without_placeholder(&self, mut fault: Fault) -> Fault {
        if fault.kind == FaultKind::Placeholder
            && let Some(id) = fault.id.filter(|id| !self.existed(*id))
        {
            fault.kind = FaultKind::UnknownId;
            fault.detail = never_existed(id);
        }
        fault
    }
}

/// What two records are compared by: label and content, as far as they count.
type Likeness = (RecordKind, String, String);

/// Where something stands that is added again.
#[derive(Debug, Clone, Copy)]
enum Standing {
    Record(Option<RecordId>),
    EarlierItem,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(Some(id)) => id.fmt(f),
            Self::Record(None) => f.write_str("an entry without an id"),
            Self::EarlierItem => f.write_str("an earlier item"),
        }
    }
}

/// What there is already, and how many more may come.
struct Additions<'a> {
    limits: &'a Limits,
    /// What is compared, with where it stands.
    known: HashMap<Likeness, Standing>,
    /// Valid additions so far.
    counts: HashMap<RecordKind, usize>,
}

impl<'a> Additions<'a> {
    /// `like` are the records of the kinds that are added.
    fn of(like: impl Iterator<Item = Entry>, earlier: &[Operation], limits: &'a Limits) -> Self {
        let mut additions = Self {
            limits,
            known: HashMap::new(),
            counts: HashMap::new(),
        };
        for entry in like {
            let likeness = likeness(entry.kind, entry.label.as_deref(), &entry.content);
            let standing = Standing::Record(entry.id);
            additions.known.entry(likeness).or_insert(standing);
        }
        for (kind, label, content) in earlier.iter().filter_map(addition) {
            *additions.counts.entry(kind).or_default() += 1;
            additions
                .known
                .entry(likeness(kind, label, content))
                .or_insert(Standing::EarlierItem);
        }
        additions
    }

    fn judge(&mut self, operation: &Operation) -> Verdict {
        let (kind, label, content) = addition(operation)?;
        let likeness = likeness(kind, label, content);
        if let Some(standing) = self.known.get(&likeness) {
            return Some((FaultKind::Duplicate, format!("It says the same as {standing}.")));
        }
        self.known.insert(likeness, Standing::EarlierItem);
        let Limits {
            max_additions,
            item_bytes,
            ..
        } = *self.limits;
        let count = self.counts.entry(kind).or_default();
        if *count >= max_additions {
            let detail = format!("Only the first {max_additions} additions of a section are taken.");
            return Some((FaultKind::TooManyAdditions, detail));
        }
        if content.len() > item_bytes {
            let bytes = content.len();
            let detail = format!("It has {bytes} bytes, over limits.item_bytes = {item_bytes}.");
            return Some((FaultKind::TooLarge, detail));
        }
        *count += 1;
        None
    }
}

/// What an operation adds: kind, label, content.
fn addition(operation: &Operation) -> Option<(RecordKind, Option<&str>, &str)> {
    match operation {
        Operation::AddLearning { content, .. } => Some((RecordKind::Learning, None, content)),
        Operation::AddVerbatim { label, snippet, .. } => Some((RecordKind::Verbatim, Some(label), snippet)),
        Operation::RewriteProgress(_) | Operation::Archive { .. } => None,
    }
}

fn likeness(kind: RecordKind, label: Option<&str>, content: &str) -> Likeness {
    match kind {
        RecordKind::Verbatim => (
            kind,
            folded(label.unwrap_or_default()),
            normalised_snippet(content),
        ),
        _ => (kind, String::new(), folded(content)),
    }
}

/// A text in lower case with single blanks.
fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut folded = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

fn never_existed(id: RecordId) -> String {
    format!("{id} never existed in this memory; name an id that the memory shows.")
}

/// Whether a fault only warns of how an item is written, of which something worse is told: `told` are the
/// ranges of such items, start and end.
fn is_warning_within(told: &BTreeMap<usize, usize>, fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::MultiLineInsight | FaultKind::UnclosedFence)
        && told
            .range(..=fault.range.start)
            .next_back()
            .is_some_and(|(_, end)| fault.range.end <= *end)
}

fn fault_of(item: &Item, kind: FaultKind, detail: String) -> Fault {
    let id = match &item.operation {
        Operation::Archive { id, .. } => Some(*id),
        _ => None,
    };
    Fault {
        kind,
        section: item.operation.role(),
        id,
        range: item.range.clone(),
        detail,
    }
}
