//! Reads and validates operations. Those of a model are also checked against its input.

use super::report::{Rejection, Warning};
use crate::domain::dsl;
use crate::domain::evidence::{self, Addition, Evidence, Judge, JudgeContext, Ruling, Strictness};
use crate::domain::faults::{MAX_KEPT_FAULTS, Omitted};
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::domain::memory::{Limits, View, validate};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use crate::domain::text::masked;
use crate::fair;
use crate::storage::records::archived;
use crate::storage::{Storage, StorageError};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Approximate length of an item, used to estimate the work of many.
pub(super) const ITEM_BYTES: usize = 100;

/// A valid item and the text it was read from. A proposal stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Accepted {
    #[serde(flatten)]
    pub(super) operation: Operation,
    #[serde(flatten)]
    pub(super) written: WrittenItem,
    /// The evidence from the input; only for items of a model's answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) evidence: Vec<Evidence>,
}

/// A fault and the item that contains it.
#[derive(Debug, Clone)]
pub(super) struct FoundFault {
    pub(super) fault: Fault,
    pub(super) written: WrittenItem,
    /// A notice only: it rejects nothing, although faults of its kind do.
    pub(super) is_notice: bool,
}

/// A text after parsing and validation.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) accepted: Vec<Accepted>,
    /// The first [`MAX_KEPT_FAULTS`] faults.
    pub(super) found: Vec<FoundFault>,
    /// How many more there are.
    pub(super) omitted: Omitted,
}

impl FoundFault {
    /// A fault of what was written so.
    pub(super) fn of(written: WrittenItem, fault: Fault) -> Self {
        Self {
            fault,
            written,
            is_notice: false,
        }
    }

    pub(super) fn is_warning(&self) -> bool {
        self.is_notice || self.fault.kind.is_warning()
    }

    /// Whether both report the same fault of the same text.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let fault_key = |found: &Self| (found.fault.kind, found.fault.section);
        fault_key(self) == fault_key(other) && self.written.text.trim() == other.written.text.trim()
    }

    /// Whether the author of the text is asked to repair it.
    pub(super) fn needs_repair(&self) -> bool {
        !self.is_notice && self.fault.kind.causes_repair()
    }
}

impl Reading {
    /// Whether any fault is left that the author of the text is asked to repair.
    pub(super) fn needs_repair(&self) -> bool {
        self.found.iter().any(FoundFault::needs_repair) || self.omitted.needs_repair
    }

    /// Counts the faults above the limit and drops them.
    pub(super) fn keep_few(&mut self) {
        for found in self.found.drain(MAX_KEPT_FAULTS.min(self.found.len())..) {
            self.omitted.add(&found.fault);
        }
    }

    pub(super) fn rejections(&self) -> impl Iterator<Item = Rejection> {
        let rejected = self.found.iter().filter(|found| !found.is_warning());
        rejected.map(|found| Rejection::of_fault(&found.fault, &found.written))
    }

    /// Faults to repair that belong to no item: a text without a header, or a truncated one.
    pub(super) fn mendable_warnings(&self) -> impl Iterator<Item = Rejection> {
        let warned = self
            .found
            .iter()
            .filter(|found| found.is_warning() && found.needs_repair());
        warned.map(|found| Rejection::of_fault(&found.fault, &found.written))
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let warned = self.found.iter().filter(|found| found.is_warning());
        warned.map(|found| Warning::of_fault(&found.fault, found.written.index))
    }

    /// Removes what concerns a role. Faults above the limit, which belong to no role, go with the first.
    pub(super) fn take(&mut self, role: Role) -> Self {
        let of_role = |item: &mut Accepted| item.operation.role() == Some(role);
        let accepted = self.accepted.extract_if(.., of_role).collect();
        let of_role = |found: &mut FoundFault| found.fault.section == Some(role);
        Self {
            accepted,
            found: self.found.extract_if(.., of_role).collect(),
            omitted: std::mem::take(&mut self.omitted),
        }
    }

    /// Sets on additions which of the records archived in the same input they supersede.
    pub(super) fn name_replaced(&mut self, document: &str) {
        let mut operations: Vec<&mut Operation> =
            self.accepted.iter_mut().map(|item| &mut item.operation).collect();
        evidence::name_replaced(document, &mut operations);
    }
}

/// Ids that operations and faults name and that are not active in a document: their history must be looked up.
pub(super) fn mentioned(items: &[Item], faults: &[Fault]) -> Vec<RecordId> {
    let named = items.iter().flat_map(|item| {
        let one = item.operation.names().or(item.operation.replaces());
        one.into_iter().chain(item.operation.merges().iter().copied())
    });
    let ids: BTreeSet<RecordId> = named.chain(faults.iter().filter_map(|fault| fault.id)).collect();
    ids.into_iter().collect()
}

/// What items are checked against besides the document.
#[derive(Clone, Copy)]
pub(super) enum Against<'a> {
    /// Operations of the same run that were accepted before.
    Earlier(&'a [Operation]),
    /// The input of the run; with the items accepted from the role's previous answer.
    Input(JudgeContext<'a>, &'a [Accepted]),
}

/// Validates parsed items, and checks them against the input unless that is off. `written` returns the text of an item by its
/// position in the input.
pub(super) async fn read(
    storage: &Storage,
    place: (&VaultId, &MemoryId),
    document: &str,
    parsed: dsl::Parsed,
    written: impl Fn(Range<usize>) -> WrittenItem,
    against: Against<'_>,
    limits: &Limits,
) -> Result<Reading, StorageError> {
    let mentioned = mentioned(&parsed.items, &parsed.faults);
    let ended = archived(storage.records(place.0, place.1, &mentioned).await?);
    let view = View {
        document,
        ended: &ended,
        now: storage.now(),
    };
    let earlier = match against {
        Against::Input(case, earlier) if case.strictness != Strictness::Off => {
            let bytes = case.input.bytes() + document.len();
            let check = || checked_against_input(parsed, &written, &view, limits, (case, earlier));
            return Ok(fair::on_cpu(bytes, check).await);
        }
        Against::Input(..) => &[],
        Against::Earlier(earlier) => earlier,
    };
    let dsl::Parsed {
        items,
        faults,
        mut omitted,
    } = parsed;
    let bytes = document.len() + items.len() * ITEM_BYTES;
    let validated = fair::on_cpu(bytes, || validate(items, faults, &view, earlier, limits)).await;
    omitted.merge(validated.omitted);
    let accepted = validated.items.into_iter().map(|item| Accepted {
        written: written(item.range),
        operation: item.operation,
        evidence: Vec::new(),
    });
    let found = validated
        .faults
        .into_iter()
        .map(|fault| FoundFault::of(written(fault.range.clone()), fault));
    Ok(Reading {
        omitted,
        accepted: accepted.collect(),
        found: found.collect(),
    })
}

/// Operations that were not written as text, as a parser returns them, and what is quoted of each by its position.
pub(super) fn parsed(operations: Vec<Operation>) -> (dsl::Parsed, impl Fn(Range<usize>) -> WrittenItem) {
    let texts: Vec<String> = operations.iter().map(text_of).collect();
    let numbered = operations.into_iter().enumerate();
    let items = numbered.map(|(index, operation)| Item {
        operation,
        range: index..index,
    });
    let parsed = dsl::Parsed {
        items: items.collect(),
        ..dsl::Parsed::default()
    };
    (parsed, move |range| {
        WrittenItem::of_text(texts[range.start].as_str())
    })
}

/// An operation as it is quoted where it is refused.
fn text_of(operation: &Operation) -> String {
    match operation {
        Operation::RewriteProgress(progress) => progress.bullets().collect::<Vec<_>>().join("\n"),
        Operation::Add(added) => added.content.clone(),
        Operation::Archive { id, .. } | Operation::Mark { id, .. } => id.to_string(),
    }
}

/// Identifies an item by its position; several archive operations of one item also by their ids.
type Key = (usize, Option<RecordId>);

fn key(item: &Item) -> Key {
    (item.range.start, item.operation.archives())
}

/// Checks additions and progress against the input, validates what is left, and then checks the archive operations,
/// because they depend on which additions are applied.
fn checked_against_input(
    dsl::Parsed {
        items,
        mut faults,
        mut omitted,
    }: dsl::Parsed,
    written: &impl Fn(Range<usize>) -> WrittenItem,
    view: &View<'_>,
    limits: &Limits,
    (case, earlier): (JudgeContext<'_>, &[Accepted]),
) -> Reading {
    let judge = Judge::new(case, &items);
    let additions: Vec<Item> = items
        .iter()
        .filter(|item| item.operation.adds().is_some())
        .cloned()
        .collect();
    let places: Vec<_> = items
        .iter()
        .map(|item| (item.operation.role(), key(item), item.range.clone()))
        .collect();
    let mut evidence: HashMap<Key, Vec<Evidence>> = HashMap::new();
    let mut found = Vec::new();
    let mut left = Vec::with_capacity(items.len());
    let mut rejected: HashSet<usize> = HashSet::new();
    for ((role, key, range), judged) in places.into_iter().zip(judge.items(items)) {
        found.extend(
            judged
                .rulings
                .into_iter()
                .map(|ruling| found_of(ruling, role, &range, key.1, written)),
        );
        evidence.insert(key, judged.evidence);
        match judged.item {
            Some(item) => left.push(item),
            None => {
                rejected.insert(range.start);
            }
        }
    }
    // A warning about the form of an item is dropped if the item is rejected.
    faults.retain(|fault| !(fault.kind.is_warning() && rejected.contains(&fault.range.start)));
    let validated = validate(left, faults, view, &[], limits);
    omitted.merge(validated.omitted);
    let duplicates = validated
        .faults
        .iter()
        .filter(|fault| fault.kind == FaultKind::Duplicate)
        .map(|fault| fault.range.start);
    let applied: HashSet<usize> = validated
        .items
        .iter()
        .filter(|item| item.operation.adds().is_some())
        .map(|item| item.range.start)
        .chain(duplicates)
        .collect();
    let faulty = validated.faults.into_iter();
    found.extend(faulty.map(|fault| FoundFault::of(written(fault.range.clone()).masked(), fault)));

    let of_answer = additions.iter().map(|item| Addition {
        operation: &item.operation,
        is_applied: applied.contains(&item.range.start),
    });
    let of_earlier = earlier
        .iter()
        .filter(|item| item.operation.adds().is_some())
        .map(|item| Addition {
            operation: &item.operation,
            is_applied: true,
        });
    let all: Vec<Addition<'_>> = of_answer.chain(of_earlier).collect();
    let before: BTreeSet<RecordId> = earlier
        .iter()
        .filter_map(|item| item.operation.archives())
        .collect();
    let ids: Vec<RecordId> = validated
        .items
        .iter()
        .filter_map(|item| item.operation.archives())
        .collect();
    let mut archives = judge.archives(&ids, &all, &before).into_iter();
    let mut accepted = Vec::with_capacity(validated.items.len());
    for item in validated.items {
        let mut carried = evidence.remove(&key(&item)).unwrap_or_default();
        if let Some(id) = item.operation.archives() {
            let Some(judged) = archives.next() else { continue };
            carried = judged.evidence;
            if let Some(ruling) = judged.ruling {
                let is_warning = ruling.is_warning;
                let role = item.operation.role();
                found.push(found_of(ruling, role, &item.range, Some(id), written));
                if !is_warning {
                    continue;
                }
            }
        }
        accepted.push(Accepted {
            written: written(item.range),
            operation: item.operation,
            evidence: carried,
        });
    }
    found.sort_by_key(|found| found.fault.range.start);
    let mut reading = Reading {
        accepted,
        found,
        omitted,
    };
    reading.keep_few();
    reading
}

fn found_of(
    ruling: Ruling,
    section: Option<Role>,
    range: &Range<usize>,
    id: Option<RecordId>,
    written: &impl Fn(Range<usize>) -> WrittenItem,
) -> FoundFault {
    let quoted = match ruling.bullet {
        Some(bullet) => WrittenItem::of_text(bullet),
        None => written(range.clone()),
    };
    FoundFault {
        written: quoted.masked(),
        is_notice: ruling.is_warning,
        fault: Fault::new(ruling.kind, ruling.detail)
            .at(section, range.clone())
            .of(id),
    }
}

/// An item as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WrittenItem {
    pub(super) text: String,
    /// Its position in the list of operations; `None` for operations sent as text.
    #[serde(skip)]
    pub(super) index: Option<usize>,
}

impl WrittenItem {
    pub(super) fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            index: None,
        }
    }

    /// The item without credentials.
    pub(super) fn masked(mut self) -> Self {
        if let Cow::Owned(text) = masked(&self.text) {
            self.text = text;
        }
        self
    }
}
