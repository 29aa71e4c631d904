//! Property tests for any text and any operations.

use crate::generated::{all_operations, fragments, learnings, verbatims};
use crate::print::print;
use crate::table::{kinds, operations, read, read_cut_off};
use proptest::prelude::*;
use proptest::sample::select;
use working_memory::domain::dsl::parse;
use working_memory::domain::operation::{AddedRecord, FaultKind, Operation};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1024,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Not every parsed operation can be printed and parsed back: not a bullet whose folded lines are "no change", not a snippet
/// with an open fence, with blank lines above an indented one, or that ends in half a line end.
fn has_a_canonical_form(operation: &Operation) -> bool {
    match operation {
        Operation::RewriteProgress(_) => false,
        Operation::Add(AddedRecord {
            label: Some(_),
            content,
            ..
        }) => {
            let first = content.lines().next().unwrap_or_default().trim();
            !first.is_empty() && !first.starts_with(['`', '~']) && !content.ends_with('\r')
        }
        Operation::Add(_) | Operation::Archive { .. } | Operation::Mark { .. } => true,
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_is_read_without_a_panic_and_with_sound_ranges(text in any::<String>()) {
        let _ = (read(&text), read_cut_off(&text));
    }

    #[test]
    fn any_text_of_fragments_is_read_the_same_each_time_and_with_sound_ranges(text in fragments()) {
        prop_assert_eq!(read(&text), parse(&text));
        let _ = read_cut_off(&text);
    }

    #[test]
    fn parsed_operations_are_valid_with_at_most_one_progress(text in fragments()) {
        let mut progresses = 0;
        for item in read(&text).items {
            match item.operation {
                Operation::RewriteProgress(progress) => {
                    progresses += 1;
                    prop_assert!(!progress.in_progress.is_empty());
                    for bullet in [progress.completed, progress.in_progress, progress.remaining].concat() {
                        prop_assert!(!bullet.trim().is_empty() && !bullet.contains('\n'));
                    }
                }
                Operation::Add(AddedRecord { reason, label, content, .. }) => {
                    prop_assert!(!reason.trim().is_empty() && !content.trim().is_empty());
                    prop_assert!(!reason.contains('\n') && !content.ends_with('\n'));
                    match label {
                        Some(label) => prop_assert!(!label.trim().is_empty() && !label.contains('\n')),
                        None => prop_assert!(!content.contains('\n')),
                    }
                }
                Operation::Archive { id, reason, .. } | Operation::Mark { id, reason, .. } => {
                    prop_assert!(id.number >= 1 && !reason.trim().is_empty() && !reason.contains('\n'));
                }
            }
        }
        prop_assert!(progresses <= 1);
    }

    #[test]
    fn printed_operations_are_parsed_back(expected in all_operations()) {
        let printed = print(&expected);
        let parsed = read(&printed);
        prop_assert_eq!(operations(&parsed), expected, "{}", printed);
        prop_assert!(parsed.faults.iter().all(|fault| fault.kind.is_warning()), "{:?}", parsed.faults);
    }

    #[test]
    fn parsed_operations_are_printed_and_parsed_back(text in fragments()) {
        let mut first = operations(&read(&text));
        first.retain(has_a_canonical_form);
        // Printing puts the sections in order, and additions before archives; the order inside each stays.
        first.sort_by_key(|operation| (operation.role(), matches!(operation, Operation::Archive { .. })));
        let printed = print(&first);
        prop_assert_eq!(operations(&read(&printed)), first, "{}", printed);
    }

    #[test]
    fn a_faulty_learning_changes_no_other_item(
        expected in learnings(),
        place in any::<prop::sample::Index>(),
        faulty in select(vec!["- no reason", "- because: x", "- because x", "- because <reason>: y", "- KL-0 because x", "-"]),
    ) {
        let printed = print(&expected);
        let mut lines: Vec<_> = printed.lines().collect();
        let bullets: Vec<_> = (0..lines.len()).filter(|&at| lines[at].trim_start().starts_with("- ")).collect();
        prop_assume!(!bullets.is_empty());
        let faulty = format!("    {faulty}");
        lines.insert(bullets[place.index(bullets.len())], &faulty);
        let parsed = read(&lines.join("\n"));
        // An archive with an error, in the place of an addition, is still an archive: nothing else may differ.
        prop_assert_eq!(operations(&parsed), expected, "{}", lines.join("\n"));
    }

    #[test]
    fn a_faulty_snippet_changes_no_other_item(
        expected in verbatims(),
        faulty in select(vec!["- because: l => x", "- because a: l", "- because a: => x", "- because <reason>: l => x"]),
        last in any::<bool>(),
    ) {
        let faulty = format!("    {faulty}");
        let mut printed = print(&expected);
        prop_assume!(expected.iter().any(|operation| operation.addition().is_some()));
        if last {
            printed.push_str("VERBATIM_CONTEXT:\n  ADD:\n");
            printed.push_str(&faulty);
        } else {
            printed = printed.replacen("  ADD:\n", &format!("  ADD:\n{faulty}\n"), 1);
        }
        let parsed = read(&printed);
        prop_assert_eq!(operations(&parsed), expected, "{}", printed);
        prop_assert_eq!(parsed.faults.iter().filter(|fault| !fault.kind.is_warning()).count(), 1);
    }

    #[test]
    fn a_truncated_text_has_no_more_operations_than_the_complete_one(text in fragments()) {
        let complete = operations(&read(&text));
        let cut = read_cut_off(&text);
        prop_assert!(operations(&cut).iter().all(|operation| complete.contains(operation)));
        let expected = usize::from(!kinds(&cut).contains(&FaultKind::NoSection));
        prop_assert!(kinds(&cut).iter().filter(|&&kind| kind == FaultKind::Truncated).count() >= expected);
    }
}
