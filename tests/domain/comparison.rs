//! The difference of two documents, and what a put of a whole text would drop.

use crate::hostile::document;
use proptest::prelude::*;
use working_memory::domain::document::Record;
use working_memory::domain::memory::{Collapse, collapse, compare, project};

const BEFORE: &str = "\
# Notes
one

# Current Progress
## In Progress
- parser

# Key Learnings
- KL-1 [2026-11-21T02:00:00Z] because a: stays
- KL-2 because b: changes
- KL-3 because c: goes

# Gone
x
";
const AFTER: &str = "\
# Notes
one
# Notes
another

# Current Progress
## In Progress
- route

# Key Learnings
- KL-1 [2026-11-21T02:00:00Z] because a: stays
- KL-2 because b: changed
- KL-4 because d: comes
";

fn ids(records: &[Record]) -> Vec<String> {
    records.iter().map(|record| record.id.to_string()).collect()
}

#[test]
fn records_and_sections_are_compared() {
    let comparison = compare(BEFORE, AFTER);

    assert_eq!(ids(&comparison.added), ["KL-4"]);
    assert_eq!(ids(&comparison.archived), ["KL-3"]);
    let [(before, after)] = &comparison.changed[..] else {
        panic!("{comparison:?}")
    };
    assert_eq!(
        (before.content.as_str(), after.content.as_str()),
        ("changes", "changed")
    );
    assert!(comparison.sections.progress);
    assert_eq!(comparison.sections.free, ["Notes", "Gone"]);
    assert_eq!(compare(BEFORE, BEFORE), compare("", ""));
}

#[test]
fn a_section_appended_after_a_free_one_does_not_change_it() {
    let before = "# Facts\nx";
    let after = "# Facts\nx\n\n# Decisions\n- D-1 because b: a\n";
    let comparison = compare(before, after);
    assert_eq!(comparison.sections, compare("", "").sections);
    assert_eq!(ids(&comparison.added), ["D-1"]);
}

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
    let dropped = Collapse::RecordsDropped(vec!["KL-3".parse().expect("an id")]);
    assert_eq!(lost(BEFORE, AFTER), [dropped]);
    assert_eq!(lost(BEFORE, "x").len(), 2);
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
