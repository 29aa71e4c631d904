//! Retries of faulty items: which faults are sent back to the model, with what prompt, and how its second response is merged.

use super::dictated::{Dictated, LEARNING, PROGRESS, dictate, learning};
use super::stored::is_sound;
use crate::harness::{Service, each, has, holds};
use serde_json::json;
use working_memory::config::Config;
use working_memory::domain::operation::Role;
use working_memory::llm::ChatRole;

const FAULTY: &str = "KEY_LEARNINGS:\n  ADD:\n    - because good: kept\n    - no reason here\n";

#[tokio::test]
async fn a_retry_prompt_has_the_models_answer_the_faults_and_the_existing_ids() {
    let models = Dictated::new();
    let (service, memory) = models.service().await.agent();
    let old = "# Key Learnings\n- KL-3 because x: old\n- KL-8 because y: older\n";
    memory.write(old).await;
    let first = "KEY_LEARNINGS:\n  ADD:\n    - no reason here\n  ARCHIVE:\n    - KL-99 because gone\n";
    let second =
        "KEY_LEARNINGS:\n  ADD:\n    - because mended: no reason here\n  ARCHIVE:\n    - KL-3 because gone\n";

    let answer = memory
        .updated(dictate(json!({"learnings": [first, second]})))
        .await;

    let requests = models.asked(Role::Learnings);
    assert_eq!(requests.len(), 2);
    let (before, after) = (&requests[0].messages, &requests[1].messages);
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after[1].speaker, ChatRole::Assistant);
    assert_eq!(after[1].text, first);
    let fragments = "missing_reason|> - no reason here|unknown_id|KL-99|KL-3, KL-8".split('|');
    holds(&after[2].text, &fragments.collect::<Vec<_>>());
    assert_eq!(requests[0].system, requests[1].system);
    for role in [Role::Progress, Role::Verbatim] {
        assert_eq!(models.asked(role).len(), 1);
    }
    let report = json!({"attempts": 2, "reprompts": 1, "input_tokens": 200, "output_tokens": 20});
    has(&answer["models"]["learnings"], report);
    has(&answer, json!({"/models/progress/reprompts": 0, "rejected": []}));
    let run = memory.run_of(&answer).await;
    let exchanges = run["exchanges"].as_array().unwrap().iter();
    let answers = exchanges.filter(|exchange| exchange["section"] == "learnings");
    let answers: Vec<_> = answers.map(|exchange| &exchange["answer"]).collect();
    assert_eq!(answers, [first, second]);
    assert_eq!(memory.read("records/KL-3").await["archive_reason"], "gone");
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn the_second_answer_replaces_faulty_items_and_valid_ones_are_preserved() {
    let models = Dictated::new();
    let service = models.service().await;
    let mended = learning("mended");
    let both = FAULTY.replace("no reason here", "because x: mended");
    let cases = [
        (&*mended, "mended kept", ""),
        (&both, "kept mended", ""),
        ("KEY_LEARNINGS: NO CHANGE", "kept", ""),
        (
            &FAULTY.replace("    - because good: kept\n", ""),
            "kept",
            "missing_reason",
        ),
        ("I am sorry, I cannot help with that.", "kept", "missing_reason"),
        ("", "kept", "missing_reason"),
    ];
    for (number, (second, contents, rejected)) in cases.into_iter().enumerate() {
        let name = format!("agent-{number}");
        let update = dictate(json!({"learnings": [FAULTY, second]}));
        let answer = service.memory(&name).updated(update).await;

        let applied = each(&answer["operations"], "content").join(" ");
        assert_eq!(applied, contents, "{second}");
        let kinds = each(&answer["rejected"], "kind").join(" ");
        assert_eq!(kinds, rejected, "{second}: {answer}");
        is_sound(&service, &name).await;
    }
}

#[tokio::test]
async fn a_valid_progress_of_the_first_answer_is_used_unless_the_second_has_one() {
    let first = format!("{PROGRESS}SOMETHING_ELSE:\n  - x\n");
    let models = Dictated::new();
    let service = models.service().await;
    let faulty = "CURRENT_PROGRESS:\n  Completed:\n    - All of it\n";
    let cases = [
        ("CURRENT_PROGRESS: NO CHANGE", "- Wire it"),
        (&super::dictated::progress("Test it"), "- Test it"),
        (faulty, "- Wire it"),
    ];
    for (number, (second, bullet)) in cases.into_iter().enumerate() {
        let name = format!("agent-{number}");
        let memory = service.memory(&name);

        let update = dictate(json!({"progress": [first, second]}));
        let answer = memory.updated(update).await;

        assert_eq!(answer["models"]["progress"]["reprompts"], 1);
        let text = memory.text().await;
        assert!(text.contains(bullet), "{second}: {text}");
        let details = each(&answer["rejected"], "detail").join(" ");
        let not_taken = "at least one bullet; this progress was not taken";
        assert_eq!(details.contains(not_taken), second == faulty, "{details}");
    }
}

/// A model, the part of its answer that is faulty, and the fault.
const CORRECTABLE: [&str; 12] = [
    "learnings / ADD: - because: x / missing_reason",
    "learnings / ADD: - because x: / empty_content",
    "verbatim / ADD: - because x: no arrow / missing_label",
    "learnings / ARCHIVE: - KL-01 because x / malformed_id",
    "learnings / ARCHIVE: - VC-1 because x / wrong_section_id",
    "learnings / ARCHIVE: - VC-1 duplicate of VC-3 because x / wrong_section_id",
    "verbatim / ARCHIVE: - KL-1 expired because x / wrong_section_id",
    "verbatim / MERGE: - KL-1, KL-2 because x: y / wrong_section_id",
    "learnings / ARCHIVE: - KL-7 because x / unknown_id",
    "progress / Completed: - x / missing_in_progress",
    "learnings / REPLACE: - because x: y / unknown_header",
    "learnings / ADD: - because <reason>: <one-line insight> / placeholder",
];

#[tokio::test]
async fn every_correctable_fault_is_retried_and_the_rest_is_reported() {
    let models = Dictated::new();
    let service = models.service().await;
    for (number, row) in CORRECTABLE.into_iter().enumerate() {
        let [role, item, kind] = row.split(" / ").collect::<Vec<_>>().try_into().unwrap();
        let header = Role::ALL.into_iter().find(|known| known.name() == role);
        let header = header.unwrap().header();
        let text = format!("{header}:\n  {}\n", item.replacen(": ", ":\n    ", 1));
        let name = format!("agent-{number}");
        let answer = service.memory(&name).updated(dictate(json!({role: text}))).await;
        let expected =
            json!({"/rejected/*/kind": [kind], "/rejected/0/section": role, "status": "unchanged"});
        has(&answer, expected);
        assert_eq!(answer["models"][role]["reprompts"], 1, "{kind}");
        assert_eq!(service.count("memories").await, 0);
    }
}

#[tokio::test]
async fn an_answer_without_a_section_is_retried_with_a_warning() {
    let service = Dictated::new().service().await;
    let cases = "/ \n\n/Sure! Everything went fine./(none)/{\"add\": []}";
    for (number, text) in cases.split('/').enumerate() {
        let name = format!("agent-{number}");
        let update = dictate(json!({"learnings": text}));
        let answer = service.memory(&name).updated(update).await;
        has(
            &answer,
            json!({"/warnings/*/kind": ["no_section"], "/warnings/*/section": ["learnings"], "/models/learnings/reprompts": 1}),
        );
    }
    let mut strict = dictate(json!({"learnings": "(none)"}));
    strict["on_invalid"] = json!("fail");
    let problem = service
        .memory("agent")
        .update(strict)
        .await
        .problem(422, "invalid", None);
    has(&problem, json!({"/rejected/0/kind": "no_section"}));
}

#[tokio::test]
async fn faults_that_a_retry_cannot_correct_are_not_retried() {
    let long = "x".repeat(16_385);
    let models = Dictated::new();
    let service = models.service().await;
    let cases = [
        (learning("OLD  insight"), "duplicate"),
        (format!("{LEARNING}    - because twice: PIN the tool chain\n"), "duplicate"),
        ("KEY_LEARNINGS:\n  ADD:\n    - because a: 1\n    - because a: 2\n    - because a: 3\n    - because a: 4\n".to_owned(), "too_many_additions"),
        (learning(&long), "too_large"),
        ("KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because gone\n".to_owned(), "already_archived"),
        ("KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because gone\n    - KL-2 because gone\n".to_owned(), "already_archived"),
    ];
    for (number, (text, kind)) in cases.into_iter().enumerate() {
        let name = format!("agent-{number}");
        let memory = service.memory(&name);
        for record in ["KL-1 because x: gone", "KL-2 because x: old insight"] {
            memory.write(format!("# Key Learnings\n- {record}\n")).await;
        }

        let mut update = dictate(json!({"learnings": text}));
        update["on_invalid"] = json!("fail");
        let answer = memory.updated(update).await;

        let expected = json!({"/rejected/*/kind": [kind], "/models/learnings/reprompts": 0});
        has(&answer, expected);
        assert!(answer["rejected"][0]["text"].as_str().unwrap().len() < 2_100);
        is_sound(&service, &name).await;
    }
}

#[tokio::test]
async fn a_truncated_answer_is_retried_and_its_last_item_dropped() {
    let models = Dictated::new();
    let service = models.service().await;
    let cut =
        "KEY_LEARNINGS:\n  ADD:\n    - because whole: this one is whole\n    - because cut: this one is c";
    let update = dictate(json!({"learnings": [cut, learning("mended")], "cut_off": "learnings"}));

    let answer = service.memory("agent").updated(update).await;

    has(
        &answer,
        json!({"/operations/*/content": ["mended", "this one is whole"], "warnings": []}),
    );
    assert_eq!(models.asked(Role::Learnings).len(), 2);
    holds(&models.asked(Role::Learnings)[1].messages[2].text, &["truncated"]);
}

#[tokio::test]
async fn the_number_of_retries_is_configured() {
    for rounds in [0, 1, 2] {
        let models = Dictated::new();
        let configure = |config: &mut Config| config.pipeline.max_reprompts = rounds;
        let service = Service::start_with(configure, Some(models.models())).await;
        let update = dictate(json!({"learnings": [FAULTY, FAULTY, learning("third")]}));

        let answer = service.memory("agent").updated(update).await;

        assert_eq!(models.asked(Role::Learnings).len() as u32, rounds + 1);
        assert_eq!(answer["models"]["learnings"]["reprompts"], rounds);
        let contents = each(&answer["operations"], "content");
        assert_eq!(contents.contains(&"third"), rounds == 2);
        assert_eq!(answer["rejected"] == json!([]), rounds == 2);
        assert!(contents.contains(&"kept"));
    }
}

#[tokio::test]
async fn a_valid_item_over_the_limit_after_the_second_answer_is_reported() {
    let models = Dictated::new();
    let service = models.service().await;
    let first =
        "KEY_LEARNINGS:\n  ADD:\n    - because a: 1\n    - because a: 2\n    - because a: 3\n    - faulty\n";

    let update = dictate(json!({"learnings": [first, learning("mended")]}));
    let answer = service.memory("agent").updated(update).await;

    has(
        &answer,
        json!({"/operations/*/content": ["mended", "1", "2"], "/rejected/*/kind": ["too_many_additions"]}),
    );
    let text = answer["rejected"][0]["text"].as_str().unwrap();
    assert_eq!(text.trim(), "- because a: 3");
}
