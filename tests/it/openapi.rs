//! `openapi.yaml` matches the document that the code generates.

#[test]
fn the_committed_document_matches_the_code() {
    let committed = include_str!("../../openapi.yaml");
    let of_code = working_memory::http::openapi_yaml();
    assert!(
        committed == of_code,
        "openapi.yaml is out of date: run `make openapi`, and commit it"
    );
}
