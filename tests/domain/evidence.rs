//! Complete model responses checked against complete inputs: careful paraphrases, and texts from elsewhere.

use crate::case;
use serde_json::Value;
use std::collections::BTreeSet;
use working_memory::domain::consolidation::Ground;
use working_memory::domain::evidence::{Input, Judge, JudgeContext, Judged};
use working_memory::domain::ids::RecordId;
use working_memory::domain::operation::{Item, Operation};

const PARAPHRASES: &str = include_str!("../data/evidence/paraphrases.jsonl");

fn judged(input: &str, content: &str) -> Judged {
    judged_operation(input, Operation::learning("it matters", content))
}

fn judged_operation(input: &str, operation: Operation) -> Judged {
    let items = vec![Item {
        operation,
        range: 0..1,
    }];
    let input = Input {
        task: "Go on.",
        messages: vec![input],
    };
    let case = case(&input);
    Judge::new(case, &items).items(items).remove(0)
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
            match judged(input, text).item {
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
    let judged = judged_operation("db:\n  password = hunter2x9\n", wrapped);
    assert!(judged.item.is_none());
}

#[test]
fn a_decision_is_archived_if_its_id_or_a_word_of_it_is_named() {
    let document = "# Decisions\n- D-2 we use Redis\n- D-1 we use Postgres\n";
    let id: RecordId = "D-1".parse().expect("an id");
    let items = vec![Item {
        operation: Operation::Archive {
            id,
            reason: "it was replaced".to_owned(),
            ground: Some(Ground::Expired),
        },
        range: 0..1,
    }];
    for (message, is_called) in [
        ("D-1 is history.", true),
        ("Postgres is gone.", true),
        ("UD-1 and D-10 sing.", false),
    ] {
        let input = Input {
            task: "Go on.",
            messages: vec![message],
        };
        let case = JudgeContext {
            document,
            ..case(&input)
        };
        let judged = Judge::new(case, &items).archives(&[id], &[], &BTreeSet::new());
        assert_eq!(judged[0].ruling.is_none(), is_called, "{message}");
    }
}

#[test]
fn a_large_input_is_read_once_for_all_checks() {
    // No time is measured here: a check that is not linear would not finish.
    let message = "aaaa bbbb ".repeat(100_000) + &"あいうえお".repeat(40_000);
    let snippet = "aaaa bbbb\n".repeat(400);
    let input = Input {
        task: &message,
        messages: vec![],
    };
    let items: Vec<Item> = (0..100)
        .map(|at| {
            let operation = match at % 2 {
                0 => Operation::learning("x", "aaaa bbbb いうえ"),
                _ => Operation::snippet("x", "y", &snippet),
            };
            Item {
                operation,
                range: at..at + 1,
            }
        })
        .collect();
    let case = case(&input);
    let judged = Judge::new(case, &items).items(items);
    assert!(judged.iter().all(|judged| judged.item.is_some()));
    assert!(
        judged
            .iter()
            .all(|judged| (1..=2).contains(&judged.evidence.len()))
    );
}
