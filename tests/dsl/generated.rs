//! Random texts and operations for the property tests.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use working_memory::domain::consolidation::Ground;
use working_memory::domain::document::{Expiry, Marks};
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::operation::{AddedRecord, Operation, Progress};

/// Fragments that mean something to the parser, with `|` between them, so that random texts are full of near misses.
const FRAGMENTS: &str = "MERGE:| duplicate of KL-2| superseded by KL-3| expired|- KL-1, KL-2 because a: b|\n|\n|\n|\r\n|\r| |  |    |      |\
    \t|CURRENT_PROGRESS:|Completed:|In Progress:|Remaining:|KEY_LEARNINGS:|VERBATIM_CONTEXT:|ADD:|ARCHIVE:|\
    **ADD:**|## Archive|`KEY LEARNINGS`|DECISIONS:|UPDATE:|- |* |• |1. |-|because |BECAUSE |because|a|b c|\
    : |:|::| => |=>|=> |```|```rust|````|~~~|KL-1|VC-2|KL-0|T-3|[KL-4]|**KL-5**|, |(none)|n/a|.|<reason>|<|\
    >|\u{feff}|\u{3000}|é🦀|\0";

pub(crate) fn fragments() -> impl Strategy<Value = String> {
    let fragment = select(FRAGMENTS.split('|').collect::<Vec<_>>());
    vec(fragment, 0..60).prop_map(|pieces| pieces.concat())
}

/// One line of content: no line end, no blanks around it, no placeholder, and too long to be "n/a" by chance.
fn line() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9é日`*_.,;()/\"'-][a-zA-Z0-9é日`*_.,;()/\"' <-]{4,30}[a-zA-Z0-9é日`*_;/\"']"
}

fn id(kind: RecordKind) -> impl Strategy<Value = RecordId> {
    prop_oneof![1..100_i64, Just(i64::MAX)].prop_map(move |number| RecordId::new(kind, number))
}

fn snippet_line() -> impl Strategy<Value = String> {
    let indentation = select(vec!["", "", "  ", "    ", "\t", " \t", "          "]);
    let text = prop_oneof![
        4 => "[a-z{}();:=<> \t]{0,20}",
        4 => select(vec![
            "```", "```rust", "~~~~", "````", "- because a: b => c", "- KL-1 because x", "KEY_LEARNINGS:", "ADD:", "# Current Progress",
            "1. one", "- x", "(none)", "CURRENT_PROGRESS:", "prose", "trailing  ", "tab\t", "日本🦀", "carriage\r", "a\rb", "", "", "   ",
        ]).prop_map(str::to_owned),
    ];
    (indentation, text).prop_map(|(indentation, text)| format!("{indentation}{text}"))
}

/// Any lines, but the first is not blank, and the end has no blank line and no half line end. (Blank lines above the first do
/// not say how much of its indentation belongs to the snippet.) A fence that the first line opens is closed, so that the next
/// item's fence does not close it, and not indented, which a closing fence would lose.
fn snippet() -> impl Strategy<Value = String> {
    vec(snippet_line(), 1..8).prop_map(|lines| {
        let blank = lines.iter().take_while(|line| line.trim().is_empty()).count();
        let mut snippet = lines[blank..].join("\n");
        let end = snippet.trim_end().len();
        snippet.truncate(snippet[end..].find('\n').map_or(snippet.len(), |at| end + at));
        if snippet.is_empty() || snippet.ends_with('\r') {
            snippet.push('x');
        }
        for fence in ["```", "~~~"] {
            if snippet.trim_start().starts_with(fence) {
                let (first, below) = snippet.split_once('\n').unwrap_or((&snippet, ""));
                let lines = below.split('\n').map(|line| {
                    let bare = line.trim_start_matches([' ', '\t']);
                    if bare.starts_with(fence) { bare } else { line }
                });
                let below = lines.collect::<Vec<_>>().join("\n");
                snippet = format!("{first}\n{below}\n{}", fence.repeat(2));
            }
        }
        snippet
    })
}

fn additions_and_archives(
    add: impl Strategy<Value = Operation>,
    kind: RecordKind,
) -> impl Strategy<Value = Vec<Operation>> {
    let archived = (id(kind), line(), ground(kind)).prop_map(|(id, reason, ground)| Operation::Archive {
        id,
        reason,
        ground,
    });
    (vec(add, 0..4), vec(archived, 0..3)).prop_map(|(mut adds, archives)| {
        adds.extend(archives);
        adds
    })
}

fn ground(kind: RecordKind) -> impl Strategy<Value = Option<Ground>> {
    let ground = prop_oneof![
        id(kind).prop_map(Ground::DuplicateOf),
        id(kind).prop_map(Ground::SupersededBy),
        Just(Ground::Expired),
    ];
    option::of(ground)
}

/// Merges of learnings.
fn merged() -> impl Strategy<Value = Vec<Operation>> {
    let merge = (vec(id(RecordKind::Learning), 2..4), line(), line());
    let merge = merge.prop_map(|(merges, reason, content)| {
        Operation::Add(AddedRecord {
            reason,
            content,
            merges,
            ..AddedRecord::default()
        })
    });
    vec(merge, 0..3)
}

fn expiry() -> impl Strategy<Value = Expiry> {
    select(vec!["never", "2027-08-31", "2027-08-31T12:00:00Z"]).prop_map(|text| text.parse().expect("an end"))
}

fn marks() -> impl Strategy<Value = Marks> {
    let changes = (option::of(any::<bool>()), option::of(expiry()));
    changes.prop_map(|(pinned, until)| Marks::default().changed(pinned, until))
}

/// Changes of marks, each of at least one.
fn marked(kind: RecordKind) -> impl Strategy<Value = Vec<Operation>> {
    let marks = (option::of(any::<bool>()), option::of(expiry()));
    let change = (id(kind), line(), marks);
    let change = change.prop_map(|(id, reason, (pinned, until))| Operation::Mark {
        id,
        reason,
        pinned: pinned.or(until.is_none().then_some(true)),
        until,
    });
    vec(change, 0..3)
}

fn with_marks(mut addition: Operation, marks: Marks) -> Operation {
    if let Operation::Add(added) = &mut addition {
        added.marks = marks;
    }
    addition
}

pub(crate) fn learnings() -> impl Strategy<Value = Vec<Operation>> {
    let add = (line(), line(), marks())
        .prop_map(|(reason, content, marks)| with_marks(Operation::learning(reason, content), marks));
    additions_and_archives(add, RecordKind::Learning)
}

pub(crate) fn verbatims() -> impl Strategy<Value = Vec<Operation>> {
    let add = (line(), line(), snippet(), marks()).prop_map(|(reason, label, snippet, marks)| {
        with_marks(Operation::snippet(reason, label, snippet), marks)
    });
    additions_and_archives(add, RecordKind::Verbatim)
}

fn progresses() -> impl Strategy<Value = Vec<Operation>> {
    let progress = (vec(line(), 0..4), vec(line(), 1..4), vec(line(), 0..4)).prop_map(
        |(completed, in_progress, remaining)| {
            Operation::RewriteProgress(Progress {
                completed,
                in_progress,
                remaining,
            })
        },
    );
    option::of(progress).prop_map(|progress| progress.into_iter().collect())
}

/// Operations in the order of the canonical text.
pub(crate) fn all_operations() -> impl Strategy<Value = Vec<Operation>> {
    let learnings = (learnings(), merged(), marked(RecordKind::Learning));
    let verbatims = (verbatims(), marked(RecordKind::Verbatim));
    (progresses(), learnings, verbatims).prop_map(|(progress, learnings, verbatims)| {
        let learnings = [learnings.0, learnings.1, learnings.2].concat();
        [progress, learnings, verbatims.0, verbatims.1].concat()
    })
}
