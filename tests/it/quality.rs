//! The built-in rules on labelled sessions: they invent nothing and archive nothing that was not named. How much of what
//! matters they keep is measured by `make bench-quality`.

use crate::harness::Service;
use serde::Deserialize;
use serde_json::{Value, json};

/// Sessions that say expressly what matters.
const STATED: &str = include_str!("../data/quality/stated.jsonl");
/// Natural talk, most of it hostile, by authors who did not know the rules.
const NATURAL: [&str; 4] = [
    include_str!("../data/quality/sessions.jsonl"),
    include_str!("../data/quality/unseen.jsonl"),
    include_str!("../data/quality/unread-4.jsonl"),
    include_str!("../data/quality/unread-5.jsonl"),
];

#[derive(Deserialize)]
struct Session {
    id: String,
    tags: Vec<String>,
    prior: Option<String>,
    task: String,
    messages: Vec<Value>,
    must_not: Vec<Label>,
    archive: Vec<String>,
}

#[derive(Deserialize)]
struct Label {
    #[serde(rename = "in")]
    place: String,
    any: Vec<String>,
    what: String,
}

/// Runs one session; returns its answer, and what it archived against the labels.
async fn play(service: &Service, session: &Session) -> (Value, Vec<String>) {
    let memory = service.memory(&session.id);
    if let Some(prior) = &session.prior {
        memory.write(prior.as_str()).await;
    }
    let body = json!({ "task": session.task, "messages": session.messages });
    let answer = memory.updated(body).await;
    let in_form = format!("{}: the rules answer in form", session.id);
    assert_eq!(answer["rejected"], json!([]), "{in_form}");
    let operations = answer["operations"].as_array().unwrap().iter();
    let archived = operations.filter(|operation| operation["op"] == "archive");
    let ids = archived.map(|operation| operation["id"].as_str().unwrap());
    let wrongly = ids.filter(|id| !session.archive.iter().any(|named| named == id));
    let wrongly = wrongly.map(|id| format!("{} archived {id}", session.id));
    let wrongly = wrongly.collect();
    (answer, wrongly)
}

/// The lines of a document with their places; of records, those that the document before did not have.
fn recorded<'d>(document: &'d str, before: &str) -> Vec<(&'static str, &'d str)> {
    let mut place = "";
    let mut recorded = Vec::new();
    for line in document.lines() {
        place = match line.trim_start_matches('#').trim() {
            title if !line.starts_with('#') => {
                let is_record = ["learnings", "verbatim"].contains(&place);
                if !(title.is_empty() || is_record && before.contains(line)) {
                    recorded.push((place, line));
                }
                place
            }
            "Key Learnings" => "learnings",
            "Verbatim Context" => "verbatim",
            "Completed" => "completed",
            "In Progress" => "in_progress",
            "Remaining" => "remaining",
            _ => "",
        };
    }
    recorded
}

#[tokio::test]
async fn of_what_is_said_expressly_nothing_else_is_recorded() {
    let service = Service::start().await;
    for line in STATED.lines() {
        let session: Session = serde_json::from_str(line).unwrap();
        let (answer, wrongly) = play(&service, &session).await;
        assert_eq!(wrongly, [""; 0]);
        if session.tags.iter().any(|tag| tag == "noop") {
            assert_eq!(answer["status"], "unchanged", "{}", session.id);
        }
        let context = service.memory(&session.id).get("context").await;
        let text = if context.status == 200 { context.text() } else { "" };
        let recorded = recorded(text, session.prior.as_deref().unwrap_or_default());
        for label in &session.must_not {
            for words in label.any.iter().flat_map(|pattern| pattern.split('|')) {
                let words = words.to_lowercase();
                let is_there = |place: &str| label.place == "any" || label.place == place;
                for (place, line) in &recorded {
                    let found = is_there(place) && line.to_lowercase().contains(&words);
                    assert!(!found, "{}: {}: {line}", session.id, label.what);
                }
            }
        }
    }
}

#[tokio::test]
async fn natural_talk_loses_no_record() {
    let service = Service::start().await;
    let mut lost = Vec::new();
    for line in NATURAL.iter().flat_map(|file| file.lines()) {
        let session: Session = serde_json::from_str(line).unwrap();
        lost.extend(play(&service, &session).await.1);
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
