//! Property tests of blame: which version introduced each line of a document.

use crate::hostile::document;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use working_memory::domain::document::Origins;

/// A sequence of texts: with few different lines, so that lines repeat, move and are added again.
fn history() -> impl Strategy<Value = Vec<String>> {
    let line = select(vec!["a", "b", "c", "d", "e", "", "  ", "# x", "- y"]);
    let end = select(vec!["\n", "\n", "\n", "\r\n"]);
    let text = (vec((line, end), 0..9), any::<bool>()).prop_map(|(lines, open)| {
        let text: String = lines.into_iter().flat_map(|(line, end)| [line, end]).collect();
        match text.strip_suffix('\n') {
            Some(shorter) if open => shorter.to_owned(),
            _ => text,
        }
    });
    prop_oneof![vec(text, 1..7), vec(document(), 1..4)]
}

/// The origins of the last text; versions are counted from 1.
fn origins(history: &[String]) -> Origins {
    let mut origins = Origins::of_first(&history[0], 1);
    for (pair, version) in history.windows(2).zip(2..) {
        origins = origins.after(&pair[0], &pair[1], version);
    }
    origins
}

fn count(text: &str, line: &str) -> usize {
    text.lines().filter(|other| *other == line).count()
}

fn index(version: i64) -> usize {
    usize::try_from(version - 1).expect("a version")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_is_in_all_versions_since_its_own(history in history()) {
        let last = history.last().expect("a text");
        let origins = origins(&history);
        prop_assert_eq!(origins.lines(), last.lines().count());
        for (line, version) in last.lines().zip(origins.versions()) {
            for (text, since) in history[index(version)..].iter().zip(version..) {
                prop_assert!(count(text, line) > 0, "{:?} of {} is not in {}", line, version, since);
            }
        }
    }

    #[test]
    fn a_line_added_once_belongs_to_the_first_version_that_contains_it(history in history()) {
        let last = history.last().expect("a text");
        for (line, version) in last.lines().zip(origins(&history).versions()) {
            let counts: Vec<_> = history.iter().map(|text| count(text, line)).collect();
            if !line.trim().is_empty() && counts.iter().all(|count| *count < 2) {
                let first = counts.iter().rposition(|count| *count == 0).map_or(0, |missing| missing + 1);
                prop_assert_eq!(index(version), first, "{:?}", line);
            }
        }
    }

    #[test]
    fn a_version_introduces_at_most_its_own_lines_and_unchanged_text_changes_nothing(history in history()) {
        let last = history.last().expect("a text");
        let origins = origins(&history);
        for run in origins.runs() {
            let of_version = origins.versions().filter(|version| *version == run.version).count();
            prop_assert!(of_version <= history[index(run.version)].lines().count());
        }
        prop_assert_eq!(origins.after(last, last, 99), origins);
    }

    #[test]
    fn origins_are_read_back_as_written(history in history()) {
        let origins = origins(&history);
        prop_assert_eq!(Origins::from_runs(origins.runs().iter().copied()), origins);
    }
}
