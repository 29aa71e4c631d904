//! Checks that a record line can represent a reason unchanged: `because <reason>: <content>` is one line, and
//! the reason ends at its first colon followed by a blank.

use crate::domain::document::end_of_reason;
use crate::domain::text::lines::LINE_ENDS;

/// Why a record line cannot represent a reason. The message may be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnwritableReason {
    /// It contains a line break, at this byte offset.
    #[error("must be one line: it has a line break at byte {0}; write one sentence")]
    LineBreak(usize),
    /// It contains a colon followed by a blank, which would end it early, at this byte offset.
    #[error(
        "must not hold a colon that a blank follows, since that ends the reason on the record's line: there is one at \
         byte {0}; use a dash or a comma, or tell the rest in the decision"
    )]
    Colon(usize),
}

/// Checks that a reason can be stored unchanged, apart from surrounding blanks.
///
/// # Errors
/// [`UnwritableReason`].
pub fn check_reason(reason: &str) -> Result<(), UnwritableReason> {
    let begin = reason.len() - reason.trim_start().len();
    let trimmed = reason.trim();
    if let Some(at) = trimmed.find(LINE_ENDS) {
        return Err(UnwritableReason::LineBreak(begin + at));
    }
    match end_of_reason(trimmed).filter(|colon| colon + 1 < trimmed.len()) {
        Some(colon) => Err(UnwritableReason::Colon(begin + colon)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::records;
    use crate::domain::memory::Counters;
    use crate::domain::window::{Sizes, record_decision};
    use chrono::DateTime;
    use proptest::prelude::*;

    #[test]
    fn what_the_line_would_alter_is_refused() {
        assert_eq!(check_reason(" std::fs blocks, 10:30 is late: "), Ok(()));
        assert_eq!(check_reason("a: b"), Err(UnwritableReason::Colon(1)));
        assert_eq!(check_reason(" a:\tb"), Err(UnwritableReason::Colon(2)));
        assert_eq!(check_reason("a\nb: c"), Err(UnwritableReason::LineBreak(1)));
        assert_eq!(check_reason("a\u{2028}b"), Err(UnwritableReason::LineBreak(1)));
    }

    proptest! {
        #[test]
        fn an_accepted_reason_is_read_back_unchanged(reason in "(because |: )?\\PC{0,8}[: \t\n\r]{0,3}\\PC{1,8}:?") {
            prop_assume!(!reason.trim().is_empty() && check_reason(&reason).is_ok());
            let sizes = Sizes { tasks: 5, decisions: 5, context_bytes: 100_000 };
            let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
            let decision = ("keep it", Some(reason.as_str()));
            let written = record_decision("", Counters::default(), now, decision, None, &sizes).unwrap();
            let found = records(&written.text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(found[0].reason.as_deref(), Some(reason.trim()));
            prop_assert_eq!(found[0].content.as_str(), "keep it");
        }
    }
}
