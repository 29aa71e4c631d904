//! `openapi.yaml` is what the code registers.

#[test]
fn the_committed_document_is_the_codes() {
    let committed = include_str!("../../openapi.yaml");
    let of_code = working_memory::http::openapi_yaml();
    assert!(
        committed == of_code,
        "openapi.yaml is out of date: run `make openapi`, and commit it"
    );
}
