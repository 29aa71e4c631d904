//! The actors of versions, and the owners of stored responses.

use super::with_admin;
use crate::harness::Answer;
use serde_json::json;

#[tokio::test]
async fn the_actor_is_the_name_of_the_key_unless_it_may_act_for_others() {
    let (service, admin) = with_admin().await;
    let own = admin.make(json!({"name": "ci", "role": "writer"})).await;
    let others = admin.make_speaker("gateway").await;
    let written = own.put("acme", "one").await.is(201).json();
    assert_eq!(written["actor_id"], "ci");
    let put_as = async |holder: &super::Holder, text: &str, actor: &str| {
        Answer::to(holder.putting("acme", text).header("X-Actor-Id", actor)).await
    };
    let same = put_as(&own, "two", "ci").await.is(201);
    assert_eq!(same.json()["actor_id"], "ci");
    let refused = put_as(&own, "three", "boss").await;
    refused.problem(403, "forbidden", Some("X-Actor-Id"));
    let spoken = put_as(&others, "three", "boss").await.is(201);
    assert_eq!(spoken.json()["actor_id"], "boss");
    let unnamed = others.put("acme", "four").await.is(201);
    assert_eq!(unnamed.json()["actor_id"], "gateway");
    assert_eq!(service.count("memory_contexts").await, 4);
}

#[tokio::test]
async fn two_callers_do_not_share_idempotency_keys_and_a_replay_is_authorized() {
    let (service, admin) = with_admin().await;
    let one = admin.make(json!({"name": "one", "role": "writer"})).await;
    let two = admin.make(json!({"name": "two", "role": "writer"})).await;
    let reader = admin.make(json!({"name": "r", "role": "reader"})).await;
    let foreign = json!({"name": "f", "role": "writer", "vaults": ["other"]});
    let foreign = admin.make(foreign).await;
    let put = async |holder: &super::Holder, text| {
        Answer::to(holder.putting("acme", text).header("Idempotency-Key", "same")).await
    };
    put(&one, "by one").await.is(201);
    let by_two = put(&two, "by two").await.is(201);
    assert!(!by_two.headers.contains_key("idempotency-replayed"));
    let again = put(&one, "by one").await.is(201);
    assert_eq!(again.header("idempotency-replayed"), "true");
    put(&two, "by one").await.problem(422, "key-reused", None);
    put(&reader, "by one").await.forbidden();
    put(&foreign, "by one").await.missing();
    admin.delete(&format!("/v1/keys/{}", one.key_id)).await.is(204);
    put(&one, "by one").await.unauthorized();
    assert_eq!(service.count("memory_contexts").await, 2);
}
