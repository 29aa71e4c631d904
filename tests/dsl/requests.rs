//! Single operations of a request are validated like the items of a text.

use crate::table::{operations, said};
use serde_json::{Value, json};
use working_memory::domain::dsl::requests::{OperationRequest, read};
use working_memory::domain::dsl::{Parsed, parse};

fn requests(list: Value) -> Vec<OperationRequest> {
    serde_json::from_value(list).expect("operations")
}

fn reads(list: Value) -> Parsed {
    read(&requests(list))
}

#[test]
fn every_operation_means_the_same_as_the_item_of_a_text() {
    let parsed = reads(json!([
        {"op": "rewrite_progress", "completed": ["c"], "in_progress": ["i", "j"], "remaining": []},
        {"op": "add", "section": "learnings", "reason": "because a", "content": " b "},
        {"op": "archive", "id": "[kl-3]", "reason": "c"},
        {"op": "add", "section": "verbatim", "reason": "d:", "label": "e", "content": "f"},
    ]));
    let text = "CURRENT_PROGRESS:\n  Completed:\n    - c\n  In Progress:\n    - i\n    - j\n\
                KEY_LEARNINGS:\n  ADD:\n    - because a: b\n  ARCHIVE:\n    - KL-3 because c\n\
                VERBATIM_CONTEXT:\n  ADD:\n    - because d: e => f\n";
    assert_eq!(operations(&parsed), operations(&parse(text)));
    assert_eq!(
        said(&parsed),
        "progress c | i, j |  + KL a | b + archive KL-3 | c + VC d | e | f"
    );
}

#[test]
fn faults_are_those_of_a_text_and_have_a_position() {
    let good = json!({"op": "archive", "id": "KL-7", "reason": "b"});
    let add = |reason: &str, content: &str| json!({"op": "add", "section": "learnings", "reason": reason, "content": content});
    let keep = |label: Value, content: &str| json!({"op": "add", "section": "verbatim", "reason": "a", "label": label, "content": content});
    let archive = |id: &str, reason: &str| json!({"op": "archive", "id": id, "reason": reason});
    let progress = |in_progress: &[&str]| json!({"op": "rewrite_progress", "completed": ["a"], "in_progress": in_progress});
    for (request, expected) in [
        (add(" ", "b"), "MissingReason"),
        (add("because", "b"), "MissingReason"),
        (
            json!({"op": "add", "section": "learnings", "content": "b"}),
            "MissingReason",
        ),
        (add("a", "\u{3000}\n"), "EmptyContent"),
        (
            json!({"op": "add", "section": "learnings", "reason": "a"}),
            "EmptyContent",
        ),
        (add("<reason>", "b"), "Placeholder"),
        (add("a", "<one-line insight>"), "Placeholder"),
        (keep(json!(null), "x"), "MissingLabel"),
        (keep(json!(" "), "x"), "MissingLabel"),
        (keep(json!("l"), "<snippet>"), "Placeholder"),
        (archive("KL-1", ""), "MissingReason"),
        (archive("KL-01", "b"), "MalformedId"),
        (archive("", "b"), "MalformedId"),
        (archive("KL-<n>", "b"), "Placeholder"),
        (archive("T-1", "b"), "WrongSectionId"),
        (progress(&[]), "MissingInProgress"),
        (progress(&[" "]), "MissingInProgress"),
        (progress(&["<bullet>"]), "Placeholder"),
        (
            json!({"op": "add", "section": "learnings", "reason": "a", "content": "b", "replaces": "VC-3"}),
            "WrongSectionId",
        ),
        (
            json!({"op": "add", "section": "learnings", "reason": "a", "content": "b", "replaces": "three"}),
            "MalformedId",
        ),
    ] {
        let parsed = reads(json!([good, request]));
        assert_eq!(
            said(&parsed),
            format!("archive KL-7 | b ! {expected}"),
            "{request}"
        );
        assert_eq!(parsed.faults[0].range, 1..1, "{request}");
    }
    let none = json!({"op": "rewrite_progress", "completed": ["none"], "in_progress": ["a"], "remaining": ["(None)"]});
    assert_eq!(said(&reads(json!([none]))), "progress  | a | ");
    let folded = reads(json!([add("a", "b\n  c\n")]));
    assert_eq!(said(&folded), "KL a | b c ! MultiLineInsight");
}
