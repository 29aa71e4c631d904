//! Fenced snippets: they extend to the closing fence, with any lines between.

use crate::expect::{accepts, archive, faults_at, learning, reads, verbatim, verbatim_add};
use working_memory::domain::operation::FaultKind::UnclosedFence;

#[test]
fn a_fenced_snippet_keeps_its_fences() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
      ```rust
      fn x() {}
      ```
    - because b: m => n
",
        [
            verbatim("a", "l", "```rust\nfn x() {}\n```"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn headers_bullets_and_prose_between_the_fences_end_nothing() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
      ```
KEY_LEARNINGS:
  ADD:
    - because x: y
- because z: w => v
prose

      ```
    - because b: m => n
",
        [
            verbatim(
                "a",
                "l",
                "```\nKEY_LEARNINGS:\n  ADD:\n    - because x: y\n- because z: w => v\nprose\n\n```",
            ),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn an_unindented_fence_keeps_the_indentation_inside() {
    accepts(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: l =>
```yaml
on:
  push:
- because not an item: no => no
```
    - because b: m => n
",
        [
            verbatim(
                "a",
                "l",
                "```yaml\non:\n  push:\n- because not an item: no => no\n```",
            ),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn a_fence_may_open_after_the_arrow() {
    accepts(
        &verbatim_add(
            "    - because a: l => ```sh\n      cargo test\n    - because no: no => no\n      ```\n    - because b: m => n",
        ),
        [
            verbatim(
                "a",
                "l",
                "```sh\n      cargo test\n    - because no: no => no\n```",
            ),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn a_fence_is_closed_by_its_own_character_at_least_as_long() {
    accepts(
        &verbatim_add(
            "    - because a: l =>\n      ````\n      ```\n      ~~~~\n      ARCHIVE:\n      `````\n    - because b: m => n",
        ),
        [
            verbatim("a", "l", "````\n```\n~~~~\nARCHIVE:\n`````"),
            verbatim("b", "m", "n"),
        ],
    );
    accepts(
        &verbatim_add("- because a: l =>\n~~~ini\n```\n- because no: no => no\n~~~\n- because b: m => n"),
        [
            verbatim("a", "l", "~~~ini\n```\n- because no: no => no\n~~~"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn a_fence_with_a_language_opens_and_never_closes() {
    accepts(
        &verbatim_add("- because a: l =>\n```md\n```rust\n- because no: no => no\n```\n- because b: m => n"),
        [
            verbatim("a", "l", "```md\n```rust\n- because no: no => no\n```"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn trailing_blanks_after_the_closing_fence_are_allowed() {
    accepts(
        &verbatim_add("- because a: l =>\n```\n- because no: no => no\n```  \n- because b: m => n"),
        [
            verbatim("a", "l", "```\n- because no: no => no\n```  "),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn deeper_text_after_the_closing_fence_belongs_to_the_snippet() {
    accepts(
        &verbatim_add(
            "    - because a: l =>\n      ```\n      x\n      ```\n      and more\n\n        of it\n    - because b: m => n",
        ),
        [
            verbatim("a", "l", "```\nx\n```\nand more\n\n  of it"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn prose_in_column_0_after_the_closing_fence_does_not() {
    accepts(
        &verbatim_add("    - because a: l =>\n      ```\n      x\n      ```\nThat is all."),
        [verbatim("a", "l", "```\nx\n```")],
    );
    accepts(
        &verbatim_add("    - because a: l =>\n```\nx\n```\nThat is all."),
        [verbatim("a", "l", "```\nx\n```")],
    );
    accepts(
        &verbatim_add("    - because a: l => ```\nx\n```\n\nThat is all."),
        [verbatim("a", "l", "```\nx\n```")],
    );
}

#[test]
fn a_header_or_bullet_after_the_closing_fence_ends_it() {
    accepts(
        &verbatim_add("- because a: l =>\n```\nx\n```\nARCHIVE:\n- VC-1 because b"),
        [verbatim("a", "l", "```\nx\n```"), archive("VC-1", "b")],
    );
    reads(
        &verbatim_add("- because a: l =>\n```\nx\n```\n- no reason\n- because b: m => n"),
        [verbatim("a", "l", "```\nx\n```"), verbatim("b", "m", "n")],
        [working_memory::domain::operation::FaultKind::MissingReason],
    );
}

#[test]
fn carriage_returns_do_not_hide_a_closing_fence() {
    accepts(
        "VERBATIM_CONTEXT:\r\nADD:\r\n- because a: l =>\r\n```\r\n- because no: no => no\r\n```\r\n- because b: m => n\r\n",
        [
            verbatim("a", "l", "```\r\n- because no: no => no\r\n```"),
            verbatim("b", "m", "n"),
        ],
    );
}

#[test]
fn an_unclosed_fence_is_ignored_with_a_warning() {
    reads(
        &verbatim_add(
            "    - because a: l =>\n      ```rust\n      x\n    - because b: m => n\n  ARCHIVE:\n    - VC-1 because c",
        ),
        [
            verbatim("a", "l", "```rust\nx"),
            verbatim("b", "m", "n"),
            archive("VC-1", "c"),
        ],
        [UnclosedFence],
    );
    reads(
        &verbatim_add("    - because a: l => ```rust\n      x\n    - because b: m => n"),
        [verbatim("a", "l", "```rust\nx"), verbatim("b", "m", "n")],
        [UnclosedFence],
    );
    reads(
        &verbatim_add("- because a: l =>\n````\nx\n```\nKEY_LEARNINGS:\n  ADD:\n    - because b: c"),
        [verbatim("a", "l", "````\nx\n```"), learning("b", "c")],
        [UnclosedFence],
    );
    faults_at(
        &verbatim_add("    - because a: l =>\n      ~~~\n      x\n    - because b: m => n"),
        UnclosedFence,
        "",
        &["because b"],
    );
}

#[test]
fn a_fence_below_the_first_line_is_ignored() {
    accepts(
        &verbatim_add("    - because a: l =>\n      x\n      ```\n    - because b: m => n\n      ```"),
        [verbatim("a", "l", "x\n```"), verbatim("b", "m", "n\n```")],
    );
}

#[test]
fn inline_code_opens_no_fence() {
    accepts(
        &verbatim_add("    - because a: l => ```x```\n    - because b: m => `y`\n    - because c: n => ``z"),
        [
            verbatim("a", "l", "```x```"),
            verbatim("b", "m", "`y`"),
            verbatim("c", "n", "``z"),
        ],
    );
}

#[test]
fn an_empty_fence_is_a_snippet() {
    accepts(
        &verbatim_add("    - because a: l =>\n      ```\n      ```"),
        [verbatim("a", "l", "```\n```")],
    );
}
