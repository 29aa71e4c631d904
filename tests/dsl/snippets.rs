//! `VERBATIM_CONTEXT / ADD`: label and snippet bytes, where a snippet ends, and fences.

use crate::table::{SNIPPETS, Table, read};
use working_memory::domain::operation::Operation;

/// Items that are not indented.
const FLAT: Table = Table("VERBATIM_CONTEXT:\nADD:\n");

#[test]
fn an_item_has_a_reason_a_label_and_a_snippet() {
    SNIPPETS.table("a snippet is after the arrow or on the next lines", r"
        - because a: the command => cargo test --all ⇒ VC a | the command | cargo test --all
        - because a: l =>\n      test:\n      \tcargo test\n    - because b: m => n\n ⇒ VC a | l | test:\n\tcargo test + VC b | m | n
        - because a: l =>\n      x\n      y ⇒ VC a | l | x\ny
    ");
    SNIPPETS.table("the reason ends where it does in a learning, the label at the first arrow", r"
        - because std::fs blocks: fs::read: usage => fs::read(path) ⇒ VC std::fs blocks | fs::read: usage | fs::read(path)
        - BECAUSE a:b: c => d ⇒ VC a:b | c | d
        - because a: match arm => Some(x) => x, ⇒ VC a | match arm | Some(x) => x,
        - because a:   padded   => x ⇒ VC a | padded | x
        - because a: `src/main.rs`, lines 3–9 => x ⇒ VC a | `src/main.rs`, lines 3–9 | x
    ");
    SNIPPETS.table(
        "exactly one blank after the arrow is removed",
        r"
        - because a: l =>x ⇒ VC a | l | x
        - because a: l =>  x ⇒ VC a | l |  x
        - because a: l =>    x ⇒ VC a | l |    x
        - because a: l => \tx ⇒ VC a | l | \tx
        - because a: l=> x ⇒ VC a | l | x
        - because a:b:\u{2003}l => x ⇒ VC a:b | l | x
    ",
    );
}

#[test]
fn snippet_bytes_stay_as_they_are() {
    SNIPPETS.table("tabs, blanks, markup and characters of any script", r#"
        - because a: l => a\tb \u{20} ⇒ VC a | l | a\tb \u{20}
        - because a: l =>\n      a\tb \t \n      \tc \u{20} ⇒ VC a | l | a\tb \t \n\tc \u{20}
        - because a: l => \u{a0}x\u{3000} ⇒ VC a | l | \u{a0}x\u{3000}
        - because a: l => <div>&amp;</div> "q" \\n ⇒ VC a | l | <div>&amp;</div> "q" \\n
        - because é: ü => ä\n    - because 日: 本 =>\n      語\n        🦀 ⇒ VC é | ü | ä + VC 日 | 本 | 語\n  🦀
    "#);
    SNIPPETS.table("carriage returns inside stay, and the last line end goes", r"
        - because a: l =>\r\n      x\r\n\r\n      y\r\n    - because b: m => z\r\n ⇒ VC a | l | x\r\n\r\ny + VC b | m | z
        - because a: l =>\n      x\r\n      y\n      z ⇒ VC a | l | x\r\ny\nz
    ");
    SNIPPETS.table(
        "empty lines inside stay, and trailing ones go",
        r"
        - because a: l =>\n      x\n\n\n      y\n\n\n ⇒ VC a | l | x\n\n\ny
        - because a: l => x\n\n      y\n  \n ⇒ VC a | l | x\n\ny
    ",
    );
}

#[test]
fn what_lacks_a_part_is_rejected() {
    for item in [
        "x",
        "cargo test",
        "=> x",
        "  => x",
        "\u{3000}=> x",
        "a -> b",
        "a = > b",
    ] {
        let line = format!("- because a: {item}");
        SNIPPETS.all("no arrow or no label", "! MissingLabel", &[&line]);
    }
    SNIPPETS.all(
        "no label before a snippet below",
        "! MissingLabel",
        &["- because a: =>\n      x"],
    );
    SNIPPETS.table(
        "no snippet",
        r"
        - because a: l => ⇒ ! EmptyContent
        - because a: l =>  \u{20} ⇒ ! EmptyContent
        - because a: l => \u{3000}\u{a0} ⇒ ! EmptyContent
        - because a: l =>\n\n ⇒ ! EmptyContent
        - because a: l =>\n      \u{3000}\n      \t ⇒ ! EmptyContent
        - because a: ⇒ ! EmptyContent
        - because a ⇒ ! EmptyContent
    ",
    );
    SNIPPETS.table(
        "no reason",
        r"
        - l => x ⇒ ! MissingReason
        - reason: l => x ⇒ ! MissingReason
        - because: l => x ⇒ ! MissingReason
        - because : l => ⇒ ! MissingReason
        - l =>\n      x ⇒ ! MissingReason
    ",
    );
    SNIPPETS.table("an empty snippet contains nothing of the next item", r"
        - because a: l =>\n    - because b: m => x\n    - because c: n =>\n  ARCHIVE:\n    - VC-1 because d\n ⇒ VC b | m | x + archive VC-1 | d ! EmptyContent EmptyContent
    ");
}

#[test]
fn an_indented_snippet_ends_at_what_is_not_deeper_than_its_bullet() {
    SNIPPETS.table("at the next bullet, also one of less indentation", r"
        - because a: l =>\n      x\n    - because b: m =>\n      y\n ⇒ VC a | l | x + VC b | m | y
        - because a: l => x\n  - because b: m =>\n    y\n- because c: n => z\n ⇒ VC a | l | x + VC b | m | y + VC c | n | z
    ");
    let all = "- no reason|* no reason|1. no reason|• no reason|  - no reason|    - no reason";
    for bullet in all.split('|') {
        let text = format!("- because a: l =>\n      x\n{bullet}\n    - because b: m => y");
        SNIPPETS.rule(
            "at any bullet, also one without because",
            &[(&text, "VC a | l | x + VC b | m | y ! MissingReason")],
        );
    }
    for indent in ["", " ", "  ", "    "] {
        let archive = format!("- because a: l =>\n      x\n{indent}ARCHIVE:\n    - VC-1 because b");
        let section = format!("- because a: l => x\n{indent}KEY_LEARNINGS:\n  ADD:\n    - because b: c");
        SNIPPETS.rule(
            "at a header of a list or a section",
            &[
                (&archive, "VC a | l | x + archive VC-1 | b"),
                (&section, "VC a | l | x + KL b | c"),
            ],
        );
    }
    let merged = read(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: l =>\n      x\n  MERGE:\n    - KL-1, KL-2 because b: c\n",
    );
    assert_eq!(merged.items[0].operation, Operation::snippet("a", "l", "x"));
    assert_eq!(merged.items[1].operation.merges().len(), 2);
    SNIPPETS.table("deeper bullets and headers belong to it", r"
        - because a: l =>\n      - because x: y => z\n        - KL-1 because w\n      1. one\n ⇒ VC a | l | - because x: y => z\n  - KL-1 because w\n1. one
        - because a: l =>\n      KEY_LEARNINGS:\n        ADD:\n          - because x: y\n      # Current Progress\n    - because b: m => n\n ⇒ VC a | l | KEY_LEARNINGS:\n  ADD:\n    - because x: y\n# Current Progress + VC b | m | n
    ");
    SNIPPETS.table(
        "prose in column 0 ends it, also with items after it, and other prose does not",
        r"
        - because a: l =>\n      x\n        y\nThat is all.\n      z ⇒ VC a | l | x\n  y
        - because a: l =>\n\n      x\n\nThat is all. ⇒ VC a | l | \nx
        - because a: l => x\n      y\nThat is all. ⇒ VC a | l | x\ny
        - because a: l =>\n      x\n  y\n      z ⇒ VC a | l |     x\ny\n    z
        - because a: l =>\n      x\n  + y\n      z ⇒ VC a | l |     x\n+ y\n    z
        - because a: l =>\n      x\nAnd one more.\n    - because b: m => y ⇒ VC a | l | x + VC b | m | y
    ",
    );
}

#[test]
fn an_unindented_snippet_ends_at_headers_and_at_because() {
    SNIPPETS.rule(
        "prose, bullets and deeper lines belong to it",
        &[
            (
                "- because a: l =>\nfn main() {\n    println!();\n}\n\nStill snippet.\n- [ ] a list\n1. of any kind\n- KL-1 becoming older\n    - because b: m => n\n",
                "VC a | l | fn main() {\n    println!();\n}\n\nStill snippet.\n- [ ] a list\n1. of any kind\n- KL-1 becoming older + VC b | m | n",
            ),
            (
                "- because a: l =>\n    x\n      y\n    - because b: m =>\n  x\n    - z\n  - because c: n => o\n",
                "VC a | l | x\n  y + VC b | m | x\n  - z + VC c | n | o",
            ),
        ],
    );
    FLAT.table("it may begin with a bullet, have deeper becauses and lines that look like headers", r"
        - because a: l =>\n- [x] one\n- [ ] two\n- because b: m => n ⇒ VC a | l | - [x] one\n- [ ] two + VC b | m | n
        - because a: l =>\nx\n  - because y: z => w\n- because b: m => n ⇒ VC a | l | x\n  - because y: z => w + VC b | m | n
        - because a: l =>\nservices:\n  db:\n    image: postgres\nvolumes:\n- because b: m => n ⇒ VC a | l | services:\n  db:\n    image: postgres\nvolumes: + VC b | m | n
    ");
    for mark in ["- because", "- BECAUSE", "* Because", "1. because", "• because"] {
        let text = format!("- because a: l =>\nx\ny\n{mark} b: m => n");
        FLAT.rule(
            "because in any case and with any mark",
            &[(&text, "VC a | l | x\ny + VC b | m | n")],
        );
    }
    for header in ["ARCHIVE:", "  ARCHIVE:", "**ARCHIVE:**", "### Archive"] {
        let text = format!("  - because a: l =>\nx\n{header}\n  - VC-1 because b");
        FLAT.rule(
            "headers in any form",
            &[(&text, "VC a | l | x + archive VC-1 | b")],
        );
    }
    SNIPPETS.table(
        "empty lines above the first line do not decide how it is indented",
        r"
        - because a: l =>\n\n      x\n    - because b: m => n ⇒ VC a | l | \nx + VC b | m | n
        - because a: l =>\n\nx\n- y\n    - because b: m => n ⇒ VC a | l | \nx\n- y + VC b | m | n
    ",
    );
}

#[test]
fn a_fenced_snippet_extends_to_its_closing_fence() {
    SNIPPETS.table("with any lines between", r"
        - because a: l =>\n      ```rust\n      fn x() {}\n      ```\n    - because b: m => n\n ⇒ VC a | l | ```rust\nfn x() {}\n``` + VC b | m | n
        - because a: l =>\n      ```\nKEY_LEARNINGS:\n  ADD:\n    - because x: y\n- because z: w => v\nprose\n\n      ```\n    - because b: m => n\n ⇒ VC a | l | ```\nKEY_LEARNINGS:\n  ADD:\n    - because x: y\n- because z: w => v\nprose\n\n``` + VC b | m | n
        - because a: l =>\n```yaml\non:\n  push:\n- because no: no => no\n```\n    - because b: m => n\n ⇒ VC a | l | ```yaml\non:\n  push:\n- because no: no => no\n``` + VC b | m | n
        - because a: l => ```sh\n      cargo test\n    - because no: no => no\n      ```\n    - because b: m => n ⇒ VC a | l | ```sh\n      cargo test\n    - because no: no => no\n``` + VC b | m | n
        - because a: l =>\n      ```\n      ``` ⇒ VC a | l | ```\n```
    ");
    FLAT.table("it is closed by its own character, at least as long and without a language", r"
        - because a: l =>\n````\n```\n~~~~\nARCHIVE:\n`````\n- because b: m => n ⇒ VC a | l | ````\n```\n~~~~\nARCHIVE:\n````` + VC b | m | n
        - because a: l =>\n~~~ini\n```\n- because no: no => no\n~~~\n- because b: m => n ⇒ VC a | l | ~~~ini\n```\n- because no: no => no\n~~~ + VC b | m | n
        - because a: l =>\n```md\n```rust\n- because no: no => no\n```\n- because b: m => n ⇒ VC a | l | ```md\n```rust\n- because no: no => no\n``` + VC b | m | n
        - because a: l =>\n```\n- because no: no => no\n```  \n- because b: m => n ⇒ VC a | l | ```\n- because no: no => no\n```   + VC b | m | n
        - because a: l =>\r\n```\r\n- because no: no => no\r\n```\r\n- because b: m => n\r\n ⇒ VC a | l | ```\r\n- because no: no => no\r\n``` + VC b | m | n
    ");
    SNIPPETS.table("deeper text after it belongs to the snippet, and prose in column 0 does not", r"
        - because a: l =>\n      ```\n      x\n      ```\n      and more\n\n        of it\n    - because b: m => n ⇒ VC a | l | ```\nx\n```\nand more\n\n  of it + VC b | m | n
        - because a: l =>\n      ```\n      x\n      ```\nThat is all. ⇒ VC a | l | ```\nx\n```
        - because a: l => ```\nx\n```\n\nThat is all. ⇒ VC a | l | ```\nx\n```
    ");
    FLAT.table("a header or bullet after it ends the snippet", r"
        - because a: l =>\n```\nx\n```\nARCHIVE:\n- VC-1 because b ⇒ VC a | l | ```\nx\n``` + archive VC-1 | b
        - because a: l =>\n```\nx\n```\n- no reason\n- because b: m => n ⇒ VC a | l | ```\nx\n``` + VC b | m | n ! MissingReason
    ");
}

#[test]
fn what_opens_no_fence_or_never_closes_one_is_ignored() {
    SNIPPETS.table("with a warning, for a fence that never closes", r"
        - because a: l =>\n      ```rust\n      x\n    - because b: m => n\n  ARCHIVE:\n    - VC-1 because c ⇒ VC a | l | ```rust\nx + VC b | m | n + archive VC-1 | c ! UnclosedFence
        - because a: l => ```rust\n      x\n    - because b: m => n ⇒ VC a | l | ```rust\nx + VC b | m | n ! UnclosedFence
        - because a: l =>\n````\nx\n```\nKEY_LEARNINGS:\n  ADD:\n    - because b: c ⇒ VC a | l | ````\nx\n``` + KL b | c ! UnclosedFence
    ");
    SNIPPETS.table("for fences below the first line, and inline code", r"
        - because a: l =>\n      x\n      ```\n    - because b: m => n\n      ``` ⇒ VC a | l | x\n``` + VC b | m | n\n```
        - because a: l => ```x```\n    - because b: m => `y`\n    - because c: n => ``z ⇒ VC a | l | ```x``` + VC b | m | `y` + VC c | n | ``z
    ");
    let text = "VERBATIM_CONTEXT:\nADD:\n- because a: l =>\n  ~~~\n  x\n- because b: m => n";
    let range = read(text).faults[0].range.clone();
    assert!(!text[range.clone()].contains("because b"), "{range:?}");
}
