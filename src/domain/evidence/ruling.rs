//! The ruling on an unsupported item.

use crate::domain::operation::FaultKind;

/// A problem with an item, or with one of its bullets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The message.
    pub detail: String,
    /// The bullet, if the ruling does not concern the whole item.
    pub bullet: Option<String>,
    /// Whether it is only a warning: the item or bullet is applied.
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
    let detail = "It contains a credential, which a memory must not keep; say where it is kept instead.";
    Ruling::of(FaultKind::Secret, detail)
}
