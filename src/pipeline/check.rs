//! Step 4: validates operations. Those of a model are also checked against its input.

use super::Pipeline;
use super::report::{Rejection, Warning};
use super::run::Running;
use crate::domain::dsl;
use crate::domain::evidence::{self, Addition, Evidence, Judge, JudgeContext, Ruling};
use crate::domain::faults::{MAX_KEPT_FAULTS, Omitted};
use crate::domain::ids::RecordId;
use crate::domain::memory::{Limits, View, validate};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use crate::domain::text::masked;
use crate::fair;
use crate::storage::StorageError;
use crate::storage::records::archived;
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

    /// The same with the faults to repair that belong to no item: a text without a header, or a truncated one.
    pub(super) fn invalid(&self) -> impl Iterator<Item = Rejection> {
        let found = self.found.iter();
        let invalid = found.filter(|found| !found.is_warning() || found.needs_repair());
        invalid.map(|found| Rejection::of_fault(&found.fault, &found.written))
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

/// What was sent, of which single items are quoted by their ranges.
pub(super) enum Source<'a> {
    /// A text, by its bytes.
    Text(&'a str),
    /// Items that their author numbers, as they are quoted.
    List(Vec<String>),
    /// Other items, as they are quoted.
    Items(Vec<String>),
}

impl Source<'_> {
    fn item(&self, range: &Range<usize>) -> WrittenItem {
        let (text, index) = match self {
            Self::Text(text) => (&text[range.clone()], None),
            Self::List(items) => (items[range.start].as_str(), Some(range.start)),
            Self::Items(items) => (items[range.start].as_str(), None),
        };
        WrittenItem {
            text: text.to_owned(),
            index,
        }
    }
}

/// Ids that operations name and that may not be active in a document: their history must be looked up.
pub(super) fn mentioned<'o>(operations: impl Iterator<Item = &'o Operation>) -> BTreeSet<RecordId> {
    let ids = operations.flat_map(|operation| {
        let one = operation.names().or(operation.replaces());
        one.into_iter().chain(operation.merges().iter().copied())
    });
    ids.collect()
}

impl Pipeline {
    /// Step 4: validates what was parsed against the head snapshot. `earlier` are operations of the same run that were accepted
    /// before. With a case the items are also compared with the input; the records beside it were accepted from the role's
    /// previous answer.
    pub(super) async fn check(
        &self,
        running: &Running,
        (parsed, source): (dsl::Parsed, &Source<'_>),
        earlier: &[Operation],
        case: Option<(JudgeContext<'_>, &[Accepted])>,
    ) -> Result<Reading, StorageError> {
        let (document, limits) = (running.progress_base().text.as_str(), &running.limits);
        let mut ids = mentioned(parsed.items.iter().map(|item| &item.operation));
        ids.extend(parsed.faults.iter().filter_map(|fault| fault.id));
        let ids: Vec<RecordId> = ids.into_iter().collect();
        let (vault, memory) = running.to.place();
        let ended = archived(self.storage.records(vault, memory, &ids).await?);
        let view = View {
            document,
            ended: &ended,
            now: self.storage.now(),
        };
        let bytes = document.len() + parsed.items.len() * ITEM_BYTES;
        Ok(match case {
            Some((case, before)) => {
                let bytes = bytes + case.input.bytes();
                let check = || checked_against_input(parsed, source, &view, limits, (case, before));
                fair::on_cpu(bytes, check).await
            }
            None => fair::on_cpu(bytes, || validated(parsed, source, &view, earlier, limits)).await,
        })
    }
}

fn validated(
    parsed: dsl::Parsed,
    source: &Source<'_>,
    view: &View<'_>,
    earlier: &[Operation],
    limits: &Limits,
) -> Reading {
    let validated = validate(parsed, view, earlier, limits);
    let accepted = validated.items.into_iter().map(|item| Accepted {
        written: source.item(&item.range),
        operation: item.operation,
        evidence: Vec::new(),
    });
    let faults = validated.faults.into_iter();
    Reading {
        omitted: validated.omitted,
        accepted: accepted.collect(),
        found: faults
            .map(|fault| FoundFault::of(source.item(&fault.range), fault))
            .collect(),
    }
}

/// Operations that were not written as text, as a parser returns them, and what is quoted of each.
pub(super) fn as_parsed(operations: Vec<Operation>) -> (dsl::Parsed, Source<'static>) {
    let quoted = operations.iter().map(|operation| match operation {
        Operation::RewriteProgress(progress) => progress.bullets().collect::<Vec<_>>().join("\n"),
        Operation::Add(added) => added.content.clone(),
        Operation::Archive { id, .. } | Operation::Mark { id, .. } => id.to_string(),
    });
    let source = Source::Items(quoted.collect());
    (dsl::Parsed::of(operations), source)
}

/// Identifies an item by its position; several archive operations of one item also by their ids.
fn key(item: &Item) -> (usize, Option<RecordId>) {
    (item.range.start, item.operation.archives())
}

/// Checks additions and progress against the input, validates what is left, and then checks the archive operations,
/// because they depend on which additions are applied.
fn checked_against_input(
    parsed: dsl::Parsed,
    source: &Source<'_>,
    view: &View<'_>,
    limits: &Limits,
    (case, before): (JudgeContext<'_>, &[Accepted]),
) -> Reading {
    let dsl::Parsed {
        items,
        mut faults,
        omitted,
    } = parsed;
    let judge = Judge::new(case, &items);
    let mut evidence: HashMap<_, Vec<Evidence>> = HashMap::new();
    let mut found = Vec::new();
    let mut left = Vec::with_capacity(items.len());
    let mut rejected: HashSet<usize> = HashSet::new();
    for (item, judged) in items.iter().zip(judge.items(items.clone())) {
        let rulings = judged.rulings.into_iter();
        found.extend(rulings.map(|ruling| found_of(ruling, item, source)));
        evidence.insert(key(item), judged.evidence);
        match judged.item {
            Some(kept) => left.push(kept),
            None => {
                rejected.insert(item.range.start);
            }
        }
    }
    // A warning about the form of an item is dropped if the item is rejected.
    faults.retain(|fault| !(fault.kind.is_warning() && rejected.contains(&fault.range.start)));
    let left = dsl::Parsed {
        items: left,
        faults,
        omitted,
    };
    let validated = validate(left, view, &[], limits);
    let ids = validated
        .items
        .iter()
        .filter_map(|item| item.operation.archives());
    let ids: Vec<RecordId> = ids.collect();
    // An addition that says what a record says counts as applied.
    let duplicates = validated.faults.iter();
    let duplicates = duplicates.filter(|fault| fault.kind == FaultKind::Duplicate);
    let applied = validated.items.iter().map(|item| item.range.start);
    let applied: HashSet<usize> = applied.chain(duplicates.map(|fault| fault.range.start)).collect();
    let additions = items.iter().map(|item| Addition {
        operation: &item.operation,
        is_applied: applied.contains(&item.range.start),
    });
    let earlier = before.iter().map(|item| Addition {
        operation: &item.operation,
        is_applied: true,
    });
    let additions = additions.chain(earlier);
    let additions: Vec<Addition<'_>> = additions
        .filter(|addition| addition.operation.adds().is_some())
        .collect();
    let archived_before = before
        .iter()
        .filter_map(|item| item.operation.archives())
        .collect();
    let mut judged = judge.archives(&ids, &additions, &archived_before).into_iter();
    let faulty = validated.faults.into_iter();
    found.extend(faulty.map(|fault| FoundFault::of(source.item(&fault.range).masked(), fault)));
    let mut accepted = Vec::with_capacity(validated.items.len());
    for item in validated.items {
        let mut carried = evidence.remove(&key(&item)).unwrap_or_default();
        if item.operation.archives().is_some() {
            let Some(judged) = judged.next() else { continue };
            carried = judged.evidence;
            if let Some(ruling) = judged.ruling {
                let is_warning = ruling.is_warning;
                found.push(found_of(ruling, &item, source));
                if !is_warning {
                    continue;
                }
            }
        }
        accepted.push(Accepted {
            written: source.item(&item.range),
            operation: item.operation,
            evidence: carried,
        });
    }
    found.sort_by_key(|found| found.fault.range.start);
    let mut reading = Reading {
        accepted,
        found,
        omitted: validated.omitted,
    };
    reading.keep_few();
    reading
}

fn found_of(ruling: Ruling, item: &Item, source: &Source<'_>) -> FoundFault {
    let quoted = match ruling.bullet {
        Some(text) => WrittenItem { text, index: None },
        None => source.item(&item.range),
    };
    FoundFault {
        written: quoted.masked(),
        is_notice: ruling.is_warning,
        fault: Fault::new(ruling.kind, ruling.detail)
            .at(item.operation.role(), item.range.clone())
            .of(item.operation.archives()),
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
    /// The item without credentials.
    pub(super) fn masked(mut self) -> Self {
        if let Cow::Owned(text) = masked(&self.text) {
            self.text = text;
        }
        self
    }
}
