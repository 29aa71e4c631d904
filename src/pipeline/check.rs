//! Step 4: validates operations. Those of a model are also checked against its input.

use super::Pipeline;
use super::report::{Rejection, Warning};
use super::run::Running;
use crate::domain::dsl::Parsed;
use crate::domain::evidence::{self, Judge, JudgeContext};
use crate::domain::ids::RecordId;
use crate::domain::memory::{Limits, View, validate};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role, WrittenItem};
use crate::domain::text::masked;
use crate::fair;
use crate::storage::StorageError;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// Approximate length of an item, used to estimate the work of many.
pub(super) const ITEM_BYTES: usize = 100;

/// Passages of its parts that a merged record keeps.
const MAX_EVIDENCE: usize = 12;

impl Parsed {
    /// Sets how its items and faults were written, by their ranges.
    pub(super) fn quoting(mut self, written: impl Fn(&Range<usize>) -> WrittenItem) -> Self {
        for item in &mut self.items {
            item.written = written(&item.range);
        }
        for fault in &mut self.faults {
            fault.written = written(&fault.range);
        }
        self
    }

    /// Whether any fault is left that the author of the text is asked to repair.
    pub(super) fn needs_repair(&self) -> bool {
        self.faults.iter().any(Fault::needs_repair) || self.omitted.needs_repair
    }

    pub(super) fn rejections(&self) -> impl Iterator<Item = Rejection> {
        let rejected = self.faults.iter().filter(|fault| !fault.is_warning());
        rejected.map(Rejection::of_fault)
    }

    /// The same with the faults to repair that belong to no item: a text without a header, or a truncated one.
    pub(super) fn invalid(&self) -> impl Iterator<Item = Rejection> {
        let faults = self.faults.iter();
        let invalid = faults.filter(|fault| !fault.is_warning() || fault.needs_repair());
        invalid.map(Rejection::of_fault)
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let warned = self.faults.iter().filter(|fault| fault.is_warning());
        warned.map(Warning::of_fault)
    }

    /// Removes what concerns a role. Faults above the limit, which belong to no role, go with the first.
    pub(super) fn take(&mut self, role: Role) -> Self {
        let of_role = |item: &mut Item| item.operation.role() == Some(role);
        let items = self.items.extract_if(.., of_role).collect();
        let of_role = |fault: &mut Fault| fault.section == Some(role);
        Self {
            items,
            faults: self.faults.extract_if(.., of_role).collect(),
            omitted: std::mem::take(&mut self.omitted),
        }
    }

    /// Sets on additions which of the records archived in the same input they supersede.
    pub(super) fn name_replaced(&mut self, document: &str) {
        let mut operations: Vec<&mut Operation> =
            self.items.iter_mut().map(|item| &mut item.operation).collect();
        evidence::name_replaced(document, &mut operations);
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
        parsed: Parsed,
        earlier: &[Operation],
        case: Option<(JudgeContext<'_>, &[Item])>,
    ) -> Result<Parsed, StorageError> {
        let (document, limits) = (running.progress_base().text.as_str(), &running.limits);
        let mut ids = mentioned(parsed.items.iter().map(|item| &item.operation));
        ids.extend(parsed.faults.iter().filter_map(|fault| fault.id));
        let ids: Vec<RecordId> = ids.into_iter().collect();
        let (vault, memory) = running.to.place();
        // A record that is not in the document but active by now was archived when the document was read, unless it was
        // added since.
        let base = running.progress_base().version;
        let known = self.storage.records(vault, memory, &ids).await?.into_iter();
        let known = known.filter(|known| known.born.version <= base);
        let ended: BTreeSet<RecordId> = known.map(|known| known.record.id).collect();
        let view = View {
            document,
            ended: &ended,
            now: self.storage.now(),
        };
        let bytes = document.len() + parsed.items.len() * ITEM_BYTES;
        let mut checked = match case {
            Some((case, before)) => {
                let bytes = bytes + case.input.bytes();
                let check = || checked_against_input(parsed, &view, limits, (case, before));
                fair::on_cpu(bytes, check).await
            }
            None => fair::on_cpu(bytes, || validate(parsed, &view, earlier, limits)).await,
        };
        self.keep_evidence(running, &mut checked).await?;
        Ok(checked)
    }

    /// Gives merged records the evidence of their parts.
    async fn keep_evidence(&self, running: &Running, checked: &mut Parsed) -> Result<(), StorageError> {
        let merges = checked.items.iter().flat_map(|item| item.operation.merges());
        let parts: Vec<RecordId> = merges.copied().collect();
        if parts.is_empty() {
            return Ok(());
        }
        let (vault, memory) = running.to.place();
        let evidence = self.storage.evidence(vault, memory, &parts).await?;
        for item in &mut checked.items {
            let parts = item.operation.merges().iter();
            let passages = parts.flat_map(|id| {
                let of_part = evidence.get(id).into_iter().flatten();
                of_part.map(|passage| passage.clone().of(*id))
            });
            let room = MAX_EVIDENCE.saturating_sub(item.evidence.len());
            item.evidence.extend(passages.take(room));
        }
        Ok(())
    }
}

/// Operations that were not written as text, as a parser returns them, with what is quoted of each.
pub(super) fn as_parsed(operations: Vec<Operation>) -> Parsed {
    let mut parsed = Parsed::of(operations);
    for item in &mut parsed.items {
        item.written.text = match &item.operation {
            Operation::RewriteProgress(progress) => progress.bullets().collect::<Vec<_>>().join("\n"),
            Operation::Add(added) => added.content.clone(),
            Operation::Archive { id, .. } | Operation::Mark { id, .. } => id.to_string(),
        };
    }
    parsed
}

/// Checks additions and progress against the input, validates what is left, and then checks the archive operations,
/// because they depend on which additions are applied.
fn checked_against_input(
    mut parsed: Parsed,
    view: &View<'_>,
    limits: &Limits,
    (case, before): (JudgeContext<'_>, &[Item]),
) -> Parsed {
    let items = std::mem::take(&mut parsed.items);
    let judge = Judge::new(case, &items);
    let mut found = Vec::new();
    let mut rejected: BTreeMap<usize, usize> = BTreeMap::new();
    for (item, judged) in items.iter().zip(judge.items(items.clone())) {
        found.extend(judged.faults);
        match judged.item {
            Some(kept) => parsed.items.push(kept),
            None => {
                rejected.insert(item.range.start, item.range.end);
            }
        }
    }
    parsed.drop_warnings_within(&rejected);
    let lost: Vec<Operation> = parsed.faults.iter().filter_map(Fault::lost_addition).collect();
    let mut checked = validate(parsed, view, &[], limits);
    // An addition that says what a record says counts as applied.
    let duplicates = checked.faults.iter();
    let duplicates = duplicates.filter(|fault| fault.kind == FaultKind::Duplicate);
    let applied = checked.items.iter().map(|item| item.range.start);
    let applied: HashSet<usize> = applied.chain(duplicates.map(|fault| fault.range.start)).collect();
    let additions = items
        .iter()
        .map(|item| (&item.operation, applied.contains(&item.range.start)))
        .chain(lost.iter().map(|addition| (addition, false)));
    found.append(&mut checked.faults);
    for judged in judge.archives(std::mem::take(&mut checked.items), additions, before) {
        found.extend(judged.faults);
        checked.items.extend(judged.item);
    }
    found.sort_by_key(|fault| fault.range.start);
    checked.faults = found;
    checked.drop_repeated_archives();
    checked.keep_few();
    for fault in &mut checked.faults {
        fault.written = std::mem::take(&mut fault.written).masked();
        fault.detail = masked(&fault.detail).into_owned();
    }
    checked
}
