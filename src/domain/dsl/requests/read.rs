//! Converts requests to items and faults.

use super::request::OperationRequest;
use crate::domain::consolidation::Ground;
use crate::domain::document::Marks;
use crate::domain::dsl::Parsed;
use crate::domain::dsl::bullets::{is_placeholder, is_template_snippet};
use crate::domain::dsl::items::{self, ItemFault, after_because, placeholder};
use crate::domain::dsl::progress::Block;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{Fault, FaultKind, Operation, Role};
use crate::domain::text::lines::document_line;

/// Converts requests like [`parse`](crate::domain::dsl::parse) converts a text. Total: every list has a
/// result.
#[must_use]
pub fn read(requests: &[OperationRequest]) -> Parsed {
    let mut parsed = Parsed::default();
    for (index, request) in requests.iter().enumerate() {
        let role = match request {
            OperationRequest::Add {
                section,
                reason,
                label,
                content,
                replaces,
                pinned,
                until,
            } => {
                let role = section.role();
                match addition(role, reason, label.as_deref(), content, replaces.as_deref()) {
                    Ok((mut operation, is_folded)) => {
                        operation.set_marks(Marks::default().changed(Some(*pinned), *until));
                        if is_folded {
                            let detail = "an insight is one line; its lines were joined with blanks";
                            let wrong = (FaultKind::MultiLineInsight, detail.to_owned());
                            parsed.wrong(Some(role), None, index, wrong);
                        }
                        parsed.accept(operation, index..index);
                    }
                    Err(wrong) => parsed.wrong(Some(role), None, index, wrong),
                }
                Some(role)
            }
            OperationRequest::Merge { ids, reason, content } => {
                match merge(ids, reason, content) {
                    Ok(operation) => parsed.accept(operation, index..index),
                    Err(wrong) => parsed.wrong(Some(Role::Learnings), None, index, wrong),
                }
                Some(Role::Learnings)
            }
            OperationRequest::Archive { .. } | OperationRequest::Mark { .. } => match of_record(request) {
                Ok(operation) => {
                    let role = operation.role();
                    parsed.accept(operation, index..index);
                    role
                }
                Err((id, wrong)) => {
                    let role = Role::ALL
                        .into_iter()
                        .find(|role| role.record_kind() == id.map(|id| id.kind) && id.is_some());
                    parsed.wrong(role, id, index, wrong);
                    role
                }
            },
            OperationRequest::RewriteProgress { .. } => {
                parsed.progress(request, index);
                Some(Role::Progress)
            }
        };
        if let Some(role) = role.filter(|role| !parsed.sections.contains(role)) {
            parsed.sections.push(role);
        }
    }
    parsed
}

impl Parsed {
    fn wrong(
        &mut self,
        section: Option<Role>,
        id: Option<RecordId>,
        index: usize,
        (kind, detail): ItemFault,
    ) {
        self.fault(Fault {
            kind,
            section,
            id,
            range: index..index,
            detail,
        });
    }

    fn progress(&mut self, request: &OperationRequest, index: usize) {
        let mut block = Block::new(index..index);
        for (_, list, _, text) in request.bullets() {
            block.bullet(Some(list), 0, &document_line(text), index..index);
        }
        let finished = block.finish();
        let has_faults = !finished.faults.is_empty();
        for fault in finished.faults {
            self.fault(fault);
        }
        self.omitted.merge(&finished.omitted);
        let has_item = finished.item.is_some();
        if let Some(item) = finished.item {
            self.accept(item.operation, item.range);
        }
        if let Some(missing) = finished.missing {
            self.fault(missing);
        } else if !has_item && !has_faults {
            let detail = "`in_progress` needs at least one bullet; the previous progress stays as it is";
            let wrong = (FaultKind::MissingInProgress, detail.to_owned());
            self.wrong(Some(Role::Progress), None, index, wrong);
        }
    }
}

/// Normalises a reason to one line, without a leading `because` and a trailing colon.
fn reason_of(text: &str) -> String {
    let text = document_line(text);
    let bare = after_because(&text).unwrap_or(&text);
    bare.trim().trim_end_matches(':').trim_end().to_owned()
}

/// Returns the operation of an addition, and whether its lines were joined.
fn addition(
    role: Role,
    reason: &str,
    label: Option<&str>,
    content: &str,
    replaces: Option<&str>,
) -> Result<(Operation, bool), ItemFault> {
    let reason = reason_of(reason);
    if reason.is_empty() {
        let detail = "an addition needs its `reason`: why it is worth keeping".to_owned();
        return Err((FaultKind::MissingReason, detail));
    }
    if content.trim().is_empty() {
        let detail = "`content` is blank: write what is to be kept".to_owned();
        return Err((FaultKind::EmptyContent, detail));
    }
    let label = document_line(label.unwrap_or_default());
    let label = label.trim();
    if role == Role::Verbatim && label.is_empty() {
        let detail =
            "a snippet needs its `label`: what it is, such as a file path or a config key".to_owned();
        return Err((FaultKind::MissingLabel, detail));
    }
    let replaces = replaces.map(|id| replaced(id, role)).transpose()?;
    let insight = document_line(content);
    let insight = insight.trim();
    let is_template = match role {
        Role::Verbatim => is_placeholder(label) || is_template_snippet(content),
        _ => is_placeholder(insight),
    };
    if is_template || is_placeholder(&reason) {
        return Err(placeholder());
    }
    let is_folded = role != Role::Verbatim && content.trim().contains('\n');
    let operation = match role {
        Role::Verbatim => Operation::AddVerbatim {
            reason,
            label: label.to_owned(),
            snippet: content.to_owned(),
            replaces,
            marks: Marks::default(),
        },
        _ => Operation::AddLearning {
            reason,
            content: insight.to_owned(),
            replaces,
            merges: Vec::new(),
            marks: Marks::default(),
        },
    };
    Ok((operation, is_folded))
}

/// Parses the id of the record that an addition to a section replaces.
fn replaced(id: &str, role: Role) -> Result<RecordId, ItemFault> {
    let read = items::read_id(id.trim());
    let read = read.ok_or_else(|| items::malformed(id, role.record_kind()))?;
    if Some(read.kind) == role.record_kind() {
        return Ok(read);
    }
    let detail = format!("{read} is of another section than what replaces it");
    Err((FaultKind::WrongSectionId, detail))
}

/// The operation of a merge; its content is joined to one line.
fn merge(ids: &[String], reason: &str, content: &str) -> Result<Operation, ItemFault> {
    let reason = reason_of(reason);
    if reason.is_empty() {
        return Err((FaultKind::MissingReason, "a merge needs its `reason`".to_owned()));
    }
    let content = document_line(content);
    let content = content.trim();
    if content.is_empty() {
        let detail = "`content` is blank: write what all of them say".to_owned();
        return Err((FaultKind::EmptyContent, detail));
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    items::merged(&ids, &reason, content)
}

/// The operation on an existing record, or its id (if readable) and the fault.
fn of_record(request: &OperationRequest) -> Result<Operation, (Option<RecordId>, ItemFault)> {
    match request {
        OperationRequest::Archive {
            id,
            reason,
            duplicate_of,
            superseded_by,
            expired,
        } => {
            let (id, reason) = id_and_reason(id, reason, "an archiving")?;
            let kept = |name: &String| items::kept(name).map_err(|wrong| (Some(id), wrong));
            let ground = match (duplicate_of, superseded_by) {
                (Some(name), _) => Some(Ground::DuplicateOf(kept(name)?)),
                (_, Some(name)) => Some(Ground::SupersededBy(kept(name)?)),
                _ => expired.then_some(Ground::Expired),
            };
            if ground.is_none() && !matches!(id.kind, RecordKind::Learning | RecordKind::Verbatim) {
                let detail = format!("{id} is neither a learning (KL-) nor a snippet (VC-)");
                return Err((Some(id), (FaultKind::WrongSectionId, detail)));
            }
            Ok(Operation::Archive { id, reason, ground })
        }
        OperationRequest::Mark {
            id,
            reason,
            pinned,
            until,
        } => {
            let (id, reason) = id_and_reason(id, reason, "a change of marks")?;
            if pinned.is_none() && until.is_none() {
                return Err((Some(id), items::no_mark()));
            }
            Ok(Operation::Mark {
                id,
                reason,
                pinned: *pinned,
                until: *until,
            })
        }
        OperationRequest::Add { .. }
        | OperationRequest::Merge { .. }
        | OperationRequest::RewriteProgress { .. } => Err((None, items::malformed("", None))),
    }
}

/// The id and the reason of an operation on an existing record, or the id (if readable) and the fault.
fn id_and_reason(
    id: &str,
    reason: &str,
    what: &str,
) -> Result<(RecordId, String), (Option<RecordId>, ItemFault)> {
    let bare = items::bare(id);
    let read = items::read_id(bare);
    let reason = reason_of(reason);
    if reason.is_empty() {
        let detail = format!("{what} needs its `reason`");
        return Err((read, (FaultKind::MissingReason, detail)));
    }
    let Some(id) = read else {
        let is_template = bare
            .split_once('-')
            .is_some_and(|(_, number)| is_placeholder(number));
        let wrong = if is_template {
            placeholder()
        } else {
            items::malformed(bare, None)
        };
        return Err((None, wrong));
    };
    if is_placeholder(&reason) {
        return Err((Some(id), placeholder()));
    }
    Ok((id, reason))
}
