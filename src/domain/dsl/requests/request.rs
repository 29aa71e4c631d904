//! One operation as requested by a caller, and its JSON format.

use crate::domain::document::Expiry;
use crate::domain::dsl::headers::List;
use crate::domain::operation::Role;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};
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
    /// Pins a record or lets it go, or gives it another end. What is absent stays as it is; one of `pinned` and `until` is
    /// needed.
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames, ToSchema,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RecordSection {
    /// `Key Learnings`.
    Learnings,
    /// `Verbatim Context`.
    Verbatim,
}

impl RecordSection {
    pub(super) fn role(self) -> Role {
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
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
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
        let Members {
            op,
            section,
            reason,
            label,
            content,
            replaces,
            pinned,
            until,
            id,
            ids,
            duplicate_of,
            superseded_by,
            expired,
            completed,
            in_progress,
            remaining,
        } = members;
        let reason = reason.unwrap_or_default();
        Ok(match op {
            Op::Add => Self::Add {
                section: section.ok_or("missing field `section`: `learnings` or `verbatim`")?,
                reason,
                label,
                content: content.unwrap_or_default(),
                replaces,
                pinned: pinned.unwrap_or_default(),
                until,
            },
            Op::Mark => Self::Mark {
                id: id.unwrap_or_default(),
                reason,
                pinned,
                until,
            },
            Op::Archive => {
                let expired = expired.unwrap_or_default();
                let grounds = [duplicate_of.is_some(), superseded_by.is_some(), expired];
                if grounds.into_iter().filter(|given| *given).count() > 1 {
                    return Err("give one of `duplicate_of`, `superseded_by` and `expired`".to_owned());
                }
                Self::Archive {
                    id: id.unwrap_or_default(),
                    reason,
                    duplicate_of,
                    superseded_by,
                    expired,
                }
            }
            Op::Merge => Self::Merge {
                ids: ids.unwrap_or_default(),
                reason,
                content: content.unwrap_or_default(),
            },
            Op::RewriteProgress => Self::RewriteProgress {
                completed: completed.unwrap_or_default(),
                in_progress: in_progress.unwrap_or_default(),
                remaining: remaining.unwrap_or_default(),
            },
        })
    }
}

impl Members {
    /// Rejects members that belong to another operation.
    fn check(&self) -> Result<(), String> {
        let is_snippet = self.section == Some(RecordSection::Verbatim);
        let (name, own): (_, &[&str]) = match self.op {
            Op::Add if is_snippet => (
                "add to `verbatim`",
                &[
                    "section", "reason", "label", "content", "replaces", "pinned", "until",
                ],
            ),
            Op::Add => (
                "add",
                &["section", "reason", "content", "replaces", "pinned", "until"],
            ),
            Op::Mark => ("mark", &["id", "reason", "pinned", "until"]),
            Op::Archive => (
                "archive",
                &["id", "reason", "duplicate_of", "superseded_by", "expired"],
            ),
            Op::Merge => ("merge", &["ids", "reason", "content"]),
            Op::RewriteProgress => ("rewrite_progress", &["completed", "in_progress", "remaining"]),
        };
        let present = [
            ("section", self.section.is_some()),
            ("reason", self.reason.is_some()),
            ("label", self.label.is_some()),
            ("content", self.content.is_some()),
            ("replaces", self.replaces.is_some()),
            ("pinned", self.pinned.is_some()),
            ("until", self.until.is_some()),
            ("id", self.id.is_some()),
            ("ids", self.ids.is_some()),
            ("duplicate_of", self.duplicate_of.is_some()),
            ("superseded_by", self.superseded_by.is_some()),
            ("expired", self.expired.is_some()),
            ("completed", self.completed.is_some()),
            ("in_progress", self.in_progress.is_some()),
            ("remaining", self.remaining.is_some()),
        ];
        match present
            .iter()
            .find(|(member, present)| *present && !own.contains(member))
        {
            Some((member, _)) => Err(format!(
                "field `{member}` does not belong to {name}, which takes {}",
                own.join(", ")
            )),
            None => Ok(()),
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
    requests.iter().enumerate().find_map(|(index, request)| {
        let (member, at) = request
            .texts()
            .into_iter()
            .find_map(|(member, text)| Some((member, text.find('\0')?)))?;
        Some((format!("operations[{index}].{member}"), at))
    })
}

impl OperationRequest {
    /// All texts of the operation, with the names of their members.
    fn texts(&self) -> Vec<(String, &str)> {
        match self {
            Self::Add {
                reason,
                label,
                content,
                replaces,
                ..
            } => {
                let texts = [("reason", Some(reason)), ("label", label.as_ref())];
                let rest = [("content", Some(content)), ("replaces", replaces.as_ref())];
                texts
                    .into_iter()
                    .chain(rest)
                    .filter_map(|(name, text)| Some((name.to_owned(), text?.as_str())))
                    .collect()
            }
            Self::Archive {
                id,
                reason,
                duplicate_of,
                superseded_by,
                ..
            } => {
                let texts = [("id", Some(id)), ("reason", Some(reason))];
                let kept = [
                    ("duplicate_of", duplicate_of.as_ref()),
                    ("superseded_by", superseded_by.as_ref()),
                ];
                let all = texts.into_iter().chain(kept);
                all.filter_map(|(name, text)| Some((name.to_owned(), text?.as_str())))
                    .collect()
            }
            Self::Mark { id, reason, .. } => vec![("id".to_owned(), id), ("reason".to_owned(), reason)],
            Self::Merge { ids, reason, content } => {
                let texts = [("reason".to_owned(), reason), ("content".to_owned(), content)];
                let ids = ids
                    .iter()
                    .enumerate()
                    .map(|(place, id)| (format!("ids[{place}]"), id));
                texts
                    .into_iter()
                    .chain(ids)
                    .map(|(name, text)| (name, text.as_str()))
                    .collect()
            }
            Self::RewriteProgress { .. } => self
                .bullets()
                .map(|(name, _, place, text)| (format!("{name}[{place}]"), text))
                .collect(),
        }
    }

    /// The bullets of a progress operation: list name, list, index, text.
    pub(super) fn bullets(&self) -> impl Iterator<Item = (&'static str, List, usize, &str)> {
        let lists: [(&'static str, List, &[String]); 3] = match self {
            Self::RewriteProgress {
                completed,
                in_progress,
                remaining,
            } => [
                ("completed", List::Completed, completed),
                ("in_progress", List::InProgress, in_progress),
                ("remaining", List::Remaining, remaining),
            ],
            _ => [
                ("completed", List::Completed, &[]),
                ("in_progress", List::InProgress, &[]),
                ("remaining", List::Remaining, &[]),
            ],
        };
        lists.into_iter().flat_map(|(name, list, bullets)| {
            let placed = bullets.iter().enumerate();
            placed.map(move |(place, text)| (name, list, place, text.as_str()))
        })
    }
}
