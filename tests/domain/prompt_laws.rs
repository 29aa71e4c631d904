//! Property tests of prompts: order, budget, the stable prefix, and that the counts of the pieces add up to the count of the
//! whole.

use crate::hostile::document;
use crate::now;
use chrono_tz::Tz;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use working_memory::domain::prompt::{
    Assembly, Material, OverBudget, PromptItem, Selection, assemble, drops,
};
use working_memory::tokens::Tokens;

/// The first three are stable.
const CATEGORIES: &str = "rules user_information tool_guidance workflow alpha beta Zeta";

/// The order of the parts; other categories come by name between the third and the fourth.
const BEHIND: &str = "free key_learnings verbatim_context decisions active_context recent_tasks workflow current_progress datetime";

fn is_stable(category: &str) -> bool {
    CATEGORIES.split(' ').take(3).any(|stable| stable == category)
}

fn place(name: &str) -> (usize, &str) {
    let stable = CATEGORIES.split(' ').take(3).position(|known| known == name);
    let place_after = BEHIND.split(' ').position(|known| known == name);
    match (stable, place_after) {
        (Some(place), _) => (place, ""),
        (None, None) => (3, name),
        (None, Some(place)) => (4 + place, ""),
    }
}

fn item(number: usize, category: &str, content: String) -> PromptItem {
    PromptItem {
        item_id: format!("item-{number}").parse().expect("an id"),
        memory: None,
        category: category.parse().expect("a category"),
        content,
        metadata: serde_json::Map::new(),
        expires_at: None,
        created_at: now(),
        created_by: "test".parse().expect("an id"),
    }
}

fn items() -> impl Strategy<Value = Vec<PromptItem>> {
    let one = (select(CATEGORIES.split(' ').collect::<Vec<_>>()), document());
    vec(one, 0..6).prop_map(|items| {
        let numbered = items.into_iter().enumerate();
        numbered
            .filter(|(_, (_, content))| !content.trim().is_empty())
            .map(|(number, (category, content))| item(number, category, content))
            .collect()
    })
}

fn assembled(
    items: &[PromptItem],
    document: &str,
    budget: Option<(usize, &Tokens)>,
) -> Result<Assembly, OverBudget> {
    let selection = Selection::default();
    let material = Material {
        note: None,
        items,
        document: Some(document),
        time: now(),
        zone: Tz::UTC,
        selection: &selection,
    };
    match budget {
        None => assemble(&material, None),
        Some((most, tokens)) => assemble(&material, Some((most, &|text| tokens.count(text)))),
    }
}

fn whole(items: &[PromptItem], document: &str) -> Assembly {
    assembled(items, document, None).expect("no budget")
}

/// The sum of the counts of the pieces.
fn sum(prompt: &Assembly, tokens: &Tokens) -> usize {
    prompt.tokens(&|text| tokens.count(text)).iter().sum()
}

proptest! {
    #[test]
    fn parts_are_in_order_and_none_twice(items in items(), document in document()) {
        let prompt = whole(&items, &document);
        let places: Vec<_> = prompt.parts.iter().map(|part| place(&part.name)).collect();
        prop_assert!(places.is_sorted(), "{places:?}");
        let names: BTreeSet<_> = prompt.parts.iter().map(|part| &part.name).collect();
        prop_assert_eq!(names.len(), prompt.parts.len());
        prop_assert!(prompt.parts.iter().all(|part| !part.pieces.is_empty()));
        prop_assert_eq!(prompt.text(), whole(&items, &document).text());
    }

    #[test]
    fn the_counts_of_the_pieces_add_up_to_the_count_of_the_text(items in items(), document in document()) {
        let tokens = Tokens::default();
        let prompt = whole(&items, &document);
        prop_assert_eq!(sum(&prompt, &tokens), tokens.count(&prompt.text()), "{:?}", prompt.text());
    }

    #[test]
    fn a_budget_is_respected_and_the_rules_stay(items in items(), document in document(), share in 0..=100usize) {
        let tokens = Tokens::default();
        let full = whole(&items, &document);
        let most = tokens.count(&full.text()) * share / 100;
        let rules = |prompt: &Assembly| prompt.parts.iter().find(|part| part.name == "rules").cloned();
        match assembled(&items, &document, Some((most, &tokens))) {
            Ok(prompt) => {
                prop_assert!(tokens.count(&prompt.text()) <= most);
                prop_assert_eq!(rules(&prompt), rules(&full));
                prop_assert_eq!(prompt.dropped.is_empty(), prompt.parts == full.parts);
                let left: usize = prompt.parts.iter().map(|part| part.pieces.len()).sum();
                let dropped_pieces: usize = prompt.dropped.iter().map(|part| part.pieces.len()).sum();
                let all: usize = full.parts.iter().map(|part| part.pieces.len()).sum();
                prop_assert_eq!(left + dropped_pieces, all);
            }
            Err(OverBudget { needed }) => {
                let rules = rules(&full).expect("only rules are never dropped");
                prop_assert_eq!(needed, tokens.count(&whole_of(rules)));
                prop_assert!(needed > most);
            }
        }
    }

    #[test]
    fn everything_but_the_rules_can_be_dropped_and_each_piece_once(items in items(), document in document()) {
        let parts = whole(&items, &document).parts;
        let steps = drops(&parts, None, |_| true);
        let mut seen = BTreeSet::new();
        for step in &steps {
            prop_assert!(parts[step.part].name != "rules");
            prop_assert!(seen.insert((step.part, step.piece)));
        }
        let whole_parts = steps.iter().filter(|step| step.piece.is_none()).count();
        let droppable = parts.iter().filter(|part| part.name != "rules").count();
        prop_assert_eq!(whole_parts, droppable);
    }

    #[test]
    fn the_prefix_depends_only_on_the_stable_items(
        items in items(), more in items(), document in document(), other in document(),
    ) {
        let stable = |item: &PromptItem| is_stable(item.category.as_str());
        let before = whole(&items, &document).prefix_hash();
        let changing = more.into_iter().filter(|item| !stable(item));
        let stable_items = items.iter().filter(|item| stable(item)).cloned();
        let later: Vec<_> = stable_items.chain(changing).collect();
        prop_assert_eq!(&before, &whole(&later, &other).prefix_hash());
        let mut changed = later;
        changed.push(item(99, "tool_guidance", "one more".to_owned()));
        prop_assert_ne!(&before, &whole(&changed, &other).prefix_hash());
    }
}

/// The text of a part alone.
fn whole_of(part: working_memory::domain::prompt::Part) -> String {
    let alone = Assembly {
        parts: vec![part],
        dropped: Vec::new(),
        scores: Vec::new(),
    };
    alone.text()
}

#[test]
fn text_that_only_a_tokenizer_treats_as_blank_does_not_join_pieces() {
    let tokens = Tokens::default();
    let contents = "\u{2028}\n\n  x|\r\r  y|x \u{a0}|x.\u{b}|/path|a\n\u{85}\n b|'s|\u{3000}\r\n\u{3000}z";
    for content in contents.split('|') {
        let texts = [(1, "Be brief."), (2, content), (3, content)];
        let items = texts.map(|(number, text)| item(number, "rules", text.to_owned()));
        let document = format!("# Key Learnings\n- KL-1 a.\n{content}\n- KL-2 b\n\n{content}\n\n- KL-3 c");
        let prompt = whole(&items, &document);
        assert_eq!(sum(&prompt, &tokens), tokens.count(&prompt.text()), "{content:?}");
    }
}
