//! Rules of all faults: each item has at most one, the first of the table; they are in the order of the text, and none hides a
//! valid item.

use crate::expect::{archive, case, kinds, learning, operations, progress, read, reads, rejects, verbatim};
use working_memory::domain::operation::FaultKind::{
    EmptyContent, MalformedId, MissingInProgress, MissingLabel, MissingReason, MultiLineInsight, Placeholder,
    UnclosedFence, UnknownHeader, WrongSectionId,
};
use working_memory::domain::operation::Role;

#[test]
fn of_several_faults_of_an_item_the_first_of_the_table_is_reported() {
    for (list, item, expected) in [
        ("KEY_LEARNINGS:\n  ADD", "- because:", MissingReason),
        ("KEY_LEARNINGS:\n  ADD", "- <bullet>", MissingReason),
        ("KEY_LEARNINGS:\n  ADD", "- because <reason>:", EmptyContent),
        ("KEY_LEARNINGS:\n  ARCHIVE", "- VC-0", MissingReason),
        (
            "KEY_LEARNINGS:\n  ARCHIVE",
            "- KL-0 because <reason>",
            MalformedId,
        ),
        (
            "KEY_LEARNINGS:\n  ARCHIVE",
            "- VC-1 because <reason>",
            WrongSectionId,
        ),
        ("VERBATIM_CONTEXT:\n  ADD", "- l", MissingReason),
        ("VERBATIM_CONTEXT:\n  ADD", "- because <reason>: x", MissingLabel),
        (
            "VERBATIM_CONTEXT:\n  ADD",
            "- because <reason>: <label> =>",
            EmptyContent,
        ),
        ("VERBATIM_CONTEXT:\n  ADD", "- because a: =>", EmptyContent),
        ("VERBATIM_CONTEXT:\n  ADD", "- because : =>", MissingReason),
        ("VERBATIM_CONTEXT:\n  ARCHIVE", "- T-1", MissingReason),
        (
            "VERBATIM_CONTEXT:\n  ARCHIVE",
            "- T-1 because <reason>",
            WrongSectionId,
        ),
    ] {
        rejects(&format!("{list}:\n    {item}\n"), [expected]);
    }
}

#[test]
fn a_rejected_insight_over_several_lines_is_reported_once() {
    rejects(
        "KEY_LEARNINGS:\n  ADD:\n    - no reason\n      and a second line\n",
        [MissingReason],
    );
    rejects(
        "KEY_LEARNINGS:\n  ADD:\n    - because: a\n      b\n    - because:\n      c\n",
        [MissingReason, MissingReason],
    );
}

const MANY: &str = "
CURRENT_PROGRESS:
  Completed:
    - a
  Blocked:
    - b
KEY_LEARNINGS:
  ADD:
    - no reason
    - because c: d
    - because e:
    - because f: g
      h
    - because <reason>: i
  ARCHIVE:
    - KL-01 because j
    - KL-2 because k
    - T-3 because l
    - KL-4
DECISIONS:
  - m
VERBATIM_CONTEXT:
  ADD:
    - because n: o
    - because p: q => r
    - because s: t =>
      ```
      u
  ARCHIVE:
    - KL-5 because v
    - VC-6 because w
";

#[test]
fn no_fault_hides_a_good_item() {
    let parsed = read(case(MANY));
    assert_eq!(
        operations(&parsed),
        [
            learning("c", "d"),
            learning("f", "g h"),
            archive("KL-2", "k"),
            verbatim("p", "q", "r"),
            verbatim("s", "t", "```\nu"),
            archive("VC-6", "w"),
        ]
    );
}

#[test]
fn every_fault_is_reported_in_the_order_of_the_text() {
    let parsed = read(case(MANY));
    let mut expected = vec![
        UnknownHeader,
        MissingReason,
        EmptyContent,
        MultiLineInsight,
        Placeholder,
        MalformedId,
        WrongSectionId,
        MissingReason,
        UnknownHeader,
        MissingLabel,
        UnclosedFence,
        WrongSectionId,
    ];
    // The fault of the progress may be anywhere in its block: at its header, or over all of it.
    let fault_kinds = kinds(&parsed);
    let place = fault_kinds
        .iter()
        .position(|&kind| kind == MissingInProgress)
        .expect("the progress is faulty");
    assert!(place <= 1, "{fault_kinds:?}");
    expected.insert(place, MissingInProgress);
    assert_eq!(fault_kinds, expected);
}

#[test]
fn a_fault_has_its_section() {
    let parsed = read(case(MANY));
    for fault in &parsed.faults {
        let expected = match fault.kind {
            MissingInProgress => Some(Role::Progress),
            EmptyContent | MultiLineInsight | Placeholder | MalformedId => Some(Role::Learnings),
            MissingLabel | UnclosedFence => Some(Role::Verbatim),
            _ => continue,
        };
        assert_eq!(fault.section, expected, "{fault:?}");
    }
}

#[test]
fn ranges_of_items_contain_the_item_and_no_other() {
    let text = case(MANY);
    let parsed = read(text);
    let slices: Vec<_> = parsed
        .items
        .iter()
        .map(|item| &text[item.range.clone()])
        .collect();
    for (slice, own) in slices.iter().zip([
        "because c: d",
        "because f: g",
        "KL-2 because k",
        "because p: q => r",
        "u",
        "VC-6",
    ]) {
        assert!(slice.contains(own), "{own:?} is not inside {slice:?}");
        assert_eq!(
            slice.matches("because").count(),
            1,
            "{slice:?} is more than one item"
        );
    }
    assert!(slices[1].contains('h') && slices[4].contains("```"));
}

#[test]
fn faults_of_one_section_do_not_affect_the_others() {
    reads(
        "
CURRENT_PROGRESS:
  In Progress:
    - a
KEY_LEARNINGS:
  ADD:
    - x
VERBATIM_CONTEXT:
  ADD:
    - because b: c => d
",
        [progress(&[], &["a"], &[]), verbatim("b", "c", "d")],
        [MissingReason],
    );
}

#[test]
fn the_same_fault_twice_is_reported_twice() {
    rejects(
        "KEY_LEARNINGS:\n  ADD:\n    - x\n    - x\n",
        [MissingReason, MissingReason],
    );
    rejects(
        "CURRENT_PROGRESS:\n  Remaining:\n    - a\nKEY_LEARNINGS:\n  ADD:\n    - x\n",
        [MissingInProgress, MissingReason],
    );
}
