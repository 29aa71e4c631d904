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
