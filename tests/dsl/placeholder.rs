//! The template returned by the model, and content that only resembles it.

use crate::expect::{
    accepts, faults_at, learning, learnings_add, learnings_archive, progress, read, reads, rejects, verbatim,
    verbatim_add,
};
use working_memory::domain::operation::FaultKind::{EmptyContent, MissingLabel, MissingReason, Placeholder};

#[test]
fn a_reason_of_the_template_is_a_placeholder() {
    rejects(
        &learnings_add("    - because <reason>: commit the query data"),
        [Placeholder],
    );
    rejects(&learnings_add("    - because <why it matters>: b"), [Placeholder]);
    rejects(&verbatim_add("    - because <reason>: l => x"), [Placeholder]);
    rejects(&learnings_archive("    - KL-1 because <reason>"), [Placeholder]);
    rejects(
        "VERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-1 because <reason>\n",
        [Placeholder],
    );
}

#[test]
fn an_insight_of_the_template_is_a_placeholder() {
    for content in [
        "<one-line insight>",
        "<insight>",
        "<a_b|c (d), e.f-2>",
        "<T>",
        "<INSIGHT 1>",
    ] {
        rejects(
            &learnings_add(&format!("    - because a: {content}")),
            [Placeholder],
        );
    }
}

#[test]
fn a_label_of_the_template_is_a_placeholder() {
    rejects(&verbatim_add("    - because a: <label> => x"), [Placeholder]);
    rejects(
        &verbatim_add("    - because a: <short label> =>\n      x"),
        [Placeholder],
    );
}

#[test]
fn a_snippet_of_the_template_is_a_placeholder() {
    rejects(
        &verbatim_add("    - because a: l => <snippet, to the next bullet of this list>"),
        [Placeholder],
    );
    rejects(
        &verbatim_add("    - because a: l =>\n      <snippet, to the next bullet of this list>"),
        [Placeholder],
    );
}

#[test]
fn any_other_snippet_in_angle_brackets_is_a_snippet() {
    for snippet in [
        "<div>",
        "<T>",
        "<br>",
        "<html lang>",
        "Vec<T>",
        "<a href=\"x\">",
        "<snippet, to the next bullet of this list> and more",
    ] {
        accepts(
            &verbatim_add(&format!("    - because a: l => {snippet}")),
            [verbatim("a", "l", snippet)],
        );
    }
}

#[test]
fn an_id_of_the_template_is_a_placeholder() {
    rejects(&learnings_archive("    - KL-<n> because <reason>"), [Placeholder]);
    rejects(
        &learnings_archive("    - KL-<n> because it was fixed"),
        [Placeholder],
    );
    rejects(
        &learnings_archive("    - KL-<number>: because it was fixed"),
        [Placeholder],
    );
    rejects(
        "VERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-<n> because <reason>\n",
        [Placeholder],
    );
}

#[test]
fn a_bullet_of_the_template_is_a_placeholder() {
    let parsed = read(
        "CURRENT_PROGRESS:\n  Completed:\n    - <bullet>\n  In Progress:\n    - <bullet>\n  Remaining:\n    - <bullet>\n",
    );
    assert_eq!(parsed.items, []);
    assert!(
        parsed.faults.iter().any(|fault| fault.kind == Placeholder),
        "{:?}",
        parsed.faults
    );
}

#[test]
fn a_placeholder_bullet_hides_no_good_bullet() {
    reads(
        "CURRENT_PROGRESS:\n  Completed:\n    - <bullet>\n    - a\n  In Progress:\n    - b\n  Remaining:\n    - <bullet>\n",
        [progress(&["a"], &["b"], &[])],
        [Placeholder, Placeholder],
    );
}

#[test]
fn text_beyond_one_pair_of_angle_brackets_is_content() {
    for content in [
        "Vec<T>",
        "<T> and <U>",
        "use <T>",
        "<T>.",
        "<a/b>",
        "<a: b>",
        "<div class=\"x\">",
        "<a>b</a>",
        "<a",
        "a>",
        "<<a>>",
        "`<reason>`",
        "\"<reason>\"",
        "<a+b>",
        "<a\u{2019}b>",
    ] {
        accepts(
            &learnings_add(&format!("    - because a: {content}")),
            [learning("a", content)],
        );
        accepts(
            &format!("CURRENT_PROGRESS:\n  In Progress:\n    - {content}\n"),
            [progress(&[], &[content], &[])],
        );
        accepts(
            &verbatim_add(&format!("    - because a: {content} => x")),
            [verbatim("a", content, "x")],
        );
    }
    accepts(
        &learnings_add("    - because Vec<T> grows: b"),
        [learning("Vec<T> grows", "b")],
    );
    accepts(
        &learnings_add("    - because <T> and <U> differ: b"),
        [learning("<T> and <U> differ", "b")],
    );
}

#[test]
fn a_missing_part_is_reported_before_a_placeholder() {
    rejects(&learnings_add("    - because <reason>:"), [EmptyContent]);
    rejects(
        &learnings_add("    - because: <one-line insight>"),
        [MissingReason],
    );
    rejects(&learnings_add("    - <one-line insight>"), [MissingReason]);
    rejects(&verbatim_add("    - because <reason>: <label>"), [MissingLabel]);
    rejects(
        &verbatim_add("    - because <reason>: <label> =>"),
        [EmptyContent],
    );
    rejects(&learnings_archive("    - KL-<n>"), [MissingReason]);
}

#[test]
fn an_item_of_placeholders_is_one_fault_with_its_own_place() {
    rejects(
        &learnings_add("    - because <reason>: <one-line insight>"),
        [Placeholder],
    );
    rejects(
        &verbatim_add("    - because <reason>: <label> => <snippet, to the next bullet of this list>"),
        [Placeholder],
    );
    faults_at(
        &learnings_add("    - because a: b\n    - because <reason>: <one-line insight>\n    - because c: d"),
        Placeholder,
        "<one-line insight>",
        &["because a", "because c"],
    );
}

#[test]
fn valid_items_beside_the_template_are_accepted() {
    reads(
        &learnings_add("    - because <reason>: <one-line insight>\n    - because a: b"),
        [learning("a", "b")],
        [Placeholder],
    );
}
