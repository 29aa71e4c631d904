//! The indentation that is removed from a snippet: one prefix from all its lines, so that their relative indentation stays.
//! What holds for any lines is a law (`indentation_laws`); these are the cases that people meet.

use crate::table::{Table, rows, said};
use working_memory::domain::dsl::parse;

/// Each item below a bullet with this indentation has this snippet.
#[track_caller]
fn below(bullet: &str, rule: &str, table: &str) {
    for (item, snippet) in rows(table) {
        let text = format!("VERBATIM_CONTEXT:\n  ADD:\n{bullet}- because a: l =>{item}\n");
        assert_eq!(
            said(&parse(&text)),
            format!("VC a | l | {snippet}"),
            "{rule}: {text:?}"
        );
    }
}

#[test]
fn below_the_bullet_the_common_indentation_is_removed() {
    below(
        "    ",
        "what all lines share goes, whichever is deepest",
        r"
        \n      x\n        y\n      z ⇒ x\n  y\nz
        \n          x\n      y\n        z ⇒ \u{20}   x\ny\n  z
        \n            x = 1\n        else:\n            y = 2 ⇒ \u{20}   x = 1\nelse:\n    y = 2
        \n    x\ny\n    z ⇒ \u{20}   x\ny\n    z
        \n\tx\ny ⇒ \tx\ny
        \n      x\n\n   \n        \n      y ⇒ x\n\n\n  \ny
        \n      x\n \t \n      y ⇒ x\n\t \ny
    ",
    );
    below(
        "",
        "a tab has no common prefix with blanks",
        r"
        \n\tx\n    y\n\t\tz ⇒ x\n    y\n\tz
        \n    x\n\ty\n      z ⇒ x\n\ty\n  z
        \n  \tx\n  y\n  \t\tz ⇒ \tx\ny\n\t\tz
        \n \t x\n \ty ⇒ \u{20}x\ny
    ",
    );
    below(
        "    ",
        "a recipe keeps its tab, also where only its target was shifted",
        r"
        \n      test:\n      \tcargo test ⇒ test:\n\tcargo test
        \ntest:\n\tcargo test ⇒ test:\n\tcargo test
        \n      test:\n\tcargo test ⇒ test:\n\tcargo test
        \n        test: build\n\tcargo test\n\n        build:\n\tcargo build ⇒ test: build\n\tcargo test\n\nbuild:\n\tcargo build
        \u{20}test:\n\tcargo test ⇒ test:\n\tcargo test
        \u{20}test:\n      \tcargo test ⇒ test:\n\tcargo test
    ",
    );
}

#[test]
fn after_the_arrow_the_bullets_indentation_and_two_more_are_removed() {
    below(
        "    ",
        "unless lines have less in common",
        r"
        \u{20}fn x() {\n          body();\n      } ⇒ fn x() {\n    body();\n}
        \u{20}x\n        y ⇒ x\n  y
        \u{20}def a():\n    return 1 ⇒ def a():\n    return 1
        \u{20}x\n     y\n        z ⇒ x\n     y\n        z
        \u{20}x\n        y\n    z ⇒ x\n        y\n    z
        \u{20}x\n\t\ty ⇒ x\n\t\ty
        \u{20}x\n    \ty ⇒ x\n\ty
        \u{20}x\n      y\n\tz ⇒ x\ny\n\tz
    ",
    );
    below(
        "  ",
        "below another bullet",
        r"
        \u{20}x\n      y\n    z ⇒ x\n  y\nz
    ",
    );
    below(
        "\t",
        "of a bullet indented by tabs, one more tab",
        r"
        \u{20}x\n\t\ty\n\t\t\tz ⇒ x\ny\n\tz
        \u{20}x\n\t    y ⇒ x\ny
        \u{20}x\n\ty ⇒ x\n\ty
        \u{20}x\n\t  y\n\t  \tz ⇒ x\n\t  y\n\t  \tz
    ",
    );
    below(
        "    ",
        "closing brackets show the indentation of the first line",
        r"
        \u{20}fn x() {\n        body();\n    } ⇒ fn x() {\n    body();\n}
        \u{20}call(\n      one,\n      two\n  ) ⇒ call(\n    one,\n    two\n)
        \u{20}a {\n        b\n    }\n    c {\n        d\n    } ⇒ a {\n    b\n}\nc {\n    d\n}
        \u{20}x = [\n    1,\n    ] ⇒ x = [\n    1,\n    ]
        \u{20}x(function () {\n        y();\n    }); ⇒ x(function () {\n        y();\n    });
    ",
    );
}

#[test]
fn fences_lose_their_own_indentation_and_the_lines_between_their_common_one() {
    below(
        "    ",
        "at most that of the opening fence",
        r"
        \n      ```py\n      def a():\n          return 1\n      ``` ⇒ ```py\ndef a():\n    return 1\n```
        \n        ```\n      x\n        y\n    ``` ⇒ ```\nx\n  y\n```
        \n```\n  x\n    y\n``` ⇒ ```\n  x\n    y\n```
        \n      ```\n          x\n            y\n      ``` ⇒ ```\n    x\n      y\n```
        \n      ```\n\tx\n\t\ty\n      ``` ⇒ ```\n\tx\n\t\ty\n```
        \n      ```\n        \n\n      ``` ⇒ ```\n  \n\n```
        \n      ```make\n      test:\n\tcargo test\n      ``` ⇒ ```make\ntest:\n\tcargo test\n```
    ",
    );
    below(
        "    ",
        "the same after the closing fence, and after the arrow that of the bullet",
        r"
        \n      ```\n      x\n      ```\n        note:\n          more ⇒ ```\nx\n```\n  note:\n    more
        \u{20}```py\n      def a():\n          return 1\n      ``` ⇒ ```py\ndef a():\n    return 1\n```
        \u{20}```py\n    def a():\n        return 1\n    ``` ⇒ ```py\n    def a():\n        return 1\n```
    ",
    );
}

#[test]
fn line_ends_of_both_kinds_are_kept_and_hide_no_indentation() {
    Table("VERBATIM_CONTEXT:\r\n  ADD:\r\n    - because a: l =>").table("below the bullet and after the arrow", r"
        \r\n          x = 1\r\n      else:\r\n\r\n          y = 2\r\n ⇒ VC a | l |     x = 1\r\nelse:\r\n\r\n    y = 2
        \u{20}f {\r\n        x\r\n    }\r\n    - because b: m => n\r\n ⇒ VC a | l | f {\r\n    x\r\n} + VC b | m | n
    ");
}
