//! The many ways in which a model responds that nothing changed.

use crate::expect::{accepts, learning, progress, rejects};
use working_memory::domain::operation::FaultKind::NoSection;

const WORDS: [&str; 5] = ["(none)", "none", "no change", "no changes", "n/a"];

/// Each word in any case, in or out of brackets, with or without a full stop.
fn forms() -> Vec<String> {
    let mut forms = Vec::new();
    for word in WORDS {
        let bare = word.trim_matches(['(', ')']);
        let mut capital = bare.to_owned();
        capital[..1].make_ascii_uppercase();
        for cased in [bare.to_owned(), bare.to_uppercase(), capital] {
            for bracketed in [cased.clone(), format!("({cased})"), format!("[{cased}]")] {
                forms.push(format!("{bracketed}."));
                forms.push(bracketed);
            }
        }
    }
    forms
}

#[test]
fn a_section_may_say_it_on_a_line_of_its_own() {
    for header in ["CURRENT_PROGRESS", "KEY_LEARNINGS", "VERBATIM_CONTEXT"] {
        for form in forms() {
            accepts(&format!("{header}:\n  {form}\n"), []);
            accepts(&format!("{header}:\n{form}\n"), []);
            accepts(&format!("{header}:\n  - {form}\n"), []);
        }
    }
}

#[test]
fn a_section_may_say_it_after_its_header() {
    for header in ["CURRENT_PROGRESS", "KEY_LEARNINGS", "VERBATIM_CONTEXT"] {
        for form in forms() {
            accepts(&format!("{header}: {form}\n"), []);
        }
    }
}

#[test]
fn a_list_may_say_it_below_or_after_its_header() {
    for (section, list) in [
        ("KEY_LEARNINGS", "ADD"),
        ("KEY_LEARNINGS", "ARCHIVE"),
        ("VERBATIM_CONTEXT", "ADD"),
        ("VERBATIM_CONTEXT", "ARCHIVE"),
        ("CURRENT_PROGRESS", "Completed"),
        ("CURRENT_PROGRESS", "In Progress"),
        ("CURRENT_PROGRESS", "Remaining"),
    ] {
        for form in forms() {
            accepts(&format!("{section}:\n  {list}:\n    - {form}\n"), []);
            accepts(&format!("{section}:\n  {list}:\n    {form}\n"), []);
            accepts(&format!("{section}:\n  {list}: {form}\n"), []);
        }
    }
}

#[test]
fn every_bullet_mark_may_be_before_it() {
    for mark in ["-", "*", "•", "1."] {
        accepts(&format!("KEY_LEARNINGS:\n  ADD:\n    {mark} none\n"), []);
    }
}

#[test]
fn one_empty_list_says_nothing_of_the_others() {
    accepts(
        "KEY_LEARNINGS:\n  ARCHIVE: (none)\n  ADD:\n    - because a: b\n  ARCHIVE:\n    - none\n",
        [learning("a", "b")],
    );
}

#[test]
fn one_unchanged_section_says_nothing_of_the_others() {
    accepts(
        "CURRENT_PROGRESS: no change\nKEY_LEARNINGS:\n  ADD:\n    - because a: b\nVERBATIM_CONTEXT: none\n",
        [learning("a", "b")],
    );
    accepts(
        "CURRENT_PROGRESS:\n  In Progress:\n    - a\nKEY_LEARNINGS:\n  (none)\nVERBATIM_CONTEXT:\n  N/A\n",
        [progress(&[], &["a"], &[])],
    );
}

#[test]
fn an_absent_or_empty_list_is_no_change() {
    accepts("KEY_LEARNINGS:\n", []);
    accepts("KEY_LEARNINGS:", []);
    accepts("KEY_LEARNINGS:\n  ADD:\n  ARCHIVE:\n", []);
    accepts("VERBATIM_CONTEXT:\n  ADD:\n", []);
    accepts("CURRENT_PROGRESS:\n\nKEY_LEARNINGS:\n\nVERBATIM_CONTEXT:\n", []);
}

#[test]
fn a_word_of_no_change_inside_a_longer_line_is_content() {
    accepts(
        "KEY_LEARNINGS:\n  ADD:\n    - because none of the tests ran: none\n",
        [learning("none of the tests ran", "none")],
    );
    accepts(
        "CURRENT_PROGRESS:\n  In Progress:\n    - None of the tests pass\n    - no changes to the API yet\n",
        [progress(
            &[],
            &["None of the tests pass", "no changes to the API yet"],
            &[],
        )],
    );
}

#[test]
fn no_change_without_any_header_is_a_text_without_a_section() {
    rejects("no change\n", [NoSection]);
    rejects("(none)", [NoSection]);
}
