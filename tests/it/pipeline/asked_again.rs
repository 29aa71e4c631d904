//! Retries of faulty items: which faults are sent back to the model, with what prompt, and how its second response is merged.

use super::dictated::{Dictated, LEARNING, PROGRESS, dictate, learning};
use super::stored::is_sound;
use crate::harness::{Service, has, holds};
use serde_json::{Value, json};
use working_memory::domain::operation::Role;
use working_memory::llm::ChatRole;

const FAULTY: &str = "KEY_LEARNINGS:\n  ADD:\n    - because good: kept\n    - no reason here\n";

fn kinds(answer: &Value, list: &str) -> Vec<String> {
    let list = answer[list].as_array().unwrap();
    list.iter()
        .map(|entry| entry["kind"].as_str().unwrap().to_owned())
        .collect()
}

fn contents(answer: &Value) -> Vec<String> {
    let list = answer["operations"].as_array().unwrap();
    list.iter()
        .map(|op| op["content"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_retry_prompt_has_the_models_answer_the_faults_and_the_existing_ids() {
    let models = Dictated::new();
    let (service, memory) = models.service().await.agent();
    memory
        .write("# Key Learnings\n- KL-3 because x: old\n- KL-8 because y: older\n")
        .await;
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
    assert_eq!(
        (after[1].speaker, after[1].text.as_str()),
        (ChatRole::Assistant, first)
    );
    let again = &after[2].text;
    for fragment in "missing_reason|> - no reason here|unknown_id|KL-99|KL-3, KL-8".split('|') {
        assert!(again.contains(fragment), "{fragment}: {again}");
    }
    assert_eq!(requests[0].system, requests[1].system);
    assert_eq!(
        (
            models.asked(Role::Progress).len(),
            models.asked(Role::Verbatim).len()
        ),
        (1, 1)
    );
    let report = &answer["models"]["learnings"];
    has(report, json!({"attempts": 2, "reprompts": 1}));
    has(report, json!({"input_tokens": 200, "output_tokens": 20}));
    assert_eq!(answer["models"]["progress"]["reprompts"], 0);
    assert_eq!(answer["rejected"], json!([]));
    let run = memory.run_of(&answer).await;
    let answers: Vec<_> = run["exchanges"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|exchange| exchange["section"] == "learnings")
        .map(|exchange| exchange["answer"].as_str().unwrap())
        .collect();
    assert_eq!(answers, [first, second]);
    assert_eq!(memory.read("records/KL-3").await["archive_reason"], "gone");
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn the_second_answer_replaces_faulty_items_and_valid_ones_are_preserved() {
    let models = Dictated::new();
    let service = models.service().await;
    let cases = [
        (learning("mended"), vec!["mended", "kept"], vec![]),
        (
            "KEY_LEARNINGS:\n  ADD:\n    - because good: kept\n    - because x: mended\n".to_owned(),
            vec!["kept", "mended"],
            vec![],
        ),
        ("KEY_LEARNINGS: NO CHANGE".to_owned(), vec!["kept"], vec![]),
        (
            "KEY_LEARNINGS:\n  ADD:\n    - still none\n".to_owned(),
            vec!["kept"],
            vec!["missing_reason"],
        ),
        (
            "I am sorry, I cannot help with that.".to_owned(),
            vec!["kept"],
            vec!["missing_reason"],
        ),
        (String::new(), vec!["kept"], vec!["missing_reason"]),
    ];
    for (number, (second, expected, rejected)) in cases.into_iter().enumerate() {
        let name = format!("agent-{number}");
        let update = dictate(json!({"learnings": [FAULTY, second]}));
        let answer = service.memory(&name).updated(update).await;

        assert_eq!(contents(&answer), expected, "{second}");
        assert_eq!(kinds(&answer, "rejected"), rejected, "{second}: {answer}");
        is_sound(&service, &name).await;
    }
}

#[tokio::test]
async fn a_valid_progress_of_the_first_answer_is_used_unless_the_second_has_one() {
    let first = format!("{PROGRESS}SOMETHING_ELSE:\n  - x\n");
    let models = Dictated::new();
    let service = models.service().await;
    let cases = [
        ("CURRENT_PROGRESS: NO CHANGE".to_owned(), "- Wire it"),
        (super::dictated::progress("Test it"), "- Test it"),
        (
            "CURRENT_PROGRESS:\n  Completed:\n    - All of it\n".to_owned(),
            "- Wire it",
        ),
    ];
    for (number, (second, bullet)) in cases.into_iter().enumerate() {
        let name = format!("agent-{number}");
        let memory = service.memory(&name);

        let update = dictate(json!({"progress": [first, second]}));
        let answer = memory.updated(update).await;

        assert_eq!(answer["models"]["progress"]["reprompts"], 1);
        let text = memory.text().await;
        assert!(text.contains(bullet), "{second}: {text}");
    }
}

/// A model, the part of its answer that is faulty, and the fault.
const CORRECTABLE: [&str; 9] = [
    "learnings / ADD: - because: x / missing_reason",
    "learnings / ADD: - because x: / empty_content",
    "verbatim / ADD: - because x: no arrow / missing_label",
    "learnings / ARCHIVE: - KL-01 because x / malformed_id",
    "learnings / ARCHIVE: - VC-1 because x / wrong_section_id",
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
        let header = Role::ALL
            .into_iter()
            .find(|known| known.name() == role)
            .unwrap()
            .header();
        let text = format!("{header}:\n  {}\n", item.replacen(": ", ":\n    ", 1));
        let name = format!("agent-{number}");
        let answer = service.memory(&name).updated(dictate(json!({role: text}))).await;
        assert_eq!(kinds(&answer, "rejected"), [kind], "{answer}");
        assert_eq!(answer["models"][role]["reprompts"], 1, "{kind}");
        assert_eq!(answer["rejected"][0]["section"], role);
        assert_eq!(answer["status"], "unchanged");
        assert_eq!(service.count("memories").await, 0);
    }
}

#[tokio::test]
async fn an_answer_without_a_section_is_retried_with_a_warning() {
    let template = working_memory_template();
    let models = Dictated::new();
    let service = models.service().await;
    let cases = [
        "",
        " \n\n",
        "Sure! Everything went fine.",
        "(none)",
        "{\"add\": []}",
    ];
    for (number, text) in cases.into_iter().enumerate() {
        let name = format!("agent-{number}");
        let answer = service
            .memory(&name)
            .updated(dictate(json!({"learnings": text})))
            .await;
        assert_eq!(kinds(&answer, "warnings"), ["no_section"], "{text}: {answer}");
        assert_eq!(answer["models"]["learnings"]["reprompts"], 1);
    }
    let answer = service
        .memory("agent")
        .updated(dictate(json!({"verbatim": template})))
        .await;
    assert_eq!(answer["operations"], json!([]), "{answer}");
    assert!(
        kinds(&answer, "rejected")
            .iter()
            .all(|kind| kind == "placeholder" || kind == "unknown_id")
    );
}

/// The template of DESIGN, returned unchanged.
fn working_memory_template() -> &'static str {
    "VERBATIM_CONTEXT:\n  ADD:\n    - because <reason>: <label> => <snippet, to the next bullet of this list>\n  ARCHIVE:\n    - VC-<n> because <reason>\n"
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
        memory.write("# Key Learnings\n- KL-1 because x: gone\n").await;
        memory
            .write("# Key Learnings\n- KL-2 because x: old insight\n")
            .await;

        let mut update = dictate(json!({"learnings": text}));
        update["on_invalid"] = json!("fail");
        let answer = memory.updated(update).await;

        assert_eq!(kinds(&answer, "rejected"), [kind], "{answer}");
        assert_eq!(answer["models"]["learnings"]["reprompts"], 0, "{kind}");
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

    assert_eq!(contents(&answer), ["mended", "this one is whole"]);
    assert_eq!(models.asked(Role::Learnings).len(), 2);
    holds(&models.asked(Role::Learnings)[1].messages[2].text, &["truncated"]);
    assert_eq!(answer["warnings"], json!([]));
}

#[tokio::test]
async fn the_number_of_retries_is_configured() {
    for rounds in [0, 1, 2] {
        let models = Dictated::new();
        let service = Service::start_with(
            |config| config.pipeline.max_reprompts = rounds,
            Some(models.models()),
        )
        .await;
        let update = dictate(json!({"learnings": [FAULTY, FAULTY, learning("third")]}));

        let answer = service.memory("agent").updated(update).await;

        assert_eq!(models.asked(Role::Learnings).len() as u32, rounds + 1);
        assert_eq!(answer["models"]["learnings"]["reprompts"], rounds);
        let third = contents(&answer).contains(&"third".to_owned());
        assert_eq!(
            (third, answer["rejected"].as_array().unwrap().is_empty()),
            (rounds == 2, rounds == 2)
        );
        assert!(contents(&answer).contains(&"kept".to_owned()));
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

    assert_eq!(contents(&answer), ["mended", "1", "2"]);
    assert_eq!(kinds(&answer, "rejected"), ["too_many_additions"], "{answer}");
    assert_eq!(
        answer["rejected"][0]["text"].as_str().unwrap().trim(),
        "- because a: 3"
    );
}
