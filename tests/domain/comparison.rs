//! The difference of two documents, and what a put of a whole text would drop.

use crate::hostile::document;
use proptest::prelude::*;
use working_memory::domain::document::sections_changed;
use working_memory::domain::memory::{Collapse, RecordChange, collapse, project};

#[test]
fn a_text_that_drops_more_than_half_or_any_record_is_a_collapse() {
    let records = "# Key Learnings\n- KL-1 a lesson\n- KL-3 b\n";
    let bytes = |before, after| Collapse::BytesDropped { before, after };
    let dropped = |ids: &[&str]| {
        let ids = ids.iter().map(|id| id.parse().expect("an id"));
        Collapse::RecordsDropped(ids.collect())
    };
    for (before, after, expected) in [
        ("", "x", vec![]),
        ("1234", "12", vec![]),
        ("1234", "1", vec![bytes(4, 1)]),
        ("12345", "12", vec![bytes(5, 2)]),
        (
            records,
            "# Key Learnings\n- KL-1 a lesson\n",
            vec![dropped(&["KL-3"])],
        ),
        (
            records,
            "x",
            vec![bytes(records.len(), 1), dropped(&["KL-1", "KL-3"])],
        ),
    ] {
        assert_eq!(
            collapse(before, after, &project(before, after)),
            expected,
            "{before} {after}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reverse_comparison_is_the_inverse(before in document(), after in document()) {
        let inverse = |change: RecordChange| match change {
            RecordChange::Added(record) => RecordChange::Archived(record),
            RecordChange::Archived(record) => RecordChange::Added(record),
            RecordChange::Changed { old, new } => RecordChange::Changed { old: new, new: old },
        };
        let by_id = |change: &RecordChange| match change {
            RecordChange::Added(record) | RecordChange::Archived(record) => record.id,
            RecordChange::Changed { new, .. } => new.id,
        };
        let mut there: Vec<_> = project(&before, &after).into_iter().map(inverse).collect();
        let mut back = project(&after, &before);
        there.sort_by_key(by_id);
        back.sort_by_key(by_id);
        prop_assert_eq!(there, back);
        let (there, back) = (sections_changed(&before, &after), sections_changed(&after, &before));
        prop_assert_eq!(there.progress, back.progress);
        prop_assert_eq!(there.free.len(), back.free.len());
    }
}
