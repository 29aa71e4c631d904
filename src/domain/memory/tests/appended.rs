//! Missing sections, and fences that are open where text is inserted.

use super::*;

#[test]
fn the_first_section_of_an_empty_document_begins_at_its_first_byte() {
    assert_eq!(
        after("", &[learn("a")]),
        "# Key Learnings\n- KL-1 [NOW] because r: a\n"
    );
}

#[test]
fn a_missing_section_is_appended_after_an_empty_line() {
    for (before, between) in [("x", "\n\n"), ("x\n", "\n"), ("x\n\n", "\n"), ("# A\r\n", "\n")] {
        assert_eq!(
            after(before, &[learn("a")]),
            format!("{before}{between}# Key Learnings\n- KL-1 [NOW] because r: a\n"),
            "{before:?}"
        );
    }
}

#[test]
fn several_missing_sections_come_in_the_stated_order() {
    let operations = [keep("l", "s"), learn("a"), progress(&[], &["p"], &[])];
    assert_eq!(
        after("# Free\n", &operations),
        "# Free\n\n# Current Progress\n## In Progress\n- p\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n\n\
         # Verbatim Context\n- VC-1 [NOW] because r: l => s\n"
    );
    assert_eq!(
        after("# Verbatim Context\n", &operations),
        "# Verbatim Context\n- VC-1 [NOW] because r: l => s\n\n# Current Progress\n## In Progress\n- p\n\n\
         # Key Learnings\n- KL-1 [NOW] because r: a\n"
    );
}

#[test]
fn an_open_fence_is_closed_before_a_section_is_appended() {
    for (before, closed) in [
        ("# Free\n```rust\ncode", "\n```\n"),
        ("~~~~\ncode\n", "~~~~\n"),
        ("# Decisions\n - x\n ```", "\n```\n"),
    ] {
        assert_eq!(
            after(before, &[learn("a"), keep("l", "s")]),
            format!(
                "{before}{closed}\n# Key Learnings\n- KL-1 [NOW] because r: a\n\n\
                 # Verbatim Context\n- VC-1 [NOW] because r: l => s\n"
            )
        );
    }
}

#[test]
fn an_open_fence_is_closed_before_a_record_is_added_after_it() {
    assert_eq!(
        after(
            "# Key Learnings\n- KL-1 a\n\n```\ncode\n\n",
            &[learn("b"), keep("l", "s")]
        ),
        "# Key Learnings\n- KL-1 a\n\n```\ncode\n```\n- KL-2 [NOW] because r: b\n\n\n\
         # Verbatim Context\n- VC-1 [NOW] because r: l => s\n"
    );
}

#[test]
fn an_open_fence_stays_open_where_nothing_is_written_after_it() {
    assert_eq!(
        after("# Key Learnings\n- KL-1 a\n- b\n\n```\ncode", &[archive("KL-1")]),
        "# Key Learnings\n- KL-2 [NOW] b\n\n```\ncode"
    );
}

#[test]
fn an_open_fence_in_progress_goes_with_the_body() {
    assert_eq!(
        after(
            "# Current Progress\n```\n# no\n",
            &[progress(&[], &["p"], &[]), learn("a")]
        ),
        "# Current Progress\n## In Progress\n- p\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n"
    );
}
