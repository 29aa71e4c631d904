//! `GET M/contexts/{ref}`

use crate::harness::Service;

#[tokio::test]
async fn a_version_is_found_by_its_number_and_by_its_id() {
    let (_, memory) = Service::start().await.agent();
    let first = memory.write("one").await;
    memory.write("two").await;

    let by_number = memory.get("contexts/1").await.is(200);
    let by_id = memory
        .get(&format!("contexts/{}", first["context_id"].as_str().unwrap()))
        .await
        .is(200);

    assert_eq!(by_number.text(), "one");
    assert_eq!(by_id.text(), "one");
    assert_eq!(by_number.header("etag"), by_id.header("etag"));
    assert_eq!(by_number.header("x-context-version"), "1");
    let json = memory.get_json("contexts/2").await.is(200).json();
    assert_eq!(
        (json["version"].as_i64(), json["context"].as_str()),
        (Some(2), Some("two"))
    );
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
        for (below, field) in [
            ("contexts/{}", "ref"),
            ("contexts/{}/diff", "ref"),
            ("contexts/1/diff?base={}", "base"),
            ("sections?ref={}", "ref"),
            ("blame?ref={}", "ref"),
        ] {
            let below = below.replace("{}", missing);
            memory.refuses(&below, 404, "not-found", Some(field)).await;
        }
    }
    for (below, field) in [("contexts/1/diff?base=%20", "base"), ("blame?ref=", "ref")] {
        memory.get(below).await.invalid(field);
    }
}
