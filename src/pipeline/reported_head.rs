//! The head that a response reports.

use crate::domain::ids::ContextId;
use crate::storage::Head;

/// The head that a response reports.
pub(super) struct ReportedHead<'h> {
    pub(super) version: i64,
    pub(super) context_id: Option<&'h ContextId>,
    pub(super) text: &'h str,
}

impl<'h> From<&'h Head> for ReportedHead<'h> {
    fn from(head: &'h Head) -> Self {
        Self {
            version: head.version,
            context_id: head.context_id.as_ref(),
            text: &head.text,
        }
    }
}
