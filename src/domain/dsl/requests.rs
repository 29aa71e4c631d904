//! Operations given as JSON instead of DSL text: the body of `POST …/operations`, and tool arguments.
//!
//! They follow the same rules and produce the same faults as the items of a text. Their content is exact: a
//! snippet may contain any lines, including lines that would be headers or bullets in a text. The range of an
//! item or fault is the index of its request in the list.
//!
//! ```
//! use working_memory::domain::dsl::requests::{OperationRequest, read};
//!
//! let requests: Vec<OperationRequest> = serde_json::from_str(
//!     r#"[{"op": "add", "section": "learnings", "reason": "CI has no database", "content": "commit the query data"},
//!         {"op": "archive", "id": "KL-1", "reason": " "}]"#,
//! )?;
//! let parsed = read(&requests);
//! assert_eq!(parsed.items[0].range, 0..0);
//! assert_eq!((parsed.faults[0].kind.name(), parsed.faults[0].range.start), ("missing_reason", 1));
//! # Ok::<(), serde_json::Error>(())
//! ```

use super::Parsed;
use super::headers::List;
use super::items::{self, after_because};
use super::lines::is_no_change;
use super::progress::Block;
use crate::domain::consolidation::Ground;
use crate::domain::document::{Expiry, Marks};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Fault, FaultKind, Operation, Role};
use crate::domain::text::lines::document_line;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;
use utoipa::ToSchema;

/// One operation.
// A missing text is read as an empty one, which is a fault of the item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case", try_from = "Members")]
pub enum OperationRequest {
    /// A new record.
    Add {
        /// Where it goes.
        section: RecordSection,
        /// Why it is worth keeping.
        reason: String,
        /// What a snippet is, such as a file path or a config key. Of snippets only, and they need one.
        #[schema(nullable = false)]
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The insight, one line, or the snippet, stored as it is.
        content: String,
        /// The record whose place it takes: it is archived, by an operation of the same request or else for this
        /// one's reason, and names the new one in `superseded_by`.
        #[schema(nullable = false, example = "KL-1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
        /// Whether it is pinned: no model archives it.
        #[schema(required = false)]
        #[serde(skip_serializing_if = "is_false")]
        pinned: bool,
        /// Until when it holds: a date (the last day, UTC) or a time (RFC 3339). `never`, the default, for no end.
        #[schema(value_type = Option<String>, nullable = false, example = "2027-08-31")]
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Expiry>,
    },
    /// Pins a record or lets it go, or gives it another end. What is absent stays; one of `pinned` and `until` is needed.
    Mark {
        /// Its id.
        #[schema(example = "KL-2")]
        id: String,
        /// Why.
        reason: String,
        /// Whether it is pinned from now on: no model archives it, and it does not leave the window.
        #[schema(nullable = false)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        /// Until when it holds: a date (the last day, UTC), a time (RFC 3339) or `never`.
        #[schema(value_type = Option<String>, nullable = false, example = "2027-08-31")]
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Expiry>,
    },
    /// Takes a learning or snippet out of the document. With one of `duplicate_of`, `superseded_by` and `expired` it is
    /// checked that nothing is lost with it, and a record of any kind can be named.
    Archive {
        /// Its id.
        #[schema(example = "KL-2")]
        id: String,
        /// Why.
        reason: String,
        /// The active record of the same kind that says all that it says.
        #[schema(nullable = false, example = "KL-1")]
        #[serde(skip_serializing_if = "Option::is_none")]
        duplicate_of: Option<String>,
        /// The newer active record of the same kind that says what has changed of it.
        #[schema(nullable = false, example = "KL-3")]
        #[serde(skip_serializing_if = "Option::is_none")]
        superseded_by: Option<String>,
        /// It has ended: by its `until`, or by a date that its text presents as its end.
        #[schema(required = false)]
        #[serde(skip_serializing_if = "is_false")]
        expired: bool,
    },
    /// Puts one new learning in the place of several: they are archived and name it in `superseded_by`. It has to say all
    /// that they say and nothing else.
    Merge {
        /// The learnings, two to ten.
        #[schema(example = json!(["KL-1", "KL-2"]))]
        ids: Vec<String>,
        /// Why.
        reason: String,
        /// The new learning, one line.
        content: String,
    },
    /// Replaces `Current Progress` as a whole.
    RewriteProgress {
        /// What is done.
        #[schema(required = false)]
        completed: Vec<String>,
        /// What is being done.
        #[schema(min_items = 1)]
        in_progress: Vec<String>,
        /// What is left to do.
        #[schema(required = false)]
        remaining: Vec<String>,
    },
}

/// A section that records are added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordSection {
    /// `Key Learnings`.
    Learnings,
    /// `Verbatim Context`.
    Verbatim,
}

impl RecordSection {
    fn role(self) -> Role {
        match self {
            Self::Learnings => Role::Learnings,
            Self::Verbatim => Role::Verbatim,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Op {
    Add,
    Archive,
    Merge,
    Mark,
    RewriteProgress,
}

/// The members of all operations. A misplaced member is reported with its path.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    #[serde(skip_serializing)]
    op: Op,
    section: Option<RecordSection>,
    reason: Option<String>,
    label: Option<String>,
    content: Option<String>,
    replaces: Option<String>,
    pinned: Option<bool>,
    until: Option<Expiry>,
    id: Option<String>,
    ids: Option<Vec<String>>,
    duplicate_of: Option<String>,
    superseded_by: Option<String>,
    expired: Option<bool>,
    completed: Option<Vec<String>>,
    in_progress: Option<Vec<String>>,
    remaining: Option<Vec<String>>,
}

impl TryFrom<Members> for OperationRequest {
    type Error = String;

    fn try_from(members: Members) -> Result<Self, String> {
        members.check()?;
        let reason = members.reason.unwrap_or_default();
        Ok(match members.op {
            Op::Add => Self::Add {
                section: members
                    .section
                    .ok_or("missing field `section`: `learnings` or `verbatim`")?,
                reason,
                label: members.label,
                content: members.content.unwrap_or_default(),
                replaces: members.replaces,
                pinned: members.pinned.unwrap_or_default(),
                until: members.until,
            },
            Op::Mark => Self::Mark {
                id: members.id.unwrap_or_default(),
                reason,
                pinned: members.pinned,
                until: members.until,
            },
            Op::Archive => Self::Archive {
                id: members.id.unwrap_or_default(),
                reason,
                duplicate_of: members.duplicate_of,
                superseded_by: members.superseded_by,
                expired: members.expired.unwrap_or_default(),
            },
            Op::Merge => Self::Merge {
                ids: members.ids.unwrap_or_default(),
                reason,
                content: members.content.unwrap_or_default(),
            },
            Op::RewriteProgress => Self::RewriteProgress {
                completed: members.completed.unwrap_or_default(),
                in_progress: members.in_progress.unwrap_or_default(),
                remaining: members.remaining.unwrap_or_default(),
            },
        })
    }
}

impl Members {
    /// Rejects members that belong to another operation, and several grounds of one archiving.
    fn check(&self) -> Result<(), String> {
        let is_snippet = self.section == Some(RecordSection::Verbatim);
        let (name, own) = match self.op {
            Op::Add if is_snippet => (
                "add to `verbatim`",
                "section, reason, label, content, replaces, pinned, until",
            ),
            Op::Add => ("add", "section, reason, content, replaces, pinned, until"),
            Op::Mark => ("mark", "id, reason, pinned, until"),
            Op::Archive => ("archive", "id, reason, duplicate_of, superseded_by, expired"),
            Op::Merge => ("merge", "ids, reason, content"),
            Op::RewriteProgress => ("rewrite_progress", "completed, in_progress, remaining"),
        };
        let present = json!(self);
        let mut present = present.as_object().into_iter().flatten();
        let is_foreign = |(member, value): &(&String, &Value)| {
            !value.is_null() && !own.split(", ").any(|known| known == *member)
        };
        if let Some((member, _)) = present.find(is_foreign) {
            return Err(format!(
                "field `{member}` does not belong to {name}, which takes {own}"
            ));
        }
        let grounds = [
            self.duplicate_of.is_some(),
            self.superseded_by.is_some(),
            self.expired == Some(true),
        ];
        match grounds.into_iter().filter(|given| *given).count() > 1 {
            true => Err("give one of `duplicate_of`, `superseded_by` and `expired`".to_owned()),
            false => Ok(()),
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Returns the position of the first NUL, which cannot be stored: the path of the text and the byte offset in
/// it.
#[must_use]
pub fn first_nul(requests: &[OperationRequest]) -> Option<(String, usize)> {
    fn within(value: &Value, path: String) -> Option<(String, usize)> {
        match value {
            Value::String(text) => text.find('\0').map(|at| (path, at)),
            Value::Array(values) => {
                let mut values = values.iter().enumerate();
                values.find_map(|(place, value)| within(value, format!("{path}[{place}]")))
            }
            Value::Object(members) => {
                let mut members = members.iter();
                members.find_map(|(name, value)| within(value, format!("{path}.{name}")))
            }
            _ => None,
        }
    }
    within(&json!(requests), "operations".to_owned())
}

/// Converts requests like [`parse`](crate::domain::dsl::parse) converts a text. Total: every list has a
/// result.
#[must_use]
pub fn read(requests: &[OperationRequest]) -> Parsed {
    let mut parsed = Parsed::default();
    for (index, request) in requests.iter().enumerate() {
        let range = index..index;
        let Some(outcome) = operation(request, &range, &mut parsed) else {
            continue;
        };
        match outcome {
            Ok(operation) => {
                if is_folded(request) {
                    parsed.fault(items::joined().at(operation.role(), range.clone()));
                }
                parsed.accept(operation, range);
            }
            Err(wrong) => {
                let section = match request {
                    OperationRequest::Add { section, .. } => Some(section.role()),
                    OperationRequest::Merge { .. } => Some(Role::Learnings),
                    OperationRequest::RewriteProgress { .. } => Some(Role::Progress),
                    _ => wrong.id.and_then(|id| Role::of_records(id.kind)),
                };
                parsed.fault(wrong.at(section, range));
            }
        }
    }
    parsed
}

/// Whether the lines of a learning are joined.
fn is_folded(request: &OperationRequest) -> bool {
    matches!(request, OperationRequest::Add { section: RecordSection::Learnings, content, .. }
        if content.trim().contains('\n'))
}

/// The operation that a request asks for, or its fault. Faulty bullets of progress are reported one by one; `None` if nothing
/// else is wrong but them.
fn operation(
    request: &OperationRequest,
    range: &Range<usize>,
    parsed: &mut Parsed,
) -> Option<Result<Operation, Fault>> {
    Some(match request {
        OperationRequest::Add {
            section,
            reason,
            label,
            content,
            replaces,
            pinned,
            until,
        } => {
            let line = || document_line(content).trim().to_owned();
            let label = document_line(label.as_deref().unwrap_or_default());
            let (label, content) = match section {
                RecordSection::Verbatim => (Some(label.trim()), content.clone()),
                RecordSection::Learnings => (None, line()),
            };
            let replaces = replaces.as_deref().map(|id| replaced(id, section.role()));
            let marks = Marks::default().changed(Some(*pinned), *until);
            items::addition(&reason_of(reason), label, content).and_then(|added| {
                Ok(Operation::Add(AddedRecord {
                    replaces: replaces.transpose()?,
                    marks,
                    ..added
                }))
            })
        }
        OperationRequest::Merge { ids, reason, content } => {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            items::merged(&ids, &reason_of(reason), document_line(content).trim()).map(Operation::Add)
        }
        OperationRequest::Archive {
            id,
            reason,
            duplicate_of,
            superseded_by,
            expired,
        } => {
            let reason = reason_of(reason);
            items::on_record(id, &reason, None, |id| {
                let grounds = (duplicate_of.as_deref(), superseded_by.as_deref());
                let ground = ground(id, grounds, *expired)?;
                let reason = reason.clone();
                Ok(Operation::Archive { id, reason, ground })
            })
        }
        OperationRequest::Mark {
            id,
            reason,
            pinned,
            until,
        } => {
            let reason = reason_of(reason);
            items::on_record(id, &reason, None, |id| match (pinned, until) {
                (None, None) => Err(items::no_mark()),
                _ => Ok(Operation::Mark {
                    id,
                    reason: reason.clone(),
                    pinned: *pinned,
                    until: *until,
                }),
            })
        }
        OperationRequest::RewriteProgress {
            completed,
            in_progress,
            remaining,
        } => {
            let mut block = Block::new(range.clone());
            for (list, bullets) in [
                (List::Completed, completed),
                (List::InProgress, in_progress),
                (List::Remaining, remaining),
            ] {
                // As in a text: models fill a list that a schema requires with `none`.
                for bullet in bullets.iter().filter(|bullet| !is_no_change(bullet)) {
                    block.bullet(Some(list), document_line(bullet), range.clone(), parsed);
                }
            }
            block.finish(parsed)?.map(|item| item.operation)
        }
    })
}

/// Normalises a reason to one line, without a leading `because` and a trailing colon.
fn reason_of(text: &str) -> String {
    let text = document_line(text);
    let bare = after_because(&text).unwrap_or(&text);
    bare.trim().trim_end_matches(':').trim_end().to_owned()
}

/// Parses the id of the record that an addition to a section replaces.
fn replaced(id: &str, role: Role) -> Result<RecordId, Fault> {
    let read = items::record_id(id, role.record_kind())?;
    if Some(read.kind) == role.record_kind() {
        return Ok(read);
    }
    let detail = format!("{read} is of another section than what replaces it");
    Err(Fault::new(FaultKind::WrongSectionId, detail))
}

/// The ground of an archiving, if it has one and needs none for its kind.
fn ground(
    id: RecordId,
    (duplicate_of, superseded_by): (Option<&str>, Option<&str>),
    expired: bool,
) -> Result<Option<Ground>, Fault> {
    let ground = match (duplicate_of, superseded_by) {
        (Some(name), _) => Some(Ground::DuplicateOf(items::record_id(name, None)?)),
        (_, Some(name)) => Some(Ground::SupersededBy(items::record_id(name, None)?)),
        _ => expired.then_some(Ground::Expired),
    };
    if ground.is_none() && !matches!(id.kind, RecordKind::Learning | RecordKind::Verbatim) {
        let detail = format!("{id} is neither a learning (KL-) nor a snippet (VC-)");
        return Err(Fault::new(FaultKind::WrongSectionId, detail));
    }
    Ok(ground)
}
