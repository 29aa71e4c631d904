//! `VERBATIM_CONTEXT / ADD`: label and snippet bytes, where a snippet ends, and fences.

use crate::table::{SNIPPETS, Table, read};
use working_memory::domain::operation::Operation;

/// Items that are not indented.
const FLAT: Table = Table("VERBATIM_CONTEXT:\nADD:\n");

#[test]
fn an_item_has_a_reason_a_label_and_a_snippet() {
    let table = r"
        § a snippet is after the arrow or on the next lines
        - because a: the command => cargo test --all ⇒ VC a | the command | cargo test --all
        - because a: l =>\n      test:\n      \tcargo test\n    - because b: m => n\n ⇒ VC a | l | test:\n\tcargo test + VC b | m | n
        - because a: l =>\n      x\n      y ⇒ VC a | l | x\ny
        § the reason ends where it does in a learning, the label at the first arrow
        - because std::fs blocks: fs::read: usage => fs::read(path) ⇒ VC std::fs blocks | fs::read: usage | fs::read(path)
        - BECAUSE a:b: c => d ⇒ VC a:b | c | d
        - because a: match arm => Some(x) => x, ⇒ VC a | match arm | Some(x) => x,
        - because a:   padded   => x ⇒ VC a | padded | x
        - because a: `src/main.rs`, lines 3–9 => x ⇒ VC a | `src/main.rs`, lines 3–9 | x
        § exactly one blank after the arrow is removed
        - because a: l =>x ⇒ VC a | l | x
        - because a: l =>  x ⇒ VC a | l |  x
        - because a: l =>    x ⇒ VC a | l |    x
        - because a: l => \tx ⇒ VC a | l | \tx
        - because a: l=> x ⇒ VC a | l | x
        - because a:b:\u{2003}l => x ⇒ VC a:b | l | x";
    SNIPPETS.table(table);
}

#[test]
fn snippet_bytes_stay_as_they_are() {
    let table = r#"
        § tabs, blanks, markup and characters of any script
        - because a: l => a\tb \u{20} ⇒ VC a | l | a\tb \u{20}
        - because a: l =>\n      a\tb \t \n      \tc \u{20} ⇒ VC a | l | a\tb \t \n\tc \u{20}
        - because a: l => \u{a0}x\u{3000} ⇒ VC a | l | \u{a0}x\u{3000}
        - because a: l => <div>&amp;</div> "q" \\n ⇒ VC a | l | <div>&amp;</div> "q" \\n
        - because é: ü => ä\n    - because 日: 本 =>\n      語\n        🦀 ⇒ VC é | ü | ä + VC 日 | 本 | 語\n  🦀
        § carriage returns inside stay, and the last line end goes
        - because a: l =>\r\n      x\r\n\r\n      y\r\n    - because b: m => z\r\n ⇒ VC a | l | x\r\n\r\ny + VC b | m | z
        - because a: l =>\n      x\r\n      y\n      z ⇒ VC a | l | x\r\ny\nz
        § empty lines inside stay, and trailing ones go
        - because a: l =>\n      x\n\n\n      y\n\n\n ⇒ VC a | l | x\n\n\ny
        - because a: l => x\n\n      y\n  \n ⇒ VC a | l | x\n\ny"#;
    SNIPPETS.table(table);
}

#[test]
fn what_lacks_a_part_is_rejected() {
    let table = r"
        § no arrow or no label
        - because a: x ⇒ ! MissingLabel
        - because a: cargo test ⇒ ! MissingLabel
        - because a: => x ⇒ ! MissingLabel
        - because a:   => x ⇒ ! MissingLabel
        - because a: \u{3000}=> x ⇒ ! MissingLabel
        - because a: a -> b ⇒ ! MissingLabel
        - because a: a = > b ⇒ ! MissingLabel
        - because a: =>\n      x ⇒ ! MissingLabel
        § no snippet
        - because a: l => ⇒ ! EmptyContent
        - because a: l =>  \u{20} ⇒ ! EmptyContent
        - because a: l => \u{3000}\u{a0} ⇒ ! EmptyContent
        - because a: l =>\n\n ⇒ ! EmptyContent
        - because a: l =>\n      \u{3000}\n      \t ⇒ ! EmptyContent
        - because a: ⇒ ! EmptyContent
        - because a ⇒ ! EmptyContent
        § no reason
        - l => x ⇒ ! MissingReason
        - reason: l => x ⇒ ! MissingReason
        - because: l => x ⇒ ! MissingReason
        - because : l => ⇒ ! MissingReason
        - l =>\n      x ⇒ ! MissingReason
        § an empty snippet contains nothing of the next item
        - because a: l =>\n    - because b: m => x\n    - because c: n =>\n  ARCHIVE:\n    - VC-1 because d\n ⇒ VC b | m | x + archive VC-1 | d ! EmptyContent EmptyContent";
    SNIPPETS.table(table);
}

#[test]
fn an_indented_snippet_ends_at_what_is_not_deeper_than_its_bullet() {
    let table = r"
        § at the next bullet, also one of less indentation
        - because a: l =>\n      x\n    - because b: m =>\n      y\n ⇒ VC a | l | x + VC b | m | y
        - because a: l => x\n  - because b: m =>\n    y\n- because c: n => z\n ⇒ VC a | l | x + VC b | m | y + VC c | n | z
        § deeper bullets and headers belong to it
        - because a: l =>\n      - because x: y => z\n        - KL-1 because w\n      1. one\n ⇒ VC a | l | - because x: y => z\n  - KL-1 because w\n1. one
        - because a: l =>\n      KEY_LEARNINGS:\n        ADD:\n          - because x: y\n      # Current Progress\n    - because b: m => n\n ⇒ VC a | l | KEY_LEARNINGS:\n  ADD:\n    - because x: y\n# Current Progress + VC b | m | n
        § prose in column 0 ends it, also with items after it, and other prose does not
        - because a: l =>\n      x\n        y\nThat is all.\n      z ⇒ VC a | l | x\n  y
        - because a: l =>\n\n      x\n\nThat is all. ⇒ VC a | l | \nx
        - because a: l => x\n      y\nThat is all. ⇒ VC a | l | x\ny
        - because a: l =>\n      x\n  y\n      z ⇒ VC a | l |     x\ny\n    z
        - because a: l =>\n      x\n  + y\n      z ⇒ VC a | l |     x\n+ y\n    z
        - because a: l =>\n      x\nAnd one more.\n    - because b: m => y ⇒ VC a | l | x + VC b | m | y";
    SNIPPETS.table(table);
    let all = "- no reason|* no reason|1. no reason|• no reason|  - no reason|    - no reason";
    for bullet in all.split('|') {
        let text = format!("- because a: l =>\n      x\n{bullet}\n    - because b: m => y");
        let read = "VC a | l | x + VC b | m | y ! MissingReason";
        SNIPPETS.rule("at any bullet, also one without because", &[(&text, read)]);
    }
    for indent in ["", " ", "  ", "    "] {
        let archive = format!("- because a: l =>\n      x\n{indent}ARCHIVE:\n    - VC-1 because b");
        let section = format!("- because a: l => x\n{indent}KEY_LEARNINGS:\n  ADD:\n    - because b: c");
        let same_line = format!("- because a: l =>\n      x\n{indent}ARCHIVE: - VC-1 because b");
        let both = format!("- because a: l => x\n{indent}KEY_LEARNINGS: ADD:\n    - because b: c");
        let code = format!("- because a: l =>\n      x\n{indent}add: y\n      z");
        SNIPPETS.rule(
            "at a header of a list or a section, also with a list or an item behind it",
            &[
                (&archive, "VC a | l | x + archive VC-1 | b"),
                (&section, "VC a | l | x + KL b | c"),
                (&same_line, "VC a | l | x + archive VC-1 | b"),
                (&both, "VC a | l | x + KL b | c"),
            ],
        );
        let is_code = read(&format!("VERBATIM_CONTEXT:\n  ADD:\n    {code}"));
        assert_eq!(is_code.items.len(), 1, "{code}");
        assert!(indent.is_empty() || is_code.faults.is_empty(), "{code}");
    }
    let merged = read(
        "VERBATIM_CONTEXT:\n  ADD:\n    - because a: l =>\n      x\n  MERGE:\n    - KL-1, KL-2 because b: c\n",
    );
    assert_eq!(merged.items[0].operation, Operation::snippet("a", "l", "x"));
    assert_eq!(merged.items[1].operation.merges().len(), 2);
}

#[test]
fn an_unindented_snippet_ends_at_headers_and_at_because() {
    let table = r"
        § prose, bullets and deeper lines belong to it
        - because a: l =>\nfn main() {\n    println!();\n}\n\nStill snippet.\n- [ ] a list\n1. of any kind\n- KL-1 becoming older\n    - because b: m => n\n ⇒ VC a | l | fn main() {\n    println!();\n}\n\nStill snippet.\n- [ ] a list\n1. of any kind\n- KL-1 becoming older + VC b | m | n
        - because a: l =>\n    x\n      y\n    - because b: m =>\n  x\n    - z\n  - because c: n => o\n ⇒ VC a | l | x\n  y + VC b | m | x\n  - z + VC c | n | o
        § empty lines above the first line do not decide how it is indented
        - because a: l =>\n\n      x\n    - because b: m => n ⇒ VC a | l | \nx + VC b | m | n
        - because a: l =>\n\nx\n- y\n    - because b: m => n ⇒ VC a | l | \nx\n- y + VC b | m | n";
    SNIPPETS.table(table);
    let table = r"
        § it may begin with a bullet, have deeper becauses and lines that look like headers
        - because a: l =>\n- [x] one\n- [ ] two\n- because b: m => n ⇒ VC a | l | - [x] one\n- [ ] two + VC b | m | n
        - because a: l =>\nx\n  - because y: z => w\n- because b: m => n ⇒ VC a | l | x\n  - because y: z => w + VC b | m | n
        - because a: l =>\nservices:\n  db:\n    image: postgres\nvolumes:\n- because b: m => n ⇒ VC a | l | services:\n  db:\n    image: postgres\nvolumes: + VC b | m | n
        § because in any case and with any mark
        - because a: l =>\nx\ny\n- because b: m => n ⇒ VC a | l | x\ny + VC b | m | n
        - because a: l =>\nx\ny\n- BECAUSE b: m => n ⇒ VC a | l | x\ny + VC b | m | n
        - because a: l =>\nx\ny\n* Because b: m => n ⇒ VC a | l | x\ny + VC b | m | n
        - because a: l =>\nx\ny\n1. because b: m => n ⇒ VC a | l | x\ny + VC b | m | n
        - because a: l =>\nx\ny\n• because b: m => n ⇒ VC a | l | x\ny + VC b | m | n
        § headers in any form
        \u{20} - because a: l =>\nx\nARCHIVE:\n  - VC-1 because b ⇒ VC a | l | x + archive VC-1 | b
        \u{20} - because a: l =>\nx\n  ARCHIVE:\n  - VC-1 because b ⇒ VC a | l | x + archive VC-1 | b
        \u{20} - because a: l =>\nx\n**ARCHIVE:**\n  - VC-1 because b ⇒ VC a | l | x + archive VC-1 | b
        \u{20} - because a: l =>\nx\n### Archive\n  - VC-1 because b ⇒ VC a | l | x + archive VC-1 | b";
    FLAT.table(table);
}

#[test]
fn a_fenced_snippet_extends_to_its_closing_fence() {
    let table = r"
        § with any lines between
        - because a: l =>\n      ```rust\n      fn x() {}\n      ```\n    - because b: m => n\n ⇒ VC a | l | ```rust\nfn x() {}\n``` + VC b | m | n
        - because a: l =>\n      ```\nKEY_LEARNINGS:\n  ADD:\n    - because x: y\n- because z: w => v\nprose\n\n      ```\n    - because b: m => n\n ⇒ VC a | l | ```\nKEY_LEARNINGS:\n  ADD:\n    - because x: y\n- because z: w => v\nprose\n\n``` + VC b | m | n
        - because a: l =>\n```yaml\non:\n  push:\n- because no: no => no\n```\n    - because b: m => n\n ⇒ VC a | l | ```yaml\non:\n  push:\n- because no: no => no\n``` + VC b | m | n
        - because a: l => ```sh\n      cargo test\n    - because no: no => no\n      ```\n    - because b: m => n ⇒ VC a | l | ```sh\n      cargo test\n    - because no: no => no\n``` + VC b | m | n
        - because a: l =>\n      ```\n      ``` ⇒ VC a | l | ```\n```
        § deeper text after it belongs to the snippet, and prose in column 0 does not
        - because a: l =>\n      ```\n      x\n      ```\n      and more\n\n        of it\n    - because b: m => n ⇒ VC a | l | ```\nx\n```\nand more\n\n  of it + VC b | m | n
        - because a: l =>\n      ```\n      x\n      ```\nThat is all. ⇒ VC a | l | ```\nx\n```
        - because a: l => ```\nx\n```\n\nThat is all. ⇒ VC a | l | ```\nx\n```";
    SNIPPETS.table(table);
    let table = r"
        § it is closed by its own character, at least as long and without a language
        - because a: l =>\n````\n```\n~~~~\nARCHIVE:\n`````\n- because b: m => n ⇒ VC a | l | ````\n```\n~~~~\nARCHIVE:\n````` + VC b | m | n
        - because a: l =>\n~~~ini\n```\n- because no: no => no\n~~~\n- because b: m => n ⇒ VC a | l | ~~~ini\n```\n- because no: no => no\n~~~ + VC b | m | n
        - because a: l =>\n```md\n```rust\n- because no: no => no\n```\n- because b: m => n ⇒ VC a | l | ```md\n```rust\n- because no: no => no\n``` + VC b | m | n
        - because a: l =>\n```\n- because no: no => no\n```  \n- because b: m => n ⇒ VC a | l | ```\n- because no: no => no\n```   + VC b | m | n
        - because a: l =>\r\n```\r\n- because no: no => no\r\n```\r\n- because b: m => n\r\n ⇒ VC a | l | ```\r\n- because no: no => no\r\n``` + VC b | m | n
        § a header or bullet after it ends the snippet
        - because a: l =>\n```\nx\n```\nARCHIVE:\n- VC-1 because b ⇒ VC a | l | ```\nx\n``` + archive VC-1 | b
        - because a: l =>\n```\nx\n```\n- no reason\n- because b: m => n ⇒ VC a | l | ```\nx\n``` + VC b | m | n ! MissingReason";
    FLAT.table(table);
}

#[test]
fn what_opens_no_fence_or_never_closes_one_is_ignored() {
    let table = r"
        § with a warning, for a fence that never closes
        - because a: l =>\n      ```rust\n      x\n    - because b: m => n\n  ARCHIVE:\n    - VC-1 because c ⇒ VC a | l | ```rust\nx + VC b | m | n + archive VC-1 | c ! UnclosedFence
        - because a: l => ```rust\n      x\n    - because b: m => n ⇒ VC a | l | ```rust\nx + VC b | m | n ! UnclosedFence
        - because a: l =>\n````\nx\n```\nKEY_LEARNINGS:\n  ADD:\n    - because b: c ⇒ VC a | l | ````\nx\n``` + KL b | c ! UnclosedFence
        § for fences below the first line, and inline code
        - because a: l =>\n      x\n      ```\n    - because b: m => n\n      ``` ⇒ VC a | l | x\n``` + VC b | m | n\n```
        - because a: l => ```x```\n    - because b: m => `y`\n    - because c: n => ``z ⇒ VC a | l | ```x``` + VC b | m | `y` + VC c | n | ``z";
    SNIPPETS.table(table);
    let text = "VERBATIM_CONTEXT:\nADD:\n- because a: l =>\n  ~~~\n  x\n- because b: m => n";
    let range = read(text).faults[0].range.clone();
    assert!(!text[range.clone()].contains("because b"), "{range:?}");
}
