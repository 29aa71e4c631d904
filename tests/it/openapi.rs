//! `openapi.yaml` matches the document that the code generates, and the tests read all of it.

use crate::harness::OPERATIONS;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn the_committed_document_matches_the_code() {
    let committed = include_str!("../../openapi.yaml");
    let of_code = working_memory::http::openapi_yaml();
    assert!(
        committed == of_code,
        "openapi.yaml is out of date: run `make openapi`, and commit it"
    );
}

#[test]
fn the_tests_know_every_answer_of_the_document() {
    let document: Value = yaml_serde::from_str(include_str!("../../openapi.yaml")).unwrap();
    let mut documented = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            for status in operation["responses"].as_object().unwrap().keys() {
                documented.insert((method.to_uppercase(), path.as_str(), status.as_str()));
            }
        }
    }
    let mut known = BTreeSet::new();
    for operation in OPERATIONS.iter() {
        for status in &operation.statuses {
            known.insert((operation.method.to_string(), operation.path, *status));
        }
    }
    assert_eq!(known, documented);
}
