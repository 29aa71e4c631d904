//! `GET M/contexts`

use crate::harness::Service;

#[tokio::test]
async fn versions_are_listed_newest_first_in_pages_without_their_texts() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for number in 1..=5 {
        memory.write(format!("text {number}")).await;
    }

    let items = service.pages(&memory.path("contexts?limit=2")).await;
    assert!(
        items
            .iter()
            .all(|item| item.get("context").is_none() && item["bytes"] == 6)
    );
    let versions: Vec<_> = items.iter().map(|item| &item["version"]).collect();
    assert_eq!(versions, [5, 4, 3, 2, 1]);
}
