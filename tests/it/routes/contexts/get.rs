//! `GET M/contexts/{ref}`

use crate::harness::Service;

#[tokio::test]
async fn a_version_is_found_by_its_number_and_by_its_id() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context < one → 201 ⇒ id=/context_id
        PUT context < two → 201
        GET contexts/1 → 200 | x-context-version: 1 | =one ⇒ tag=etag
        GET contexts/$id → 200 | etag: $tag | =one
        GET contexts/2 | Accept: application/json → 200 {"version": 2, "context": "two"}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_version_that_a_memory_does_not_have_is_not_found_by_any_route() {
    let service = Service::start().await;
    let (memory, other) = (service.memory("agent"), service.memory("other"));
    memory.write("one").await;
    let foreign = other.write("two").await["context_id"].clone();
    for missing in [
        "4",
        "0",
        "99999999999999999999",
        "none",
        foreign.as_str().unwrap(),
    ] {
        let table = "
            GET contexts/MISSING → 404 not-found ref
            GET contexts/MISSING/diff → 404 not-found ref
            GET contexts/1/diff?base=MISSING → 404 not-found base
            GET sections?ref=MISSING → 404 not-found ref
            GET blame?ref=MISSING → 404 not-found ref";
        memory.requests(&table.replace("MISSING", missing)).await;
    }
    let table = "
        GET contexts/1/diff?base=%20 → 422 invalid base
        GET blame?ref= → 422 invalid ref";
    memory.requests(table).await;
}
