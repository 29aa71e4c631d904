//! Scores and features of sentences.

use super::super::claims::Claim;
use super::super::session::Session;
use super::super::weights::Scorer;
use super::*;

fn weighed(messages: &[(&str, &str)], sentence: &str) -> i32 {
    let messages = messages.iter().map(|(role, text)| message(role, text)).collect();
    let session = Session::of(&source("Notes", messages, ""));
    let mut sentences = session.sentences.iter();
    let at = sentences
        .position(|annotated| annotated.line.text.contains(sentence))
        .unwrap();
    Scorer::of(&session).score(at, 0, "")
}

#[test]
fn a_sentence_weighs_more_if_others_speak_of_the_same_and_less_in_doubt() {
    let answer = ("assistant", "The ferry and its crossing are in the plan.");
    let stated = weighed(
        &[("user", "The ferry crossing takes 45 minutes."), answer],
        "ferry crossing takes",
    );
    let alone = weighed(
        &[("user", "The ferry crossing takes 45 minutes.")],
        "ferry crossing takes",
    );
    let doubted = weighed(
        &[("user", "Maybe the ferry crossing takes 45 minutes."), answer],
        "ferry crossing takes",
    );
    let vague = weighed(
        &[("user", "The ferry crossing takes long."), answer],
        "ferry crossing takes",
    );
    assert!(stated > alone, "{stated} {alone}");
    assert!(stated > doubted, "{stated} {doubted}");
    assert!(stated > vague, "{stated} {vague}");
}

#[test]
fn what_enough_speaks_for_is_kept_without_a_sign_and_what_is_said_in_passing_is_not() {
    let messages = vec![
        message("user", "Let's plan the island trip and the ferry to Texel."),
        message("assistant", "Fine. Which ferry is it, and where does it leave?"),
        message(
            "user",
            "It rained all day. The ferry to Texel leaves Den Helder at half past each hour from 6:30, and the crossing takes 20 minutes.",
        ),
        message(
            "assistant",
            "So the ferry leaves Den Helder for a crossing of 20 minutes.",
        ),
    ];
    let answer = answer(Role::Learnings, &source("Trip", messages, ""));
    assert!(answer.contains("leaves Den Helder at half past"), "{answer}");
    assert!(!answer.contains("rained"), "{answer}");
}

#[test]
fn what_the_user_asks_to_keep_goes_before_what_weighs_more() {
    let heavy = |day: &str, hour: u8, dock: u8| {
        format!(
            "The rule for the ferry from Den Helder is that the dock {dock} is never loaded after {hour}:30 on {day}, because the crane team at Texel needs the dock {dock} for 40 % of its work."
        )
    };
    let answer = answer(
        Role::Learnings,
        &source(
            "Plan the loading",
            vec![
                message("user", "Remember: Jo is deaf."),
                message("assistant", "Noted, and the docks?"),
                message("user", &heavy("Mondays", 6, 2)),
                message("user", &heavy("Tuesdays", 7, 3)),
                message("assistant", "And the others?"),
                message("user", &heavy("Thursdays", 8, 4)),
                message("user", &heavy("Fridays", 9, 5)),
            ],
            "",
        ),
    );
    assert!(answer.contains("Jo is deaf"), "{answer}");
    assert_eq!(answer.matches("- because").count(), 3, "{answer}");
}

/// Writes the features of each sentence of the sessions in `SESSIONS` to `NOTICED`, in the format of
/// `benches/quality/weights.py`.
#[test]
#[ignore = "run by benches/quality/weights.py"]
fn what_is_noticed_is_written_down() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let mut lines = String::new();
    for line in std::fs::read_to_string(variable("SESSIONS")).unwrap().lines() {
        let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let messages = labelled["messages"].as_array().unwrap().iter();
        let messages = messages
            .map(|message_json| message(&text(&message_json["role"]), &text(&message_json["content"])));
        let source = source(
            &text(&labelled["task"]),
            messages.collect(),
            &text(&labelled["prior"]),
        );
        let session = Session::of(&source);
        let scales = Scorer::of(&session);
        let denied = session.denied();
        for (at, sentence) in session.sentences.iter().enumerate() {
            let claim = Claim::of(sentence, &session).or_else(|| Claim::without_rule(sentence));
            let Some(claim) = claim.filter(|claim| denied.binary_search(&claim.message).is_err()) else {
                continue;
            };
            let features = scales.features(at, claim.weight, claim.reason);
            let features: serde_json::Map<_, _> = features
                .map(|(name, count)| (name.to_owned(), count.into()))
                .collect();
            let line = serde_json::json!({
                "id": labelled["id"], "reason": claim.reason, "text": claim.text, "noticed": features,
            });
            lines.push_str(&format!("{line}\n"));
        }
    }
    std::fs::write(variable("NOTICED"), lines).unwrap();
}
