//! Input that is meant to break the parser: documents of lines that look like structure, and texts that look like lines.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::operation::{Operation, Progress};

/// Fragments that have a meaning somewhere, with `|` between them.
const PIECES: &str = "a|b|ä| |  |\t|\r|:|: |::|=>| => |#|# |- |* |```|~~~|[|]|KL-1|KL-2 |VC-1|T-1|D-2|KL-0|\
    KL-99999999999999999999|because|because |BECAUSE r: |[2026-11-21T02:00:00Z]|[2026-11-21T02:00:00Z] |\
    \u{2028}|\u{85}|\u{a0}|\u{feff}|=|>|Decisions|<x>";

/// Lines that open, close and fill every structure, with `|` between them.
const LINES: &str = "|| |   |\t|prose| prose|  indented|\tindented|# Free|# |#|## Sub|# Current Progress|# Key Learnings|\
    # KEY LEARNINGS:|# Key Learnings ##|# Verbatim Context|# Active Context|# Recent Tasks|# Decisions|\
    ## In Progress|- a|- b|- |-|* a|- KL-1 [2026-11-21T02:00:00Z] because r: a|- KL-1 b|- KL-2 because x|\
    - KL-3|- KL-04 a|- KL-1 [2026-11-21T02:00:00+01:00,  pinned] because r: a|\
    - KL-2 [pinned, until 2027-01-01]|- [until 2027-01-01] because r: a|- D-2 [pinned]a|\
    - KL-9223372036854775808 a|- VC-1 because r: l =>|- VC-2 because r: l => s|- VC-3 l =>|\
    - T-1 because b: a|- D-1 a|- [2026-11-21T02:00:00Z] a|  - sub|  # sub|```|  ```|~~~~|````rust|- a =>";

fn one_of(list: &'static str) -> impl Strategy<Value = String> {
    select(list.split('|').collect::<Vec<_>>()).prop_map(str::to_owned)
}

/// A document put by hand, with any disorder.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let ending = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let line = prop_oneof![9 => one_of(LINES), 1 => text(6)];
    let lines = vec((line, ending), 0..24);
    (any::<bool>(), lines, any::<bool>()).prop_map(|(mark, lines, cut)| {
        let mut document: String = lines
            .into_iter()
            .flat_map(|(line, ending)| [line, ending.to_owned()])
            .collect();
        if cut {
            document.truncate(document.trim_end_matches(['\r', '\n']).len());
        }
        if mark {
            format!("\u{feff}{document}")
        } else {
            document
        }
    })
}

/// Text of one line.
pub(crate) fn text(pieces: usize) -> impl Strategy<Value = String> {
    vec(one_of(PIECES), 0..pieces).prop_map(|pieces| pieces.concat())
}

/// Text of several lines.
pub(crate) fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![one_of(LINES), text(4)];
    let ending = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\0"), 1 => Just("\r")];
    vec((line, ending), 0..5).prop_map(|lines| {
        lines
            .into_iter()
            .flat_map(|(line, ending)| [line, ending.to_owned()])
            .collect()
    })
}

/// Operations that no parser would return.
pub(crate) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let any_text = || prop_oneof![text(6), lines()];
    let id = (select(&RecordKind::ALL[..]), 1..6_i64).prop_map(|(kind, number)| RecordId::new(kind, number));
    let bullets = || vec(prop_oneof![text(4), lines()], 0..3);
    let operation = prop_oneof![
        (any_text(), any_text()).prop_map(|(reason, content)| Operation::learning(reason, content)),
        (any_text(), any_text(), any_text())
            .prop_map(|(reason, label, snippet)| Operation::snippet(reason, label, snippet)),
        (id.clone(), any_text()).prop_map(|(id, reason)| Operation::Archive {
            id,
            reason,
            ground: None
        }),
        (id, any_text(), any::<bool>()).prop_map(|(id, reason, pinned)| Operation::Mark {
            id,
            reason,
            pinned: Some(pinned),
            until: "2027-08-31".parse().ok(),
        }),
        (bullets(), bullets(), bullets()).prop_map(|(completed, in_progress, remaining)| {
            Operation::RewriteProgress(Progress {
                completed,
                in_progress,
                remaining,
            })
        }),
    ];
    vec(operation, 0..8)
}
