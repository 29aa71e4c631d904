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

/// The prompt of a document without the time, for a query, with at most so many bytes.
fn selected(document: &str, query: Option<&str>, near: &[(&str, u16)], max: usize) -> Assembly {
    let near = near.iter().map(|(id, score)| (id.parse().unwrap(), *score));
    let selection = Selection {
        exclude: ["datetime".to_owned()].into(),
        query: query.map(str::to_owned),
        near: near.collect(),
        ..Selection::default()
    };
    assembled(&[], document, &selection, Some(max))
}

/// A prompt of at most so many tokens, counted in a way that is easy to follow: one per byte.
fn assembled(items: &[PromptItem], document: &str, selection: &Selection, max: Option<usize>) -> Assembly {
    let material = Material {
        note: None,
        items,
        document: Some(document),
        time: DateTime::UNIX_EPOCH,
        zone: Tz::UTC,
        selection,
    };
    let bytes = |text: &str| text.len();
    match max {
        Some(max) => assemble(&material, Some((max, &bytes))).unwrap(),
        None => assemble(&material, None).unwrap(),
    }
}

#[test]
fn a_fence_left_open_swallows_nothing_after_it_and_a_part_without_text_is_none() {
    let whole =
        |items: &[PromptItem], document: &str| assembled(items, document, &Selection::default(), None);
    let prompt = whole(&[item("rules", "```\nrm -rf\n")], "# Notes\n~~~~ sh\nls\n").text();
    let closed = "```\nrm -rf\n```\n\n# Notes\n~~~~ sh\nls\n~~~~\n\nCurrent";
    assert!(prompt.starts_with(closed), "{prompt}");
    let in_progress = whole(&[], "# Current Progress\n```\nls").text();
    let closed = "# Current Progress\n```\nls\n```\n\nCurrent date";
    assert!(in_progress.starts_with(closed), "{in_progress}");
    let empty = whole(&[], "# Key Learnings\n\n# Decisions\n \n");
    assert_eq!(empty.parts.len(), 1);
}

#[test]
fn under_a_budget_records_that_matter_to_the_query_are_kept_before_others() {
    let document = "# Key Learnings\n- KL-1 the parser is fast\n- KL-2 soup\n- KL-3 salad\n\n# Recent Tasks\n- T-2 tea\n- T-1 Parser tests\n";
    let shown = |query: Option<&str>, max: usize| selected(document, query, &[], max).text();
    let whole = shown(Some("PARSER"), 1_000);
    assert_eq!(whole, shown(None, 1_000), "nothing is dropped, so nothing moves");
    let tight = shown(Some("PARSER"), whole.len() - 25);
    for (id, is_kept) in [
        ("KL-1", true),
        ("T-1", true),
        ("T-2", false),
        ("KL-2", false),
        ("KL-3", false),
    ] {
        assert_eq!(tight.contains(id), is_kept, "{id}: {tight}");
    }
    let without = shown(None, whole.len() - 25);
    assert!(!without.contains("T-1") && without.contains("KL-3"), "{without}");
    // The oldest is that of the lowest number, wherever it stands.
    let upwards = "# Decisions\n- D-1 first\n- D-2 second\n";
    let text = selected(upwards, None, &[], upwards.len() - 5).text();
    assert!(!text.contains("D-1") && text.contains("D-2"), "{text}");
}

#[test]
fn records_near_in_meaning_are_kept_too_and_the_scores_are_reported() {
    let document = "# Key Learnings\n- KL-1 the parser is fast\n- KL-2 soup\n- KL-3 salad\n";
    let shown = |max: usize| selected(document, Some("parser"), &[("KL-2", 700)], max);
    let whole = shown(1_000);
    let scores: Vec<usize> = whole.scores.iter().map(|(_, score)| *score).collect();
    assert_eq!(scores, [1_000, 700, 0]);
    let kept = |max: usize| ["KL-1", "KL-2", "KL-3"].map(|id| shown(max).text().contains(id));
    assert_eq!(kept(whole.text().len() - 5), [true, true, false]);
    assert_eq!(kept(whole.text().len() - 20), [true, false, false]);
}
