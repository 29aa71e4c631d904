//! Model responses checked against a large input.

use working_memory::domain::document::Marks;
use working_memory::domain::evidence::{Examples, Input, Judge, JudgeContext, Strictness};
use working_memory::domain::operation::{Item, Operation};

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
                0 => Operation::AddLearning {
                    reason: "x".to_owned(),
                    content: "aaaa bbbb いうえ".to_owned(),
                    replaces: None,
                    merges: Vec::new(),
                    marks: Marks::default(),
                },
                _ => Operation::AddVerbatim {
                    reason: "x".to_owned(),
                    label: "y".to_owned(),
                    snippet: snippet.clone(),
                    replaces: None,
                    marks: Marks::default(),
                },
            };
            Item {
                operation,
                range: at..at + 1,
            }
        })
        .collect();
    let case = JudgeContext {
        input: &input,
        document: "",
        progress: "",
        examples: &Examples::default(),
        max_archives: 3,
        strictness: Strictness::Reject,
    };
    let judged = Judge::new(case, &items).items(items);
    assert!(judged.iter().all(|judged| judged.item.is_some()));
    assert!(
        judged
            .iter()
            .all(|judged| (1..=2).contains(&judged.evidence.len()))
    );
}
