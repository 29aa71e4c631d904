//! Reads any text as a model's answer and holds what is true of every answer (DESIGN §2): no panic, every
//! range is a slice of the text, only whole operations come out, and what was read prints and reads back.
#![no_main]

#[path = "../../tests/dsl/print.rs"]
mod print;

use libfuzzer_sys::fuzz_target;
use print::print;
use working_memory::domain::dsl::{Parsed, parse, parse_answer};
use working_memory::domain::operation::{AddedRecord, Operation};

fuzz_target!(|text: &str| {
    let whole = parse(text);
    for parsed in [&whole, &parse_answer(None, text, true)] {
        ranges_are_slices(text, parsed);
        parsed.items.iter().for_each(|item| is_whole(&item.operation));
    }
    reads_back(&whole);
});

fn ranges_are_slices(text: &str, parsed: &Parsed) {
    let items = parsed.items.iter().map(|item| &item.range);
    for range in items.chain(parsed.faults.iter().map(|fault| &fault.range)) {
        assert!(
            text.get(range.clone()).is_some(),
            "{range:?} of {} bytes",
            text.len()
        );
    }
}

fn is_whole(operation: &Operation) {
    let full = |text: &str| assert!(!text.trim().is_empty());
    let line = |text: &str| assert!(!text.trim().is_empty() && !text.contains('\n'));
    match operation {
        Operation::RewriteProgress(progress) => {
            assert!(!progress.in_progress.is_empty());
            let lists = [&progress.completed, &progress.in_progress, &progress.remaining];
            lists.into_iter().flatten().for_each(|bullet| line(bullet));
        }
        Operation::Add(added) => {
            line(&added.reason);
            match &added.label {
                None => line(&added.content),
                Some(label) => {
                    line(label);
                    full(&added.content);
                }
            }
        }
        Operation::Archive { id, reason, .. } | Operation::Mark { id, reason, .. } => {
            assert!(id.number >= 1);
            line(reason);
        }
    }
}

/// Printing puts sections in order and in each additions, archives, merges and marks; nothing else may differ.
fn reads_back(parsed: &Parsed) {
    let mut first = operations(parsed);
    first.retain(has_a_canonical_form);
    let rank = |operation: &Operation| match operation {
        Operation::Archive { .. } => 1,
        Operation::Mark { .. } => 3,
        merge if !merge.merges().is_empty() => 2,
        _ => 0,
    };
    first.sort_by_key(|operation| (operation.role(), rank(operation)));
    let printed = print(&first);
    let second = operations(&parse(&printed));
    assert_eq!(second, first, "printed as:\n{printed}");
}

fn operations(parsed: &Parsed) -> Vec<Operation> {
    parsed.items.iter().map(|item| item.operation.clone()).collect()
}

/// Not all that can be read can be printed to be read again: not a bullet whose folded lines say "no change",
/// not a snippet with an open fence, with blank lines above an indented one, or that ends in half a line end.
fn has_a_canonical_form(operation: &Operation) -> bool {
    match operation {
        Operation::RewriteProgress(_) => false,
        Operation::Add(AddedRecord {
            label: Some(_),
            content: snippet,
            ..
        }) => {
            let first = snippet.lines().next().unwrap_or_default().trim();
            !first.is_empty() && !first.starts_with(['`', '~']) && !snippet.ends_with('\r')
        }
        Operation::Add(_) | Operation::Archive { .. } | Operation::Mark { .. } => true,
    }
}
