//! Property test of headings: each starts its range and is found by its path.

use crate::hostile::document;
use proptest::prelude::*;
use working_memory::domain::document::{find_section, headings};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_heading_starts_its_range_and_is_found_by_its_path(document in document()) {
        let headings = headings(&document);
        for heading in headings.all() {
            let text = &document[heading.range.clone()];
            let marks = "#".repeat(heading.level.into()) + " ";
            prop_assert!(text.starts_with(&marks));
            prop_assert!(find_section(&document, &headings.path(heading)).is_some());
        }
        for pair in headings.all().windows(2) {
            let (first, second) = (&pair[0].range, &pair[1].range);
            prop_assert!(first.start < second.start);
            prop_assert!(first.end == second.start || first.end >= second.end);
        }
    }
}
