//! Complete model responses checked against complete inputs: careful paraphrases, and texts from elsewhere.

use crate::{archive, case};
use serde_json::Value;
use working_memory::domain::consolidation::Ground;
use working_memory::domain::dsl::Parsed;
use working_memory::domain::evidence::{Input, Judge, JudgeContext, Judged};
use working_memory::domain::ids::RecordId;
use working_memory::domain::operation::Operation;

const PARAPHRASES: &str = include_str!("../data/evidence/paraphrases.jsonl");

/// What is judged of operations that were made of a message.
fn judged(message: &str, operations: impl IntoIterator<Item = Operation>) -> Vec<Judged> {
    let items = Parsed::of(operations).items;
    let input = Input {
        task: "Go on.",
        messages: vec![message],
    };
    Judge::new(case(&input), &items).items(items)
}

/// The texts of a list that are accepted, and those that are rejected.
fn verdicts(list: &str) -> (Vec<String>, Vec<String>) {
    let lines = PARAPHRASES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line of the list is JSON"));
    let mut all = (Vec::new(), Vec::new());
    for line in lines {
        for text in line[list].as_array().expect("texts are listed") {
            let (input, text) = (
                line["input"].as_str().expect("an input is a text"),
                text.as_str().expect("a paraphrase is a text"),
            );
            match judged(input, [Operation::learning("it matters", text)])[0].item {
                Some(_) => all.0.push(text.to_owned()),
                None => all.1.push(text.to_owned()),
            }
        }
    }
    assert_eq!(all.0.len() + all.1.len(), 200);
    all
}

#[test]
fn faithful_paraphrases_are_accepted() {
    let (_, rejected) = verdicts("faithful");
    assert!(rejected.len() <= 2, "{}: {rejected:#?}", rejected.len());
}

#[test]
fn texts_without_evidence_in_the_input_are_rejected() {
    let (taken, _) = verdicts("unfaithful");
    assert!(taken.len() <= 20, "{}: {taken:#?}", taken.len());
}

#[test]
fn a_credential_that_the_answer_wraps_is_seen_in_the_bytes_that_are_stored() {
    let wrapped = Operation::snippet("next", "the database", "db:\n  password =\n  hunter2x9");
    let judged = judged("db:\n  password = hunter2x9\n", [wrapped]);
    assert!(judged[0].item.is_none());
}

#[test]
fn a_decision_is_archived_if_its_id_or_a_word_of_it_is_named() {
    let document = "# Decisions\n- D-2 we use Redis\n- D-1 we use Postgres\n";
    let id: RecordId = "D-1".parse().expect("an id");
    let items = Parsed::of([archive(id, Some(Ground::Expired))]).items;
    for (message, is_called) in [
        ("D-1は古い。", true),
        ("Postgres is gone.", true),
        ("UD-1, D-1a and D-10 sing.", false),
    ] {
        let input = Input {
            task: "Go on.",
            messages: vec![message],
        };
        let case = JudgeContext {
            document,
            ..case(&input)
        };
        let judged = Judge::new(case, &items).archives(items.clone(), std::iter::empty(), &[]);
        assert_eq!(judged[0].item.is_some(), is_called, "{message}");
    }
}

#[test]
fn a_large_input_is_read_once_for_all_checks() {
    // No time is measured here: a check that is not linear would not finish.
    let message = "aaaa bbbb ".repeat(100_000) + &"あいうえお".repeat(40_000);
    let snippet = "aaaa bbbb\n".repeat(400);
    let operations = (0..100).map(|at| match at % 2 {
        0 => Operation::learning("x", "aaaa bbbb いうえ"),
        _ => Operation::snippet("x", "y", &snippet),
    });
    let judged = judged(&message, operations);
    for judged in judged {
        let item = judged.item.expect("an item");
        assert!((1..=2).contains(&item.evidence.len()));
    }
}
