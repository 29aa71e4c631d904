//! `GET M/updates`

use crate::harness::Service;
use serde_json::Value;

#[tokio::test]
async fn runs_are_listed_newest_first_without_their_exchanges() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let mut ids = Vec::new();
    for number in 0..3 {
        let text = format!("KEY_LEARNINGS:\n  ADD:\n    - because x: insight {number}\n");
        ids.push(memory.apply(&text).await.is(200).json()["update_id"].clone());
    }
    ids.reverse();

    let first = memory.get("updates?limit=2").await.is(200).json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = memory
        .get(&format!("updates?limit=2&cursor={cursor}"))
        .await
        .is(200)
        .json();

    let items = |page: &Value| page["items"].as_array().unwrap().clone();
    let listed: Vec<_> = items(&first).into_iter().chain(items(&second)).collect();
    assert_eq!(
        listed
            .iter()
            .map(|run| run["update_id"].clone())
            .collect::<Vec<_>>(),
        ids
    );
    assert!(listed.iter().all(|run| run.get("exchanges").is_none()));
    assert_eq!(second["next_cursor"], Value::Null);
}
