//! Tests of applying and validating operations.

use super::*;
use crate::domain::consolidation::Ground;
use crate::domain::document::records;
use crate::domain::faults::Parsed;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Fault, FaultKind, Item, Operation, Progress, Role};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

const LIMITS: Limits = Limits {
    max_additions: 3,
    item_bytes: 40,
    context_bytes: 10_000,
    pins_hold: false,
};

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

/// [`now`] in the format of a record line.
const NOW: &str = "2027-01-15T08:00:00Z";

fn id(text: &str) -> RecordId {
    text.parse().expect("a record id")
}

/// A learning that replaces a record.
fn replace(name: &str, content: &str) -> Operation {
    let mut addition = Operation::learning("better", content);
    addition.set_replaced(Some(id(name)));
    addition
}

fn archive(name: &str) -> Operation {
    Operation::Archive {
        id: id(name),
        reason: "gone".to_owned(),
        ground: None,
    }
}

fn learn(content: &str) -> Operation {
    Operation::learning("r", content)
}

/// The operations of a row, with ` ; ` between them: `+` a learning or `label=>snippet`, `-` the id of an archived record,
/// `~` the id of a replaced record and the learning, `*` the bullets that are completed, in progress and remaining.
fn operations(row: &str) -> Vec<Operation> {
    let list = |bullets: &str| bullets.split(',').map(str::to_owned).collect();
    let one = |text: &str| match text.split_at(1) {
        ("-", name) => archive(name),
        ("~", text) => {
            let (name, content) = text.split_once(' ').expect("an id and a learning");
            replace(name, content)
        }
        ("*", lists) => {
            let lists: Vec<&str> = lists.split('|').collect();
            Operation::RewriteProgress(Progress {
                completed: list(lists[0]),
                in_progress: list(lists[1]),
                remaining: list(lists[2]),
            })
        }
        (_, text) => match text.split_once("=>") {
            Some((label, snippet)) => Operation::snippet("r", label, snippet),
            None => learn(text),
        },
    };
    row.split(" ; ").map(one).collect()
}

/// The rows of a table, each in parts with `⇒` between them; `∅` is an empty part.
fn rows(table: &str) -> impl Iterator<Item = Vec<String>> {
    let plain = |part: &str| {
        let part = part.trim().replace("\\n", "\n").replace("\\r", "\r");
        part.replace("\\t", "\t").replace('∅', "")
    };
    let rows = table.lines().filter(|row| !row.trim().is_empty());
    rows.map(move |row| row.split('⇒').map(plain).collect())
}

fn applied(document: &str, operations: &[Operation]) -> ChangedDocument {
    apply(document, Counters::default(), operations, now(), &LIMITS).expect("applied")
}

/// Each row: a document, the operations, and the document after them.
fn follows(table: &str) {
    for row in rows(table) {
        let [before, done, after] = &row[..] else {
            panic!("{row:?}");
        };
        let applied = applied(before, &operations(done));
        assert_eq!(applied.text.replace(NOW, "NOW"), *after, "{before:?} {done}");
        let is_unchanged = applied.text == *before;
        assert_eq!(applied.operations.is_empty(), is_unchanged, "{before:?}");
    }
}

#[test]
fn missing_sections_are_appended_in_their_order_after_an_open_fence_is_closed() {
    follows(
        r"
        ∅ ⇒ +a ⇒ # Key Learnings\n- KL-1 [NOW] because r: a\n
        x ⇒ +a ⇒ x\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        x\n ⇒ +a ⇒ x\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        x\n\n ⇒ +a ⇒ x\n\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        # A\r\n ⇒ +a ⇒ # A\r\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        # Free\n ⇒ +l=>s ; +a ; *|p| ⇒ # Free\n\n# Current Progress\n## In Progress\n- p\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n\n# Verbatim Context\n- VC-1 [NOW] because r: l => s\n
        # Verbatim Context\n ⇒ +l=>s ; +a ; *|p| ⇒ # Verbatim Context\n- VC-1 [NOW] because r: l => s\n\n# Current Progress\n## In Progress\n- p\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        # Free\n```rust\ncode ⇒ +a ; +l=>s ⇒ # Free\n```rust\ncode\n```\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n\n# Verbatim Context\n- VC-1 [NOW] because r: l => s\n
        ~~~~\ncode\n ⇒ +a ⇒ ~~~~\ncode\n~~~~\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        # Decisions\n - x\n ``` ⇒ +a ⇒ # Decisions\n - x\n ```\n```\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        # Key Learnings\n- KL-1 a\n\n```\ncode\n\n ⇒ +b ; +l=>s ⇒ # Key Learnings\n- KL-1 a\n\n```\ncode\n```\n- KL-2 [NOW] because r: b\n\n\n# Verbatim Context\n- VC-1 [NOW] because r: l => s\n
        # Key Learnings\n- KL-1 a\n- b\n\n```\ncode ⇒ -KL-1 ⇒ # Key Learnings\n- KL-2 [NOW] b\n\n```\ncode
        # Current Progress\n```\n# no\n ⇒ *|p| ; +a ⇒ # Current Progress\n## In Progress\n- p\n\n# Key Learnings\n- KL-1 [NOW] because r: a\n
        ",
    );
}

#[test]
fn new_records_go_last_in_their_section_before_its_blank_lines() {
    follows(
        r"
        # Key Learnings\n- KL-1 a\n ⇒ +new ⇒ # Key Learnings\n- KL-1 a\n- KL-2 [NOW] because r: new\n
        # Key Learnings\n- KL-1 a ⇒ +new ⇒ # Key Learnings\n- KL-1 a\n- KL-2 [NOW] because r: new\n
        # Key Learnings ⇒ +new ⇒ # Key Learnings\n- KL-1 [NOW] because r: new\n
        # Key Learnings\n\n\n# B\n ⇒ +new ⇒ # Key Learnings\n- KL-1 [NOW] because r: new\n\n\n# B\n
        # Key Learnings\n- KL-1 a\n  sub\n \n\n# B\n ⇒ +new ⇒ # Key Learnings\n- KL-1 a\n  sub\n- KL-2 [NOW] because r: new\n \n\n# B\n
        # Key Learnings\n- KL-1 a\n\nprose\n\n# B\n ⇒ +new ⇒ # Key Learnings\n- KL-1 a\n\nprose\n- KL-2 [NOW] because r: new\n\n# B\n
        # Key Learnings\r\n- KL-1 a\r\n\r\n# B\r\n ⇒ +new ⇒ # Key Learnings\r\n- KL-1 a\r\n- KL-2 [NOW] because r: new\n\r\n# B\r\n
        ∅ ⇒ + a\r\n\n b \n ⇒ # Key Learnings\n- KL-1 [NOW] because r: a b\n
        ",
    );
}

#[test]
fn an_archived_record_removes_its_own_lines_but_not_the_blank_lines_after_it() {
    follows(
        r"
        # Key Learnings\n- KL-1 a\n ⇒ -KL-1 ⇒ # Key Learnings\n
        # Key Learnings\n- KL-1 a ⇒ -KL-1 ⇒ # Key Learnings\n
        # Key Learnings\n- KL-1 a\n  b\n\n  c\n\n\n# B\n ⇒ -KL-1 ⇒ # Key Learnings\n\n\n# B\n
        # Key Learnings\n- KL-1 a\n\n- KL-2 b\n ⇒ -KL-1 ⇒ # Key Learnings\n\n- KL-2 b\n
        # Key Learnings\n\n## Sub\n* x\n- KL-1 a\r\n prose\n ⇒ -KL-1 ⇒ # Key Learnings\n\n## Sub\n* x\n prose\n
        # Key Learnings\n- KL-1 a ⇒ -KL-1 ; +b ⇒ # Key Learnings\n- KL-2 [NOW] because r: b\n
        # Recent Tasks\n- T-1 a\n# Decisions\n- D-1 b\n ⇒ -D-1 ; -T-1 ⇒ # Recent Tasks\n# Decisions\n
        ",
    );
}

#[test]
fn progress_is_rewritten_as_a_whole_body_unless_it_says_the_same() {
    follows(
        r"
        # Current Progress:\n\nold\n```\n# no\n```\n\n\n# B\n ⇒ *|p, ,q|r ⇒ # Current Progress:\n## In Progress\n- p\n- q\n## Remaining\n- r\n\n\n# B\n
        # Current Progress ⇒ *|p|r ⇒ # Current Progress\n## In Progress\n- p\n## Remaining\n- r\n
        # Current Progress\nold ⇒ *|p| ⇒ # Current Progress\n## In Progress\n- p\n
        # Current Progress\n\n# B\n ⇒ *|p| ⇒ # Current Progress\n## In Progress\n- p\n\n# B\n
        ∅ ⇒ *|p| ; *d|q| ⇒ # Current Progress\n## Completed\n- d\n## In Progress\n- q\n
        # Current Progress\n## In Progress\n- p\n ⇒ *|p| ⇒ # Current Progress\n## In Progress\n- p\n
        # Current Progress\n## In Progress\n- p ⇒ *|p| ⇒ # Current Progress\n## In Progress\n- p
        # Current Progress\r\n\r\n## In Progress\r\n- p \r\n\r\n# B ⇒ *|p| ⇒ # Current Progress\r\n\r\n## In Progress\r\n- p \r\n\r\n# B
        ",
    );
}

#[test]
fn bullets_without_an_id_get_one_where_their_section_changes() {
    follows(
        r"
        # Key Learnings\n- a\n- KL-3 b\n- because r: c\n  - sub\n- [2026-11-21T02:00:00Z] d\n-   e\r\n ⇒ +new ⇒ # Key Learnings\n- KL-4 [NOW] a\n- KL-3 b\n- KL-5 [NOW] because r: c\n  - sub\n- KL-6 [2026-11-21T02:00:00Z] d\n- KL-7 [NOW]   e\r\n- KL-8 [NOW] because r: new\n
        # Key Learnings\n- a\n\n# Verbatim Context\n- b\n\n# Free\n- c\n\n# Current Progress\n- d\n ⇒ +l=>s ⇒ # Key Learnings\n- a\n\n# Verbatim Context\n- VC-1 [NOW] b\n- VC-2 [NOW] because r: l => s\n\n# Free\n- c\n\n# Current Progress\n- d\n
        # Key Learnings\n- a\n\n# Current Progress\n- d\n ⇒ *|p| ⇒ # Key Learnings\n- a\n\n# Current Progress\n## In Progress\n- p\n
        # Key Learnings\n- KL-1 a\n- b\n ⇒ -KL-1 ⇒ # Key Learnings\n- KL-2 [NOW] b\n
        # Key Learnings\n- KL-9223372036854775808 a\n- KL-007 b\n ⇒ +new ⇒ # Key Learnings\n- KL-1 [NOW] KL-9223372036854775808 a\n- KL-2 [NOW] KL-007 b\n- KL-3 [NOW] because r: new\n
        # Key Learnings\n- \n-  \n- \n  x\n ⇒ +new ⇒ # Key Learnings\n- \n-  \n- KL-1 [NOW] \n  x\n- KL-2 [NOW] because r: new\n
        # Key Learnings\n```\n- a\n```\n* b\n1. c\n - d\n ⇒ +new ⇒ # Key Learnings\n```\n- a\n```\n* b\n1. c\n - d\n- KL-1 [NOW] because r: new\n
        ",
    );
}

/// The first line is the record even if the same change archives it; an empty bullet would become it.
#[test]
fn the_second_line_with_an_id_gets_a_new_one_in_place_of_the_old() {
    follows(
        r"
        # Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] a\n- KL-1 [2026-11-21T02:00:00Z] b\n- KL-1 c\n- KL-1\n ⇒ +new ⇒ # Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] a\n- KL-2 [2026-11-21T02:00:00Z] b\n- KL-3 [NOW] c\n- KL-4 [NOW]\n- KL-5 [NOW] because r: new\n
        # Key Learnings\n- KL-1 a\n- KL-1 b\n ⇒ -KL-1 ⇒ # Key Learnings\n- KL-2 [NOW] b\n
        # Key Learnings\n- KL-1 a\n- KL-1\n-\n ⇒ -KL-1 ⇒ # Key Learnings\n- KL-2 [NOW]\n-\n
        ",
    );
}

#[test]
fn tasks_and_decisions_go_before_the_first_bullet() {
    let before = "# Recent Tasks\n  prose\n\n- T-1 a\n\n# Decisions\nprose\n";
    let mut edit = Edit::new(before, Counters::default(), now());
    for (content, kind) in [
        ("b", RecordKind::Task),
        ("b", RecordKind::Decision),
        ("c", RecordKind::Task),
        ("c", RecordKind::Decision),
    ] {
        let mut record = AddedRecord::default();
        record.content.push_str(content);
        edit.add(kind, &record, now()).expect("an id");
    }
    assert_eq!(
        edit.finish().text.replace(NOW, "NOW"),
        "# Recent Tasks\n  prose\n\n- T-3 [NOW] c\n- T-2 [NOW] b\n- T-1 a\n\n# Decisions\nprose\n- D-2 [NOW] c\n- D-1 [NOW] b\n"
    );
}

#[test]
fn what_a_record_line_cannot_hold_is_normalised() {
    for (added, expected) in [
        (["a: b\nc", "l => m\r\nn", "s\n \n"], ["a; b c", "l -> m n", "s"]),
        ([" a:", "l", "s\r\n"], ["a:", "l", "s"]),
        (["a:\tb: c", "l", "s\0"], ["a;\tb; c", "l", "s\u{fffd}"]),
    ] {
        let [reason, label, snippet] = added;
        let applied = applied("", &[Operation::snippet(reason, label, snippet)]);
        let record = records(&applied.text).pop().expect("a record");
        let [reason, label] = [record.reason, record.label].map(Option::unwrap_or_default);
        assert_eq!([reason, label, record.content], expected);
    }
}

#[test]
fn archives_of_what_is_not_active_are_refused() {
    for (row, named) in [("-KL-2", "KL-2"), ("-KL-1 ; -KL-1", "KL-1")] {
        let document = "# Key Learnings\n- KL-1 a\n";
        let refused = apply(document, Counters::default(), &operations(row), now(), &LIMITS);
        let is_named = matches!(&refused, Err(EditError::NotActive { id: of, .. }) if *of == id(named));
        assert!(is_named, "{refused:?}");
    }
}

#[test]
fn the_next_id_is_one_more_than_the_counter_and_every_record_line() {
    let mut counters = Counters::default();
    counters.raise(RecordKind::Learning, 5);
    counters.raise(RecordKind::Learning, 2);
    for (document, expected) in [
        ("", "KL-6"),
        ("# Key Learnings\n- KL-4 a\n", "KL-6"),
        ("# Key Learnings\n- KL-8 a\n", "KL-9"),
        ("# Key Learnings\n- KL-8 a\n- KL-8 b\n", "KL-10"),
        // Free text, snippets and other sections do not count as ids in use.
        (
            "KL-8\n# Free\n- KL-9 a\n# Verbatim Context\n- KL-9 a =>\n  - KL-9 b\n",
            "KL-6",
        ),
    ] {
        let applied = apply(document, counters, &[learn("new")], now(), &LIMITS).expect("applied");
        let added = applied.operations[0].id.expect("an id");
        assert_eq!(added, id(expected), "{document}");
        assert_eq!(applied.counters.get(RecordKind::Learning), added.number);
    }
    let seen =
        Counters::seen_in("# Decisions\n- D-2 a\n- D-2 b\n- T-9 c\n# Recent Tasks\n- T-4 d\n- T-1 e\n");
    assert_eq!(RecordKind::ALL.map(|kind| seen.get(kind)), [0, 0, 4, 2]);
}

const DOCUMENT: &str = "# Key Learnings\n- KL-1 because r: Use  Tokio\n- by hand\n- KL-2 two\n  lines\n\
                        # Verbatim Context\n- VC-1 because r: Makefile =>\n  a\n  b\n";

fn items(operations: &[Operation]) -> Vec<Item> {
    let item =
        |(place, operation): (usize, &Operation)| Item::new(operation.clone(), place * 10..place * 10 + 10);
    operations.iter().enumerate().map(item).collect()
}

fn fault(kind: FaultKind, id: Option<RecordId>, start: usize) -> Fault {
    Fault::new(kind, "said")
        .of(id)
        .at(Some(Role::Learnings), start..start + 5)
}

fn validated(operations: &[Operation], faults: Vec<Fault>, earlier: &[Operation]) -> Parsed {
    let ended = BTreeSet::from([id("KL-5"), id("KL-1")]);
    let view = View {
        document: DOCUMENT,
        ended: &ended,
        now: DateTime::UNIX_EPOCH,
    };
    let parsed = Parsed {
        items: items(operations),
        faults,
        ..Parsed::default()
    };
    validate(parsed, &view, earlier, &LIMITS)
}

/// Each row: operations, after ` > ` if there were earlier ones, and for each the name of its fault, or `ok`.
fn verdicts(table: &str) {
    let table = table.replace("LARGE", &"ä".repeat(21));
    for row in rows(&table.replace("FITS", &"ä".repeat(20))) {
        let (earlier, now) = match row[0].split_once(" > ") {
            Some((earlier, now)) => (operations(earlier), operations(now)),
            None => (Vec::new(), operations(&row[0])),
        };
        let validated = validated(&now, vec![], &earlier);
        let verdict = |item: &Item| {
            let fault = validated.faults.iter().find(|fault| fault.range == item.range);
            assert_eq!(fault.is_none(), validated.items.contains(item));
            fault.map_or("ok", |fault| fault.kind.name())
        };
        let verdicts: Vec<_> = items(&now).iter().map(verdict).collect();
        assert_eq!(verdicts.join(" "), row[1], "{}", row[0]);
    }
}

#[test]
fn an_archive_names_a_record_that_existed_and_is_active() {
    verdicts(
        "
        -KL-1 ; -KL-9 ; -KL-5 ; -KL-1 ; -VC-1 ; -VC-5 ⇒ ok unknown_id already_archived already_archived ok unknown_id
        +new ; -KL-3 ⇒ ok unknown_id
        -KL-1 > -KL-1 ⇒ already_archived",
    );
}

#[test]
fn learnings_are_compared_folded_and_snippets_to_the_byte_after_the_archives() {
    verdicts(
        r"
        +use tokio ; +BY  HAND ; +two lines ; +usetokio ⇒ duplicate duplicate duplicate ok
        +ÄRGER ; +ärger ⇒ ok duplicate
        +x > +X ⇒ duplicate
        +MAKEFILE=>a\nb ; +makefile=>a\nB ; +other=>a\nb ; +Other =>a\nb ⇒ duplicate ok ok duplicate
        +makefile=>a\nb\n\n ⇒ duplicate
        +makefile=>a\nb  ; +z ⇒ ok ok
        +use tokio ; -KL-1 ⇒ ok ok
        -KL-1 > +use tokio ⇒ ok
        +use tokio ; -KL-9 ⇒ duplicate unknown_id",
    );
    // A record line cannot have an arrow in its label.
    let arrow = [Operation::snippet("r", "f(x => y)", "a")];
    let document = applied("# Verbatim Context\n", &arrow).text;
    let view = View {
        document: &document,
        ended: &BTreeSet::new(),
        now: now(),
    };
    let again = validate(Parsed::of(arrow), &view, &[], &LIMITS);
    assert_eq!(again.faults[0].kind, FaultKind::Duplicate, "{document}");
}

#[test]
fn an_item_is_limited_in_size_and_only_valid_additions_count() {
    verdicts(
        "
        +FITS ; +l=>FITS ⇒ ok ok
        +LARGE ; +l=>LARGE ⇒ too_large too_large
        +LARGE=>s ⇒ ok
        +LARGE ; +LARGE ⇒ too_large duplicate
        +by hand ; +LARGE ; +1 ; +l=>1 ; +2 ; +3 ; +4 ; +l=>2 ⇒ duplicate too_large ok ok ok ok too_many_additions ok
        +1 ; +2 > +3 ; +4 ⇒ ok too_many_additions
        +1 ; +2 ; +3 ; +LARGE ; +by  hand ⇒ ok ok ok too_many_additions duplicate",
    );
}

/// A learning may say the same as what it replaces, in other words.
#[test]
fn what_an_addition_replaces_is_archived_with_it_or_not_at_all() {
    verdicts(
        "
        ~KL-1 new ⇒ ok
        ~KL-1 use tokio ⇒ ok
        ~KL-9 new ⇒ unknown_id
        ~KL-5 new ⇒ already_archived
        ~VC-1 new ⇒ wrong_section_id
        -KL-1 ; ~KL-1 LARGE ⇒ uncalled_archive too_large
        ~KL-1 by hand ; -KL-1 ⇒ duplicate ok
        ~KL-1 new ; ~KL-1 newer ⇒ ok already_archived
        -KL-1 > ~KL-1 new ⇒ ok",
    );
}

#[test]
fn a_document_over_its_limit_may_only_shrink() {
    let document = format!(
        "{}\n# Key Learnings\n- KL-1 because a: one\n",
        "x".repeat(LIMITS.context_bytes)
    );
    let tried = |operation| apply(&document, Counters::default(), &[operation], now(), &LIMITS);
    assert!(tried(archive("KL-1")).is_ok());
    assert!(tried(learn("two")).is_err());
    assert!(tried(replace("KL-1", "one and more")).is_err());
}

/// What a rejected item would have removed stays, and so it stands in no other item's way.
#[test]
fn a_rejected_item_takes_no_other_with_it() {
    let document = "# Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n- KL-3 because c: one and two\n\
                    - KL-4 because d: One\n";
    let grounded = |name: &str, ground| Operation::Archive {
        id: id(name),
        reason: "r".to_owned(),
        ground: Some(ground),
    };
    let merge = |content: &str| {
        Operation::Add(AddedRecord {
            merges: vec![id("KL-1"), id("KL-2")],
            ..learn(content).addition().cloned().expect("an addition")
        })
    };
    let mark = |name: &str| Operation::Mark {
        id: id(name),
        reason: "r".to_owned(),
        pinned: Some(true),
        until: None,
    };
    let (covered, not) = (Ground::DuplicateOf(id("KL-3")), Ground::DuplicateOf(id("KL-2")));
    let verdicts = |operations: Vec<Operation>| {
        let count = operations.len();
        let ended = BTreeSet::new();
        let view = View {
            document,
            ended: &ended,
            now: now(),
        };
        let parsed = Parsed {
            items: items(&operations),
            ..Parsed::default()
        };
        let validated = validate(parsed, &view, &[], &LIMITS);
        let fault = |place: usize| {
            validated
                .faults
                .iter()
                .find(|fault| fault.range.start == place * 10)
        };
        let verdict = |place: usize| fault(place).map_or("ok", |fault| fault.kind.name());
        let verdicts: Vec<_> = (0..count).map(verdict).collect();
        assert_eq!(validated.items.len() + validated.faults.len(), count);
        verdicts.join(" ")
    };
    for (operations, expected) in [
        (
            vec![merge("one and two"), grounded("KL-1", covered)],
            "duplicate ok",
        ),
        // One record takes the place of another.
        (
            vec![merge("two and one"), replace("KL-2", "three")],
            "ok already_archived",
        ),
        (
            vec![replace("KL-2", "three"), merge("two and one")],
            "already_archived ok",
        ),
        (vec![replace("KL-2", "three"), merge("one")], "ok uncovered"),
        (vec![grounded("KL-1", not), mark("KL-1")], "uncovered ok"),
        (
            vec![mark("KL-1"), grounded("KL-1", covered)],
            "already_archived ok",
        ),
        (vec![replace("KL-1", "two"), mark("KL-1")], "duplicate ok"),
        (
            vec![replace("KL-1", "two"), archive("KL-2"), mark("KL-1")],
            "ok ok already_archived",
        ),
        (
            vec![
                grounded("KL-4", Ground::Expired),
                grounded("KL-1", Ground::DuplicateOf(id("KL-4"))),
            ],
            "uncovered ok",
        ),
        // Each may go only if the other stays: none goes.
        (
            vec![
                grounded("KL-1", Ground::DuplicateOf(id("KL-4"))),
                grounded("KL-4", Ground::DuplicateOf(id("KL-1"))),
            ],
            "uncovered uncovered",
        ),
        // What an addition replaces is known when another archiving is judged again.
        (
            vec![
                grounded("KL-4", Ground::Expired),
                grounded("KL-1", Ground::DuplicateOf(id("KL-4"))),
                replace("KL-1", "new"),
            ],
            "uncovered ok ok",
        ),
        // An addition whose record is archived on its own is an ordinary one if that is rejected.
        (
            vec![grounded("KL-2", not), replace("KL-2", "new")],
            "uncovered ok",
        ),
    ] {
        assert_eq!(verdicts(operations.clone()), expected, "{operations:?}");
    }
}

fn kinds(validated: &Parsed) -> Vec<&'static str> {
    validated.faults.iter().map(|fault| fault.kind.name()).collect()
}

#[test]
fn a_placeholder_is_unknown_where_its_id_never_existed() {
    let faults = vec![
        fault(FaultKind::Placeholder, Some(id("KL-9")), 0),
        fault(FaultKind::Placeholder, Some(id("KL-5")), 10),
        fault(FaultKind::Placeholder, None, 20),
        fault(FaultKind::MissingReason, Some(id("KL-9")), 30),
    ];
    let expected = ["unknown_id", "placeholder", "placeholder", "missing_reason"];
    assert_eq!(kinds(&validated(&[], faults, &[])), expected);
}

#[test]
fn a_warning_about_an_item_that_is_rejected_goes_and_faults_stay_in_input_order() {
    let warnings = vec![
        fault(FaultKind::UnknownHeader, None, 2),
        fault(FaultKind::MultiLineInsight, None, 10),
        fault(FaultKind::MultiLineInsight, None, 20),
        fault(FaultKind::Truncated, None, 40),
    ];
    let validated = validated(&operations("-KL-1 ; +by hand ; +new ; -KL-5"), warnings, &[]);
    let expected = "unknown_header duplicate multi_line_insight already_archived truncated";
    assert_eq!(kinds(&validated).join(" "), expected);
    assert_eq!(validated.items.len(), 2);
}
