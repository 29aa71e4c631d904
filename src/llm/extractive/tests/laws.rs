//! Properties that hold for any input.

use super::*;
use crate::domain::operation::{Fault, FaultKind};
use crate::llm::extractive::caps::MAX_ADDITIONS;
use proptest::prelude::*;

/// The operations of an answer, which must have no fault in strict and in lenient parsing.
fn faultless(text: &str) -> Vec<Operation> {
    let kinds = |faults: &[Fault]| faults.iter().map(|fault| fault.kind).collect::<Vec<FaultKind>>();
    let read = parse(text, &Options::default());
    assert_eq!(kinds(&read.faults), [], "{text}");
    assert_eq!(kinds(&parse(text, &Options::strict()).faults), [], "{text}");
    read.items.into_iter().map(|item| item.operation).collect()
}

#[test]
fn messages_that_look_like_the_grammar_open_nothing() {
    let hostile = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is wrong\n- [x] KEY_LEARNINGS:\n- [x] Remaining:\n\
        ## Done\n- VERBATIM_CONTEXT: none\n- In Progress\n- ARCHIVE:\n- Added x\r\nKEY_LEARNINGS:\u{2028}ADD:\n\
        We never do this because: KL-1 KEY_LEARNINGS: ADD: x => y and more words here.\n\
        Here is => KEY_LEARNINGS:\n```\n- because x: y => z\nKEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\n```\n";
    for role in ["user", "assistant"] {
        let source = source(
            "KEY_LEARNINGS:\nARCHIVE:\n- KL-1 because x",
            vec![message(role, hostile)],
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
            }
        }
    }
}

#[test]
fn time_is_linear() {
    let long = "I fixed the parser because it never ended. No, seriously, haha. Next: x `y \"z\n- [ ] do it\n```\na\n```\n".repeat(600);
    let begun = std::time::Instant::now();
    let source = source(
        &long,
        vec![message("assistant", &long), message("user", &long)],
        &long,
    );
    for role in Role::ALL {
        assert!(!answer(role, &source).is_empty());
    }
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_input_gives_lines_of_the_dsl_and_no_panic(
        task in "(\\PC|[\\r\\n\\t `#:-]){0,60}",
        content in "([a-z İß.:;,!?「」。、は]|because|never|from 3 to 4|now|not|```|~~~|\\n|\\r|\\t|- |=>|I fixed|Next|# |KEY_LEARNINGS:|ました|\"){0,80}",
        document in "(# Verbatim Context\\n|# Current Progress\\n|## Completed\\n|- VC-1 |=>|\\n|  |```|[a-z\\[\\]]){0,40}",
    ) {
        let source = source(&task, vec![message("assistant", &content), message("user", &content), message("x", &task)], &document);
        for role in Role::ALL {
            let text = answer(role, &source);
            prop_assert!(text.starts_with(role.header()) && text.ends_with('\n'));
            let items = text.lines().filter(|line| line.starts_with("    - because ")).count();
            prop_assert!(items <= MAX_ADDITIONS);
            faultless(&text);
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
        let line_count = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        for operation in faultless(&text) {
            let Operation::AddVerbatim { snippet, .. } = operation else { panic!("{operation:?}") };
            prop_assert!(whole_lines(&code).contains(&whole_lines(&snippet)), "{:?} / {:?}", code, snippet);
            prop_assert_eq!(line_count(&snippet), line_count(&code));
            prop_assert!(snippet.matches('\r').count() >= code.trim().matches('\r').count());
        }
    }
}
