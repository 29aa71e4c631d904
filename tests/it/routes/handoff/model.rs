use super::{refresh, section};
use crate::harness::{Scripted, Service, Step, each, has, holds, lacks};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use working_memory::config::Config;
use working_memory::llm::{self, ChatRole, ModelError, Models, Retry, RoleModel};

const DOCUMENT: &str = "# Current Progress\n## In Progress\n- Wire the parser to the route\n\n\
    # Key Learnings\n- KL-1 because a: queries need prepared data\n- KL-2 because b: the cache is cold\n";

async fn start(steps: impl IntoIterator<Item = Step>) -> (Service, Arc<Scripted>) {
    start_with(|_| {}, steps).await
}

async fn start_with(
    configure: impl FnOnce(&mut Config),
    steps: impl IntoIterator<Item = Step>,
) -> (Service, Arc<Scripted>) {
    let model = Arc::new(Scripted::new("writer", steps));
    let patience = Retry::new(Duration::from_secs(20), 0);
    let silent = RoleModel::new(Arc::new(Scripted::new("silent", [])), patience);
    let models = Models::new(|_| silent.clone()).with_handoff(RoleModel::new(model.clone(), patience));
    let service = Service::start_with(configure, Some(models)).await;
    let memory = service.memory("m");
    memory.write(DOCUMENT).await;
    memory.archives("KL-2 because it is warm").await;
    (service, model)
}

#[tokio::test]
async fn valid_lines_are_accepted_and_invalid_ones_retried_once_and_dropped() {
    let first = "SUMMARY:\n- Two lessons came: prepared data, a cold cache. [KL-1@1] [KL-2@1]\n- Nobody said this.\n\
        START_HERE:\n- In progress: wire the parser to the route [Current Progress@2]\n- Deploy everything tonight [Current Progress@2]\n\
        CURRENT_CONTEXT:\n- Queries need **prepared** data [KL-1@1]\n- The cache is cold [KL-2@1]\n\
        OPEN_QUESTIONS:\n- (none)\n";
    let second = "SUMMARY:\n- Prepared data, now said with a source. [KL-1@1]\n- Made up. [KL-77@1]\n- Queries take password=hunter2 as prepared. [KL-1@1]\nNEWS:\n- No such section. [KL-1@1]\n";
    let (service, model) = start([Step::answer(first), Step::answer(second)]).await;
    let memory = service.memory("m");
    let made = refresh(&memory, "", None).await.is(201).json();
    let markdown = made["markdown"].as_str().unwrap();
    let sections = [
        "Summary: - Two lessons came: prepared data, a cold cache. [KL-1@1] [KL-2@1] (archived)\n\
         - Prepared data, now said with a source. [KL-1@1]",
        "Start Here: - In progress: wire the parser to the route [Current Progress@2]",
        "Current Context: - Queries need \\*\\*prepared\\*\\* data [KL-1@1]",
    ];
    for (title, lines) in sections.map(|row| row.split_once(": ").unwrap()) {
        assert_eq!(section(markdown, title).join("\n"), lines);
    }
    // The rest is compiled by the rules, and so is a section that the model left empty.
    assert_eq!(section(markdown, "Recently Replaced / Archived").len(), 1);
    assert_eq!(section(markdown, "Recent Changes").len(), 3);
    let manifest = &made["manifest"];
    let dropped = each(&manifest["dropped"], "reason");
    assert_eq!(dropped, ["not_supplied", "secret", "unknown_section"]);
    lacks(made.to_string(), &["hunter2"]);
    has(
        &manifest["model"],
        json!({"model": "writer", "reprompts": 1, "failed": null}),
    );

    let requests = model.asked();
    assert_eq!(requests.len(), 2, "once more and no oftener");
    holds(&requests[0].messages[0].text, &["[KL-1@1] active learning"]);
    assert_eq!(requests[1].messages[1].speaker, ChatRole::Assistant);
    let again = &requests[1].messages[2].text;
    let bad = "Nobody said this|Deploy everything tonight|The cache is cold";
    holds(again, &bad.split('|').collect::<Vec<_>>());
    lacks(again, &["Two lessons came"]);
    // Returning a fresh one calls no model.
    refresh(&memory, "", None).await.is(200);
    assert_eq!(model.asked().len(), 2);
}

/// A first answer with a valid line and an invalid one, and what becomes of them with this second answer.
#[tokio::test]
async fn a_second_answer_without_sections_leaves_the_invalid_lines_of_the_first_dropped() {
    let first = "SUMMARY:\n- A lesson came: prepared data. [KL-1@1]\n- Nobody said this.\n";
    let failure = ModelError::Status {
        code: 400,
        retry_after: None,
        detail: "too long".to_owned(),
    };
    for (second, dropped) in [
        (Step::Fail(failure), &["no_citation"][..]),
        (Step::answer(""), &["no_citation"]),
        (Step::answer("I have nothing to add."), &["no_citation"]),
        (Step::answer("SUMMARY:\n- (none)\n"), &[]),
    ] {
        let (service, model) = start([Step::answer(first), second]).await;
        let made = refresh(&service.memory("m"), "", None).await.is(201).json();
        has(
            &made,
            json!({"/manifest/dropped/*/reason": dropped, "/manifest/more_dropped": 0, "/manifest/model/failed": null}),
        );
        let summary = section(made["markdown"].as_str().unwrap(), "Summary").join(" ");
        holds(&summary, &["A lesson came"]);
        assert_eq!(model.asked().len(), 2);
        let usage = service.read("/v1/vaults/acme/usage").await;
        has(&usage, json!({"/totals/failures": 0}));
    }
}

#[tokio::test]
async fn the_last_line_of_an_answer_that_was_cut_off_is_not_trusted() {
    let cut = llm::Answer {
        text: "SUMMARY:\n- A lesson came: prepared data. [KL-1@1]\n- Queries need prep [KL-1@1]".to_owned(),
        stopped_at_limit: true,
        ..llm::Answer::default()
    };
    let (service, model) = start([Step::Answer(cut), Step::answer("")]).await;
    let made = refresh(&service.memory("m"), "", None).await.is(201).json();
    has(&made, json!({"/manifest/dropped/*/reason": ["cut_off"]}));
    let summary = section(made["markdown"].as_str().unwrap(), "Summary");
    assert_eq!(summary, ["- A lesson came: prepared data. [KL-1@1]"]);
    holds(&model.asked()[1].messages[2].text, &["Queries need prep"]);
}

#[tokio::test]
async fn of_an_answer_that_repeats_a_line_for_ever_few_are_kept_and_asked_about() {
    let looping = || Step::answer(&format!("SUMMARY:\n{}", "- x\n".repeat(60_000)));
    let (service, model) = start([looping(), looping()]).await;
    let made = refresh(&service.memory("m"), "", None).await.is(201).json();
    let expected = json!({"/manifest/dropped#": 200, "/manifest/more_dropped": 59_800});
    has(&made, expected);
    assert!(made.to_string().len() < 50_000);
    assert!(model.asked()[1].messages[2].text.len() < 50_000);
}

#[tokio::test]
async fn a_failing_model_falls_back_to_the_rules() {
    let failure = ModelError::BadAnswer {
        detail: "secret detail".to_owned(),
    };
    let (service, _) = start([Step::Fail(failure)]).await;
    let memory = service.memory("m");
    let made = refresh(&memory, "", None).await.is(201).json();
    let recent = section(made["markdown"].as_str().unwrap(), "Recent Changes");
    assert_eq!(recent.len(), 3);
    has(&made, json!({"/manifest/model/failed!": "secret"}));
}

#[tokio::test]
async fn without_a_model_of_its_own_a_handoff_asks_none() {
    let model = Arc::new(Scripted::new("writer", []));
    let patience = Retry::new(Duration::from_secs(20), 0);
    let one = RoleModel::new(model.clone(), patience);
    let models = Models::new(|_| one.clone());
    let (_, memory) = Service::with_models(models).await.with_memory("m");
    memory.write(DOCUMENT).await;
    let made = refresh(&memory, "", None).await.is(201).json();
    has(&made, json!({"/manifest/model": null}));
    assert!(model.asked().is_empty());
}

#[tokio::test]
async fn its_tokens_count_and_a_vault_over_its_budget_falls_back_to_the_rules() {
    let answer = llm::Answer {
        text: "SUMMARY:\n- A lesson came: prepared data. [KL-1@1]\n".to_owned(),
        input_tokens: Some(900),
        cached_tokens: Some(300),
        output_tokens: Some(100),
        ..llm::Answer::default()
    };
    let limit = |config: &mut Config| config.limits.vault_tokens_per_day = Some(1_000);
    let (service, model) = start_with(limit, [Step::Answer(answer)]).await;
    let memory = service.memory("m");
    refresh(&memory, "", None).await.is(201);
    let usage = service.read("/v1/vaults/acme/usage").await;
    assert_eq!(usage["tokens_today"], 1_000);
    let spent = json!({"model": "writer", "runs": 1, "calls": 1, "cached_tokens": 300});
    has(&usage["items"][0], spent);
    let role: String = service.value("SELECT role FROM model_usage").await;
    assert_eq!(role, "handoff");

    let made = refresh(&memory, "?force=true", None).await.is(201).json();
    assert_eq!(model.asked().len(), 1);
    has(&made, json!({"/manifest/model/failed~": "1000 tokens today"}));
    let summary = section(made["markdown"].as_str().unwrap(), "Summary").join(" ");
    holds(&summary, &["KL-2"]);
    lacks(&summary, &["A lesson came"]);

    service.clock.advance(Duration::from_secs(24 * 3_600));
    refresh(&memory, "?force=true", None).await.is(201);
    // On the next day the model may be called again.
    assert_eq!(model.asked().len(), 2);
}
