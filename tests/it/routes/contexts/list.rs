//! `GET M/contexts`

use crate::harness::Service;
use serde_json::Value;

#[tokio::test]
async fn versions_are_listed_newest_first_in_pages_without_their_texts() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for number in 1..=5 {
        memory.put(format!("text {number}")).await.is(201);
    }

    let (mut versions, mut query) = (Vec::new(), "contexts?limit=2".to_owned());
    loop {
        let page = memory.get(&query).await.is(200).json();
        for item in page["items"].as_array().unwrap() {
            assert!(item.get("context").is_none());
            assert_eq!(item["bytes"], 6);
            versions.push(item["version"].as_i64().unwrap());
        }
        match &page["next_cursor"] {
            Value::String(cursor) => query = format!("contexts?limit=2&cursor={cursor}"),
            end => break assert_eq!(end, &Value::Null),
        }
    }

    assert_eq!(versions, [5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn a_cursor_is_valid_for_one_list() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put("one").await.is(201);
    memory.put("two").await.is(201);
    service.memory("other").put("x").await.is(201);
    let cursor = memory.get("contexts?limit=1").await.is(200).json()["next_cursor"]
        .as_str()
        .unwrap()
        .to_owned();

    for (of, below) in [
        ("other", format!("contexts?cursor={cursor}")),
        ("agent", format!("records?cursor={cursor}")),
        ("agent", format!("contexts?cursor={cursor}0")),
        ("agent", "contexts?cursor=nonsense".to_owned()),
        ("agent", "contexts?cursor=".to_owned()),
    ] {
        service
            .memory(of)
            .get(&below)
            .await
            .problem(400, "malformed", Some("cursor"));
    }
    for limit in ["0", "501", "-1", "x", "1.5", ""] {
        memory
            .get(&format!("contexts?limit={limit}"))
            .await
            .problem(422, "invalid", Some("limit"));
    }
    memory.get("contexts?limit=500").await.is(200);
    memory
        .get("contexts?limit=1&limit=2")
        .await
        .problem(422, "invalid", Some("limit"));
    memory
        .get("contexts?order=asc")
        .await
        .problem(422, "invalid", Some("order"));
}
