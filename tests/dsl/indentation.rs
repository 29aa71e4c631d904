//! The indentation that is removed from a snippet: one prefix from all its lines, so that their relative indentation stays.

use crate::expect::{accepts, verbatim, verbatim_add};

/// One item of the list; its bullet is in column 4.
#[track_caller]
fn snippet(item: &str, expected: &str) {
    below("    ", item, expected);
}

/// One item below a bullet with this indentation.
#[track_caller]
fn below(bullet: &str, item: &str, expected: &str) {
    accepts(
        &verbatim_add(&format!("{bullet}- because a: l =>{item}")),
        [verbatim("a", "l", expected)],
    );
}

#[test]
fn a_function_behind_the_arrow_keeps_the_indentation_of_its_body() {
    snippet(" def a():\n    return 1", "def a():\n    return 1");
    snippet(
        " def a():\n    if b:\n        return 1\n    return 2",
        "def a():\n    if b:\n        return 1\n    return 2",
    );
    below("  ", " def a():\n   return 1", "def a():\n   return 1");
    below("    ", " def a():\n  return 1", "def a():\n  return 1");
}

#[test]
fn a_makefile_keeps_its_tab() {
    snippet(" test:\n\tcargo test", "test:\n\tcargo test");
    snippet("\n      test:\n      \tcargo test", "test:\n\tcargo test");
    snippet(" test:\n      \tcargo test", "test:\n\tcargo test");
    snippet("\ntest:\n\tcargo test", "test:\n\tcargo test");
    // The model shifted the target and not the tab of its recipe.
    snippet("\n      test:\n\tcargo test", "test:\n\tcargo test");
    snippet(
        "\n        test: build\n\tcargo test\n\n        build:\n\tcargo build",
        "test: build\n\tcargo test\n\nbuild:\n\tcargo build",
    );
    below("", " test:\n\tcargo test", "test:\n\tcargo test");
    below("  ", " test:\n\tcargo test", "test:\n\tcargo test");
}

#[test]
fn a_block_whose_first_line_is_its_deepest_stays_a_block() {
    snippet(
        "\n            x = 1\n        else:\n            y = 2",
        "    x = 1\nelse:\n    y = 2",
    );
    snippet("\n    x = 1\nelse:\n    y = 2", "    x = 1\nelse:\n    y = 2");
    snippet(
        "\n        x = 1\n      else:\n        y = 2",
        "  x = 1\nelse:\n  y = 2",
    );
}

#[test]
fn the_common_indentation_is_removed() {
    snippet("\n      x\n        y\n      z", "x\n  y\nz");
    snippet("\n          x\n            y\n          z", "x\n  y\nz");
    snippet("\n          x\n      y\n        z", "    x\ny\n  z");
    snippet("\n          x\n     y", "     x\ny");
}

#[test]
fn the_common_indentation_is_counted_in_bytes_not_in_columns() {
    // The tab is as wide as four blanks, and has no common prefix with them.
    below("", "\n\tx\n    y\n\t\tz", "x\n    y\n\tz");
    below("", "\n    x\n\ty\n      z", "x\n\ty\n  z");
    below("", "\n  \tx\n  y\n  \t\tz", "\tx\ny\n\t\tz");
    below("", "\n \t x\n \ty", " x\ny");
}

#[test]
fn with_an_unindented_line_the_others_are_unchanged() {
    snippet("\n    x\ny\n    z", "    x\ny\n    z");
    snippet("\n  x\n    y\nz", "  x\n    y\nz");
    snippet("\n\tx\ny", "\tx\ny");
}

#[test]
fn blank_lines_are_emptied_and_do_not_affect_the_indentation() {
    snippet("\n      x\n\n   \n        \n      y", "x\n\n\n  \ny");
    snippet("\n      x\n \t \n      y", "x\n\t \ny");
    snippet("\n \n      x\n      y", "\nx\ny");
    below("", "\n\tx\n  \n\ty", "x\n  \ny");
}

#[test]
fn after_the_arrow_the_bullets_indentation_and_two_more_are_removed() {
    snippet(
        " fn x() {\n          body();\n      }",
        "fn x() {\n    body();\n}",
    );
    snippet(" x\n        y", "x\n  y");
    snippet(" x\n      y", "x\ny");
    below("  ", " x\n      y\n    z", "x\n  y\nz");
    below("", " x\n  y\n    z", "x\ny\n  z");
}

#[test]
fn after_the_arrow_nothing_is_removed_from_lines_with_less_in_common() {
    snippet(" x\n     y\n        z", "x\n     y\n        z");
    snippet(" x\n        y\n    z", "x\n        y\n    z");
    snippet(" x\n  y\n z", "x\n  y\n z");
    below("", " x\n y", "x\n y");
}

#[test]
fn after_the_arrow_of_a_bullet_indented_by_blanks_no_tab_is_removed() {
    snippet(" x\n\t\ty", "x\n\t\ty");
    snippet(" x\n    \ty", "x\n\ty");
    below("", " x\n\ty", "x\n\ty");
}

#[test]
fn after_the_arrow_of_a_bullet_indented_by_tabs_one_more_tab_is_removed() {
    below("\t", " x\n\t\ty\n\t\t\tz", "x\ny\n\tz");
    below("\t", " x\n\t    y", "x\ny");
    below("\t\t", " x\n\t\t\ty", "x\ny");
    below("\t", " x\n\ty", "x\n\ty");
    below("\t", " x\n\t  y\n\t  \tz", "x\n\t  y\n\t  \tz");
    below("  \t", " x\n  \t\ty", "x\ny");
}

#[test]
fn after_the_arrow_closing_brackets_show_the_indentation_of_the_first_line() {
    snippet(" fn x() {\n        body();\n    }", "fn x() {\n    body();\n}");
    snippet(
        " call(\n      one,\n      two\n  )",
        "call(\n    one,\n    two\n)",
    );
    snippet(" a([{\n  b\n }])", "a([{\n b\n}])");
    snippet(" x {\n    }", "x {\n}");
    below("", " x {\n  }", "x {\n}");
    // The first of the least indented lines decides.
    snippet(
        " a {\n        b\n    }\n    c {\n        d\n    }",
        "a {\n    b\n}\nc {\n    d\n}",
    );
    snippet(" x = [\n    1,\n    ]", "x = [\n    1,\n    ]");
    // A line with more than a bracket is treated like any other.
    snippet(
        " x(function () {\n        y();\n    });",
        "x(function () {\n        y();\n    });",
    );
}

#[test]
fn after_the_arrow_lines_with_another_prefix_are_unchanged_too() {
    snippet(" x\n      y\n\tz", "x\ny\n\tz");
    snippet(" x\n\t\ty\n        z", "x\n\t\ty\n        z");
}

#[test]
fn fences_lose_their_own_indentation_and_the_lines_between_their_common_one() {
    snippet(
        "\n      ```py\n      def a():\n          return 1\n      ```",
        "```py\ndef a():\n    return 1\n```",
    );
    snippet("\n      ```\n        x\n      y\n      ```", "```\n  x\ny\n```");
    snippet("\n        ```\n      x\n        y\n    ```", "```\nx\n  y\n```");
    snippet("\n```\n  x\n    y\n```", "```\n  x\n    y\n```");
    below("\t", "\n\t\t```\n\t\tx\n\t\t\ty\n\t\t```", "```\nx\n\ty\n```");
}

#[test]
fn blank_lines_alone_between_fences_lose_the_indentation_too() {
    snippet("\n      ```\n        \n\n      ```", "```\n  \n\n```");
    snippet(" ```\n        \n      ```", "```\n  \n```");
    snippet(" ```\n\n      ```", "```\n\n```");
}

#[test]
fn between_fences_at_most_the_indentation_of_the_opening_fence_is_removed() {
    snippet(
        "\n      ```\n          x\n            y\n      ```",
        "```\n    x\n      y\n```",
    );
    snippet("\n  ```\n      x\n      y\n  ```", "```\n    x\n    y\n```");
    snippet("\n      ```\n\tx\n\t\ty\n      ```", "```\n\tx\n\t\ty\n```");
}

#[test]
fn between_fences_a_recipe_keeps_its_tab() {
    snippet(
        "\n      ```make\n      test:\n\tcargo test\n      ```",
        "```make\ntest:\n\tcargo test\n```",
    );
    snippet(
        "\n      ```make\n      test:\n      \tcargo test\n      ```",
        "```make\ntest:\n\tcargo test\n```",
    );
}

#[test]
fn after_the_closing_fence_the_same_indentation_is_removed() {
    snippet(
        "\n      ```\n      x\n      ```\n      and more\n\n        of it",
        "```\nx\n```\nand more\n\n  of it",
    );
    snippet(
        "\n      ```\n      x\n      ```\n        note:\n          more",
        "```\nx\n```\n  note:\n    more",
    );
}

#[test]
fn a_fence_after_the_arrow_uses_the_indentation_of_the_bullet() {
    snippet(
        " ```py\n      def a():\n          return 1\n      ```",
        "```py\ndef a():\n    return 1\n```",
    );
    snippet(
        " ```py\n    def a():\n        return 1\n    ```",
        "```py\n    def a():\n        return 1\n```",
    );
    snippet(" ```\n        x\n      ```", "```\n  x\n```");
    snippet(
        " ```\n      x\n      ```\n      and more\n        of it",
        "```\nx\n```\nand more\n  of it",
    );
}

#[test]
fn a_fence_that_never_closes_changes_nothing_about_it() {
    let text = verbatim_add("    - because a: l =>\n      ```\n        x\n       y");
    let parsed = crate::expect::read(&text);
    assert_eq!(
        crate::expect::operations(&parsed),
        [verbatim("a", "l", "```\n  x\n y")]
    );
}

#[test]
fn line_ends_of_both_kinds_are_kept_and_hide_no_indentation() {
    accepts(
        "VERBATIM_CONTEXT:\r\n  ADD:\r\n    - because a: l =>\r\n          x = 1\r\n      else:\r\n\r\n          y = 2\r\n",
        [verbatim("a", "l", "    x = 1\r\nelse:\r\n\r\n    y = 2")],
    );
    accepts(
        "VERBATIM_CONTEXT:\r\n  ADD:\r\n    - because a: l => def a():\r\n    return 1\r\n    - because b: m => f {\r\n        x\r\n    }\r\n",
        [
            verbatim("a", "l", "def a():\r\n    return 1"),
            verbatim("b", "m", "f {\r\n    x\r\n}"),
        ],
    );
}
