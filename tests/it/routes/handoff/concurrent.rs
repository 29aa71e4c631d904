use super::refresh;
use crate::harness::Service;
use futures::future::join_all;

#[tokio::test]
async fn concurrent_refreshes_create_one_handoff_also_on_two_services() {
    let service = Service::start().await;
    let other = service.beside(None).await;
    for (query, made) in [("", 1), ("?force=true", 2)] {
        let memory = service.memory("m");
        if query.is_empty() {
            memory.write("# Key Learnings\n- KL-1 because a: one\n").await;
        }
        let memories: Vec<_> = (0..8)
            .map(|index| {
                if index % 2 == 0 {
                    service.memory("m")
                } else {
                    other.memory("m")
                }
            })
            .collect();
        let answers = join_all(memories.iter().map(|memory| refresh(memory, query, None))).await;
        let new = answers.iter().filter(|answer| answer.status == 201).count();
        let same = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!(new + same, 8);
        if query.is_empty() {
            assert_eq!((new, service.count("handoffs").await), (1, made));
        } else {
            assert!(new >= 1, "force makes one");
        }
    }
}
