//! The helpers of the cases.
//!
//! A text may begin with a line break, so that it can be laid out in the test as in a model response; that first line break is
//! not part of the case.

use working_memory::domain::document::Marks;
use working_memory::domain::dsl::{Parsed, parse, parse_cut_off};
use working_memory::domain::operation::{Fault, FaultKind, Operation, Progress};

/// The case itself: the text without the line break that only lays out the test.
pub(crate) fn case(text: &str) -> &str {
    text.strip_prefix('\n').unwrap_or(text)
}

pub(crate) fn operations(parsed: &Parsed) -> Vec<Operation> {
    parsed.items.iter().map(|item| item.operation.clone()).collect()
}

pub(crate) fn kinds(parsed: &Parsed) -> Vec<FaultKind> {
    parsed.faults.iter().map(|fault| fault.kind).collect()
}

/// Parses a text and checks what is true of every result.
pub(crate) fn read(text: &str) -> Parsed {
    sound(text, parse(text))
}

/// The same of a text that its model did not finish.
pub(crate) fn read_cut_off(text: &str) -> Parsed {
    sound(text, parse_cut_off(text))
}

fn sound(text: &str, parsed: Parsed) -> Parsed {
    for range in parsed
        .items
        .iter()
        .map(|item| &item.range)
        .chain(parsed.faults.iter().map(|f| &f.range))
    {
        assert!(
            text.get(range.clone()).is_some(),
            "range {range:?} is not a slice of {text:?}"
        );
    }
    let starts: Vec<_> = parsed.faults.iter().map(|fault| fault.range.start).collect();
    assert!(
        starts.is_sorted(),
        "faults out of order in {text:?}: {:?}",
        parsed.faults
    );
    for fault in &parsed.faults {
        assert!(
            !fault.detail.trim().is_empty(),
            "a fault says what is wrong: {fault:?}"
        );
    }
    parsed
}

/// Exactly these operations, and no fault at all.
#[track_caller]
pub(crate) fn accepts<const N: usize>(text: &str, expected: [Operation; N]) {
    reads(text, expected, []);
}

/// No operation, and exactly these faults.
#[track_caller]
pub(crate) fn rejects<const M: usize>(text: &str, expected: [FaultKind; M]) {
    reads(text, [], expected);
}

/// Exactly these operations and exactly these faults, both in input order.
#[track_caller]
pub(crate) fn reads<const N: usize, const M: usize>(
    text: &str,
    expected: [Operation; N],
    faults: [FaultKind; M],
) {
    let text = case(text);
    let parsed = read(text);
    assert_eq!(
        operations(&parsed),
        expected,
        "operations of:\n{text}\nfaults: {:?}",
        parsed.faults
    );
    assert_eq!(kinds(&parsed), faults, "faults of:\n{text}\n{:?}", parsed.faults);
}

/// Exactly these operations, with any warnings; nothing is rejected.
#[track_caller]
pub(crate) fn takes<const N: usize>(text: &str, expected: [Operation; N]) {
    let text = case(text);
    let parsed = read(text);
    assert_eq!(
        operations(&parsed),
        expected,
        "operations of:\n{text}\nfaults: {:?}",
        parsed.faults
    );
    let rejected: Vec<_> = parsed
        .faults
        .iter()
        .filter(|fault| !fault.kind.is_warning())
        .collect();
    assert!(rejected.is_empty(), "rejected from:\n{text}\n{rejected:?}");
}

/// The text has one fault of this kind; its range contains `inside` and nothing of `outside`.
#[track_caller]
pub(crate) fn faults_at(text: &str, kind: FaultKind, inside: &str, outside: &[&str]) -> Fault {
    let text = case(text);
    let parsed = read(text);
    let found: Vec<_> = parsed
        .faults
        .into_iter()
        .filter(|fault| fault.kind == kind)
        .collect();
    let [fault] = found.as_slice() else {
        panic!("{} faults of kind {kind:?} in:\n{text}\n{found:?}", found.len());
    };
    let slice = &text[fault.range.clone()];
    assert!(slice.contains(inside), "{inside:?} is not inside {slice:?}");
    for other in outside {
        assert!(!slice.contains(other), "{other:?} is inside {slice:?}");
    }
    fault.clone()
}

pub(crate) fn learning(reason: &str, content: &str) -> Operation {
    Operation::AddLearning {
        reason: reason.to_owned(),
        content: content.to_owned(),
        replaces: None,
        merges: Vec::new(),
        marks: Marks::default(),
    }
}

pub(crate) fn verbatim(reason: &str, label: &str, snippet: &str) -> Operation {
    Operation::AddVerbatim {
        reason: reason.to_owned(),
        label: label.to_owned(),
        snippet: snippet.to_owned(),
        replaces: None,
        marks: Marks::default(),
    }
}

pub(crate) fn archive(id: &str, reason: &str) -> Operation {
    Operation::Archive {
        id: id.parse().expect("the test names a record"),
        reason: reason.to_owned(),
        ground: None,
    }
}

pub(crate) fn progress(completed: &[&str], in_progress: &[&str], remaining: &[&str]) -> Operation {
    let list = |bullets: &[&str]| bullets.iter().map(|&bullet| bullet.to_owned()).collect();
    Operation::RewriteProgress(Progress {
        completed: list(completed),
        in_progress: list(in_progress),
        remaining: list(remaining),
    })
}

/// Lines of `KEY_LEARNINGS / ADD`.
pub(crate) fn learnings_add(lines: &str) -> String {
    format!("KEY_LEARNINGS:\n  ADD:\n{lines}\n")
}

/// Lines of `KEY_LEARNINGS / ARCHIVE`.
pub(crate) fn learnings_archive(lines: &str) -> String {
    format!("KEY_LEARNINGS:\n  ARCHIVE:\n{lines}\n")
}

/// Lines of `VERBATIM_CONTEXT / ADD`.
pub(crate) fn verbatim_add(lines: &str) -> String {
    format!("VERBATIM_CONTEXT:\n  ADD:\n{lines}\n")
}
