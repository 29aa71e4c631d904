//! `ARCHIVE`: the three spellings, several ids, ids as models write them, and invalid ids.

use crate::table::{ARCHIVE, TEXT, Table, kinds, read};
use working_memory::domain::dsl::parse_answer;
use working_memory::domain::operation::FaultKind::WrongSectionId;
use working_memory::domain::operation::{Operation, Role};

const SNIPPETS: Table = Table("VERBATIM_CONTEXT:\n  ARCHIVE:\n    ");

#[test]
fn an_archive_names_records_and_a_reason() {
    let table = r"
        § a colon may be before or after because
        - KL-1 because x ⇒ archive KL-1 | x
        - KL-1: because x ⇒ archive KL-1 | x
        - KL-1 because: x ⇒ archive KL-1 | x
        - KL-1 : because x ⇒ archive KL-1 | x
        - KL-1 BECAUSE x ⇒ archive KL-1 | x
        - KL-1: Because: x ⇒ archive KL-1 | x
        - KL-1 because   x  \u{20} ⇒ archive KL-1 | x
        § the reason is the rest of the line
        - KL-1 because std::fs: it blocks, because KL-2 says so ⇒ archive KL-1 | std::fs: it blocks, because KL-2 says so
        § several ids are several archives for one reason
        - KL-1, KL-2 because x, y ⇒ archive KL-1 | x, y + archive KL-2 | x, y
        - KL-1,KL-2 because x, y ⇒ archive KL-1 | x, y + archive KL-2 | x, y
        - KL-1, KL-2: because x, y ⇒ archive KL-1 | x, y + archive KL-2 | x, y
        - [KL-1], [KL-2] because x, y ⇒ archive KL-1 | x, y + archive KL-2 | x, y
        § a record archived twice is read twice: whether it still exists is known only with the memory
        - KL-1 because x\n    - KL-1 because y ⇒ archive KL-1 | x + archive KL-1 | y";
    ARCHIVE.table(table);
    let table = r"
        § a snippet is archived in its own section
        - VC-12 because the step is done ⇒ archive VC-12 | the step is done
        - vc-3 because x ⇒ archive VC-3 | x";
    SNIPPETS.table(table);
}

#[test]
fn ids_are_recognized_as_models_write_them() {
    for id in "[KL-3] **KL-3** kl-3 Kl-3 KL\u{2011}3 [kl-3] **[KL-3]** **kl-3**".split(' ') {
        for line in [format!("- {id} because x"), format!("- {id}: because x")] {
            ARCHIVE.rule("brackets, bold and lower case", &[(&line, "archive KL-3 | x")]);
        }
    }
    let table = r"
        § a colon inside of bold, and the largest number
        - **KL-3:** because x ⇒ archive KL-3 | x
        - KL-9223372036854775807 because x ⇒ archive KL-9223372036854775807 | x";
    ARCHIVE.table(table);
}

#[test]
fn other_ids_are_rejected() {
    let no_ids = "KL-0|KL-01|KL-007|KL-|KL|KL3|KL-x|KL-1a|KL-1.5|KL--1|KL-+1|KL 3|KL_3|3|X-1|the old entry|KL-\u{661}|\
                  KL-9223372036854775808|KL-99999999999999999999999999";
    for id in no_ids.split('|') {
        let line = format!("- {id} because x");
        ARCHIVE.rule("no kind and number from one", &[(&line, "! MalformedId")]);
    }
    for (table, ids) in [
        (ARCHIVE, "VC-3 T-3 D-3 vc-3 [T-3] **D-3**"),
        (SNIPPETS, "KL-3 T-3 D-3 [kl-3]"),
    ] {
        for id in ids.split(' ') {
            let line = format!("- {id} because x");
            table.rule("another kind of record", &[(&line, "! WrongSectionId")]);
        }
    }
    let table = r"
        § no id at all
        - because x ⇒ ! MalformedId
        § a bad id in a list hides no good one
        - KL-1, KL-x, KL-2 because y ⇒ archive KL-1 | y + archive KL-2 | y ! MalformedId
        - KL-1, VC-2 because y ⇒ archive KL-1 | y ! WrongSectionId
        § prose before ids may mean the contrary
        - none of KL-1, KL-2 because they are right ⇒ ! MalformedId
        - Keep KL-1 and KL-2 because they are right ⇒ ! MalformedId
        - all but KL-1, KL-2 because they are right ⇒ ! MalformedId
        - KL-1 (unlike KL-2, KL-3) because they are right ⇒ ! MalformedId";
    ARCHIVE.table(table);
    SNIPPETS.rule("also of snippets", &[("- VC-0 because x", "! MalformedId")]);
}

#[test]
fn an_archive_without_a_reason_is_rejected() {
    let table = r"
        § whether its id is valid or not
        - KL-1 ⇒ ! MissingReason
        - KL-1: ⇒ ! MissingReason
        - KL-1 because ⇒ ! MissingReason
        - KL-1 because: ⇒ ! MissingReason
        - KL-1: because ⇒ ! MissingReason
        - KL-1 because \u{3000} ⇒ ! MissingReason
        - KL-1 because no change ⇒ ! MissingReason
        - KL-1: because (none) ⇒ ! MissingReason
        - KL-1 it was fixed ⇒ ! MissingReason
        - KL-1: it was fixed ⇒ ! MissingReason
        - KL-1 - it was fixed ⇒ ! MissingReason
        - KL-0 ⇒ ! MissingReason
        - foo ⇒ ! MissingReason
        - VC-1 ⇒ ! MissingReason
        - T-1 because ⇒ ! MissingReason
        - KL-01 because: ⇒ ! MissingReason";
    ARCHIVE.table(table);
}

#[test]
fn a_record_may_be_named_without_a_bullet() {
    let table = r"
        § below its list or beside it
        KEY_LEARNINGS\nADD\nbecause a: b\nARCHIVE\nKL-1 because x\n ⇒ KL a | b + archive KL-1 | x
        KEY_LEARNINGS:\n  ARCHIVE:\n  KL-3: because x\n  **KL-4**, KL-5 because y\n ⇒ archive KL-3 | x + archive KL-4 | y + archive KL-5 | y
        KEY_LEARNINGS:\n  ARCHIVE:\n    KL-1 because x\n ⇒ archive KL-1 | x
        § beside it a sentence about records, or a record, is prose, and so is what lacks the bullet of others
        KEY_LEARNINGS:\nARCHIVE:\n- KL-1 because x\nKL-2 because it is still valid\n ⇒ archive KL-1 | x
        KEY_LEARNINGS:\nARCHIVE:\nKL-1 because x\nKL-3 and KL-4 stay because they hold.\n ⇒ archive KL-1 | x
        KEY_LEARNINGS:\nARCHIVE:\nKL-3 stays.\n ⇒
        KEY_LEARNINGS:\nADD:\nKL-1 because a: b\n ⇒
        § an item that says more than ids before its reason archives none of them
        KEY_LEARNINGS:\nARCHIVE:\n- KL-3 and KL-4 stay because they hold\n ⇒ ! MalformedId";
    TEXT.table(table);
}

#[test]
fn a_ground_may_be_said_in_a_sentence() {
    let grounds = "duplicate of KL-2|is a duplicate of KL-2|superseded by KL-2|was superseded by kl-2|\
                   has been superseded by **KL-2**|expired|has expired";
    for ground in grounds.split('|') {
        for bullet in ["    - ", "  "] {
            let parsed = read(&format!(
                "KEY_LEARNINGS:\n  ARCHIVE:\n{bullet}KL-1, KL-3 {ground} because a\n"
            ));
            assert_eq!((parsed.items.len(), parsed.faults.len()), (2, 0), "{ground}");
            for item in parsed.items {
                let has_ground = matches!(item.operation, Operation::Archive { ground: Some(_), .. });
                assert!(has_ground, "{ground}");
            }
        }
    }
}

#[test]
fn below_the_header_of_its_role_a_model_takes_nothing_out_of_another_section() {
    for (header, expected) in [
        ("KEY_LEARNINGS", (1, vec![WrongSectionId])),
        // What it says of another section is left out by who asked it.
        ("VERBATIM_CONTEXT", (2, vec![])),
    ] {
        let text = format!("{header}:\n  ARCHIVE:\n    - VC-1, D-1 duplicate of VC-3 because a\n");
        let parsed = parse_answer(Some(Role::Learnings), &text, false);
        assert_eq!((parsed.items.len(), kinds(&parsed)), expected, "{header}");
    }
}

#[test]
fn a_section_returned_unchanged_archives_nothing() {
    let table = r"
        § a record is no archive
        KEY_LEARNINGS:\n- KL-1 because it bit us: pin the tool chain\n ⇒ ! UnknownHeader
        KEY_LEARNINGS: KL-1 because it bit us: pin the tool chain\n ⇒ ! UnknownHeader
        # Verbatim Context\n- VC-1 because next: run => cargo test\n ⇒ ! UnknownHeader";
    TEXT.table(table);
}

/// What stands below another title is not meant by `ARCHIVE`, in whatever words and letters that is written.
#[test]
fn a_list_under_another_title_archives_nothing() {
    for title in [
        "**Gültig**",
        "**Behalten**",
        "**Сохранить**",
        "__Kept__",
        "### Kept (still valid)",
        "## Records that are still valid",
        "## 1. Keep",
        "## ✅ Keep",
        "## 保留",
        "Bleibt gültig:",
        "- Keep:",
        "- **Gültig:**",
        "- **Keep**",
        "1. **Keep**",
        "📌 **Still valid**",
        "**Kept** ✅",
        "**Kept** (still valid)",
    ] {
        let lines = format!("- KL-1 because gone\n{title}\n      - KL-2 because still valid");
        ARCHIVE.rule(
            "another title",
            &[(&lines, "archive KL-1 | gone ! UnknownHeader")],
        );
    }
    ARCHIVE.rule(
        "a numbered title of the form, or one with a symbol",
        &[(
            "- KL-1 because x\n## 2. ADD ➕\n- because a: b",
            "archive KL-1 | x + KL a | b",
        )],
    );
}
