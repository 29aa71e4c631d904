//! Model servers that constrain the output to a JSON schema.

use super::stub::{Reply, Stub};
use crate::harness::{Memory, Service, each, has, holds};
use serde_json::json;
use working_memory::config::llm::{Constrain, Provider};
use working_memory::domain::operation::Role;

/// A service whose model server constrains to a schema.
async fn constrained(stub: &Stub) -> Memory {
    let configure = stub.configure(Provider::Openai, 0);
    let service = Service::configured(|config| {
        configure(config);
        config.llm.constrain = Constrain::JsonSchema;
        config.pipeline.max_additions = 2;
    });
    service.await.agent().1
}

#[tokio::test]
async fn each_role_gets_the_schema_of_its_section_with_the_ids_of_the_memory() {
    let stub = Stub::start(|request| Reply::Text(format!("{}: NO CHANGE\n", request.role().header()))).await;
    let memory = constrained(&stub).await;
    let text = "# Key Learnings\n- KL-4 because old: stays\n- KL-7 because new: too\n";
    memory.write(text).await;

    memory.updated(json!({"task": "wired it"})).await;

    let schema = |role| stub.asked(role)[0].body["response_format"]["json_schema"]["schema"].clone();
    let learnings = &schema(Role::Learnings)["properties"];
    let ids = json!({"/archive/items/properties/id/enum": ["KL-4", "KL-7"], "/add/maxItems": 2});
    has(learnings, ids);
    assert!(schema(Role::Progress)["properties"]["in_progress"].is_object());
    let verbatim = &schema(Role::Verbatim)["properties"];
    assert_eq!(verbatim["archive"], json!(null), "there is no snippet to archive");
}

#[tokio::test]
async fn an_answer_of_the_schema_is_applied_and_its_faults_name_what_was_written() {
    let said = |role| match role {
        Role::Learnings => json!({
            "add": [
                {"reason": "it bit us: twice", "content": "the parser needs\nwiring"},
                {"reason": "", "content": "the parser is slow"},
            ],
            "archive": [
                {"id": "KL-9", "reason": "the parser is wired"},
                {"id": "VC-1", "reason": "the parser is wired"},
                {"id": "VC-1", "reason": "the parser is wired", "ground": "expired"},
                {"id": "VC-1", "reason": ""},
            ],
        }),
        Role::Verbatim => json!({"add": [{"reason": "next", "label": "run", "snippet": "wired it"}]}),
        Role::Progress => json!({"completed": [], "in_progress": ["Wire the parser"], "remaining": []}),
    };
    let stub = Stub::start(move |request| Reply::Text(said(request.role()).to_string())).await;
    let memory = constrained(&stub).await;

    let task = json!({"task": "wired it: the parser needs wiring"});
    let answer = memory.updated(task).await;

    let kinds = each(&answer["rejected"], "kind");
    let archived = "unknown_id wrong_section_id wrong_section_id missing_reason";
    assert_eq!(kinds.join(" "), format!("missing_reason {archived}"), "{answer}");
    has(&answer, json!({"/rejected/0/text~": "the parser is slow"}));
    let lines = [
        "because it bit us; twice: the parser needs wiring\n",
        "because next: run => wired it\n",
        "## In Progress\n- Wire the parser\n",
    ];
    holds(memory.text().await, &lines);
    // The model reads its own answer again, as it wrote it.
    let again = stub.asked(Role::Learnings)[1].body["messages"].clone();
    assert_eq!(again[2]["content"], said(Role::Learnings).to_string());
}

#[tokio::test]
async fn of_an_answer_that_a_filter_ended_the_last_item_is_dropped_though_its_json_is_whole() {
    let added =
        |content: &str| json!({"reason": "it bit us", "content": format!("the parser needs {content}")});
    let said = json!({"add": [added("wiring"), added("w")], "archive": []}).to_string();
    let stub = Stub::start(move |request| match request.role() {
        Role::Learnings => {
            let message = json!({"role": "assistant", "content": said});
            let choice = json!({"index": 0, "finish_reason": "content_filter", "message": message});
            Reply::raw(json!({ "choices": [choice] }).to_string())
        }
        role => Reply::Text(format!("{}: NO CHANGE\n", role.header())),
    });
    let memory = constrained(&stub.await).await;

    let answer = memory.updated(json!({"task": "the parser needs wiring"})).await;

    let expected = json!({
        "/operations/*/content": ["the parser needs wiring"],
        "/warnings/*/kind": ["truncated"],
        "/models/learnings/reprompts": 1,
    });
    has(&answer, expected);
}
