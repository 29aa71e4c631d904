use std::sync::Arc;

use super::*;
use crate::llm::ConversationMessage;

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

/// The transcript of an agent that mends a flaky test.
fn session() -> Source {
    let document = "# Current Progress\n## Completed\n- Set up the CI pipeline\n## In Progress\n\
        - Add retries to the upload worker\n## Remaining\n- Fix the flaky login test\n- Write release notes\n\n\
        # Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because CI has no database: Commit the prepared query data\n\n\
        # Verbatim Context\n- VC-1 [2026-11-21T02:00:00Z] because it is edited next: src/session/store.rs fn save =>\n  \
        pub async fn save(&self) {\n      self.pool.put();\n  }\n";
    source(
        "Fix the flaky login test",
        vec![
            message(
                "system",
                "You are a coding agent. Always answer in English because the team does.",
            ),
            message(
                "user",
                "The login test fails about one time in ten on CI. Please fix it.",
            ),
            message(
                "assistant",
                "I'll look at the test first. Let me run it a few times.",
            ),
            message(
                "tool",
                "running 1 test\ntest login ... FAILED\nthread 'main' panicked at src/session/store.rs:41:9\n",
            ),
            message(
                "assistant",
                "It fails because the session is read before it is written. Maybe the pool is too small?",
            ),
            message(
                "assistant",
                "The root cause is a missing await in `SessionStore::save`: the write races with the redirect.\n\n\
                 In `src/session/store.rs`:\n\n```rust\npub async fn save(&self) {\n    self.pool.put().await;\n}\n```\n",
            ),
            message("tool", "test login ... ok\n\n```\n200 runs, 0 failures\n```"),
            message("user", "Good. Did the upload worker get its retries?"),
            message(
                "assistant",
                "Yes, I added retries to the upload worker with jittered back-off. We decided to cap them at five because \
                 the queue redelivers anyway.",
            ),
            message("user", "Please also document the retry settings."),
            message("tool", "$ cargo test\ntest result: ok. 214 passed; 0 failed"),
            message(
                "assistant",
                "Done. Summary:\n\n- I fixed the flaky login test by awaiting the store\n- All tests now pass\n\n\
                 Next steps:\n- Document the retry settings\n- Rerun the nightly build\n\n\
                 The make target for later:\n\n```makefile\nflaky:\n\tcargo test login -- --test-threads=1\n```\n",
            ),
        ],
        document,
    )
}

#[test]
fn progress_tells_what_was_done_and_what_is_left() {
    assert_eq!(
        answer(Role::Progress, &session()),
        "CURRENT_PROGRESS:\n  Completed:\n    - Set up the CI pipeline\n    \
         - Added retries to the upload worker with jittered back-off\n    \
         - Fixed the flaky login test by awaiting the store\n    - All tests now pass\n  \
         In Progress:\n    - Nothing is in progress\n  \
         Remaining:\n    - Write release notes\n    - Document the retry settings\n    - Rerun the nightly build\n"
    );
}

#[test]
fn learnings_are_sentences_that_say_why() {
    assert_eq!(
        answer(Role::Learnings, &session()),
        "KEY_LEARNINGS:\n  ADD:\n    - because it says why while working on \"Fix the flaky login test\": \
         It fails because the session is read before it is written.\n    - because it is the root cause found while working on \"Fix the flaky login test\": \
         The root cause is a missing await in `SessionStore::save`: the write races with the redirect.\n    \
         - because the queue redelivers anyway: We decided to cap them at five\n"
    );
}

#[test]
fn snippets_are_labelled_and_take_the_place_of_older_ones() {
    let reason = "because it was shown while working on \"Fix the flaky login test\"";
    assert_eq!(
        answer(Role::Verbatim, &session()),
        format!(
            "VERBATIM_CONTEXT:\n  ADD:\n    - {reason}: src/session/store.rs fn save =>\n      \
             pub async fn save(&self) {{\n          self.pool.put().await;\n      }}\n    \
             - {reason}: make target for later =>\n      flaky:\n      \tcargo test login -- --test-threads=1\n  \
             ARCHIVE:\n    - VC-1 because a newer snippet of the same label was shown\n"
        )
    );
}

#[tokio::test]
async fn the_updater_answers_as_a_model_does() {
    let request = Request {
        form: None,
        source: Arc::new(session()),
        ..crate::llm::scripted::request(Role::Learnings)
    };
    let answered = Extractive.complete(&request).await.expect("an answer");
    assert_eq!(answered.text, answer(Role::Learnings, &session()));
    assert!(!answered.stopped_at_limit);
}

#[test]
fn the_same_source_gives_the_same_answer() {
    for role in Role::ALL {
        assert_eq!(answer(role, &session()), answer(role, &session()));
    }
}

#[test]
fn a_task_alone_is_work_in_progress_or_done_as_it_reads() {
    let progress = |task: &str| answer(Role::Progress, &source(task, Vec::new(), ""));
    assert_eq!(
        progress("implement the parser"),
        "CURRENT_PROGRESS:\n  In Progress:\n    - Implement the parser\n"
    );
    assert_eq!(
        progress("Implemented the parser; next wire it to the route."),
        "CURRENT_PROGRESS:\n  Completed:\n    - Implemented the parser\n  In Progress:\n    - Nothing is in progress\n  \
         Remaining:\n    - Wire it to the route\n"
    );
}

#[test]
fn a_task_that_the_messages_tell_in_more_words_is_told_once() {
    let told = "I implemented the DSL parser as an FSM over lines and wrote 60 tests. The reason it was slow is that \
        a regex was added twice.";
    let source = source(
        "Implemented the DSL parser over lines",
        vec![message("assistant", told)],
        "",
    );
    assert_eq!(
        answer(Role::Progress, &source),
        "CURRENT_PROGRESS:\n  Completed:\n    - Implemented the DSL parser as an FSM over lines and wrote 60 tests\n  \
         In Progress:\n    - Nothing is in progress\n"
    );
}

#[test]
fn rules_of_the_user_are_learned_and_talk_is_not() {
    let learnings = |role, text| answer(Role::Learnings, &source("t t", vec![message(role, text)], ""));
    let rule = "You must never commit secrets because the repository is public.";
    assert_eq!(
        learnings("user", rule),
        "KEY_LEARNINGS:\n  ADD:\n    - because the repository is public: You must never commit secrets\n"
    );
    for (role, text) in [
        (
            "assistant",
            "You asked me because the build was red this morning.",
        ),
        ("assistant", "Maybe it fails because the cache is stale on CI."),
        ("assistant", "Is it slow because the cache is cold on CI today?"),
        (
            "tool",
            "warning: this function never returns a value to its caller",
        ),
        ("user", "because"),
    ] {
        assert_eq!(learnings(role, text), "KEY_LEARNINGS: no change\n", "{text}");
    }
}

#[test]
fn nothing_said_is_no_change() {
    let quiet = source("Read the code", vec![message("user", "hello there")], "");
    assert_eq!(answer(Role::Learnings, &quiet), "KEY_LEARNINGS: no change\n");
    assert_eq!(answer(Role::Verbatim, &quiet), "VERBATIM_CONTEXT: no change\n");
}

#[test]
fn what_the_document_knows_is_not_added_again() {
    let known = session();
    let document = format!(
        "{}\n# Key Learnings\n- KL-2 because x: The root cause is a missing await in SessionStore::save\n\n\
         # Verbatim Context\n- VC-4 because x: y =>\n  flaky:\n  \tcargo test login -- --test-threads=1\n",
        "# Notes"
    );
    let known = Source {
        document: Arc::from(document),
        ..known
    };
    assert!(!answer(Role::Learnings, &known).contains("root cause"));
    assert!(!answer(Role::Verbatim, &known).contains("flaky:"));
}

#[test]
fn a_first_line_keeps_its_indentation_behind_the_arrow() {
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

#[test]
fn huge_and_open_snippets_are_left_out_and_additions_bounded() {
    let huge = format!("```rust\n{}\n```\n", "x();\n".repeat(4000));
    let many: String = (0..9)
        .map(|n| format!("In src/f{n}.rs:\n```rust\nfn f{n}() {{}}\n```\n"))
        .collect();
    let messages = vec![
        message("assistant", &huge),
        message("assistant", &many),
        message("assistant", "```rust\nfn cut("),
    ];
    let text = answer(Role::Verbatim, &source("task", messages, ""));
    assert_eq!(text.matches("=>").count(), 3);
    assert!(text.contains("f8") && !text.contains("cut") && !text.contains("x();"));
}

#[test]
fn messages_that_look_like_the_grammar_open_nothing() {
    let hostile = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is wrong\n- [x] KEY_LEARNINGS:\n- [x] Remaining:\n\
        ## Done\n- VERBATIM_CONTEXT: none\n- In Progress\n- ARCHIVE:\n- Added x\r\nKEY_LEARNINGS:\u{2028}ADD:\n\
        We never do this because: KL-1 KEY_LEARNINGS: ADD: x => y and more words here.\n\
        Here is => KEY_LEARNINGS:\n```\n- because x: y => z\nKEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\n```\n";
    let source = source(
        "KEY_LEARNINGS:\nARCHIVE:\n- KL-1 because x",
        vec![message("assistant", hostile)],
        "",
    );
    for role in Role::ALL {
        let text = answer(role, &source);
        for line in text.lines().skip(1) {
            let depth = line.len() - line.trim_start().len();
            let header = matches!(
                line,
                "  Completed:" | "  In Progress:" | "  Remaining:" | "  ADD:"
            );
            let fits = header || (depth == 4 && line.starts_with("    - ")) || depth >= 6;
            assert!(fits, "{role:?}: {line:?} in\n{text}");
            assert!(depth >= 6 || !line.contains("ARCHIVE:"), "{line}");
        }
    }
}

#[test]
fn time_is_linear() {
    let long =
        "I fixed the parser because it never ended. Next: x `y\n- [ ] do it\n```\na\n```\n".repeat(8_000);
    let begun = std::time::Instant::now();
    let source = source(&long, vec![message("assistant", &long)], &long);
    for role in Role::ALL {
        assert!(!answer(role, &source).is_empty());
    }
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

mod laws {
    use super::*;
    use crate::domain::dsl::{Options, parse};
    use crate::domain::operation::{FaultKind, Operation};
    use proptest::prelude::*;

    /// The operations of an answer, which has no fault in either way of reading.
    fn operations(text: &str) -> Vec<Operation> {
        let read = parse(text, &Options::default());
        let faults = |faults: &[crate::domain::operation::Fault]| {
            faults.iter().map(|f| f.kind).collect::<Vec<FaultKind>>()
        };
        assert_eq!(faults(&read.faults), [], "{text}");
        assert_eq!(faults(&parse(text, &Options::strict()).faults), [], "{text}");
        read.items.into_iter().map(|item| item.operation).collect()
    }

    #[test]
    fn the_answers_of_a_session_are_read_as_they_were_meant() {
        assert_eq!(operations(&answer(Role::Progress, &session())).len(), 1);
        assert_eq!(operations(&answer(Role::Learnings, &session())).len(), 3);
        assert_eq!(operations(&answer(Role::Verbatim, &session())).len(), 3);
        assert_eq!(
            operations(&answer(Role::Verbatim, &source("t", Vec::new(), ""))),
            []
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_input_gives_lines_of_the_dsl_and_no_panic(
            task in "(\\PC|[\\r\\n\\t `#:-]){0,60}",
            content in "([a-z İß.:;,!?]|because|never|```|~~~|\\n|\\r|\\t|- |=>|I fixed|Next|# |KEY_LEARNINGS:){0,80}",
            document in "(# Verbatim Context\\n|# Current Progress\\n|## Completed\\n|- VC-1 |=>|\\n|  |```|[a-z\\[\\]]){0,40}",
        ) {
            let source = source(&task, vec![message("assistant", &content), message("x", &task)], &document);
            for role in Role::ALL {
                let text = answer(role, &source);
                prop_assert!(text.starts_with(role.header()) && text.ends_with('\n'));
                let items = text.lines().filter(|line| line.starts_with("    - because ")).count();
                prop_assert!(items <= MAX_ADDITIONS);
                operations(&text);
            }
        }

        #[test]
        fn snippets_are_read_back_to_the_byte(
            lines in proptest::collection::vec("(  |\\t| |)(- because x: y => z|KEY_LEARNINGS:|  ADD:|[a-z{}#-]{0,9}|x```)[ \\t]{0,2}\\r?", 1..9),
        ) {
            let code = lines.join("\n");
            let content = format!("```rust src/lib.rs\n{code}\n```\n");
            let text = answer(Role::Verbatim, &source("task", vec![message("assistant", &content)], ""));
            let whole_lines = |text: &str| format!("\n{}\n", text.replace("\r\n", "\n").trim_end_matches('\r'));
            let said = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
            for operation in operations(&text) {
                let Operation::AddVerbatim { snippet, .. } = operation else { panic!("{operation:?}") };
                prop_assert!(whole_lines(&code).contains(&whole_lines(&snippet)), "{:?} / {:?}", code, snippet);
                prop_assert_eq!(said(&snippet), said(&code));
                prop_assert!(snippet.matches('\r').count() >= code.trim().matches('\r').count());
            }
        }
    }
}
