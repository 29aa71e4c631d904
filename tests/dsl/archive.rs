//! `ARCHIVE`: the three spellings, several ids, ids as models write them, and invalid ids.

use crate::expect::{accepts, archive, faults_at, kinds, learning, learnings_archive, read, reads, rejects};
use working_memory::domain::operation::FaultKind::{
    MalformedId, MissingReason, UnknownHeader, WrongSectionId,
};
use working_memory::domain::operation::Role;

#[track_caller]
fn learning_archived(line: &str, id: &str, reason: &str) {
    accepts(&learnings_archive(&format!("    {line}")), [archive(id, reason)]);
}

fn verbatim_archive(line: &str) -> String {
    format!("VERBATIM_CONTEXT:\n  ARCHIVE:\n    {line}\n")
}

#[test]
fn an_archive_names_a_record_and_a_reason() {
    learning_archived("- KL-3 because it was fixed", "KL-3", "it was fixed");
    accepts(
        &verbatim_archive("- VC-12 because the step is done"),
        [archive("VC-12", "the step is done")],
    );
}

#[test]
fn a_colon_may_be_before_or_after_because() {
    learning_archived("- KL-1: because x", "KL-1", "x");
    learning_archived("- KL-1 because: x", "KL-1", "x");
    learning_archived("- KL-1 : because x", "KL-1", "x");
    learning_archived("- KL-1 BECAUSE x", "KL-1", "x");
    learning_archived("- KL-1: Because: x", "KL-1", "x");
}

#[test]
fn several_ids_are_several_archives_for_one_reason() {
    for line in [
        "- KL-1, KL-2 because x",
        "- KL-1,KL-2 because x",
        "- KL-1, KL-2: because x",
        "- [KL-1], [KL-2] because x",
    ] {
        accepts(
            &learnings_archive(&format!("    {line}")),
            [archive("KL-1", "x"), archive("KL-2", "x")],
        );
    }
    accepts(
        &learnings_archive("    - KL-1, KL-2, KL-30 because x, y"),
        [
            archive("KL-1", "x, y"),
            archive("KL-2", "x, y"),
            archive("KL-30", "x, y"),
        ],
    );
}

#[test]
fn the_reason_is_the_rest_of_the_line() {
    learning_archived(
        "- KL-1 because std::fs: it blocks, because KL-2 says so",
        "KL-1",
        "std::fs: it blocks, because KL-2 says so",
    );
    learning_archived("- KL-1 because   x   ", "KL-1", "x");
}

#[test]
fn ids_are_recognized_in_brackets_in_bold_and_in_lower_case() {
    for id in [
        "[KL-3]",
        "**KL-3**",
        "kl-3",
        "Kl-3",
        "[kl-3]",
        "**[KL-3]**",
        "**kl-3**",
    ] {
        learning_archived(&format!("- {id} because x"), "KL-3", "x");
        learning_archived(&format!("- {id}: because x"), "KL-3", "x");
    }
    learning_archived("- **KL-3:** because x", "KL-3", "x");
    accepts(&verbatim_archive("- vc-3 because x"), [archive("VC-3", "x")]);
}

#[test]
fn the_largest_number_is_a_valid_id_and_the_next_is_invalid() {
    learning_archived(
        "- KL-9223372036854775807 because x",
        "KL-9223372036854775807",
        "x",
    );
    rejects(
        &learnings_archive("    - KL-9223372036854775808 because x"),
        [MalformedId],
    );
    rejects(
        &learnings_archive("    - KL-99999999999999999999999999 because x"),
        [MalformedId],
    );
}

#[test]
fn what_is_not_a_kind_and_a_number_from_one_is_malformed() {
    for id in [
        "KL-0",
        "KL-01",
        "KL-00",
        "KL-007",
        "KL-",
        "KL",
        "KL3",
        "KL-x",
        "KL-1a",
        "KL-1.5",
        "KL--1",
        "KL-+1",
        "KL 3",
        "KL_3",
        "3",
        "X-1",
        "the old entry",
        "KL-\u{661}",
    ] {
        rejects(
            &learnings_archive(&format!("    - {id} because x")),
            [MalformedId],
        );
    }
    rejects(&learnings_archive("    - because x"), [MalformedId]);
    rejects(&verbatim_archive("- VC-0 because x"), [MalformedId]);
}

#[test]
fn an_id_of_another_kind_is_in_the_wrong_section() {
    for id in ["VC-3", "T-3", "D-3", "vc-3", "[T-3]", "**D-3**"] {
        rejects(
            &learnings_archive(&format!("    - {id} because x")),
            [WrongSectionId],
        );
    }
    for id in ["KL-3", "T-3", "D-3", "[kl-3]"] {
        rejects(&verbatim_archive(&format!("- {id} because x")), [WrongSectionId]);
    }
}

#[test]
fn an_archive_without_a_reason_is_rejected() {
    for line in [
        "- KL-1",
        "- KL-1:",
        "- KL-1 because",
        "- KL-1 because:",
        "- KL-1: because",
        "- KL-1 because \u{3000}",
        "- KL-1 it was fixed",
        "- KL-1: it was fixed",
        "- KL-1 - it was fixed",
    ] {
        rejects(&learnings_archive(&format!("    {line}")), [MissingReason]);
    }
}

#[test]
fn a_missing_reason_is_reported_before_a_bad_id() {
    for line in ["- KL-0", "- foo", "- VC-1", "- T-1 because", "- KL-01 because:"] {
        rejects(&learnings_archive(&format!("    {line}")), [MissingReason]);
    }
}

#[test]
fn several_ids_without_a_reason_archive_nothing() {
    let parsed = read(&learnings_archive("    - KL-1, KL-2"));
    assert_eq!(parsed.items, []);
    assert!(!parsed.faults.is_empty() && kinds(&parsed).iter().all(|&kind| kind == MissingReason));
}

#[test]
fn a_bad_id_in_a_list_of_ids_hides_no_good_one() {
    reads(
        &learnings_archive("    - KL-1, KL-x, KL-2 because y"),
        [archive("KL-1", "y"), archive("KL-2", "y")],
        [MalformedId],
    );
    reads(
        &learnings_archive("    - KL-1, VC-2 because y"),
        [archive("KL-1", "y")],
        [WrongSectionId],
    );
}

#[test]
fn a_record_archived_twice_is_read_twice() {
    // Whether it still exists is known only with the memory.
    accepts(
        &learnings_archive("    - KL-1 because x\n    - KL-1 because y"),
        [archive("KL-1", "x"), archive("KL-1", "y")],
    );
}

#[test]
fn a_fault_names_the_record_where_it_could_be_read() {
    let text = learnings_archive("    - KL-1 because a\n    - KL-7\n    - KL-2 because b");
    let fault = faults_at(&text, MissingReason, "KL-7", &["KL-1", "KL-2"]);
    assert_eq!(fault.id, "KL-7".parse().ok());
    assert_eq!(fault.section, Some(Role::Learnings));

    let fault = faults_at(&verbatim_archive("- KL-4 because x"), WrongSectionId, "KL-4", &[]);
    assert_eq!(fault.id, "KL-4".parse().ok());
    assert_eq!(fault.section, Some(Role::Verbatim));

    let fault = faults_at(
        &learnings_archive("    - KL-0 because x"),
        MalformedId,
        "KL-0",
        &[],
    );
    assert_eq!(fault.id, None);
}

#[test]
fn archives_and_additions_may_be_in_one_section_in_either_order() {
    accepts(
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\n  ADD:\n    - because a: b\n",
        [archive("KL-1", "x"), learning("a", "b")],
    );
    accepts(
        "KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  ARCHIVE:\n    - KL-1 because x\n",
        [learning("a", "b"), archive("KL-1", "x")],
    );
}

#[test]
fn two_archive_lists_are_combined() {
    accepts(
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\nKEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because y\n",
        [archive("KL-1", "x"), archive("KL-2", "y")],
    );
}

#[test]
fn a_section_returned_unchanged_archives_nothing() {
    for text in [
        "KEY_LEARNINGS:\n- KL-1 because it bit us: pin the tool chain\n",
        "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because it bit us: pin it\n- KL-2 because x\n",
        "KEY_LEARNINGS: KL-1 because it bit us: pin the tool chain\n",
        "# Verbatim Context\n- VC-1 because next: run => cargo test\n",
    ] {
        let parsed = read(text);
        assert_eq!(parsed.items, [], "{text}");
        assert!(
            parsed.faults.iter().all(|fault| fault.kind == UnknownHeader),
            "{parsed:?}"
        );
        assert!(!parsed.faults.is_empty());
    }
}
