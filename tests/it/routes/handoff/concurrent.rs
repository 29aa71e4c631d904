use super::refresh;
use crate::harness::Service;
use futures::future::join_all;

#[tokio::test]
async fn concurrent_refreshes_create_one_handoff_also_on_two_services() {
    let service = Service::start().await;
    let other = service.beside(None).await;
    let both = [service.memory("m"), other.memory("m")];
    both[0].learns("a: one").await;
    for query in ["", "?force=true"] {
        let answers = join_all((0..8).map(|number| refresh(&both[number % 2], query, None))).await;
        let new = answers.iter().filter(|answer| answer.status == 201).count();
        let same = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!(new + same, 8);
        if query.is_empty() {
            assert_eq!((new, service.count("handoffs").await), (1, 1));
        } else {
            assert!(new >= 1, "force makes one");
        }
    }
}
