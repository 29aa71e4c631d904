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
    let table = r#"
        {"op": "add", "section": "learnings", "reason": " ", "content": "b"} ⇒ MissingReason
        {"op": "add", "section": "learnings", "reason": "because", "content": "b"} ⇒ MissingReason
        {"op": "add", "section": "learnings", "content": "b"} ⇒ MissingReason
        {"op": "add", "section": "learnings", "reason": "a", "content": "\u3000\n"} ⇒ EmptyContent
        {"op": "add", "section": "learnings", "reason": "a"} ⇒ EmptyContent
        {"op": "add", "section": "learnings", "reason": "<reason>", "content": "b"} ⇒ Placeholder
        {"op": "add", "section": "learnings", "reason": "a", "content": "<one-line insight>"} ⇒ Placeholder
        {"op": "add", "section": "learnings", "reason": "a", "content": "b", "replaces": "VC-3"} ⇒ WrongSectionId
        {"op": "add", "section": "learnings", "reason": "a", "content": "b", "replaces": "three"} ⇒ MalformedId
        {"op": "add", "section": "verbatim", "reason": "a", "label": null, "content": "x"} ⇒ MissingLabel
        {"op": "add", "section": "verbatim", "reason": "a", "label": " ", "content": "x"} ⇒ MissingLabel
        {"op": "add", "section": "verbatim", "reason": "a", "label": "l", "content": "<snippet>"} ⇒ Placeholder
        {"op": "archive", "id": "KL-1", "reason": ""} ⇒ MissingReason
        {"op": "archive", "id": "KL-01", "reason": "b"} ⇒ MalformedId
        {"op": "archive", "id": "", "reason": "b"} ⇒ MalformedId
        {"op": "archive", "id": "KL-<n>", "reason": "b"} ⇒ Placeholder
        {"op": "archive", "id": "T-1", "reason": "b"} ⇒ WrongSectionId
        {"op": "rewrite_progress", "completed": ["a"], "in_progress": []} ⇒ MissingInProgress
        {"op": "rewrite_progress", "completed": ["a"], "in_progress": [" "]} ⇒ MissingInProgress
        {"op": "rewrite_progress", "completed": ["a"], "in_progress": ["<bullet>"]} ⇒ Placeholder"#;
    for row in table.trim().lines() {
        let (request, expected) = row.trim().split_once(" ⇒ ").expect("two columns");
        let request: Value = serde_json::from_str(request).expect("an operation");
        let parsed = reads(json!([good, request]));
        let expected = format!("archive KL-7 | b ! {expected}");
        assert_eq!(said(&parsed), expected, "{request}");
        assert_eq!(parsed.faults[0].range, 1..1, "{request}");
    }
    let none = json!({"op": "rewrite_progress", "completed": ["none"], "in_progress": ["a"], "remaining": ["(None)"]});
    assert_eq!(said(&reads(json!([none]))), "progress  | a | ");
    let folded = reads(json!([{"op": "add", "section": "learnings", "reason": "a", "content": "b\n  c\n"}]));
    assert_eq!(said(&folded), "KL a | b c ! MultiLineInsight");
}
