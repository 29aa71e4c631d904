//! Decides which items a memory accepts: the rules of the fault table that depend on the memory.

use super::Limits;
use crate::domain::consolidation::{Ground, Grounds};
use crate::domain::document::{Entry, entries_of, normalised_snippet, pinned, record_ranges};
use crate::domain::faults::Parsed;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Fault, FaultKind, Item, Operation};
use crate::domain::text::folded;
use chrono::{DateTime, Utc};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The state of a memory that validation needs.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Its document.
    pub document: &'a str,
    /// Ids that were used before and are not active; at least all those that the text names. An id that is
    /// active in the document counts as active.
    pub ended: &'a BTreeSet<RecordId>,
    /// The time, by which records have expired.
    pub now: DateTime<Utc>,
}

/// Validates parsed items against a memory. `earlier` are the operations accepted from an earlier text of the
/// same update: the records they archive count as archived, and the records they add exist and count towards
/// the limit.
///
/// An addition that replaces a record also archives it, unless the text archives it explicitly. If that archiving is rejected,
/// the addition replaces nothing; if the addition is rejected, the record stays.
///
/// Of an item the first fault that applies in the fault table is reported. A `placeholder` fault in an `ARCHIVE` item whose id never existed becomes `unknown_id`, which has priority
/// in the fault table. A warning about a rejected item is dropped. What a rejected item would have removed stays, so the others are
/// judged again without it, in a few rounds. Linear in the document and the items.
#[must_use]
pub fn validate(mut parsed: Parsed, view: &View<'_>, earlier: &[Operation], limits: &Limits) -> Parsed {
    let mut items = std::mem::take(&mut parsed.items);
    let mut rejected: Vec<(Item, Verdict)> = Vec::new();
    for round in 1..=MOST_ROUNDS {
        let mut archives = Archives::of(view, earlier, &items, limits);
        for (item, verdict) in &rejected {
            archives.stays.extend(item.operation.archives());
            // What a duplicate says stands in the memory already.
            let is_lost = verdict
                .as_ref()
                .is_some_and(|fault| fault.kind != FaultKind::Duplicate);
            archives
                .unreplaced
                .extend(item.operation.replaces().filter(|_| is_lost));
        }
        let verdicts = archives.judge_all(&mut items, view, earlier);
        let is_cause = |(item, verdict): &(Item, Verdict)| {
            let is_by_itself = |fault: &Fault| archives.is_by_itself(&item.operation, fault);
            item.operation.removes() && verdict.as_ref().is_some_and(is_by_itself)
        };
        let judged: Vec<(Item, Verdict)> = items.into_iter().zip(verdicts).collect();
        let is_last = round == MOST_ROUNDS || !judged.iter().any(is_cause);
        let goes = |one: &(Item, Verdict)| if is_last { one.1.is_some() } else { is_cause(one) };
        let (gone, rest): (Vec<_>, Vec<_>) = judged.into_iter().partition(goes);
        rejected.extend(gone);
        items = rest.into_iter().map(|(item, _)| item).collect();
        if is_last {
            for operation in items.iter_mut().map(|item| &mut item.operation) {
                // If the archiving of the replaced record is rejected, the addition becomes an ordinary one.
                if operation
                    .replaces()
                    .is_some_and(|id| !archives.archived_now.contains(&id))
                {
                    operation.set_replaced(None);
                }
            }
            parsed
                .faults
                .iter_mut()
                .for_each(|fault| archives.name_unknown(fault));
            break;
        }
    }
    parsed.items = items;
    let ranges = rejected
        .iter()
        .map(|(item, _)| (item.range.start, item.range.end));
    parsed.drop_warnings_within(&ranges.collect::<BTreeMap<usize, usize>>());
    let faults = rejected
        .into_iter()
        .filter_map(|(item, verdict)| Some(verdict?.of_item(&item)));
    parsed.faults.extend(faults);
    parsed.faults.sort_by_key(|fault| fault.range.start);
    parsed.keep_few();
    parsed
}

/// A chain of items, each of which is rejected because of the one before, is followed so far.
const MOST_ROUNDS: usize = 5;

/// Why an item is rejected.
type Verdict = Option<Fault>;

/// Which records exist, and which are archived during validation.
struct Archives<'a> {
    limits: &'a Limits,
    /// What grounds and merges are checked against, if an item has one.
    grounds: Option<Grounds>,
    /// The grounds that were checked: a text may repeat them.
    checked: HashMap<(RecordId, Ground), Verdict>,
    active: HashSet<RecordId>,
    ended: &'a BTreeSet<RecordId>,
    /// Archived by an earlier text or an earlier item.
    archived_now: HashSet<RecordId>,
    /// Ids that an item of this text or an earlier text archives explicitly, whether accepted or not.
    named: HashSet<RecordId>,
    /// The same, and those that an addition replaces: they cannot stay for another record.
    leaving: HashSet<RecordId>,
    /// Ids that earlier additions replace.
    replaced: HashSet<RecordId>,
    /// Ids that an item merges.
    merged: HashSet<RecordId>,
    /// Ids whose own archiving was rejected.
    stays: HashSet<RecordId>,
    /// Ids that rejected additions were to replace.
    unreplaced: HashSet<RecordId>,
    /// Records whose marks an item changes.
    marked: HashSet<RecordId>,
    /// Records that the author of the items may not archive; `None` if it may archive all, and mark them.
    pinned: Option<HashSet<RecordId>>,
}

impl<'a> Archives<'a> {
    fn of(view: &View<'a>, earlier: &[Operation], items: &[Item], limits: &'a Limits) -> Self {
        let has_grounds = items.iter().any(|item| item.operation.is_grounded());
        let archived_now: HashSet<_> = earlier.iter().flat_map(Operation::leaving).collect();
        let mut named = archived_now.clone();
        named.extend(items.iter().flat_map(|item| item.operation.leaving()));
        let replaced: HashSet<_> = earlier.iter().filter_map(Operation::replaces).collect();
        let mut leaving = &named | &replaced;
        leaving.extend(items.iter().filter_map(|item| item.operation.replaces()));
        let active = record_ranges(view.document).into_iter();
        let merged = items.iter().flat_map(|item| item.operation.merges());
        Self {
            limits,
            grounds: has_grounds.then(|| Grounds::of(view.document, view.now)),
            checked: HashMap::new(),
            active: active.map(|(id, _)| id).collect(),
            ended: view.ended,
            archived_now,
            named,
            leaving,
            replaced,
            merged: merged.copied().collect(),
            stays: HashSet::new(),
            unreplaced: HashSet::new(),
            marked: HashSet::new(),
            pinned: limits.pins_hold.then(|| pinned(view.document)),
        }
    }

    /// Judges all items: what they archive, and then, when it is known what stays, what they add and mark.
    fn judge_all(&mut self, items: &mut [Item], view: &View<'_>, earlier: &[Operation]) -> Vec<Verdict> {
        let operations = || items.iter().map(|item| &item.operation);
        let added: HashSet<RecordKind> = operations().filter_map(Operation::adds).collect();
        let rewrites = |operation: &Operation| matches!(operation, Operation::RewriteProgress(_));
        let last = items.iter().rposition(|item| rewrites(&item.operation));
        let mut verdicts: Vec<Verdict> = items
            .iter_mut()
            .enumerate()
            .map(
                |(place, item)| match rewrites(&item.operation) && last > Some(place) {
                    true => reject(FaultKind::Duplicate, REWRITTEN),
                    false => self.judge(&mut item.operation),
                },
            )
            .collect();
        let stays = |entry: &Entry| entry.id.is_none_or(|id| !self.archived_now.contains(&id));
        let like = entries_of(view.document, |kind| added.contains(&kind)).filter(stays);
        let mut additions = Additions::of(like, earlier, self.limits);
        for (item, verdict) in items.iter().zip(&mut verdicts) {
            if verdict.is_some() {
                continue;
            }
            *verdict = match &item.operation {
                Operation::Mark { id, .. } => self.judge_mark(*id),
                operation => additions.judge(operation),
            };
        }
        verdicts
    }

    /// Whether an item is rejected whatever becomes of the others: not because a record goes that may stay if another item is
    /// rejected.
    fn is_by_itself(&self, operation: &Operation, fault: &Fault) -> bool {
        let kept = match operation {
            Operation::Archive { ground, .. } => ground.and_then(Ground::kept),
            _ => None,
        };
        let hinges = kept.is_some_and(|kept| self.leaving.contains(&kept))
            || operation.merges().iter().any(|id| self.archived_now.contains(id));
        fault.kind != FaultKind::AlreadyArchived && !(fault.kind == FaultKind::Uncovered && hinges)
    }

    fn existed(&self, id: RecordId) -> bool {
        self.active.contains(&id) || self.ended.contains(&id)
    }

    fn judge(&mut self, operation: &mut Operation) -> Verdict {
        let added = match operation {
            Operation::RewriteProgress(_) | Operation::Mark { .. } => return None,
            Operation::Archive { id, .. } if self.unreplaced.contains(id) => {
                let detail = format!("The addition that was to take its place was rejected, so {id} stays.");
                return reject(FaultKind::UncalledArchive, detail);
            }
            Operation::Archive { id, ground, .. } => {
                let detail = || format!("{id} was archived before; it needs no second ARCHIVE.");
                return self.judge_archiving(*id, *ground, detail);
            }
            Operation::Add(merged) if !merged.merges.is_empty() => return self.judge_merge(merged),
            Operation::Add(added) => added,
        };
        if self.pinned.is_some() && !added.marks.is_empty() {
            return reject(FaultKind::Protected, ONLY_PEOPLE);
        }
        let id = added.replaces?;
        if id.kind != added.kind() {
            let detail = format!("{id} is of another section than what replaces it.");
            return reject(FaultKind::WrongSectionId, detail);
        }
        if !self.replaced.insert(id) {
            let detail = format!("{id} is replaced by an earlier item; one record takes its place.");
            return reject(FaultKind::AlreadyArchived, detail);
        }
        if self.merged.contains(&id) {
            let detail = format!("{id} is merged by another item; one record takes its place.");
            return reject(FaultKind::AlreadyArchived, detail);
        }
        let detail =
            || format!("{id} was archived before, so nothing can take its place; add without `replaces`.");
        if self.named.contains(&id) || self.stays.contains(&id) {
            // The explicit archiving reports its own faults; the addition itself is valid.
            return None;
        }
        self.judge_archiving(id, None, detail)
    }

    /// Archives a record if that is possible; otherwise returns the fault.
    fn judge_archiving(
        &mut self,
        id: RecordId,
        ground: Option<Ground>,
        again: impl FnOnce() -> String,
    ) -> Verdict {
        if let Some(fault) = self.judge_name(id) {
            return Some(fault);
        }
        if !self.active.contains(&id) || self.archived_now.contains(&id) {
            return reject(FaultKind::AlreadyArchived, again());
        }
        let fault = ground.and_then(|ground| self.judge_ground(id, ground));
        if fault.is_none() {
            self.archived_now.insert(id);
        }
        fault
    }

    /// Whether a record exists, and may be archived.
    fn judge_name(&self, id: RecordId) -> Verdict {
        if !self.existed(id) {
            return reject(FaultKind::UnknownId, never_existed(id));
        }
        self.pinned.as_ref()?.get(&id)?;
        let detail =
            format!("{id} is pinned: only people, and agents by an operation of their own, archive it.");
        reject(FaultKind::Protected, detail)
    }

    fn judge_ground(&mut self, id: RecordId, ground: Ground) -> Verdict {
        let grounds = self.grounds.as_ref()?;
        let check = || {
            let leaves = |other| self.leaving.contains(&other);
            let fault = grounds.check(id, ground, leaves).err()?;
            reject(FaultKind::Uncovered, fault)
        };
        self.checked.entry((id, ground)).or_insert_with(check).clone()
    }

    /// Archives the parts of a merge if it says all that they say; the new record gets their marks.
    fn judge_merge(&mut self, merged: &mut AddedRecord) -> Verdict {
        let merges = &merged.merges;
        // One that never existed is reported first.
        let faults = merges.iter().filter_map(|id| self.judge_name(*id));
        if let Some(first) = faults.min_by_key(|fault| fault.kind) {
            return Some(first);
        }
        let goes = |id| self.archived_now.contains(&id);
        match self.grounds.as_ref()?.check_merge(merges, &merged.content, goes) {
            Ok(marks) => {
                self.archived_now.extend(merges);
                merged.marks = marks;
                None
            }
            Err(fault) => reject(FaultKind::Uncovered, fault),
        }
    }

    fn judge_mark(&mut self, id: RecordId) -> Verdict {
        if self.pinned.is_some() {
            return reject(FaultKind::Protected, ONLY_PEOPLE);
        }
        if !self.existed(id) {
            return reject(FaultKind::UnknownId, never_existed(id));
        }
        if !self.active.contains(&id) || self.archived_now.contains(&id) {
            let detail = format!("{id} is archived; marks are of active records.");
            return reject(FaultKind::AlreadyArchived, detail);
        }
        if !self.marked.insert(id) {
            let detail = format!("An earlier item marks {id}; give all its marks in one.");
            return reject(FaultKind::Duplicate, detail);
        }
        None
    }

    /// Makes a placeholder fault that names a record that never existed `unknown_id`.
    fn name_unknown(&self, fault: &mut Fault) {
        if fault.kind == FaultKind::Placeholder
            && let Some(id) = fault.id.filter(|id| !self.existed(*id))
        {
            fault.kind = FaultKind::UnknownId;
            fault.detail = never_existed(id);
        }
    }
}

fn reject(kind: FaultKind, detail: impl Into<String>) -> Verdict {
    Some(Fault::new(kind, detail))
}

const REWRITTEN: &str = "A later item rewrites Current Progress, too; give all of it in one.";

const ONLY_PEOPLE: &str =
    "Only people, and agents by an operation of their own, pin a record or give it an end.";

/// The key for detecting duplicates: kind, normalised label and normalised content.
type DuplicateKey = (RecordKind, String, String);

/// What an addition equals that is not a record of the document.
const EARLIER_ITEM: &str = "an earlier item";

/// Existing records and the number of further additions allowed.
struct Additions<'a> {
    limits: &'a Limits,
    /// Duplicate key of each known record, and how a message names it.
    known: HashMap<DuplicateKey, Cow<'static, str>>,
    /// Number of accepted additions per kind.
    counts: HashMap<RecordKind, usize>,
}

impl<'a> Additions<'a> {
    /// `like` are the existing records of the kinds that are added.
    fn of(like: impl Iterator<Item = Entry>, earlier: &[Operation], limits: &'a Limits) -> Self {
        let mut additions = Self {
            limits,
            known: HashMap::new(),
            counts: HashMap::new(),
        };
        for entry in like {
            let duplicate_key = duplicate_key(entry.kind, entry.label.as_deref(), &entry.content);
            let id = entry.id.map(|id| id.to_string().into());
            let existing = id.unwrap_or("an entry without an id".into());
            additions.known.entry(duplicate_key).or_insert(existing);
        }
        for key in earlier.iter().filter_map(Operation::addition).map(key_of) {
            *additions.counts.entry(key.0).or_default() += 1;
            additions.known.entry(key).or_insert(EARLIER_ITEM.into());
        }
        additions
    }

    fn judge(&mut self, operation: &Operation) -> Verdict {
        let added = operation.addition()?;
        let (kind, bytes) = (added.kind(), added.content.len());
        let duplicate_key = key_of(added);
        if let Some(existing) = self.known.get(&duplicate_key) {
            return reject(FaultKind::Duplicate, format!("It says the same as {existing}."));
        }
        self.known.insert(duplicate_key, EARLIER_ITEM.into());
        let (max_additions, item_bytes) = (self.limits.max_additions, self.limits.item_bytes);
        let count = self.counts.entry(kind).or_default();
        if *count >= max_additions {
            let detail = format!("Only the first {max_additions} additions of a section are taken.");
            return reject(FaultKind::TooManyAdditions, detail);
        }
        if bytes > item_bytes {
            let detail = format!("It has {bytes} bytes, over limits.item_bytes = {item_bytes}.");
            return reject(FaultKind::TooLarge, detail);
        }
        *count += 1;
        None
    }
}

fn key_of(added: &AddedRecord) -> DuplicateKey {
    duplicate_key(added.kind(), added.label.as_deref(), &added.content)
}

fn duplicate_key(kind: RecordKind, label: Option<&str>, content: &str) -> DuplicateKey {
    match kind {
        RecordKind::Verbatim => (
            kind,
            // As a record line writes it.
            folded(&label.unwrap_or_default().replace("=>", "->")),
            normalised_snippet(content),
        ),
        _ => (kind, String::new(), folded(content)),
    }
}

fn never_existed(id: RecordId) -> String {
    format!("{id} never existed in this memory; name an id that the memory shows.")
}
