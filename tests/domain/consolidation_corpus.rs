//! A labelled corpus of memories: what a person calls duplicates, pairs that only look alike, and the steps of a careful and of
//! a careless model.

#![expect(
    clippy::print_stdout,
    reason = "the figures are quoted in docs/consolidation.md"
)]

use chrono::{DateTime, Utc};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use working_memory::domain::consolidation::{Ground, Share, find};
use working_memory::domain::dsl::requests::{self, OperationRequest};
use working_memory::domain::memory::{Limits, View, validate};
use working_memory::domain::operation::Operation;

/// The time at which the memories are looked at.
fn now() -> DateTime<Utc> {
    "2026-11-25T12:00:00Z".parse().expect("a time")
}

#[derive(Deserialize)]
struct Labelled {
    name: String,
    document: String,
    /// What may go, and what says all of it.
    duplicates: Vec<(RecordIdText, RecordIdText)>,
    /// Both stay.
    look_alikes: Vec<(RecordIdText, RecordIdText)>,
    /// Steps of a careful model.
    right: Vec<OperationRequest>,
    /// Steps of a careless one, each with why it is wrong.
    wrong: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Wrong ones that take reading to see: counted, not required to be refused.
    #[serde(default)]
    hard: Vec<serde_json::Map<String, serde_json::Value>>,
}

type RecordIdText = String;

fn corpus() -> Vec<Labelled> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/consolidation");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a text");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// What is refused of a step on its own, and why; `None` if it is accepted.
fn refused(document: &str, request: &OperationRequest) -> Option<String> {
    let parsed = requests::read(std::slice::from_ref(request));
    let limits = Limits {
        pins_hold: true,
        ..crate::LIMITS
    };
    let view = View {
        document,
        ended: &BTreeSet::new(),
        now: now(),
    };
    let validated = validate(parsed, &view, &[], &limits);
    let fault = validated.faults.into_iter().next().map(|fault| fault.detail);
    let is_refused = validated.items.is_empty();
    is_refused.then(|| fault.unwrap_or_else(|| "no item".to_owned()))
}

/// What is found without a model, run after run, until nothing is left: what goes, and what stays for it.
fn found(document: &str) -> BTreeMap<String, Option<String>> {
    // A share of all: the order of runs does not matter here.
    let pair = |operation: Operation| match operation {
        Operation::Archive { id, ground, .. } => {
            let kept = ground.and_then(Ground::kept);
            (id.to_string(), kept.map(|kept| kept.to_string()))
        }
        other => panic!("{other:?}"),
    };
    let found = find(document, now(), &mut Share::of(document, 1.0));
    found.into_iter().map(pair).collect()
}

#[test]
fn without_a_model_most_duplicates_are_found_and_no_look_alike_is_lost() {
    let (mut all, mut hits, mut lost) = (0, 0, Vec::new());
    for memory in corpus() {
        let gone = found(&memory.document);
        all += memory.duplicates.len();
        // Either of the two may go, for any record that says all of it.
        let is_hit = |pair: &&(String, String)| gone.contains_key(&pair.0) || gone.contains_key(&pair.1);
        hits += memory.duplicates.iter().filter(is_hit).count();
        for (one, other) in &memory.look_alikes {
            for (archived, kept) in [(one, other), (other, one)] {
                if gone.get(archived).and_then(Option::as_ref) == Some(kept) {
                    lost.push(format!("{}: {archived} for {kept}", memory.name));
                }
            }
        }
    }
    println!("duplicates found without a model: {hits} of {all}");
    assert!(lost.is_empty(), "look-alikes lost:\n{}", lost.join("\n"));
    assert!(hits * 10 >= all * 7, "{hits} of {all}");
}

#[test]
fn the_steps_of_a_careful_model_are_accepted_and_those_of_a_careless_one_refused() {
    let (mut right, mut accepted, mut wrong) = (0, 0, 0);
    let (mut strict, mut lax) = (Vec::new(), Vec::new());
    let (mut hard, mut let_through) = (0, 0);
    for memory in corpus() {
        for step in &memory.right {
            right += 1;
            match refused(&memory.document, step) {
                None => accepted += 1,
                Some(why) => strict.push(format!("{}: {step:?}: {why}", memory.name)),
            }
        }
        for mut step in memory.hard {
            hard += 1;
            step.remove("why");
            let request = serde_json::from_value::<OperationRequest>(step.into());
            let_through +=
                usize::from(request.is_ok_and(|request| refused(&memory.document, &request).is_none()));
        }
        for mut step in memory.wrong {
            wrong += 1;
            let why = step.remove("why");
            let Ok(request) = serde_json::from_value::<OperationRequest>(step.into()) else {
                continue;
            };
            if refused(&memory.document, &request).is_none() {
                lax.push(format!("{}: {request:?}: {why:?}", memory.name));
            }
        }
    }
    println!(
        "right steps accepted: {accepted} of {right}; wrong steps accepted: {} of {wrong}",
        lax.len()
    );
    println!("wrong steps that take reading to see: {let_through} of {hard} accepted");
    println!("refused though right:\n{}", strict.join("\n"));
    assert!(lax.is_empty(), "accepted though wrong:\n{}", lax.join("\n"));
    assert!(accepted * 100 >= right * 95, "{accepted} of {right}");
}
