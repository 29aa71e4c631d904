//! A strong model: its answers to six sessions in five languages, prepared in `tests/data/answers/strong.json`. Nothing
//! of what they hold may be lost on the way into the memory.

use super::stub::{Reply, Stub};
use crate::harness::{Memory, Service, each, has};
use serde::Deserialize;
use serde_json::{Value, json};
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

const SESSIONS: &str = include_str!("../../data/answers/strong.json");

#[derive(Deserialize)]
struct Session {
    id: String,
    prior: Option<String>,
    task: String,
    messages: Value,
    answers: Value,
}

impl Session {
    fn answer(&self, role: Role) -> &str {
        self.answers[role.name()].as_str().unwrap()
    }
}

fn sessions() -> Vec<Session> {
    serde_json::from_str(SESSIONS).unwrap()
}

/// The session that a request is about.
fn session_of<'s>(sessions: &'s [Session], input: &str) -> &'s Session {
    let mut all = sessions.iter();
    all.find(|session| input.contains(&session.task)).unwrap()
}

/// Plays a session, and checks that nothing of it was rejected.
async fn play(memory: &Memory, session: &Session) -> String {
    if let Some(prior) = &session.prior {
        memory.write(prior.as_str()).await;
    }
    let body = json!({"task": session.task, "messages": session.messages});
    let answer = memory.updated(body).await;
    let faults = [&answer["rejected"], &answer["warnings"]];
    assert_eq!(faults, [&json!([]), &json!([])], "{}", session.id);
    memory.text().await
}

/// The lines of an answer that a memory has to hold, and the records that it archives with their reasons.
fn said(answer: &str) -> (Vec<String>, Vec<(String, String)>) {
    let (mut kept, mut archived) = (Vec::new(), Vec::new());
    for line in answer.lines().skip(1).map(str::trim) {
        let is_form = ["Completed:", "In Progress:", "Remaining:", "ADD:", "ARCHIVE:"].contains(&line);
        match line.strip_prefix("- ") {
            Some(item) if item.starts_with("KL-") || item.starts_with("VC-") => {
                let (id, reason) = item.split_once(" because ").unwrap();
                archived.push((id.to_owned(), reason.to_owned()));
            }
            Some(item) => kept.push(item.trim_end_matches(" =>").to_owned()),
            None if !is_form => kept.push(line.to_owned()),
            None => {}
        }
    }
    (kept, archived)
}

#[tokio::test]
async fn nothing_of_a_good_answer_is_lost() {
    let answers = sessions();
    let stub = Stub::start(move |asked| {
        let input = asked.body["messages"][1]["content"].as_str().unwrap();
        Reply::text(session_of(&answers, input).answer(asked.role()))
    })
    .await;
    let service = Service::configured(stub.configure(Provider::Openai, 0)).await;
    for session in sessions() {
        let memory = service.memory(&session.id);
        let document = play(&memory, &session).await;
        for role in Role::ALL {
            let (kept, archived) = said(session.answer(role));
            for line in &kept {
                assert!(document.contains(line), "{}: {line}\n{document}", session.id);
            }
            for (id, reason) in archived {
                let record = memory.read(&format!("records/{id}")).await;
                has(&record, json!({"status": "archived", "archive_reason": reason}));
            }
        }
        if let Some(prior) = &session.prior {
            let stays = prior.lines().find(|line| line.contains("KL-2")).unwrap();
            assert!(document.contains(stays), "{document}");
        }
    }
    // Nobody was asked twice: the first answers were good.
    assert_eq!(stub.asked(Role::Learnings).len(), sessions().len());
}

#[tokio::test]
async fn the_number_of_additions_grows_with_the_input_up_to_the_setting_and_the_rest_is_reported() {
    let addition = |number| format!("    - because it is measured: gauge {number} shows water\n");
    let additions: String = (1..=10).map(addition).collect();
    let answer = format!("KEY_LEARNINGS:\n  ADD:\n{additions}");
    let stub = Stub::start(move |_| Reply::text(&answer)).await;
    let service = Service::configured(stub.configure(Provider::Openai, 0)).await;
    // Three, one more for each 1,000 bytes, at most `pipeline.max_additions`.
    for (bytes, most) in [(0_usize, 3), (1_000, 4), (3_999, 6), (5_000, 8), (200_000, 8)] {
        let name = format!("gauges-{bytes}");
        let memory = service.memory(&name);
        let task = "gauge 1 2 3 4 5 6 7 8 9 10 shows water";
        let filling = "x".repeat(bytes.saturating_sub(task.len()).max(1));
        let messages = json!([{"role": "user", "content": filling}]);
        let body = json!({"task": task, "messages": messages, "roles": ["learnings"]});
        let answer = memory.updated(body).await;
        has(&memory.read("records").await, json!({"items#": most}));
        let rejected = vec!["too_many_additions"; 10 - most];
        assert_eq!(each(&answer["rejected"], "kind"), rejected, "{bytes}: {answer}");
        let input = stub.asked(Role::Learnings).last().unwrap().body["messages"][1]["content"].clone();
        let told = format!("Most items under ADD: {most}\n");
        assert!(input.as_str().unwrap().contains(&told), "{bytes}");
    }
}
