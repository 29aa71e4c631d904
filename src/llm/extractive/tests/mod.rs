use std::sync::Arc;

use super::*;
use crate::domain::dsl::{Options, parse};
use crate::domain::operation::{Operation, Progress};
use crate::llm::ConversationMessage;

mod apart;
mod contradictions;
mod finished;
mod laws;
mod pairs;
mod reversals;
mod talk;
mod weights;

fn message(role: &str, content: &str) -> ConversationMessage {
    ConversationMessage {
        role: role.to_owned(),
        content: content.to_owned(),
    }
}

fn source(task: &str, messages: Vec<ConversationMessage>, document: &str) -> Source {
    Source {
        task: task.to_owned(),
        messages,
        document: Arc::from(document),
    }
}

fn operations(text: &str) -> Vec<Operation> {
    let items = parse(text, &Options::default()).items;
    items.into_iter().map(|item| item.operation).collect()
}

/// The learnings from one message, next to a neutral one.
fn learned(role: &str, text: &str) -> Vec<String> {
    let text = answer(Role::Learnings, &source("Notes", vec![message(role, text)], ""));
    let added = operations(&text)
        .into_iter()
        .filter_map(|operation| match operation {
            Operation::AddLearning { content, .. } => Some(content),
            _ => None,
        });
    added.collect()
}

fn progress_of(messages: &[(&str, &str)]) -> Progress {
    let messages = messages.iter().map(|(role, text)| message(role, text)).collect();
    let text = answer(Role::Progress, &source("Export", messages, ""));
    let progress = operations(&text)
        .into_iter()
        .find_map(|operation| match operation {
            Operation::RewriteProgress(progress) => Some(progress),
            _ => None,
        });
    progress.unwrap_or_default()
}

#[tokio::test]
async fn the_updater_answers_as_a_model_does() {
    let session = source(
        "Export",
        vec![message("user", "Remember that exports are UTF-8 only.")],
        "",
    );
    let request = Request {
        form: None,
        source: Arc::new(session.clone()),
        ..crate::llm::scripted::request(Role::Learnings)
    };
    let answered = Extractive.complete(&request).await.expect("an answer");
    assert_eq!(answered.text, answer(Role::Learnings, &session));
    assert!(!answered.stopped_at_limit && Extractive.is_built_in());
}

#[test]
fn a_task_alone_is_work_in_progress_or_done_as_it_reads() {
    let progress = |task: &str| answer(Role::Progress, &source(task, Vec::new(), ""));
    assert_eq!(
        progress("implement the parser"),
        "CURRENT_PROGRESS:\n  In Progress:\n    - Implement the parser\n"
    );
    let progress_text = progress("Implemented the parser; next wire it to the route.");
    assert!(
        progress_text.contains("  Completed:\n    - Implemented the parser\n"),
        "{progress_text}"
    );
    assert!(
        progress_text.contains("  Remaining:\n    - Wire it to the route\n"),
        "{progress_text}"
    );
}

#[test]
fn nothing_worth_a_change_is_no_change() {
    let memory = "# Current Progress\n## In Progress\n- Plant trees\n";
    for (task, conversation) in [
        (
            "Talk",
            &[
                ("user", "I'm tired, what a day."),
                ("assistant", "Then sleep well!"),
            ][..],
        ),
        (
            "Wait",
            &[("user", "Any news?"), ("assistant", "No, nobody has answered.")],
        ),
        (
            "雑談",
            &[
                ("user", "おはよう。寒いですね。"),
                ("assistant", "おはようございます。"),
            ],
        ),
    ] {
        let messages = conversation
            .iter()
            .map(|(role, text)| message(role, text))
            .collect();
        let session = source(task, messages, memory);
        for role in Role::ALL {
            assert_eq!(
                answer(role, &session),
                format!("{}: no change\n", role.header()),
                "{task}"
            );
        }
    }
}

#[test]
fn what_the_memory_knows_is_not_added_again() {
    let known = "# Key Learnings\n- KL-2 because x: exports are UTF-8 only\n";
    let session_of = |text: &str| source("Export", vec![message("user", text)], known);
    let same = answer(
        Role::Learnings,
        &session_of("Remember that exports are UTF-8 only."),
    );
    assert_eq!(same, "KEY_LEARNINGS: no change\n");
    let other = answer(
        Role::Learnings,
        &session_of("Remember that exports are UTF-16 only."),
    );
    assert!(
        other.contains("UTF-16"),
        "items that differ in a number differ: {other}"
    );
}

#[test]
fn code_is_kept_with_its_label_and_takes_the_place_of_older() {
    let memory = "# Verbatim Context\n- VC-1 because y: src/store.rs fn save =>\n  pub fn save() {}\n";
    let code = "In `src/store.rs`:\n\n```rust\npub fn save(&self) {\n    self.put();\n}\n```\n";
    let text = answer(
        Role::Verbatim,
        &source("Fix it", vec![message("assistant", code)], memory),
    );
    assert!(
        text.contains("src/store.rs fn save =>\n      pub fn save(&self) {\n"),
        "{text}"
    );
    assert!(
        text.contains("    - VC-1 because a newer snippet of the same label was shown\n"),
        "{text}"
    );
}

#[test]
fn output_and_pasted_or_secret_code_is_not_kept() {
    for (role, code) in [
        ("tool", "```rust\nfn x() {}\n```"),
        ("user", "```rust\nfn x() {}\n```"),
        ("assistant", "```\nsome output\n```"),
        ("assistant", "```console\n$ ls\n```"),
        (
            "assistant",
            "```sh\nexport TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n```",
        ),
        ("assistant", "```rust\nfn cut("),
    ] {
        let text = answer(Role::Verbatim, &source("t", vec![message(role, code)], ""));
        assert_eq!(text, "VERBATIM_CONTEXT: no change\n", "{role}: {code}");
    }
}

#[test]
fn a_first_line_keeps_its_indentation_after_the_arrow() {
    let code = "In lib.py:\n```python\n    def save(self):\n\n        pass  \n```";
    let text = answer(
        Role::Verbatim,
        &source("t t", vec![message("assistant", code)], ""),
    );
    assert!(
        text.ends_with("lib.py def save =>     def save(self):\n\n              pass  \n"),
        "{text}"
    );
}
