//! Parts, their order and their edges; properties are in `tests/domain/prompt_laws.rs`.

use super::*;
use chrono::DateTime;
use chrono_tz::Tz;

fn item(category: &str, content: &str) -> PromptItem {
    PromptItem {
        item_id: "i".parse().unwrap(),
        memory: None,
        category: category.parse().unwrap(),
        content: content.to_owned(),
        metadata: serde_json::Map::new(),
        expires_at: None,
        created_at: DateTime::UNIX_EPOCH,
        created_by: "a".parse().unwrap(),
    }
}

fn assembled(items: &[PromptItem], document: &str, zone: Tz) -> Assembly {
    let material = Material {
        note: None,
        items,
        document: Some(document),
        time: DateTime::UNIX_EPOCH,
        zone,
        selection: &Selection::default(),
    };
    assemble(&material, None).unwrap()
}

/// A token count that is easy to follow: one per byte.
fn bytes(text: &str) -> usize {
    text.len()
}

#[test]
fn parts_come_in_their_order_with_an_empty_line_between() {
    let items = [
        item("workflow", "w"),
        item("zebra", "z"),
        item("tool_guidance", "t"),
        item("apple", "a\n\n"),
        item("rules", "\nr1"),
        item("rules", "r2"),
        item("user_information", "u"),
    ];
    let document = "before\n\n# Current Progress\n## In Progress\n- p\n# Facts\nf\n# Recent Tasks\n- T-1 t\n\n\
                    # Active Context\nGoal: g\n# Decisions\n- D-1 d\n# Verbatim Context\n- VC-1 v =>\n  x\n\n\
                    # Key Learnings\n- KL-1 k\n\n# Preferences\nq";
    let prompt = assembled(&items, document, Tz::UTC);
    let names: Vec<_> = prompt.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "rules",
            "user_information",
            "tool_guidance",
            "apple",
            "zebra",
            "free",
            "key_learnings",
            "verbatim_context",
            "decisions",
            "active_context",
            "recent_tasks",
            "workflow",
            "current_progress",
            "datetime"
        ]
    );
    assert_eq!(
        prompt.text(),
        "r1\n\nr2\n\nu\n\nt\n\na\n\nz\n\nbefore\n\n# Facts\nf\n\n# Preferences\nq\n\n# Key Learnings\n- KL-1 k\n\n\
         # Verbatim Context\n- VC-1 v =>\n  x\n\n# Decisions\n- D-1 d\n\n# Active Context\nGoal: g\n\n\
         # Recent Tasks\n- T-1 t\n\nw\n\n# Current Progress\n## In Progress\n- p\n\n\
         Current date and time: Thursday, 1970-01-01 00:00 (UTC)"
    );
}

#[test]
fn a_fence_left_open_swallows_nothing_after_it() {
    let items = [item("rules", "```\nrm -rf\n")];
    let prompt = assembled(&items, "# Notes\n~~~~ sh\nls\n", Tz::UTC);
    assert!(
        prompt
            .text()
            .starts_with("```\nrm -rf\n```\n\n# Notes\n~~~~ sh\nls\n~~~~\n\nCurrent"),
        "{}",
        prompt.text()
    );
    let in_progress = assembled(&[], "# Current Progress\n```\nls", Tz::UTC);
    assert!(
        in_progress
            .text()
            .starts_with("# Current Progress\n```\nls\n```\n\nCurrent date")
    );
}

#[test]
fn a_part_without_text_is_none() {
    let prompt = assembled(&[], "# Key Learnings\n\n# Decisions\n \n", Tz::UTC);
    assert_eq!(prompt.parts.len(), 1);
}

#[test]
fn a_budget_drops_the_oldest_records_then_parts_and_never_the_rules() {
    let items = [item("rules", "rule"), item("a", "aa"), item("b", "bb")];
    let document = "# Facts\nf\n\n# Key Learnings\n- KL-1 k\n- KL-2 l\n\n# Recent Tasks\n- T-2 n\n- T-1 o\n";
    let material = Material {
        note: None,
        items: &items,
        document: Some(document),
        time: DateTime::UNIX_EPOCH,
        zone: Tz::UTC,
        selection: &Selection {
            exclude: ["datetime".to_owned()].into(),
            ..Selection::default()
        },
    };
    let whole = assemble(&material, None).unwrap().text();
    let fitted = |less: usize| assemble(&material, Some((whole.len() - less, &bytes))).unwrap();
    assert!(fitted(0).dropped.is_empty());
    let ids = |prompt: &Assembly| -> Vec<(String, bool, usize)> {
        let dropped = prompt.dropped.iter();
        dropped
            .map(|part| (part.name.clone(), part.whole, part.pieces.len()))
            .collect()
    };
    let first = fitted(1);
    assert_eq!(ids(&first), [("recent_tasks".to_owned(), false, 1)]);
    assert!(first.text().contains("T-2") && !first.text().contains("T-1"));
    let second = fitted(9);
    assert_eq!(ids(&second), [("recent_tasks".to_owned(), true, 3)]);
    let third = fitted(40);
    assert_eq!(third.dropped[0].name, "key_learnings");
    assert!(
        third.text().contains("KL-2") && !third.text().contains("KL-1"),
        "{}",
        third.text()
    );
    let least = assemble(&material, Some((4, &bytes))).unwrap();
    assert_eq!(least.text(), "rule");
    assert_eq!(
        assemble(&material, Some((3, &bytes))),
        Err(OverBudget { needed: 4 })
    );
}

#[test]
fn under_a_budget_records_that_matter_to_the_query_are_kept_before_others() {
    let document = "# Key Learnings\n- KL-1 the parser is fast\n- KL-2 soup\n- KL-3 salad\n\n# Recent Tasks\n- T-2 tea\n- T-1 Parser tests\n";
    let shown = |query: Option<&str>, max: usize| {
        let material = Material {
            note: None,
            items: &[],
            document: Some(document),
            time: DateTime::UNIX_EPOCH,
            zone: Tz::UTC,
            selection: &Selection {
                exclude: ["datetime".to_owned()].into(),
                query: query.map(str::to_owned),
                ..Selection::default()
            },
        };
        assemble(&material, Some((max, &bytes))).unwrap().text()
    };
    let whole = shown(Some("PARSER"), 1_000);
    assert_eq!(whole, shown(None, 1_000), "nothing is dropped, so nothing moves");
    let tight = shown(Some("PARSER"), whole.len() - 25);
    for kept in ["KL-1", "T-1"] {
        assert!(tight.contains(kept), "{tight}");
    }
    for removed in ["T-2", "KL-2", "KL-3"] {
        assert!(!tight.contains(removed), "{tight}");
    }
    let without = shown(None, whole.len() - 25);
    assert!(!without.contains("T-1") && without.contains("KL-3"), "{without}");
}

#[test]
fn records_near_in_meaning_are_kept_too_and_the_scores_are_reported() {
    let document = "# Key Learnings\n- KL-1 the parser is fast\n- KL-2 soup\n- KL-3 salad\n";
    let selection = Selection {
        exclude: ["datetime".to_owned()].into(),
        query: Some("parser".to_owned()),
        near: [("KL-2".parse().unwrap(), 700)].into(),
        ..Selection::default()
    };
    let material = Material {
        note: None,
        items: &[],
        document: Some(document),
        time: DateTime::UNIX_EPOCH,
        zone: Tz::UTC,
        selection: &selection,
    };
    let shown = |max: usize| assemble(&material, Some((max, &bytes))).unwrap();
    let whole = shown(1_000);
    let scores: Vec<usize> = whole.scores.iter().map(|(_, score)| *score).collect();
    assert_eq!(scores, [1_000, 700, 0]);
    let kept = |max: usize| ["KL-1", "KL-2", "KL-3"].map(|id| shown(max).text().contains(id));
    assert_eq!(kept(whole.text().len() - 5), [true, true, false]);
    assert_eq!(kept(whole.text().len() - 20), [true, false, false]);
}
