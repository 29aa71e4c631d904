//! `CURRENT_PROGRESS`: three lists, replaced as a whole.

use crate::table::PROGRESS;

#[test]
fn three_lists_replace_the_section() {
    let table = r"
        § completed and remaining are optional, and an empty list is an absent one
        \u{20} Completed:\n    - a\n    - b\n  In Progress:\n    - c\n  Remaining:\n    - d\n    - e\n ⇒ progress a, b | c | d, e
        \u{20} In Progress:\n    - a\n ⇒ progress  | a |\u{20}
        \u{20} In Progress:\n    - a\n  Remaining:\n    - b\n ⇒ progress  | a | b
        \u{20} Completed:\n    - b\n  In Progress:\n    - a\n ⇒ progress b | a |\u{20}
        \u{20} Completed:\n  In Progress:\n    - a\n  Remaining:\n ⇒ progress  | a |\u{20}
        \u{20} Completed:\n    - none\n  In Progress:\n    - a\n  Remaining: (none)\n ⇒ progress  | a |\u{20}
        § the lists come in any order and indentation, and two blocks of one are combined
        \u{20} Remaining:\n    - c\n  In Progress:\n    - b\n  Completed:\n    - a\n ⇒ progress a | b | c
        \u{20} Completed:\n    - a\n  In Progress:\n    - b\n  Completed:\n    - c\n ⇒ progress a, c | b |\u{20}
        Completed:\n- a\nIn Progress:\n- b\nRemaining:\n- c\n ⇒ progress a | b | c
        \u{20} Completed:\n      - a\n    - b\n  - c\n- d\n  In Progress:\n- e\n ⇒ progress a, b, c, d | e |\u{20}
        \n  Completed:\n\n    - a\n\n    - b\n\n\n  In Progress:\n   \n    - c\n\n ⇒ progress a, b | c |\u{20}
        § of two sections the last is used, also if it is faulty
        \u{20} Completed:\n    - old\n  In Progress:\n    - older\nCURRENT_PROGRESS:\n  In Progress:\n    - new\n ⇒ progress  | new |\u{20}
        \u{20} In Progress:\n    - old\nKEY_LEARNINGS:\n  ADD: none\nCURRENT_PROGRESS:\n  In Progress:\n    - new\n ⇒ progress  | new |\u{20}
        \u{20} In Progress:\n    - good\nCURRENT_PROGRESS:\n  Completed:\n    - everything\n ⇒ ! MissingInProgress
        § a bullet keeps its marks, colons and inner blanks
        \u{20} In Progress:\n    - Run `cargo test`: see **notes**, because CI  fails => later\n ⇒ progress  | Run `cargo test`: see **notes**, because CI  fails => later |\u{20}
        \u{20} In Progress:\n    - Wire these routes:\n    - b\n ⇒ progress  | Wire these routes:, b |\u{20}";
    PROGRESS.table(table);
}

#[test]
fn bullets_without_one_in_progress_are_a_fault() {
    let table = r"
        § in progress is required beside any bullet
        \u{20} Completed:\n    - a\n ⇒ ! MissingInProgress
        \u{20} Remaining:\n    - a\n ⇒ ! MissingInProgress
        \u{20} Completed:\n    - a\n  In Progress:\n  Remaining:\n    - b\n ⇒ ! MissingInProgress
        \u{20} Completed:\n    - a\n  In Progress:\n    - none\n ⇒ ! MissingInProgress
        \u{20} Completed:\n    - a\n  In Progress: (none)\n ⇒ ! MissingInProgress
        \u{20} - a\n  - b\n ⇒ ! MissingInProgress
        § a bullet above the first list is reported
        \u{20} - a\n  - b\n  In Progress:\n    - c\n ⇒ progress  | c |\u{20} ! UnknownHeader
        \u{20} - none\n  In Progress:\n    - c\n ⇒ progress  | c |\u{20}
        § a faulty progress hides no other section
        \u{20} Completed:\n    - a\nKEY_LEARNINGS:\n  ADD:\n    - because b: c\n ⇒ KL b | c ! MissingInProgress
        § no bullet at all is no change
        \u{20} Completed:\n  In Progress:\n  Remaining:\n ⇒
        \u{20} Completed: none\n  In Progress:\n    - (none)\n  Remaining: N/A\n ⇒";
    PROGRESS.table(table);
    PROGRESS.rule("nothing at all", &[("", "")]);
}

#[test]
fn titles_may_have_symbols_and_be_bullets_and_others_are_no_list() {
    let table = r"
        § a symbol or a number beside the title of a heading does not count
        **In Progress**\n- a\n**Completed ✅**\n- b\n**📋 Remaining**\n- c\n ⇒ progress b | a | c
        ## 1. ✅ Completed\n- b\n## 2. In Progress 🚧\n- a\n ⇒ progress b | a |\u{20}
        ## ✅ **Completed**\n- b\n### 1. **In Progress**\n- a\n📋 **Remaining**\n- c\n ⇒ progress b | a | c
        ## 1. **Completed:**\n- b\n## 2. **In Progress:**\n- a\n ⇒ progress b | a |\u{20}
        § a title of the form, with its colon, may be a bullet
        - Completed:\n  - b\n- In Progress:\n  - a\n- Remaining:\n  - c\n ⇒ progress b | a | c
        § what stands under another title is in no list
        In Progress:\n- a\n## Erledigt ✅\n- b\nRemaining:\n- c\n ⇒ progress  | a | c ! UnknownHeader
        In Progress:\n- a\n**Gültig (noch)**\n- b\n ⇒ progress  | a |\u{20} ! UnknownHeader";
    PROGRESS.table(table);
}
