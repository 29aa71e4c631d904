//! The forms that real models write instead of the canonical one.

use crate::expect::{accepts, archive, learning, progress, verbatim};

/// One learning below these two headers.
#[track_caller]
fn headers(section: &str, list: &str) {
    accepts(
        &format!("{section}\n{list}\n- because a: b\n"),
        [learning("a", "b")],
    );
}

#[test]
fn headers_may_be_bold() {
    headers("**KEY_LEARNINGS:**", "**ADD:**");
    headers("**KEY_LEARNINGS**:", "**ADD**:");
    headers("**KEY_LEARNINGS**", "  **ADD**");
    headers("__KEY_LEARNINGS__:", "  __ADD__:");
}

#[test]
fn headers_may_be_in_backticks() {
    headers("`KEY_LEARNINGS:`", "`ADD:`");
    headers("`KEY_LEARNINGS`:", "  `ADD`:");
    headers("`KEY_LEARNINGS`", "`ADD`");
    headers("**`KEY_LEARNINGS`**:", "**`ADD:`**");
}

#[test]
fn headers_may_be_markdown_headings() {
    headers("# KEY_LEARNINGS:", "## ADD:");
    headers("## KEY_LEARNINGS", "### ADD");
    headers("### **KEY_LEARNINGS:**", "#### `ADD`");
    headers("# Key Learnings", "## Add");
    headers("###### KEY_LEARNINGS:", "###### ADD:");
}

#[test]
fn headers_may_be_in_another_case() {
    headers("key_learnings:", "add:");
    headers("Key_Learnings:", "  Add:");
    headers("KEY_learnings:", "  aDD:");
}

#[test]
fn headers_may_have_a_blank_for_the_underscore() {
    headers("KEY LEARNINGS:", "ADD:");
    headers("Key Learnings:", "  Add:");
    headers("key learnings", "  add");
}

#[test]
fn headers_may_lack_the_colon() {
    headers("KEY_LEARNINGS", "ADD");
    headers("KEY_LEARNINGS", "  ADD:");
    headers("KEY_LEARNINGS :", "  ADD :");
}

#[test]
fn lists_of_progress_may_be_written_in_the_same_ways() {
    for [section, completed, in_progress, remaining] in [
        [
            "**CURRENT_PROGRESS:**",
            "**Completed:**",
            "**In Progress:**",
            "**Remaining:**",
        ],
        [
            "**CURRENT_PROGRESS**:",
            "**Completed**:",
            "**In Progress**:",
            "**Remaining**:",
        ],
        [
            "## Current Progress",
            "### Completed",
            "### In Progress",
            "### Remaining",
        ],
        ["current progress", "completed", "in progress", "remaining"],
        [
            "`CURRENT_PROGRESS`",
            "`Completed`:",
            "`In Progress:`",
            "`Remaining`",
        ],
        [
            "CURRENT PROGRESS:",
            "  COMPLETED:",
            "  IN PROGRESS:",
            "  REMAINING:",
        ],
        [
            "CURRENT_PROGRESS:",
            "  COMPLETED:",
            "  IN_PROGRESS:",
            "  REMAINING:",
        ],
        [
            "Current_Progress:",
            "\tCompleted:",
            "\tIn progress:",
            "\tRemaining:",
        ],
    ] {
        accepts(
            &format!("{section}\n{completed}\n- a\n{in_progress}\n- b\n{remaining}\n- c\n"),
            [progress(&["a"], &["b"], &["c"])],
        );
    }
}

#[test]
fn headers_of_verbatim_context_may_be_written_in_the_same_ways() {
    for [section, add, archived] in [
        ["**VERBATIM_CONTEXT:**", "**ADD:**", "**ARCHIVE:**"],
        ["## Verbatim Context", "### Add", "### Archive"],
        ["`verbatim context`", "`add`:", "`archive`"],
        ["Verbatim Context", "  Add", "  Archive"],
    ] {
        accepts(
            &format!("{section}\n{add}\n    - because a: b =>\n      c\n{archived}\n    - VC-1 because d\n"),
            [verbatim("a", "b", "c"), archive("VC-1", "d")],
        );
    }
}

#[test]
fn bullets_may_be_stars_dots_or_numbers() {
    for marks in [
        ["*", "*", "*"],
        ["•", "•", "•"],
        ["1.", "2.", "3."],
        ["9.", "10.", "11."],
        ["-", "*", "1."],
    ] {
        let [first, second, third] = marks;
        accepts(
            &format!(
                "KEY_LEARNINGS:\n  ADD:\n    {first} because a: b\n    {second} because c: d\n  ARCHIVE:\n    {third} KL-1 because e\n"
            ),
            [learning("a", "b"), learning("c", "d"), archive("KL-1", "e")],
        );
        accepts(
            &format!(
                "VERBATIM_CONTEXT:\n  ADD:\n    {first} because a: b => c\n    {second} because d: e =>\n       f\n    {third} because g: h => i\n"
            ),
            [
                verbatim("a", "b", "c"),
                verbatim("d", "e", "f"),
                verbatim("g", "h", "i"),
            ],
        );
        accepts(
            &format!(
                "CURRENT_PROGRESS:\n  Completed:\n    {first} a\n  In Progress:\n    {second} b\n    {third} c\n"
            ),
            [progress(&["a"], &["b", "c"], &[])],
        );
    }
}

#[test]
fn any_indentation_separates_the_levels() {
    for [list, bullet] in [
        ["", ""],
        ["", "  "],
        [" ", "  "],
        ["    ", "        "],
        ["\t", "\t\t"],
        ["        ", "  "],
        ["  ", "\t"],
    ] {
        accepts(
            &format!(
                "KEY_LEARNINGS:\n{list}ADD:\n{bullet}- because a: b\n{bullet}- because c: d\n{list}ARCHIVE:\n{bullet}- KL-1 because e\n"
            ),
            [learning("a", "b"), learning("c", "d"), archive("KL-1", "e")],
        );
    }
    accepts(
        "  KEY_LEARNINGS:\n    ADD:\n      - because a: b\n  VERBATIM_CONTEXT:\n    ADD:\n      - because c: d =>\n        e\n",
        [learning("a", "b"), verbatim("c", "d", "e")],
    );
}

#[test]
fn a_bullet_indented_less_than_the_one_before_is_of_the_same_list() {
    accepts(
        "KEY_LEARNINGS:\n  ADD:\n      - because a: b\n    - because c: d\n- because e: f\n  ARCHIVE:\n      - KL-1 because g\n - KL-2 because h\n",
        [
            learning("a", "b"),
            learning("c", "d"),
            learning("e", "f"),
            archive("KL-1", "g"),
            archive("KL-2", "h"),
        ],
    );
}

#[test]
fn line_ends_may_be_crlf() {
    accepts(
        "CURRENT_PROGRESS:\r\n  In Progress:\r\n    - a\r\n\r\nKEY_LEARNINGS:\r\n  ADD:\r\n    - because b: c\r\n  ARCHIVE:\r\n    - KL-1 because d\r\n",
        [
            progress(&[], &["a"], &[]),
            learning("b", "c"),
            archive("KL-1", "d"),
        ],
    );
}

#[test]
fn blanks_after_a_structural_line_are_ignored() {
    accepts(
        "KEY_LEARNINGS:  \t\n  ADD: \n    - because a: b \t \n  ARCHIVE:\t\n    - KL-1 because c  \n",
        [learning("a", "b"), archive("KL-1", "c")],
    );
}

#[test]
fn a_byte_order_mark_is_ignored() {
    accepts(
        "\u{feff}KEY_LEARNINGS:\n  ADD:\n    - because a: b\n",
        [learning("a", "b")],
    );
}

#[test]
fn text_may_be_before_the_first_header_and_after_the_last_item() {
    accepts(
        "Let me think.\n\n- a first thought\n- a second one\n\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\n\nI hope this helps!\n",
        [learning("a", "b")],
    );
    accepts(
        "Done.\nCURRENT_PROGRESS:\n  In Progress:\n    - a\n\nThe other sections stay as they are.\n",
        [progress(&[], &["a"], &[])],
    );
}

#[test]
fn one_fence_may_be_around_the_whole_answer() {
    for (open, close) in [
        ("```", "```"),
        ("```text", "```"),
        ("```markdown", "```  "),
        ("~~~", "~~~"),
        ("````", "````"),
        ("```yaml", "`````"),
    ] {
        accepts(
            &format!("{open}\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\n{close}\n"),
            [learning("a", "b")],
        );
        accepts(
            &format!("{open}\nVERBATIM_CONTEXT:\n  ADD:\n    - because a: b => c\n{close}"),
            [verbatim("a", "b", "c")],
        );
        accepts(
            &format!("\n{open}\nVERBATIM_CONTEXT:\nADD:\n- because a: b =>\nc\n{close}\n\n"),
            [verbatim("a", "b", "c")],
        );
    }
}

#[test]
fn the_fence_around_the_answer_may_have_text_around_it() {
    accepts(
        "Here you are:\n\n```\nVERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      c\n```\n\nTell me if you need more.\n",
        [verbatim("a", "b", "c")],
    );
}

#[test]
fn the_fence_around_the_answer_may_contain_fenced_snippets() {
    accepts(
        "````\nVERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      ```rust\n      c\n      ```\n    - because d: e => f\n````\n",
        [verbatim("a", "b", "```rust\nc\n```"), verbatim("d", "e", "f")],
    );
    accepts(
        "```\nVERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      ```rust\n      c\n      ```\n    - because d: e => f\n```\n",
        [verbatim("a", "b", "```rust\nc\n```"), verbatim("d", "e", "f")],
    );
    accepts(
        "```\nVERBATIM_CONTEXT:\n  ADD:\n    - because d: e => f\n    - because a: b =>\n      ```rust\n      c\n      ```\n```\n",
        [verbatim("d", "e", "f"), verbatim("a", "b", "```rust\nc\n```")],
    );
}

#[test]
fn a_fence_that_is_no_snippets_and_no_answers_is_not_taken_off_a_snippet() {
    accepts(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      ```\n      c\n      ```\n",
        [verbatim("a", "b", "```\nc\n```")],
    );
}
