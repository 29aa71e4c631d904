//! What holds for all sections: forms of headers and bullets, "no change", unknown headers, the template, faults, and a model
//! that stopped in the middle.

use crate::table::{ARCHIVE, LEARNINGS, PROGRESS, SNIPPETS, TEXT, kinds, read, read_cut_off, rows, said};
use working_memory::domain::operation::FaultKind::{self, MissingInProgress, NoSection, Truncated};
use working_memory::domain::operation::Role;

/// Each line of a table, split into its columns.
fn columns<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    let split = |line: &'static str| line.trim_start_matches(' ').split(" / ").collect::<Vec<_>>();
    lines
        .map(|line| split(line).try_into().expect("columns"))
        .collect()
}

#[test]
fn headers_may_be_written_in_many_ways() {
    for [section, add, archive] in columns(
        "
        **KEY_LEARNINGS:** / **ADD:** / **ARCHIVE:**
        **KEY_LEARNINGS** /   **ADD**: / **ARCHIVE**
        __KEY_LEARNINGS__: /   __ADD__: / __ARCHIVE__:
        `KEY_LEARNINGS:` / `ADD:` / `ARCHIVE`:
        **`KEY_LEARNINGS`**: / **`ADD:`** /   `ARCHIVE`
        # KEY_LEARNINGS: / ## ADD: / ## ARCHIVE
        ### **KEY_LEARNINGS:** / #### `ADD` / #### **ARCHIVE**
        ###### KEY_LEARNINGS: / ###### ADD: / ###### ARCHIVE
        # Key Learnings / ## Add / ### Archive
        key_learnings: / add: / aRCHIVE:
        key learnings /   add / archive
        KEY_LEARNINGS : /   ADD : / ARCHIVE  :
        KEY_LEARNINGS： /   ADD： / ARCHIVE：
        \u{feff}KEY_LEARNINGS:  \t /   ADD:  /   ARCHIVE:\t
        KEY_LEARNINGS:\r /   ADD:\r /   ARCHIVE:\r",
    ) {
        let text = format!("{section}\n{add}\n- because a: b\n{archive}\n- KL-1 because c\n");
        TEXT.rule("of learnings", &[(&text, "KL a | b + archive KL-1 | c")]);
    }
    for [section, add, archive] in columns(
        "
        **VERBATIM_CONTEXT:** / **ADD:** / **ARCHIVE:**
        ## Verbatim Context / ### Add / ### Archive
        `verbatim context` / `add`: / `archive`",
    ) {
        let text =
            format!("{section}\n{add}\n    - because a: b =>\n      c\n{archive}\n    - VC-1 because d\n");
        TEXT.rule("of snippets", &[(&text, "VC a | b | c + archive VC-1 | d")]);
    }
    for [section, completed, in_progress, remaining] in columns(
        "
        **CURRENT_PROGRESS:** / **Completed:** / **In Progress**: / **Remaining**
        ## Current Progress / ### Completed / ### In Progress / ### Remaining
        current progress / completed / in progress / remaining
        `CURRENT_PROGRESS` / `Completed`: / `In Progress:` / `Remaining`
        CURRENT PROGRESS: /   COMPLETED: /   IN_PROGRESS: /   REMAINING:
        Current_Progress: / \tCompleted: / \tIn progress: / \tRemaining:",
    ) {
        let text = format!("{section}\n{completed}\n- a\n{in_progress}\n- b\n{remaining}\n- c\n");
        TEXT.rule("of progress", &[(&text, "progress a | b | c")]);
    }
}

#[test]
fn bullets_may_be_stars_dots_or_numbers_at_any_indentation() {
    for marks in "* *|• •|1. 2.|(1) (2)|a) b)|・ －|9. 10.|- *|+ –|— ‣|◦ ●".split('|') {
        let (first, second) = marks.split_once(' ').expect("two marks");
        let learnings = format!(
            "KEY_LEARNINGS:\n  ADD:\n    {first} because a: b\n    {second} because c: d\n  ARCHIVE:\n    {first} KL-1 because e\n"
        );
        let snippets = format!(
            "VERBATIM_CONTEXT:\n  ADD:\n    {first} because a: b =>\n       c\n    {second} because d: e => f\n"
        );
        let progress = format!("CURRENT_PROGRESS:\n  In Progress:\n    {first} a\n    {second} b\n");
        TEXT.rule(
            "any mark",
            &[
                (&learnings, "KL a | b + KL c | d + archive KL-1 | e"),
                (&snippets, "VC a | b | c + VC d | e | f"),
                (&progress, "progress  | a, b | "),
            ],
        );
    }
    for [list, bullet] in [
        ["", ""],
        ["", "  "],
        ["    ", "        "],
        ["\t", "\t\t"],
        ["        ", "  "],
    ] {
        let text = format!(
            "KEY_LEARNINGS:\n{list}ADD:\n{bullet}- because a: b\n{bullet}- because c: d\n{list}ARCHIVE:\n{bullet}- KL-1 because e\n"
        );
        let read = "KL a | b + KL c | d + archive KL-1 | e";
        TEXT.rule("any indentation", &[(&text, read)]);
    }
    let table = r"
        § a bullet indented less than the one before is of the same list
        - because a: b\n  - because c: d\n- because e: f\n  ARCHIVE:\n      - KL-1 because g\n - KL-2 because h\n ⇒ KL a | b + KL c | d + KL e | f + archive KL-1 | g + archive KL-2 | h";
    LEARNINGS.table(table);
}

#[test]
fn an_item_of_records_may_lack_its_bullet_and_any_item_the_blank_after_it() {
    let table = r"
        § it begins as an item does, an id deeper than its list
        KEY_LEARNINGS:\n  ADD:\n    because a: b\n    -because c: d\n      e\n  ARCHIVE:\n    KL-1 because f\n ⇒ KL a | b + KL c | d e + archive KL-1 | f ! MultiLineInsight
        KEY_LEARNINGS:\nADD:\nbecause a: b\nARCHIVE:\n- KL-1 because c\nKL-2 because it is still valid\n ⇒ KL a | b + archive KL-1 | c
        VERBATIM_CONTEXT:\n  ADD:\n    because a: l =>\n      x\n    because b: m => n\n ⇒ VC a | l | x + VC b | m | n
        VERBATIM_CONTEXT:\n  ADD:\n    -because a: l =>\n      x\n    -because b: m => n\n ⇒ VC a | l | x + VC b | m | n
        CURRENT_PROGRESS:\n  Completed:\n    -a\n  In Progress:\n    -b\n    --c\n ⇒ progress a | b |\u{20}
        KEY_LEARNINGS: ADD: - because a: b\n ⇒ KL a | b
        KEY_LEARNINGS: ARCHIVE: none\n ⇒
        § a sentence is prose, and so is what has no content
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n\nBecause nothing else was said: that is all.\n ⇒ KL a | b
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    because there is no more\n ⇒ KL a | b";
    TEXT.table(table);
}

#[test]
fn text_and_one_fence_may_be_around_the_answer() {
    let table = r"
        § prose, also with colons and bullets
        Let me think.\n\n- a thought\n\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\n\nI hope this helps!\n ⇒ KL a | b
        Here is my answer:\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\n\nPlease note: nothing was archived.\n ⇒ KL a | b
        The tests failed. I should:\n1. add one learning\n2. archive KL-2\n\nKEY_LEARNINGS:\nADD:\n* because a: b\n\n*Note: that is all.*\n ⇒ KL a | b
        § a fence with text around it, and with fenced snippets in it
        Here:\n\n```\nVERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      c\n```\n\nTell me if you need more.\n ⇒ VC a | b | c
        ````\nVERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      ```rust\n      c\n      ```\n    - because d: e => f\n````\n ⇒ VC a | b | ```rust\nc\n``` + VC d | e | f
        ```\nVERBATIM_CONTEXT:\n  ADD:\n    - because d: e => f\n    - because a: b =>\n      ```rust\n      c\n      ```\n```\n ⇒ VC d | e | f + VC a | b | ```rust\nc\n```
        § the fence of a snippet is no fence of the answer
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: b =>\n      ```\n      c\n      ```\n ⇒ VC a | b | ```\nc\n```";
    TEXT.table(table);
    for (open, close) in [
        ("```", "```"),
        ("```markdown", "```  "),
        ("~~~", "~~~"),
        ("````", "````"),
        ("```yaml", "`````"),
    ] {
        let learning = format!("{open}\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\n{close}\n");
        let snippet = format!("\n{open}\nVERBATIM_CONTEXT:\nADD:\n- because a: b =>\nc\n{close}\n\n");
        TEXT.rule("a fence", &[(&learning, "KL a | b"), (&snippet, "VC a | b | c")]);
    }
}

/// Each word of "no change" in any case, in or out of brackets, with or without a full stop.
fn forms_of_no_change() -> Vec<String> {
    let mut forms = Vec::new();
    for word in ["none", "no change", "no changes", "n/a"] {
        let mut capital = word.to_owned();
        capital[..1].make_ascii_uppercase();
        for cased in [word.to_owned(), word.to_uppercase(), capital] {
            for bracketed in [cased.clone(), format!("({cased})"), format!("[{cased}]")] {
                forms.push(format!("{bracketed}."));
                forms.push(bracketed);
            }
        }
    }
    forms
}

#[test]
fn a_section_or_a_list_may_say_that_nothing_changed() {
    for form in forms_of_no_change() {
        for section in ["CURRENT_PROGRESS", "KEY_LEARNINGS", "VERBATIM_CONTEXT"] {
            for text in [
                format!("{section}: {form}\n"),
                format!("{section}:\n{form}\n"),
                format!("{section}:\n  - {form}\n"),
            ] {
                TEXT.rule("a section", &[(&text, "")]);
            }
        }
        for [section, list] in columns(
            "
            KEY_LEARNINGS / ADD
            VERBATIM_CONTEXT / ADD
            VERBATIM_CONTEXT / ARCHIVE
            CURRENT_PROGRESS / Completed
            CURRENT_PROGRESS / In Progress",
        ) {
            for text in [
                format!("{section}:\n  {list}: {form}\n"),
                format!("{section}:\n  {list}:\n    {form}\n"),
                format!("{section}:\n  {list}:\n    - {form}\n"),
            ] {
                TEXT.rule("a list", &[(&text, "")]);
            }
        }
    }
    let table = r"
        § an absent or empty one is no change, and says nothing of the others
        KEY_LEARNINGS: ⇒
        KEY_LEARNINGS:\n  ADD:\n  ARCHIVE:\n ⇒
        CURRENT_PROGRESS:\n\nKEY_LEARNINGS:\n\nVERBATIM_CONTEXT:\n ⇒
        KEY_LEARNINGS:\n  ARCHIVE: (none)\n  ADD:\n    - because a: b\n ⇒ KL a | b
        CURRENT_PROGRESS: no change\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\nVERBATIM_CONTEXT:\n  N/A\n ⇒ KL a | b
        § inside of a longer line or bullet it is content
        KEY_LEARNINGS:\n  ADD:\n    - because none of the tests ran: none\n ⇒ KL none of the tests ran | none
        CURRENT_PROGRESS:\n  In Progress:\n    - None of the tests pass\n    - no changes to the API yet\n ⇒ progress  | None of the tests pass, no changes to the API yet |\u{20}";
    TEXT.table(table);
}

#[test]
fn an_unknown_header_drops_its_items_and_no_others() {
    for header in "DECISIONS:|KEY_INSIGHTS:|**NOTES:**|## RECENT_TASKS".split('|') {
        let text = format!(
            "- because a: b\n{header}\n  ADD:\n    - because c: d\n    - x\nVERBATIM_CONTEXT:\n  ADD:\n    - because e: f => g\n"
        );
        LEARNINGS.rule("a section", &[(&text, "KL a | b + VC e | f | g ! UnknownHeader")]);
    }
    for header in "UPDATE:|REMOVE:|DELETE:|MODIFY:".split('|') {
        let text = format!(
            "- because a: b\n  {header}\n    - because c: d\n    - KL-1 because x\n  ARCHIVE:\n    - KL-2 because y\n"
        );
        let read = "KL a | b + archive KL-2 | y ! UnknownHeader";
        LEARNINGS.rule("a list", &[(&text, read)]);
    }
    for header in "Next steps:|À faire:|残り：|📋 Remaining:|**Still to do:**|Remaining (2):".split('|')
    {
        let text = format!("  Completed:\n    - a\n  {header}\n    - c\n  In Progress:\n    - b\n");
        let read = "progress a | b |  ! UnknownHeader";
        PROGRESS.rule("no bullet gets into the list above", &[(&text, read)]);
    }
    for header in "  These stay as they are:|\nTo keep:|  **Not to be archived:**".split('|') {
        let text =
            format!("- KL-1 because a\n{header}\n    - KL-2 because it holds\n  ADD:\n    - because b: c\n");
        let read = "archive KL-1 | a + KL b | c ! UnknownHeader";
        ARCHIVE.rule("nor is one archived", &[(&text, read)]);
    }
    let table = r"
        § a list of progress, one after a snippet, and each of several
        CURRENT_PROGRESS:\n  Completed:\n    - a\n  In Progress:\n    - b\n  Blocked:\n    - c\n  Remaining:\n    - d\n ⇒ progress a | b | d ! UnknownHeader
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: l =>\n      x\nDECISIONS:\n  - because b: c\n ⇒ VC a | l | x ! UnknownHeader
        KEY_LEARNINGS:\n  CHANGE:\n    - x\n    - y\n  ADD:\n    - because a: b\nDECISIONS:\n  - z\nRISKS:\n  - w\n ⇒ KL a | b ! UnknownHeader UnknownHeader UnknownHeader
        § prose is no header, whatever it ends with, if its items are additions or if it has none
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  And one more:\n    - because c: d\n ⇒ KL a | b + KL c | d
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  ARCHIVE:\n    - KL-1 because c\n\nOf the rest I can say this:\nall holds.\n ⇒ KL a | b + archive KL-1 | c";
    TEXT.table(table);
    for text in [
        "CURRENT_PROGRESS:\n  ADD:\n    - because a: b\n",
        "VERBATIM_CONTEXT:\n  Completed:\n    - because a: b => c\n",
    ] {
        let parsed = read(text);
        let is_refused = parsed.items.is_empty() && !parsed.faults.is_empty();
        assert!(is_refused, "a list of another section: {text}");
    }
}

#[test]
fn a_text_without_a_known_header_has_no_section() {
    let table = r"
        § whatever else it says
        \u{20}\n\n\t\n ⇒ ! NoSection
        \u{feff} ⇒ ! NoSection
        I see nothing worth keeping in these messages.\n ⇒ ! NoSection
        no change\n ⇒ ! NoSection
        (none) ⇒ ! NoSection
        § a header counts also without items
        KEY_LEARNINGS: none\n ⇒
        CURRENT_PROGRESS:\nVERBATIM_CONTEXT:\n  ADD:\n ⇒
        VERBATIM_CONTEXT:\nKEY_LEARNINGS:\nCURRENT_PROGRESS:\n ⇒";
    TEXT.table(table);
    TEXT.rule("nothing", &[("", "! NoSection")]);
    assert!(kinds(&read("NOTES:\n  - a\n")).contains(&NoSection));
}

#[test]
fn the_template_is_a_placeholder_and_what_only_resembles_it_is_content() {
    let table = r"
        - because <reason>: commit the query data ⇒ ! Placeholder
        - because <why it matters>: b ⇒ ! Placeholder
        - because a: <one-line insight> ⇒ ! Placeholder
        - because a: <a_b|c (d), e.f-2> ⇒ ! Placeholder
        - because a: <T> ⇒ ! Placeholder
        - because a: <INSIGHT 1> ⇒ ! Placeholder
        - because <reason>: <one-line insight> ⇒ ! Placeholder";
    LEARNINGS.table(table);
    let table = r"
        - because <reason>: l => x ⇒ ! Placeholder
        - because a: <label> => x ⇒ ! Placeholder
        - because a: <short label> =>\n      x ⇒ ! Placeholder
        - because a: l => <snippet, to the next bullet of this list> ⇒ ! Placeholder
        - because a: l =>\n      <snippet, to the next bullet of this list> ⇒ ! Placeholder
        § any other snippet in angle brackets is a snippet
        - because a: l => <div> ⇒ VC a | l | <div>
        - because a: l => <T> ⇒ VC a | l | <T>
        - because a: l => <html lang> ⇒ VC a | l | <html lang>
        - because a: l => <snippet, to the next bullet of this list> and more ⇒ VC a | l | <snippet, to the next bullet of this list> and more";
    SNIPPETS.table(table);
    let table = r"
        - KL-1 because <reason> ⇒ ! Placeholder
        - KL-<n> because <reason> ⇒ ! Placeholder
        - KL-<number>: because it was fixed ⇒ ! Placeholder";
    ARCHIVE.table(table);
    let table = r"
        § of a bullet, which hides no good one
        \u{20} Completed:\n    - <bullet>\n    - a\n  In Progress:\n    - b\n  Remaining:\n    - <bullet>\n ⇒ progress a | b |  ! Placeholder Placeholder";
    PROGRESS.table(table);
    let contents = "Vec<T>|<T> and <U>|use <T>|<T>.|<a/b>|<a: b>|<div class=\"x\">|<a|<<a>>|`<reason>`|<a+b>|<a\u{2019}b>";
    for content in contents.split('|') {
        let rule = "more than one pair of angle brackets is content, and a label";
        let (item, said) = (format!("- because a: {content}"), format!("KL a | {content}"));
        LEARNINGS.rule(rule, &[(&item, &said)]);
        SNIPPETS.rule(
            rule,
            &[(&format!("{item} => x"), &format!("VC a | {content} | x"))],
        );
    }
}

#[test]
fn of_several_faults_of_an_item_the_first_is_reported() {
    let table = r"
        § a missing part before a placeholder
        - because: ⇒ ! MissingReason
        - <bullet> ⇒ ! MissingReason
        - because <reason>: ⇒ ! EmptyContent";
    LEARNINGS.table(table);
    let table = r"
        § an id before a placeholder, a missing reason before both
        - VC-0 ⇒ ! MissingReason
        - KL-<n> ⇒ ! MissingReason
        - KL-0 because <reason> ⇒ ! MalformedId
        - VC-1 because <reason> ⇒ ! WrongSectionId";
    ARCHIVE.table(table);
    let table = r"
        § reason, label, snippet
        - l ⇒ ! MissingReason
        - because : => ⇒ ! MissingReason
        - because <reason>: x ⇒ ! MissingLabel
        - because a: => ⇒ ! EmptyContent
        - because <reason>: <label> => ⇒ ! EmptyContent";
    SNIPPETS.table(table);
}

const MANY: &str = "CURRENT_PROGRESS:
  Completed:
    - a
  Blocked:
    - b
KEY_LEARNINGS:
  ADD:
    - no reason
    - because c: d
    - because e:
    - because f: g
      h
    - because <reason>: i
  ARCHIVE:
    - KL-01 because j
    - KL-2 because k
    - T-3 because l
    - KL-4
DECISIONS:
  - m
VERBATIM_CONTEXT:
  ADD:
    - because n: o
    - because p: q => r
    - because s: t =>
      ```
      u
  ARCHIVE:
    - KL-5 because v
    - VC-6 because w
";

#[test]
fn no_fault_hides_a_good_item_or_another_fault() {
    let all = "KL c | d + KL f | g h + archive KL-2 | k + VC p | q | r + VC s | t | ```\nu + archive VC-6 | w ! \
               MissingInProgress UnknownHeader MissingReason EmptyContent MultiLineInsight Placeholder MalformedId \
               WrongSectionId MissingReason UnknownHeader MissingLabel UnclosedFence WrongSectionId";
    TEXT.rule(
        "operations and faults are in the order of the text",
        &[(MANY, all)],
    );
    let parsed = read(MANY);
    let slices = parsed.items.iter().map(|item| &MANY[item.range.clone()]);
    let own = "because c: d|because f: g|KL-2 because k|because p: q => r|```|VC-6";
    for (slice, own) in slices.zip(own.split('|')) {
        let is_alone = slice.matches("because").count() == 1;
        assert!(slice.contains(own) && is_alone, "{slice:?} is {own:?} alone");
    }
    let (learnings, verbatim) = (Some(Role::Learnings), Some(Role::Verbatim));
    for (kind, inside, id, section) in [
        (FaultKind::EmptyContent, "because e:", None, learnings),
        (FaultKind::MultiLineInsight, "because f", None, learnings),
        (FaultKind::Placeholder, "<reason>", None, learnings),
        (FaultKind::MalformedId, "KL-01", None, learnings),
        (FaultKind::WrongSectionId, "T-3", Some("T-3"), learnings),
        (FaultKind::MissingLabel, "because n: o", None, verbatim),
        (MissingInProgress, "", None, Some(Role::Progress)),
    ] {
        let mut faults = parsed.faults.iter();
        let fault = faults.find(|fault| fault.kind == kind).expect("a fault");
        let slice = &MANY[fault.range.clone()];
        let is_alone = slice.matches("because").count() <= 1 && !slice.contains("KEY_LEARNINGS");
        assert!(slice.contains(inside) && is_alone, "{kind:?} is at {slice:?}");
        let id = id.and_then(|id| id.parse().ok());
        assert_eq!((fault.section, fault.id), (section, id), "{kind:?}");
    }
}

#[test]
fn blocks_of_a_section_are_combined_in_the_order_of_the_text() {
    let table = r"
        § sections and lists come in any order
        KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\n  ADD:\n    - because a: b\n  ADD:\n    - because c: d\nKEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because y\n ⇒ archive KL-1 | x + KL a | b + KL c | d + archive KL-2 | y
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: b => c\nKEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because d\nCURRENT_PROGRESS:\n  In Progress:\n    - e\n ⇒ VC a | b | c + archive KL-1 | d + progress  | e |\u{20}";
    TEXT.table(table);
}

#[test]
fn of_a_text_that_its_model_did_not_finish_the_last_item_is_dropped() {
    let table = r"
        § a learning, an archive, a snippet
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - because c: d ⇒ KL a | b
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - because c: d\n ⇒ KL a | b
        KEY_LEARNINGS:\n  ADD:\n    - because a: b ⇒
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - because CI has ⇒ KL a | b
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n    - be ⇒ KL a | b
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  ARCHIVE:\n    - KL- ⇒ KL a | b
        KEY_LEARNINGS:\n  ADD:\n    - because a: b\nCURRENT_PROGRESS:\n  In Progress:\n    - c\n ⇒ KL a | b
        KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because a\n    - KL-2, KL-3 because it was ⇒ archive KL-1 | a
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: l => x\n    - because b: m =>\n      fn main() { ⇒ VC a | l | x
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: l => x\n    - because b: m =>\n      ```rust\n      fn main() { ⇒ VC a | l | x
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: l => x\n    - because d: Makefi ⇒ VC a | l | x
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: l => x\n    - because d: e => ⇒ VC a | l | x
        VERBATIM_CONTEXT:\n  ADD:\n    - because a: l => x\nKEY_LEARNINGS:\n  ADD:\n    - because d: e\n ⇒ VC a | l | x
        § a progress is dropped as a whole, and only if it is last
        CURRENT_PROGRESS:\nCompleted:\n    - a\n  In Progress:\n    - b\n  Remaining:\n    - write the ⇒
        CURRENT_PROGRESS:\nIn Progress:\n    - a\nKEY_LEARNINGS:\n  ADD:\n    - because b: c\n    - because d: e ⇒ progress  | a |  + KL b | c";
    for (rule, text, expected) in rows(table) {
        let parsed = read_cut_off(&text);
        let said = said(&parsed);
        let operations = said.split('!').next().unwrap_or_default();
        assert_eq!(operations.trim_end(), expected, "{rule}: {text:?}");
        let warnings = kinds(&parsed).into_iter().filter(|kind| *kind == Truncated);
        assert_eq!(warnings.count(), 1, "{text:?}: {:?}", parsed.faults);
    }
    let mut endless = read_cut_off(&format!("KEY_LEARNINGS:\n{}", "- no reason\n".repeat(300)));
    endless.keep_few();
    assert_eq!(kinds(&endless).last(), Some(&Truncated), "among many faults, too");
}
