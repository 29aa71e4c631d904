//! `GET M/contexts/{ref}`

use crate::harness::Service;

#[tokio::test]
async fn a_version_is_found_by_its_number_and_by_its_id() {
    let service = Service::start().await;
    let memory = service.memory("agent");
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
    for missing in ["3", "0", "99999999999999999999", "no-such-id"] {
        memory
            .refuses(&format!("contexts/{missing}"), 404, "not-found", Some("ref"))
            .await;
    }
}

#[tokio::test]
async fn a_version_of_another_memory_is_not_found() {
    let service = Service::start().await;
    let first = service.memory("agent").write("one").await;
    let other = service.memory("other");
    other.write("two").await;

    let id = first["context_id"].as_str().unwrap();
    other
        .refuses(&format!("contexts/{id}"), 404, "not-found", Some("ref"))
        .await;
}
