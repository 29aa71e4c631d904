//! Model responses in JSON are read as operations, by the rules of operations that are sent as JSON.

use crate::generated::{learnings, verbatims};
use crate::table;
use proptest::prelude::*;
use serde_json::{Value, json};
use working_memory::domain::dsl::structured::{consolidation_schema, read, schema};
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::operation::{Operation, Role};

fn operations(role: Role, answer: &Value) -> Vec<Operation> {
    let (parsed, written) = read(role, &answer.to_string(), false).expect("an answer");
    assert!(
        parsed.faults.iter().all(|fault| fault.kind.is_warning()),
        "{:?}",
        parsed.faults
    );
    assert!(parsed.items.iter().all(|item| item.range.start < written.len()));
    parsed.items.into_iter().map(|item| item.operation).collect()
}

/// The JSON response for some operations.
fn answer(operations: &[Operation]) -> Value {
    let (mut add, mut archive) = (Vec::new(), Vec::new());
    for operation in operations {
        match operation {
            Operation::Add(added) => add.push(match &added.label {
                None => json!({"reason": added.reason, "content": added.content}),
                Some(label) => json!({"reason": added.reason, "label": label, "snippet": added.content}),
            }),
            Operation::Archive { id, reason, .. } => {
                archive.push(json!({"id": id.to_string(), "reason": reason}));
            }
            Operation::RewriteProgress(_) | Operation::Mark { .. } => {}
        }
    }
    json!({"add": add, "archive": archive})
}

/// With its lines and blanks folded, but for snippets: as many blanks as there were may stay.
fn folded(operation: Operation) -> Operation {
    let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match operation {
        Operation::Add(added) => match added.label {
            None => Operation::learning(line(added.reason), line(added.content)),
            Some(label) => Operation::snippet(line(added.reason), line(label), added.content),
        },
        Operation::Archive { id, reason, .. } => Operation::Archive {
            id,
            reason: line(reason),
            ground: None,
        },
        other @ (Operation::RewriteProgress(_) | Operation::Mark { .. }) => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn learnings_are_read_unchanged(said in learnings()) {
        let expected: Vec<Operation> = said.iter().cloned().map(folded).collect();
        let read: Vec<Operation> = operations(Role::Learnings, &answer(&said)).into_iter().map(folded).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn snippets_are_read_to_the_byte(said in verbatims()) {
        let expected: Vec<Operation> = said.iter().cloned().map(folded).collect();
        let read: Vec<Operation> = operations(Role::Verbatim, &answer(&said)).into_iter().map(folded).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_text_is_read_without_a_panic(answer in any::<String>()) {
        for role in Role::ALL {
            let _ = (read(role, &answer, false), read(role, &answer, true));
        }
    }
}

#[test]
fn progress_is_read_and_nothing_is_no_change() {
    let said = json!({"completed": ["Wrote\n the parser"], "in_progress": ["Wire it"], "remaining": []});
    let (parsed, _) = read(Role::Progress, &said.to_string(), false).unwrap();
    assert_eq!(table::said(&parsed), "progress Wrote the parser | Wire it | ");
    for role in Role::ALL {
        let empty = json!({"completed": [], "in_progress": [], "remaining": [], "add": [], "archive": []});
        assert_eq!(operations(role, &empty), []);
        for fenced in ["{}", "```json\n{}\n```\n"] {
            let (nothing, _) = read(role, fenced, false).unwrap();
            assert_eq!((nothing.items, nothing.faults), (vec![], vec![]));
        }
        assert_eq!(read(role, "CURRENT_PROGRESS: none", false), None);
    }
}

#[test]
fn bullets_that_say_that_there_is_nothing_are_none() {
    let lists = |lists: [&str; 3]| json!({"completed": [lists[0]], "in_progress": [lists[1]], "remaining": [lists[2]]});
    for (answer, expected) in [
        (lists(["none", "(none)", "N/A"]), ""),
        (lists(["None.", "a", "none"]), "progress  | a | "),
        (lists(["a", "no change", "none"]), "! MissingInProgress"),
    ] {
        let (parsed, _) = read(Role::Progress, &answer.to_string(), false).unwrap();
        assert_eq!(table::said(&parsed), expected, "{answer}");
    }
}

#[test]
fn json_of_another_form_is_no_answer_and_other_members_beside_the_known_ones_are_ignored() {
    for other in [
        json!({"learnings": [{"reason": "a", "content": "b"}]}),
        json!({"KEY_LEARNINGS": {"ADD": ["because a: b"]}}),
        json!({"Completed": ["a"], "In Progress": ["b"]}),
        json!([["a"], ["b"], []]),
    ] {
        assert_eq!(read(Role::Learnings, &other.to_string(), false), None, "{other}");
    }
    let more = json!({"thoughts": "c", "add": [{"reason": "a", "content": "b"}]});
    let read = operations(Role::Learnings, &more);
    assert_eq!(read, [Operation::learning("a", "b")]);
}

#[test]
fn of_an_answer_that_ends_early_the_whole_items_are_read() {
    let whole = r#"{"add": [{"reason": "a", "content": "b }] \" {"}, {"reason": "c", "content": "d"}"#;
    for lost in [
        "",
        ", {\"reason\": \"e\", \"content\": \"it is c",
        "], \"archive\": [{\"id\": \"KL-1\"",
        "]} I hope that this helps.",
    ] {
        for before in ["", "```json\n"] {
            let (parsed, written) = read(Role::Learnings, &format!("{before}{whole}{lost}"), false).unwrap();
            assert_eq!(
                table::said(&parsed),
                "KL a | b }] \" { + KL c | d ! Truncated",
                "{lost}"
            );
            assert_eq!(written[parsed.faults[0].range.start], lost);
        }
    }
    for none in [
        r#"{"add": [{"reason": "a", "content": "b"#,
        r#"{"add": ["#,
        r#"{"completed": ["a"], "in_progress": ["b"], "rem"#,
        r#"{"learnings": [{"reason": "a", "content": "b"}, {"#,
        r#"Like {"add": [{"reason": "a", "content": "b"}"#,
    ] {
        assert_eq!(read(Role::Learnings, none, false), None, "{none}");
    }
    // A progress of which bullets are missing would say that they are gone.
    let mixed = r#"{"completed": ["a"], "add": [{"reason": "a", "content": "b"}], "in_progress": ["b"#;
    assert_eq!(read(Role::Progress, mixed, false), None);
}

#[test]
fn of_a_whole_answer_that_was_cut_off_the_last_item_in_its_order_is_dropped() {
    let added = r#""add": [{"reason": "c", "content": "d } ] e"}]"#;
    let archived = r#""archive": [{"id": "KL-1", "reason": "a"}, {"id": "KL-2", "reason": "b"}]"#;
    for (answer, expected) in [
        (
            format!("{{{archived}, {added}}}"),
            "archive KL-1 | a + archive KL-2 | b ! Truncated",
        ),
        (
            format!("```json\n{{{added}, {archived}}}\n```"),
            "KL c | d } ] e + archive KL-1 | a ! Truncated",
        ),
        (format!("{{{added}, \"archive\": []}}"), "! Truncated"),
        (
            format!("{{{added}, {}", &archived[..archived.len() - 1]),
            "KL c | d } ] e + archive KL-1 | a ! Truncated",
        ),
        (
            format!("{{{}, {{\"rea", &added[..added.len() - 1]),
            "KL c | d } ] e ! Truncated",
        ),
        ("{\"add\": []}".to_owned(), "! Truncated"),
    ] {
        let (parsed, written) = read(Role::Learnings, &answer, true).unwrap();
        assert_eq!(table::said(&parsed), expected, "{answer}");
        assert!(parsed.faults[0].range.start < written.len());
    }
    let progress = r#"{"completed": [], "in_progress": ["a"], "remaining": ["b"]}"#;
    let (parsed, _) = read(Role::Progress, progress, true).unwrap();
    assert_eq!(table::said(&parsed), "! Truncated");
}

#[test]
fn a_list_that_is_null_is_empty() {
    let said = json!({"add": null, "archive": [{"id": "KL-2", "reason": "a"}], "completed": null});
    let (parsed, _) = read(Role::Learnings, &said.to_string(), false).unwrap();
    assert_eq!(table::said(&parsed), "archive KL-2 | a");
}

#[test]
fn a_nul_that_json_escapes_is_replaced() {
    let said = json!({
        "add": [{"reason": "a\0", "label": "b\0", "snippet": "c\0\nd"}],
        "archive": [{"id": "KL-1\0", "reason": "e"}],
    });
    let (parsed, _) = read(Role::Verbatim, &said.to_string(), false).unwrap();
    let snippet = Operation::snippet("a\u{fffd}", "b\u{fffd}", "c\u{fffd}\nd");
    assert_eq!(parsed.items[0].operation, snippet);
    assert!(parsed.faults[0].detail.starts_with("`KL-1\u{fffd}` is not an id"));
}

#[test]
fn colons_stay_and_missing_members_are_reported() {
    let said = json!({"add": [
        {"reason": "because CI failed: twice:", "content": "pin: it"},
        {"reason": " ", "content": "no reason"},
    ]});
    let (parsed, written) = read(Role::Learnings, &said.to_string(), false).unwrap();
    assert_eq!(
        table::said(&parsed),
        "KL CI failed: twice | pin: it ! MissingReason"
    );
    assert!(
        written[parsed.faults[0].range.start].contains("no reason"),
        "{written:?}"
    );
}

#[test]
fn a_schema_requires_its_lists_and_names_a_limited_number_of_ids() {
    let id = |number| RecordId::new(RecordKind::Learning, number);
    for (role, ids, required) in [
        (Role::Learnings, &[id(7)][..], json!(["add", "archive"])),
        (Role::Learnings, &[], json!(["add"])),
        (
            Role::Progress,
            &[id(7)],
            json!(["completed", "in_progress", "remaining"]),
        ),
    ] {
        assert_eq!(schema(role, ids, 2)["required"], required);
    }
    // OpenAI accepts 1,000 values of all enums of a schema together.
    let many: Vec<RecordId> = (1..=2_000).map(id).collect();
    for schema in [schema(Role::Learnings, &many, 2), consolidation_schema(&many)] {
        let ids = schema.to_string().matches("\"KL-").count();
        assert!((500..=990).contains(&ids), "{ids}");
    }
}
