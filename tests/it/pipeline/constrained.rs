//! Model servers that constrain the output to a grammar.

use super::stub::{Reply, Stub};
use crate::harness::Service;
use serde_json::json;
use working_memory::config::Config;
use working_memory::config::llm::{Constrain, Provider};
use working_memory::domain::operation::Role;

fn no_change(role: Role) -> Reply {
    Reply::Text(format!("{}: NO CHANGE\n", role.header()))
}

#[tokio::test]
async fn each_role_gets_the_grammar_of_its_section_with_the_ids_of_the_memory() {
    let stub = Stub::start(|request| no_change(request.role())).await;
    let configure = stub.configure(Provider::Openai, 0);
    let configure = |config: &mut Config| {
        configure(config);
        config.llm.constrain = Constrain::Gbnf;
        config.pipeline.max_additions = 2;
    };
    let service = Service::start_with(configure, None).await;
    let memory = service.memory("agent");
    let text = "# Key Learnings\n- KL-4 because old: stays\n- KL-7 because new: too\n";
    memory.put(text).await.is(201);

    memory.update(json!({"task": "wired it"})).await.is(200);

    let grammar = |role| stub.asked(role)[0].body["grammar"].clone();
    let learnings = grammar(Role::Learnings);
    let learnings = learnings.as_str().unwrap();
    assert!(
        learnings.starts_with("root ::= \"KEY_LEARNINGS:\""),
        "{learnings}"
    );
    assert!(
        learnings.contains("\"KL-\" id") || learnings.contains("- KL-\" id"),
        "{learnings}"
    );
    assert!(learnings.contains("\nid ::= [47]\n"), "{learnings}");
    assert!(learnings.contains("add{1,2}"), "{learnings}");
    let progress = grammar(Role::Progress);
    assert!(progress.as_str().unwrap().contains("In Progress:"), "{progress}");
}
