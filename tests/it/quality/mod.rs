//! The built-in rules against labelled sessions: how much of what a careful person would record is recorded, and what must not
//! be recorded is not.

mod judge;

use crate::harness::Service;
use judge::{Judgement, Session, State, Totals};
use serde_json::{Value, json};

/// Sessions that say expressly what matters, written before the rules were tried on them. Those tagged `unread` were
/// only scored: nobody corrected a rule by them.
const STATED: &str = include_str!("../../data/quality/stated.jsonl");
/// Natural talk, most of it hostile, by authors who did not know the rules.
const NATURAL: [&str; 4] = [
    include_str!("../../data/quality/sessions.jsonl"),
    include_str!("../../data/quality/unseen.jsonl"),
    include_str!("../../data/quality/unread-4.jsonl"),
    include_str!("../../data/quality/unread-5.jsonl"),
];

/// Runs one session: returns the memory after it, and before.
async fn play(service: &Service, session: &Session) -> Judgement {
    let memory = service.memory(&session.id);
    if let Some(prior) = &session.prior {
        memory.put(prior.as_str()).await.is(201);
    }
    let before = state(service, session).await;
    let body = json!({ "task": session.task, "messages": session.messages });
    let answer = memory.update(body).await.is(200).json();
    assert_eq!(
        answer["rejected"],
        json!([]),
        "{}: an answer of the rules is well-formed",
        session.id
    );
    judge::judge(session, &before, &state(service, session).await)
}

async fn state(service: &Service, session: &Session) -> State {
    let memory = service.memory(&session.id);
    let records = memory.get("records?status=all&limit=500").await;
    let context = memory.get("context").await;
    if context.status != 200 {
        return State::default();
    }
    let records: Vec<Value> = records.is(200).json()["items"].as_array().unwrap().clone();
    State::of(&records, context.text())
}

async fn totals(files: &[&str], is_wanted: impl Fn(&Session) -> bool) -> Totals {
    let service = Service::start().await;
    let mut totals = Totals::default();
    for line in files.iter().flat_map(|file| file.lines()) {
        let session: Session = serde_json::from_str(line).unwrap();
        if is_wanted(&session) {
            let judgement = play(&service, &session).await;
            totals.add(&session, &judgement);
        }
    }
    totals
}

fn is_unread(session: &Session) -> bool {
    session.tags.iter().any(|tag| tag == "unread")
}

#[tokio::test]
async fn what_is_said_expressly_is_kept_and_nothing_else() {
    let totals = totals(&[STATED], |session| !is_unread(session)).await;
    assert_eq!(
        (totals.hits, totals.wrongful, totals.changed_noops),
        (0, 0, 0),
        "{totals}"
    );
    assert!(
        totals.sessions >= 20 && totals.precision() >= 95 && totals.recall() >= 80,
        "{totals}"
    );
}

#[tokio::test]
async fn sessions_that_no_rule_was_corrected_by_are_heard_alike() {
    let totals = totals(&[STATED], is_unread).await;
    assert_eq!((totals.hits, totals.wrongful), (0, 0), "{totals}");
    assert!(totals.sessions >= 10 && totals.precision() >= 92, "{totals}");
}

/// Natural talk has few markers: what the rules miss there is no fault, what they invent is.
#[tokio::test]
async fn natural_talk_loses_no_record() {
    let totals = totals(&NATURAL, |_| true).await;
    assert_eq!(totals.wrongful, 0, "{totals}");
    assert!(totals.precision() >= 92, "{totals}");
}
