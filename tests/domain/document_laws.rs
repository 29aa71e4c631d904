//! Property tests of parsing: what the service writes is parsed back byte for byte, and every document can be parsed.

use crate::hostile::{document, lines, text};
use crate::now;
use proptest::prelude::*;
use working_memory::domain::document::{
    find_section, headings, location_of, outline, record_ranges, records, unified_diff,
};
use working_memory::domain::memory::{Counters, Limits, apply};
use working_memory::domain::operation::Operation;

const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// A line that a record line can contain unchanged.
fn sayable() -> impl Strategy<Value = String> {
    text(8)
        .prop_map(|text| text.trim_matches(BLANKS).to_owned())
        .prop_filter("it says something", |text| !text.is_empty())
}

/// A line that can be a reason unchanged: no `:` followed by a space.
fn reason() -> impl Strategy<Value = String> {
    sayable().prop_filter("it does not end early", |text| {
        !BLANKS.iter().any(|b| text.contains(&format!(":{b}")))
    })
}

fn label() -> impl Strategy<Value = String> {
    sayable().prop_filter("it does not end early", |text| !text.contains("=>"))
}

/// A snippet as it is stored: its last line is not blank and has no line end.
fn snippet() -> impl Strategy<Value = String> {
    let last = text(5).prop_filter("it says something", |text| {
        !text.chars().all(|c| BLANKS.contains(&c)) && !text.ends_with('\r')
    });
    (lines(), last).prop_map(|(lines, last)| lines.replace('\0', "\n") + &last)
}

/// The document after operations: reason, label, content of its last record.
fn last_record(document: &str, operation: Operation) -> (Option<String>, Option<String>, String) {
    let limits = Limits {
        context_bytes: usize::MAX,
        ..crate::LIMITS
    };
    let applied = apply(document, Counters::default(), &[operation], now(), &limits).expect("applied");
    let applied_operation = applied.operations.last().expect("an operation");
    let record = records(&applied.text)
        .into_iter()
        .find(|record| Some(record.id) == applied_operation.id)
        .expect("the record");
    assert_eq!(record.time, Some(now()));
    let reported = (
        &applied_operation.reason,
        &applied_operation.label,
        applied_operation.content.as_ref(),
    );
    assert_eq!((&record.reason, &record.label, Some(&record.content)), reported);
    (record.reason, record.label, record.content)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_element_at_a_byte_matches_the_outline_and_the_records(document in document(), at in any::<prop::sample::Index>()) {
        // To which section blank lines belong depends only on what follows, and no word starts there.
        let words: Vec<usize> = document.char_indices().filter(|(_, c)| !c.is_whitespace()).map(|(byte, _)| byte).collect();
        prop_assume!(!words.is_empty());
        let byte = words[at.index(words.len())];
        let record = record_ranges(&document).into_iter().find(|(_, range)| range.contains(&byte));
        let section = outline(&document).into_iter().find(|section| section.range.contains(&byte));
        let expected = (record.map(|(id, _)| id), section.map(|section| section.title));
        prop_assert_eq!(location_of(&document, byte), expected);
    }

    #[test]
    fn a_learning_is_parsed_back_unchanged(document in document(), reason in reason(), content in sayable()) {
        let read = last_record(&document, Operation::learning(&reason, &content));
        prop_assert_eq!(read, (Some(reason), None, content));
    }

    #[test]
    fn a_snippet_is_parsed_back_byte_for_byte(
        document in document(), reason in reason(), label in label(), snippet in snippet(),
    ) {
        let operation = Operation::snippet(&reason, &label, &snippet);
        prop_assert_eq!(last_record(&document, operation), (Some(reason), Some(label), snippet));
    }

    #[test]
    fn sections_cover_a_document_from_its_first_heading(document in document()) {
        let sections = outline(&document);
        for pair in sections.windows(2) {
            prop_assert_eq!(pair[0].range.end, pair[1].range.start);
        }
        prop_assert!(sections.last().is_none_or(|last| last.range.end == document.len()));
        for section in &sections {
            prop_assert!(document[section.range.clone()].starts_with("# "));
            prop_assert_eq!(section.body.end, section.range.end);
            prop_assert!(find_section(&document, &section.title).is_some());
        }
    }

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

    #[test]
    fn active_records_have_different_ids(document in document()) {
        let mut ids: Vec<_> = records(&document).into_iter().map(|record| record.id).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
    }

    #[test]
    fn a_diff_contains_both_texts(before in document(), after in document()) {
        let diff = unified_diff(&before, &after, "a", "b");
        prop_assert_eq!(diff.is_empty(), before == after);
        prop_assert_eq!(&diff, &unified_diff(&before, &after, "a", "b"));
        prop_assert_eq!(patched(&before, &diff), after);
    }
}

/// A text with a unified diff applied to it: a parser that shares no code with the writer.
fn patched(before: &str, diff: &str) -> String {
    let mut old = before.split_inclusive('\n');
    let (mut taken, mut out, mut last_mark) = (0, String::new(), ' ');
    for line in diff.split_inclusive('\n').skip(2) {
        let (mark, rest) = line.split_at(1);
        match mark {
            "@" => {
                let range = rest.split(['-', ' ']).nth(2).expect("a range");
                let (start, length) = range.split_once(',').unwrap_or((range, "1"));
                let start: usize = start.parse().expect("a line number");
                let first = if length == "0" { start } else { start - 1 };
                out.extend(old.by_ref().take(first - taken));
                taken = first;
            }
            "\\" => {
                if last_mark != '-' {
                    out.truncate(out.len() - 1);
                }
            }
            _ => {
                if mark != "+" {
                    taken += 1;
                    old.next();
                }
                if mark != "-" {
                    out.push_str(rest);
                }
            }
        }
        last_mark = mark.chars().next().expect("a mark");
    }
    out.extend(old);
    out
}
