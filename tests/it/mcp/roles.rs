//! Keys, roles and vaults: as for the routes.

use super::{agent, message, posting};
use crate::access::{Holder, with_admin};
use crate::harness::{Answer, Service};
use serde_json::{Value, json};

async fn call(service: &Service, holder: &Holder, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let request = posting(service, "")
        .bearer_auth(&holder.token)
        .json(&message("tools/call", params));
    Answer::to(request).await.is(200).json()["result"].clone()
}

#[tokio::test]
async fn a_reader_reads_and_its_edit_names_the_role() {
    let (service, admin) = with_admin().await;
    admin.put("acme", "text").await.is(201);
    let reader = admin.make(json!({"name": "r", "role": "reader"})).await;
    let read = call(&service, &reader, "memory_read", agent(json!({}))).await;
    assert_eq!(super::done(&read)["context"], "text");
    let learned = json!({"learnings": {"add": [{"reason": "r", "content": "c"}]}});
    for (tool, arguments) in [
        ("memory_write", json!({"text": "b"})),
        ("memory_edit", learned),
        ("memory_record", json!({"kind": "status", "goal": "g"})),
        ("memory_update", json!({"task": "t"})),
        ("memory_handoff", json!({"refresh": true})),
    ] {
        let result = call(&service, &reader, tool, agent(arguments)).await;
        let text = super::refused(&result);
        let is_named = text.contains("role writer") || text.contains("role proposer");
        assert!(is_named && text.contains("role reader"), "{tool}: {text}");
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn arguments_fixed_by_the_address_may_be_omitted_and_not_contradicted() {
    let service = Service::start().await;
    service.memory("agent").write("text").await;
    let fixed = "?vault=acme&memory=agent";
    let result = |arguments: Value| {
        let params = json!({"name": "memory_read", "arguments": arguments});
        let request = posting(&service, fixed).json(&message("tools/call", params));
        async { Answer::to(request).await.is(200).json()["result"].clone() }
    };
    let with_null = json!({"vault": null, "memory": "agent"});
    for good in [json!({}), json!({"vault": "acme"}), with_null] {
        assert_eq!(super::done(&result(good).await)["context"], "text");
    }
    for bad in [json!({"vault": "other"}), json!({"memory": "other"})] {
        let refused = result(bad).await;
        assert!(super::refused(&refused).contains("fixed to the"), "{refused}");
    }
    let list = |query: &str| Answer::to(posting(&service, query).json(&message("tools/list", json!({}))));
    let tools = list(fixed).await.is(200).json();
    assert_eq!(tools["result"]["tools"][0]["inputSchema"]["required"], json!([]));
    for (cursor, code) in [("", json!(null)), ("zz", json!(-32602))] {
        let message = message("resources/list", json!({"cursor": cursor}));
        let resources = Answer::to(posting(&service, fixed).json(&message));
        assert_eq!(resources.await.is(200).json()["error"]["code"], code, "{cursor}");
    }
    list("?vault=..").await.invalid("vault");
    list("?room=a").await.invalid("room");
}
