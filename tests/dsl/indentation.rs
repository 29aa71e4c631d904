//! The indentation that is removed from a snippet: one prefix from all its lines, so that their relative indentation stays.
//! What holds for any lines is a law (`indentation_laws`); these are the cases that people meet.

use crate::table::{Table, rows, said};
use working_memory::domain::dsl::parse;

/// Each item below a bullet with this indentation has this snippet.
#[track_caller]
fn below(bullet: &str, table: &str) {
    for (rule, item, snippet) in rows(table) {
        let text = format!("VERBATIM_CONTEXT:\n  ADD:\n{bullet}- because a: l =>{item}\n");
        let expected = format!("VC a | l | {snippet}");
        assert_eq!(said(&parse(&text)), expected, "{rule}: {text:?}");
    }
}

#[test]
fn below_the_bullet_the_common_indentation_is_removed() {
    let table = r"
        § what all lines share goes, whichever is deepest
        \n            x = 1\n        else:\n            y = 2 ⇒ \u{20}   x = 1\nelse:\n    y = 2
        \n    x\ny\n    z ⇒ \u{20}   x\ny\n    z
        \n\tx\ny ⇒ \tx\ny
        \n      x\n \t \n      y ⇒ x\n\t \ny
        § a recipe keeps its tab, also where only its target was shifted
        \n      test:\n      \tcargo test ⇒ test:\n\tcargo test
        \ntest:\n\tcargo test ⇒ test:\n\tcargo test
        \n      test:\n\tcargo test ⇒ test:\n\tcargo test
        \n        test: build\n\tcargo test\n\n        build:\n\tcargo build ⇒ test: build\n\tcargo test\n\nbuild:\n\tcargo build
        \u{20}test:\n\tcargo test ⇒ test:\n\tcargo test
        \u{20}test:\n      \tcargo test ⇒ test:\n\tcargo test";
    below("    ", table);
    let table = r"
        § a tab has no common prefix with blanks
        \n    x\n\ty\n      z ⇒ x\n\ty\n  z
        \n  \tx\n  y\n  \t\tz ⇒ \tx\ny\n\t\tz
        \n \t x\n \ty ⇒ \u{20}x\ny";
    below("", table);
}

#[test]
fn after_the_arrow_the_bullets_indentation_and_two_more_are_removed() {
    let table = r"
        § unless lines have less in common
        \u{20}fn x() {\n          body();\n      } ⇒ fn x() {\n    body();\n}
        \u{20}x\n        y ⇒ x\n  y
        \u{20}def a():\n    return 1 ⇒ def a():\n    return 1
        \u{20}x\n     y\n        z ⇒ x\n     y\n        z
        \u{20}x\n        y\n    z ⇒ x\n        y\n    z
        \u{20}x\n\t\ty ⇒ x\n\t\ty
        \u{20}x\n    \ty ⇒ x\n\ty
        \u{20}x\n      y\n\tz ⇒ x\ny\n\tz
        § closing brackets show the indentation of the first line
        \u{20}fn x() {\n        body();\n    } ⇒ fn x() {\n    body();\n}
        \u{20}call(\n      one,\n      two\n  ) ⇒ call(\n    one,\n    two\n)
        \u{20}a {\n        b\n    }\n    c {\n        d\n    } ⇒ a {\n    b\n}\nc {\n    d\n}
        \u{20}x = [\n    1,\n    ] ⇒ x = [\n    1,\n    ]
        \u{20}x(function () {\n        y();\n    }); ⇒ x(function () {\n        y();\n    });";
    below("    ", table);
    let table = r"
        § below another bullet
        \u{20}x\n      y\n    z ⇒ x\n  y\nz";
    below("  ", table);
    let table = r"
        § of a bullet indented by tabs, one more tab
        \u{20}x\n\t\ty\n\t\t\tz ⇒ x\ny\n\tz
        \u{20}x\n\t    y ⇒ x\ny
        \u{20}x\n\ty ⇒ x\n\ty
        \u{20}x\n\t  y\n\t  \tz ⇒ x\n\t  y\n\t  \tz";
    below("\t", table);
}

#[test]
fn fences_lose_their_own_indentation_and_the_lines_between_their_common_one() {
    let table = r"
        § at most that of the opening fence
        \n      ```py\n      def a():\n          return 1\n      ``` ⇒ ```py\ndef a():\n    return 1\n```
        \n```\n  x\n    y\n``` ⇒ ```\n  x\n    y\n```
        \n      ```\n\tx\n\t\ty\n      ``` ⇒ ```\n\tx\n\t\ty\n```
        \n      ```\n        \n\n      ``` ⇒ ```\n  \n\n```
        \n      ```make\n      test:\n\tcargo test\n      ``` ⇒ ```make\ntest:\n\tcargo test\n```
        § the same after the closing fence, and after the arrow that of the bullet
        \n      ```\n      x\n      ```\n        note:\n          more ⇒ ```\nx\n```\n  note:\n    more
        \u{20}```py\n      def a():\n          return 1\n      ``` ⇒ ```py\ndef a():\n    return 1\n```
        \u{20}```py\n    def a():\n        return 1\n    ``` ⇒ ```py\n    def a():\n        return 1\n```";
    below("    ", table);
}

#[test]
fn line_ends_of_both_kinds_are_kept_and_hide_no_indentation() {
    let table = r"
        § below the bullet and after the arrow
        \r\n          x = 1\r\n      else:\r\n\r\n          y = 2\r\n ⇒ VC a | l |     x = 1\r\nelse:\r\n\r\n    y = 2
        \u{20}f {\r\n        x\r\n    }\r\n    - because b: m => n\r\n ⇒ VC a | l | f {\r\n    x\r\n} + VC b | m | n";
    Table("VERBATIM_CONTEXT:\r\n  ADD:\r\n    - because a: l =>").table(table);
}
