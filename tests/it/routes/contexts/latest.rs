//! `GET M/context`, `GET M/contexts/{ref}`

use crate::harness::Service;

#[tokio::test]
async fn a_missing_memory_is_not_returned_as_an_empty_document() {
    let (service, memory) = Service::start().await.with_memory("nobody");
    for below in "context contexts contexts/1 contexts/1/diff log blame sections records records/KL-1 updates updates/x"
        .split(' ')
    {
        memory.get(below).await.missing();
    }
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_document_is_read_by_representation_section_number_id_and_time() {
    // An unchanged answer has no length: it would be that of the 200 answer (RFC 9110, 8.6).
    let table = r##"
        § the client chooses the representation, and each has its own etag
        PUT context < # Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n → 201 ⇒ tag=etag
        GET context → 200 | content-type: text/plain; charset=utf-8 | etag: $tag | last-modified: Sat, 21 Nov 2026 02:00:00 GMT | x-context-version: 1 | vary: Accept | =# Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n
        HEAD context → 200 | etag: $tag | content-length: 73 | =
        GET context | Accept: application/json → 200 {"context": "# Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n", "version": 1} ⇒ json=etag
        GET context | Accept: text/markdown, */*;q=0.1 → 200 | content-type: text/markdown; charset=utf-8
        GET context | Accept: image/png → 406 not-acceptable Accept
        GET context | Accept: */* | If-None-Match: $tag → 304
        GET context | Accept: */* | If-None-Match: $json → 200
        GET context | Accept: application/json | If-None-Match: $json → 304
        GET context | Accept: application/json | If-None-Match: $tag → 200
        GET context | If-None-Match: * → 304
        GET context | If-None-Match: "x", W/$tag → 304 | etag: $tag | =
        GET context | If-Match: "x" → 412 precondition-failed
        HEAD context | If-None-Match: $tag → 304 | content-length: - | etag: $tag | =
        ¶ a section is selected by its short name or its title
        GET context?section=learnings | If-None-Match: $tag → 200 =# Key Learnings\n- KL-1 because a: insight\n\n
        GET context?section=Key%20Learnings | If-None-Match: $tag → 200 =# Key Learnings\n- KL-1 because a: insight\n\n
        GET context?section=key+learnings | If-None-Match: $tag → 200 =# Key Learnings\n- KL-1 because a: insight\n\n
        GET context?section=facts → 200 =# Facts\nx\n
        GET context?section=progress → 404 not-found section {"sections": ["Description", "Key Learnings", "Facts"]}
        GET context?section= → 422 invalid section
        § a version is found by its number and by its id
        PUT context < one → 201 ⇒ id=/context_id
        PUT context < two → 201
        GET contexts/1 → 200 | x-context-version: 1 | =one ⇒ tag=etag
        GET contexts/$id → 200 | etag: $tag | =one
        GET contexts/2 | Accept: application/json → 200 {"version": 2, "context": "two"}
        § the version at a past time is returned
        PUT context < one → 201
        +60
        PUT context < two → 201
        GET context?as_of=2026-11-21T02:00:00Z → 200 =one
        GET context?as_of=2026-11-21T02:00:59.999999Z → 200 =one
        GET context?as_of=2026-11-21T03:01:00%2B01:00 → 200 =two
        GET context?as_of=2026-11-21T03:01:00+01:00 → 200 =two
        GET context?as_of=2026-11-21T01:59:59Z → 404 not-found as_of
        GET context?as_of=2026-11-21T02:01:01Z → 422 invalid as_of
        GET context?as_of=yesterday → 400 malformed as_of
        GET context?as_of=2026-11-21 → 400 malformed as_of
        GET context?as_of=2026-13-01T00:00:00Z → 400 malformed as_of
        GET context?as_of=1763690400 → 400 malformed as_of
        GET context?as_of= → 400 malformed as_of"##;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn a_version_that_a_memory_does_not_have_is_not_found_by_any_route() {
    let service = Service::start().await;
    let (memory, other) = (service.memory("agent"), service.memory("other"));
    memory.write("one").await;
    let foreign = other.write("two").await["context_id"].clone();
    let known = "4 0 99999999999999999999 none".split(' ');
    for missing in known.chain(foreign.as_str()) {
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
