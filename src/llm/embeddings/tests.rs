//! Valid and invalid responses of servers.

use super::super::tests::stub::{Reply, Stub, ok, reply};
use super::*;
use crate::config::embeddings::EmbeddingsConfig;

const MODEL: EmbeddingModel<'static> = EmbeddingModel {
    model: "m",
    dimensions: Some(2),
};

fn vectors(all: &[[f32; 2]]) -> Reply {
    let numbered = all.iter().enumerate();
    let data = numbered.map(|(index, vector)| json!({"index": index, "embedding": vector}));
    let data: Vec<Value> = data.collect();
    ok(&json!({"data": data, "usage": {"prompt_tokens": 7}}))
}

async fn embedder(replies: Vec<Reply>, batch_size: usize) -> (Stub, Embedder) {
    let stub = Stub::start(replies).await;
    let config = EmbeddingsConfig {
        base_url: Some(stub.url("/v1")),
        model: Some("m".to_owned()),
        api_key: Some("sk-1".into()),
        ..EmbeddingsConfig::default()
    };
    let mut embedder = Embedder::from_config(&config).unwrap().unwrap();
    embedder.batch_size = batch_size;
    embedder.retry = Retry {
        base_backoff: Duration::from_millis(1),
        ..Retry::new(Duration::from_millis(300), 1)
    };
    (stub, embedder)
}

#[tokio::test]
async fn texts_go_in_batches_and_vectors_come_in_their_order() {
    let backwards = json!({"data": [
        {"index": 1, "embedding": [0.0, 1.0]},
        {"index": 0, "embedding": [1.0, 0.0]},
    ], "usage": {"total_tokens": 3}});
    let (stub, embedder) = embedder(vec![ok(&backwards), vectors(&[[0.5, 0.5]])], 2).await;
    let (embedded, end) = embedder.embed(MODEL, &["a", "b", "c"]).await;
    assert_eq!(end, Ok(()));
    let vectors = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]].map(|vector| Some(vector.to_vec()));
    assert_eq!(embedded.vectors, vectors);
    assert_eq!((embedded.input_tokens, embedded.calls), (10, 2));
    let requests = stub.requests();
    assert!(requests[0].contains(r#""input":["a","b"]"#), "{}", requests[0]);
    assert!(requests[0].contains("/embeddings") && requests[0].contains("Bearer sk-1"));
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_asked_for_again_and_then_only_its_text_is_lost() {
    let nan =
        || ok(&json!({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [null, 1]}]}));
    let zero = || ok(&json!({"data": [{"index": 0, "embedding": [0, 0]}]}));
    let one = || vectors(&[[1.0, 0.0]]);
    // The batch is tried twice, then its halves; after each failure a text that every model can embed.
    let replies = vec![nan(), nan(), one(), one(), zero(), one()];
    let (_stub, embedder) = embedder(replies, 8).await;
    let (embedded, end) = embedder.embed(MODEL, &["good", "bad"]).await;
    assert_eq!(end, Ok(()));
    assert_eq!(embedded.vectors, [Some(vec![1.0, 0.0]), None]);
}

#[tokio::test]
async fn a_text_that_the_server_fails_at_does_not_affect_others() {
    let one = || vectors(&[[1.0, 0.0]]);
    let lengths =
        || ok(&json!({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1]}]}));
    let other_length = || ok(&json!({"data": [{"index": 0, "embedding": [1]}]}));
    let too_large = || {
        reply(
            500,
            "",
            r#"{"error": {"message": "input is too large to process"}}"#,
        )
    };
    let (gateway, hang) = (|| reply(502, "", ""), || Reply::Hang);
    let fails: [[fn() -> Reply; 2]; 4] = [[too_large; 2], [gateway; 2], [hang; 2], [lengths, other_length]];
    for [of_both, of_one] in fails {
        let replies = vec![of_both(), of_both(), one(), one(), of_one(), one()];
        let (stub, embedder) = embedder(replies, 8).await;
        let (embedded, end) = embedder.embed(MODEL, &["good", "long"]).await;
        assert_eq!(end, Ok(()));
        assert_eq!(embedded.vectors, [Some(vec![1.0, 0.0]), None]);
        assert!(stub.requests()[5].contains(r#""input":["dimensions"]"#));
    }
}

#[tokio::test]
async fn a_text_is_asked_for_again_once_others_have_vectors() {
    let (fails, one) = (|| reply(503, "", ""), || vectors(&[[1.0, 0.0]]));
    let (_stub, embedder) = embedder(vec![fails(), fails(), one(), one()], 8).await;
    let (embedded, end) = embedder.embed(MODEL, &["a"]).await;
    assert_eq!(end, Ok(()));
    assert_eq!(embedded.vectors, [Some(vec![1.0, 0.0])]);
}

#[tokio::test]
async fn a_wrong_count_or_length_heals_with_another_attempt() {
    for wrong in [
        vectors(&[]),
        vectors(&[[1.0, 0.0], [1.0, 0.0]]),
        ok(&json!({"data": [{"index": 5, "embedding": [1, 0]}]})),
        ok(&json!({"data": [{"index": 0, "embedding": "AAAA"}]})),
        ok(&json!({"nothing": 1})),
        reply(503, "", "busy"),
    ] {
        let (_stub, embedder) = embedder(vec![wrong, vectors(&[[1.0, 0.0]])], 8).await;
        let (embedded, end) = embedder.embed(MODEL, &["a"]).await;
        assert_eq!(end, Ok(()));
        assert_eq!(embedded.vectors, [Some(vec![1.0, 0.0])]);
    }
}

#[tokio::test]
async fn an_outage_and_another_model_are_distinguished_from_a_text() {
    // The batch is tried twice, then a text that every model can embed.
    let replies = [(); 3].map(|()| reply(500, "", ""));
    let (_stub, away) = embedder(replies.into(), 8).await;
    assert!(matches!(
        away.embed(MODEL, &["a"]).await.1,
        Err(EmbedError::Model(ModelError::Status { code: 500, .. }))
    ));
    // What came before it is kept, and counted.
    let refuses = || reply(401, "", "");
    let replies = vec![vectors(&[[1.0, 0.0]]), refuses(), refuses()];
    let (_stub, refusing) = embedder(replies, 1).await;
    let (kept, end) = refusing.embed(MODEL, &["a", "b", "c"]).await;
    assert!(end.is_err());
    assert_eq!((kept.vectors.len(), kept.calls, kept.input_tokens), (1, 3, 7));
    // Where requests are limited, no more are made.
    let (stub, limited) = embedder([(); 2].map(|()| reply(429, "", "")).into(), 8).await;
    assert!(limited.embed(MODEL, &["a", "b"]).await.1.is_err());
    assert_eq!(stub.requests().len(), 2);
    let three = || ok(&json!({"data": [{"index": 0, "embedding": [1, 2, 3]}]}));
    let (_stub, changed) = embedder(vec![three(), three()], 8).await;
    let (expected, found) = (2, 3);
    let end = changed.embed(MODEL, &["a"]).await.1;
    assert_eq!(end, Err(EmbedError::Dimensions { expected, found }));
    let (_stub, silent) = embedder(vec![Reply::Hang], 8).await;
    let begun = Instant::now();
    let time = Duration::from_millis(50);
    assert!(silent.embed_once(MODEL, "a", time).await.is_err());
    assert!(begun.elapsed() >= time);
}
