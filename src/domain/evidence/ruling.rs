//! What is said of an item that is not carried.

use crate::domain::operation::FaultKind;

/// What is wrong with an item, or with a bullet of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What kind.
    pub kind: FaultKind,
    /// A sentence.
    pub detail: String,
    /// The bullet, where it is not about the whole item.
    pub bullet: Option<String>,
    /// It is only told; the item or bullet is applied.
    pub is_warning: bool,
}

impl Ruling {
    pub(super) fn of(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            bullet: None,
            is_warning: false,
        }
    }
}

pub(super) fn example() -> Ruling {
    let detail =
        "It is an example of the instructions; write what the task and the messages say, or leave it out.";
    Ruling::of(FaultKind::Example, detail)
}

pub(super) fn not_comparable() -> Ruling {
    let detail =
        "It shares no script with the task and the messages, so its words could not be compared with theirs.";
    Ruling {
        is_warning: true,
        ..Ruling::of(FaultKind::Ungrounded, detail)
    }
}

pub(super) fn secret() -> Ruling {
    let detail = "It holds a credential, which a memory may not keep; say where it is kept instead.";
    Ruling::of(FaultKind::Secret, detail)
}
