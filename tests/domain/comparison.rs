//! The difference of two documents, and what a put of a whole text would drop.

use crate::hostile::document;
use proptest::prelude::*;
use working_memory::domain::memory::{Collapse, collapse, compare, project};

#[test]
fn a_text_that_drops_more_than_half_or_any_record_is_a_collapse() {
    let lost = |before: &str, after: &str| collapse(before, after, &project(before, after));
    assert_eq!(lost("", "x"), []);
    assert_eq!(lost("1234", "12"), []);
    assert_eq!(
        lost("1234", "1"),
        [Collapse::BytesDropped { before: 4, after: 1 }]
    );
    assert_eq!(
        lost("12345", "12"),
        [Collapse::BytesDropped { before: 5, after: 2 }]
    );
    let before = "# Key Learnings\n- KL-1 a lesson\n- KL-3 b\n";
    let dropped = Collapse::RecordsDropped(vec!["KL-3".parse().expect("an id")]);
    assert_eq!(lost(before, "# Key Learnings\n- KL-1 a lesson\n"), [dropped]);
    assert_eq!(lost(before, "x").len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reverse_comparison_is_the_inverse(before in document(), after in document()) {
        let there = compare(&before, &after);
        let back = compare(&after, &before);
        prop_assert_eq!(&there.added, &back.archived);
        prop_assert_eq!(&there.archived, &back.added);
        prop_assert_eq!(there.changed.len(), back.changed.len());
        prop_assert_eq!(there.sections.progress, back.sections.progress);
        prop_assert_eq!(there.sections.free.len(), back.sections.free.len());
    }
}
