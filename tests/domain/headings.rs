//! Headings of all levels, their paths, and sections found by path.

use crate::hostile::document;
use proptest::prelude::*;
use working_memory::domain::document::{ManagedSection, find_section, headings};

const DOCUMENT: &str = "\
intro
# Facts:
## Network ##
### DNS
10.0.0.1
## CI/CD
x
# Current Progress
## Completed
- parser
  ## not a heading
```
## neither
```
# Key Learnings
- KL-1 insight
  ## part of it
###### deep
####### seven
##none
# Facts
## Network
second
";

fn found() -> Vec<(u8, String, Option<ManagedSection>)> {
    let headings = headings(DOCUMENT);
    let all = headings.all().iter();
    all.map(|heading| (heading.level, headings.path(heading), heading.managed))
        .collect()
}

#[test]
fn headings_are_found_outside_fences_and_records() {
    let progress = Some(ManagedSection::CurrentProgress);
    let learnings = Some(ManagedSection::KeyLearnings);
    let expected = [
        (1, "Facts:", None),
        (2, "Facts:/Network", None),
        (3, "Facts:/Network/DNS", None),
        (2, "Facts:/CI/CD", None),
        (1, "Current Progress", progress),
        (2, "Current Progress/Completed", progress),
        (1, "Key Learnings", learnings),
        (6, "Key Learnings/deep", learnings),
        (1, "Facts", None),
        (2, "Facts/Network", None),
    ];
    assert_eq!(
        found(),
        expected.map(|(level, path, of)| (level, path.to_owned(), of))
    );
}

#[test]
fn a_section_is_found_by_the_path_of_its_titles() {
    for (path, text) in [
        ("Facts/Network", "## Network ##\n### DNS\n10.0.0.1\n"),
        ("facts / network:", "## Network ##\n### DNS\n10.0.0.1\n"),
        ("FACTS/Network/dns", "### DNS\n10.0.0.1\n"),
        ("facts/ci/cd", "## CI/CD\nx\n"),
        ("key learnings/deep", "###### deep\n####### seven\n##none\n"),
        ("learnings/deep", "###### deep\n####### seven\n##none\n"),
    ] {
        assert_eq!(find_section(DOCUMENT, path), Some(text), "{path}");
    }
    assert!(
        find_section(DOCUMENT, "progress/completed").is_some_and(|text| text.starts_with("## Completed"))
    );
    for missing in "Network DNS Facts/DNS Facts/ /Facts / Facts/Network/DNS/x cd".split(' ') {
        assert_eq!(find_section(DOCUMENT, missing), None, "{missing}");
    }
    assert_eq!(
        find_section("## Early\nx\n# Late\n", "early"),
        Some("## Early\nx\n")
    );
}

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
