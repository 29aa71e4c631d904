//! `KEY_LEARNINGS / ADD`: where the reason ends, what the content is, and insights over several lines.

use crate::table::LEARNINGS;

#[test]
fn an_addition_has_a_reason_and_a_content() {
    let table = r"
        § an addition is a reason and a content
        - because CI has no database: commit the query data ⇒ KL CI has no database | commit the query data
        § additions are in the order of their bullets
        - because a: b\n    - because c: d\n    - because e: f ⇒ KL a | b + KL c | d + KL e | f
        § because is recognized in any case
        Because a: b ⇒ KL a | b
        BECAUSE a: b\n    - because c: d\n    because e: f ⇒ KL a | b + KL c | d + KL e | f
        - because a: b\nBecause of that: nothing more. ⇒ KL a | b
        - BECAUSE a: b ⇒ KL a | b
        - Because a: b ⇒ KL a | b
        - bEcAuSe a: b ⇒ KL a | b
        § blanks around reason and content go, and tabs in a line count to the next multiple of four
        -    because    a  :    b  \u{20} ⇒ KL a | b
        - because\ta:\tb\t ⇒ KL a | b
        - because a: x\ty ⇒ KL a | x  y
        § a content keeps markdown, arrows and brackets, and is in any language
        - because a: **b** => `c` [d](e) <f> # g ⇒ KL a | **b** => `c` [d](e) <f> # g
        - because 接続が切れる: 再試行する ⇒ KL 接続が切れる | 再試行する
        - because l’été: déjà vu 🦀 ⇒ KL l’été | déjà vu 🦀";
    LEARNINGS.table(table);
}

#[test]
fn the_reason_ends_at_a_colon() {
    let table = r"
        § at the first that a blank follows
        - because std::fs blocks: use tokio ⇒ KL std::fs blocks | use tokio
        - because https://ci.example/1 is red: fix it ⇒ KL https://ci.example/1 is red | fix it
        - because it runs at 10:30: go ⇒ KL it runs at 10:30 | go
        - because a:b:c: d ⇒ KL a:b:c | d
        - because a: b: c: d ⇒ KL a | b: c: d
        - because a: see https://x.example/y ⇒ KL a | see https://x.example/y
        - because a:\tb ⇒ KL a | b
        - because a:b:\u{3000}c ⇒ KL a:b | c
        - because a:b:\u{a0}c: d ⇒ KL a:b | c: d
        § without one, at the first
        - because a:b ⇒ KL a | b
        - because a:b:c ⇒ KL a | b:c
        - because a :b ⇒ KL a | b
        - because a:b:\u{200b}c ⇒ KL a | b:\u{200b}c
        § a colon at the line end ends the reason and leaves nothing
        - because std::fs blocks: ⇒ ! EmptyContent
        - because a:b:  \u{20} ⇒ ! EmptyContent
        - because a:b:\r\n ⇒ ! EmptyContent";
    LEARNINGS.table(table);
}

#[test]
fn what_has_no_reason_or_no_content_is_rejected() {
    let table = r"
        § an item that does not begin with because has no reason
        - commit the prepared query data ⇒ ! MissingReason
        - CI has no database: commit the query data ⇒ ! MissingReason
        - it fails because of CI: fix it ⇒ ! MissingReason
        - becauseful: b ⇒ ! MissingReason
        - becaus a: b ⇒ ! MissingReason
        - **Insight**: b ⇒ ! MissingReason
        - : b ⇒ ! MissingReason
        § an item with nothing between because and the colon has no reason
        - because: b ⇒ ! MissingReason
        - because : b ⇒ ! MissingReason
        - because ⇒ ! MissingReason
        - because: ⇒ ! MissingReason
        - because \u{3000}\u{a0}: b ⇒ ! MissingReason
        - BECAUSE  :  b ⇒ ! MissingReason
        § nothing after the reason is an empty content
        - because a: ⇒ ! EmptyContent
        - because a:\u{20} ⇒ ! EmptyContent
        - because a ⇒ ! EmptyContent
        - because CI has no database ⇒ ! EmptyContent
        - because a: \u{a0} ⇒ ! EmptyContent
        - because a: \u{3000}\u{2003} ⇒ ! EmptyContent
        - because a:\t \t ⇒ ! EmptyContent";
    LEARNINGS.table(table);
}

#[test]
fn an_insight_over_several_lines_is_folded() {
    let table = r"
        § with one blank between the lines, tabs expanded, and a warning each
        - because a: the first line\n      the second line\n        and the third\n    - because b: c ⇒ KL a | the first line the second line and the third + KL b | c ! MultiLineInsight
        - because a: b   \n\t\t\tc  \r\n      d ⇒ KL a | b c d ! MultiLineInsight
        - because a: b\n      c\td\n      \u{3000}e\u{b} ⇒ KL a | b c d e ! MultiLineInsight
        - because a:\n      b ⇒ KL a | b ! MultiLineInsight
        - because a: b\n      c\n    - because d: e\n      f ⇒ KL a | b c + KL d | e f ! MultiLineInsight MultiLineInsight
        - because: a\n      b\n    - no reason\n      c ⇒ ! MissingReason MissingReason
        § lines not deeper than the bullet are not folded
        - because a: b\n    c\n  d\ne ⇒ KL a | b";
    LEARNINGS.table(table);
}
