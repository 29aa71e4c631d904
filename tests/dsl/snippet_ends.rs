//! Where a snippet ends: at headers, at bullets, at prose, or at the end of the text.

use crate::expect::{accepts, archive, learning, reads, takes, verbatim, verbatim_add};
use working_memory::domain::operation::FaultKind::MissingReason;

#[test]
fn the_next_bullet_at_the_bullets_indentation_ends_it() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
      x
    - because b: m =>
      y
",
        [verbatim("a", "l", "x"), verbatim("b", "m", "y")],
    );
}

#[test]
fn the_next_bullet_at_less_indentation_ends_it() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
      - because a: l =>
        x
    - because b: m => y
  - because c: n =>
    z
- because d: o => p
",
        [
            verbatim("a", "l", "x"),
            verbatim("b", "m", "y"),
            verbatim("c", "n", "z"),
            verbatim("d", "o", "p"),
        ],
    );
}

#[test]
fn any_bullet_ends_an_indented_snippet_also_one_without_because() {
    for bullet in [
        "- no reason",
        "* no reason",
        "1. no reason",
        "• no reason",
        "  - no reason",
        "    - no reason",
    ] {
        reads(
            &verbatim_add(&format!(
                "    - because a: l =>\n      x\n{bullet}\n    - because b: m => y"
            )),
            [verbatim("a", "l", "x"), verbatim("b", "m", "y")],
            [MissingReason],
        );
    }
}

#[test]
fn deeper_bullets_belong_to_the_snippet() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
      - because x: y => z
        - KL-1 because w
      1. one
    - because b: m =>
      * two
",
        [
            verbatim("a", "l", "- because x: y => z\n  - KL-1 because w\n1. one"),
            verbatim("b", "m", "* two"),
        ],
    );
}

#[test]
fn deeper_headers_belong_to_the_snippet() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
      KEY_LEARNINGS:
        ADD:
          - because x: y
      # Current Progress
    - because b: m => n
",
        [
            verbatim(
                "a",
                "l",
                "KEY_LEARNINGS:\n  ADD:\n    - because x: y\n# Current Progress",
            ),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn a_list_or_section_header_not_deeper_than_the_bullet_ends_it() {
    for indent in ["", " ", "  ", "    "] {
        accepts(
            &verbatim_add(&format!(
                "    - because a: l =>\n      x\n{indent}ARCHIVE:\n    - VC-1 because b"
            )),
            [verbatim("a", "l", "x"), archive("VC-1", "b")],
        );
        accepts(
            &verbatim_add(&format!(
                "    - because a: l =>\n      x\n{indent}KEY_LEARNINGS:\n  ADD:\n    - because b: c"
            )),
            [verbatim("a", "l", "x"), learning("b", "c")],
        );
    }
}

#[test]
fn a_snippet_after_the_arrow_ends_at_bullets_and_headers_too() {
    accepts(
        &verbatim_add("    - because a: l => x\n    - because b: m => y\n  ARCHIVE:\n    - VC-1 because z"),
        [
            verbatim("a", "l", "x"),
            verbatim("b", "m", "y"),
            archive("VC-1", "z"),
        ],
    );
    accepts(
        &verbatim_add("    - because a: l => x\nKEY_LEARNINGS:\n  ADD:\n    - because b: c"),
        [verbatim("a", "l", "x"), learning("b", "c")],
    );
}

#[test]
fn prose_in_column_0_ends_an_indented_snippet() {
    accepts(
        &verbatim_add("    - because a: l =>\n      x\n        y\nThat is all.\n      z"),
        [verbatim("a", "l", "x\n  y")],
    );
    accepts(
        &verbatim_add("    - because a: l =>\n\n      x\n\nThat is all."),
        [verbatim("a", "l", "\nx")],
    );
    accepts(
        &verbatim_add("- because a: l =>\n  x\nThat is all."),
        [verbatim("a", "l", "x")],
    );
    accepts(
        &verbatim_add("    - because a: l => x\n      y\nThat is all."),
        [verbatim("a", "l", "x\ny")],
    );
}

#[test]
fn prose_between_column_0_and_the_bullet_belongs_to_the_snippet() {
    accepts(
        &verbatim_add("    - because a: l =>\n      x\n  y\n      z"),
        [verbatim("a", "l", "    x\ny\n    z")],
    );
}

#[test]
fn an_item_after_prose_is_parsed() {
    takes(
        &verbatim_add("    - because a: l =>\n      x\nAnd one more.\n    - because b: m => y"),
        [verbatim("a", "l", "x"), verbatim("b", "m", "y")],
    );
}

#[test]
fn an_unindented_snippet_contains_prose_bullets_and_deeper_lines() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
fn main() {
    println!();
}

That is still snippet.
- [ ] and so is a list
1. of any kind
- KL-1 becoming older
    - because b: m => n
",
        [
            verbatim(
                "a",
                "l",
                "fn main() {\n    println!();\n}\n\nThat is still snippet.\n- [ ] and so is a list\n1. of any kind\n- KL-1 becoming older",
            ),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn an_unindented_snippet_may_be_at_the_bullets_own_column() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
    x
      y
    - because b: m =>
  x
    - z
  - because c: n => o
",
        [
            verbatim("a", "l", "x\n  y"),
            verbatim("b", "m", "x\n  - z"),
            verbatim("c", "n", "o"),
        ],
    );
}

#[test]
fn an_unindented_snippet_may_begin_with_a_bullet() {
    accepts(
        &verbatim_add("- because a: l =>\n- [x] one\n- [ ] two\n- because b: m => n"),
        [
            verbatim("a", "l", "- [x] one\n- [ ] two"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn an_unindented_snippet_ends_at_because_in_any_case_and_with_any_mark() {
    for next in [
        "- because b: m => n",
        "- BECAUSE b: m => n",
        "* Because b: m => n",
        "1. because b: m => n",
        "• because b: m => n",
    ] {
        accepts(
            &verbatim_add(&format!("- because a: l =>\nx\ny\n{next}")),
            [verbatim("a", "l", "x\ny"), verbatim("b", "m", "n")],
        );
    }
}

#[test]
fn an_unindented_snippet_keeps_deeper_becauses() {
    accepts(
        &verbatim_add("- because a: l =>\nx\n  - because y: z => w\n- because b: m => n"),
        [
            verbatim("a", "l", "x\n  - because y: z => w"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn an_unindented_snippet_ends_at_headers() {
    for header in ["ARCHIVE:", "  ARCHIVE:", "**ARCHIVE:**", "### Archive"] {
        accepts(
            &verbatim_add(&format!("  - because a: l =>\nx\n{header}\n  - VC-1 because b")),
            [verbatim("a", "l", "x"), archive("VC-1", "b")],
        );
    }
    accepts(
        &verbatim_add("- because a: l =>\nx\nKEY_LEARNINGS:\n- none"),
        [verbatim("a", "l", "x")],
    );
}

#[test]
fn an_unindented_snippet_keeps_lines_that_only_look_like_headers() {
    accepts(
        &verbatim_add(
            "- because a: l =>\nservices:\n  db:\n    image: postgres\nvolumes:\n- because b: m => n",
        ),
        [
            verbatim("a", "l", "services:\n  db:\n    image: postgres\nvolumes:"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn empty_lines_above_the_first_line_do_not_decide_how_it_is_indented() {
    accepts(
        &verbatim_add("    - because a: l =>\n\n      x\n    - because b: m => n"),
        [verbatim("a", "l", "\nx"), verbatim("b", "m", "n")],
    );
    accepts(
        &verbatim_add("    - because a: l =>\n\nx\n- y\n    - because b: m => n"),
        [verbatim("a", "l", "\nx\n- y"), verbatim("b", "m", "n")],
    );
}
