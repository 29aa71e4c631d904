//! Large documents: every operation is linear in their size. The limits are far above what is needed, so that a busy machine
//! does not fail them, and far below what quadratic work takes.

use crate::{accepted, archive, case, now};
use std::hint::black_box;
use std::iter::repeat_with;
use std::ops::Range;
use std::time::{Duration, Instant};
use working_memory::domain::bring::{self, Note, SourceFile};
use working_memory::domain::consolidation::{Ground, Share, find};
use working_memory::domain::document::{Origins, find_section, headings, records, unified_diff};
use working_memory::domain::dsl::Parsed;
use working_memory::domain::evidence::{Input, Judge, JudgeContext, Judged};
use working_memory::domain::handoff::citations_in;
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::memory::{Counters, Limits, apply, project};
use working_memory::domain::operation::{AddedRecord, FaultKind, Operation, Progress};
use working_memory::domain::text::masked;
use working_memory::domain::window::first_sentence;
use working_memory::llm::{ConversationMessage, rules};

const ENOUGH: Duration = Duration::from_secs(3);

/// What some work returns, which must be done within a time.
#[track_caller]
fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let made = work();
    assert!(begin.elapsed() < time, "{:?}", begin.elapsed());
    made
}

fn learning(number: i64) -> RecordId {
    RecordId::new(RecordKind::Learning, number)
}

fn learnings(numbers: impl Iterator<Item = usize>) -> String {
    let lines: String = numbers.map(|number| format!("- KL-{number} x\n")).collect();
    format!("# Key Learnings\n{lines}")
}

/// What is judged of operations that were made of messages, with the progress before them.
fn judged(messages: Vec<&str>, progress: &str, operations: Vec<Operation>) -> Vec<Judged> {
    let items = Parsed::of(operations).items;
    let input = Input { task: "f", messages };
    let case = JudgeContext {
        progress,
        ..case(&input)
    };
    within(ENOUGH, || Judge::new(case, &items).items(items))
}

#[test]
fn ten_thousand_records_are_validated_and_changed_in_time() {
    let document = learnings(1..=10_000) + &"- by hand\n".repeat(10_000);
    let operations = (1..=10_000).map(|number| archive(learning(number), None));
    let limits = Limits {
        context_bytes: usize::MAX,
        ..crate::LIMITS
    };
    within(ENOUGH, || {
        let operations = accepted(&document, operations, &limits);
        let applied = apply(&document, Counters::default(), &operations, now(), &limits).expect("applied");
        assert_eq!(project(&document, &applied.text).len(), 20_000);
        assert_eq!(records(&applied.text).len(), 10_000);
    });
}

#[test]
fn grounds_and_merges_are_checked_in_time_however_often_they_are_given() {
    let words = |numbers: &mut dyn Iterator<Item = usize>| -> String {
        numbers.map(|number| format!("w{number} ")).collect()
    };
    let (forwards, backwards) = (words(&mut (0..4_000)), words(&mut (0..4_000).rev()));
    let document = format!("# Key Learnings\n- KL-1 {forwards}\n- KL-2 {backwards}\n");
    let [one, two] = [1, 2].map(learning);
    let merge = Operation::Add(AddedRecord {
        reason: "r".to_owned(),
        content: "w1 w2 w3".to_owned(),
        merges: vec![one, two],
        ..AddedRecord::default()
    });
    let grounds = [
        Ground::DuplicateOf(two),
        Ground::SupersededBy(two),
        Ground::Expired,
    ];
    within(ENOUGH, || {
        for operation in grounds
            .map(|ground| archive(one, Some(ground)))
            .into_iter()
            .chain([merge])
        {
            let often = repeat_with(|| operation.clone()).take(2_000);
            assert_eq!(accepted(&document, often, &crate::LIMITS), []);
        }
    });
}

#[test]
fn a_document_of_look_alikes_is_consolidated_in_time() {
    let decisions: String = (1..=3_000)
        .map(|number| format!("- D-{number} it replaces D-{}\n", number + 1))
        .collect();
    let snippets: String = (1..=3_000)
        .map(|number| format!("- VC-{number} l{number} => x\n"))
        .collect();
    let document = format!("# Verbatim Context\n{snippets}# Decisions\n{decisions}");
    let found = within(ENOUGH, || find(&document, now(), &mut Share::of(&document, 1.0)));
    assert_eq!(found, []);
}

#[test]
fn credentials_are_found_in_time_whatever_looks_like_one() {
    let pieces = "password=(|password=«<|password=x|password: abcde |-----BEGIN |bearer |a://b:";
    within(ENOUGH, || {
        for piece in pieces.split('|') {
            black_box(masked(&piece.repeat(40_000 / piece.len())));
        }
    });
}

#[test]
fn sentences_that_call_many_records_wrong_are_heard_in_time() {
    let memory = learnings(1..=4_000);
    let quotations = (0..180).map(|number| format!("\"a {number}\" "));
    let names = (0..180).map(|number| format!("KL-{number} "));
    let sentences = [quotations.collect::<String>(), names.collect()].map(|said| said + "is outdated.\n");
    let message = ConversationMessage {
        role: "user".to_owned(),
        content: sentences.concat().repeat(100),
    };
    let operations = within(ENOUGH, || rules::operations(&memory, "go on", &[message]));
    let archived = operations
        .iter()
        .filter(|operation| operation.archives().is_some());
    assert_eq!(archived.count(), 179);
}

#[test]
fn progress_is_compared_with_the_one_before_in_time() {
    let before: String = (0..12_000).map(|number| format!("- b{number}c\n")).collect();
    let operation = Operation::RewriteProgress(Progress {
        in_progress: (0..12_000).map(|number| format!("d{number}e")).collect(),
        ..Progress::default()
    });
    let judged = judged(vec!["g"], &before, vec![operation]);
    assert_eq!(judged[0].faults.len(), 12_000);
}

#[test]
fn lines_of_snippets_are_searched_in_time_however_many_there_are() {
    let lines = |numbers: Range<u32>| -> Vec<String> {
        let number = |number: u32| format!("{:024b}\n", number * 7_919 % (1 << 24));
        numbers.map(number).collect()
    };
    let mut copied = lines(4_000..16_000);
    copied.reverse();
    // Each is the end of the next.
    copied.extend((1..100).map(|length| "1".repeat(length) + "\n"));
    let copied = copied.concat();
    let foreign = copied.clone() + "12";
    let (message, runs) = (lines(0..16_000).concat(), "1".repeat(20_000));
    let snippets = [&copied, &foreign].map(|text| Operation::snippet("next", "label", text));
    let judged = judged(vec![&message, &runs], "", snippets.into());
    assert!(judged[0].item.is_some());
    assert!(judged[1].faults[0].detail.contains("`12`"));
}

#[test]
fn an_answer_of_many_snippets_and_bullets_searches_a_large_input_a_limited_number_of_times() {
    let message: String = (0..20_000).map(|number| format!("{number:05} b\n")).collect();
    let snippets = (0..10_000).map(|number| Operation::snippet("r", "l", format!("{number:05} b")));
    // No bullet has a word of three letters or a digit, and none is in the input.
    let letter = |number: u32| char::from_digit(10 + number % 26, 36).expect("a letter");
    let bullet = |number: u32| {
        let letters = [number, number / 26, number / 676];
        letters.map(|number| letter(number).to_string()).join(" ")
    };
    let progress = Operation::RewriteProgress(Progress {
        completed: (0..10_000).map(bullet).collect(),
        in_progress: vec!["B".to_owned()],
        ..Progress::default()
    });
    let judged = judged(vec![&message], "", snippets.chain([progress]).collect());
    let (progress, snippets) = judged.split_last().expect("judged");
    let (read, others) = snippets.split_at(200);
    assert!(read.iter().all(|judged| judged.item.is_some()));
    let is_unread =
        |judged: &Judged| judged.item.is_none() && judged.faults[0].kind == FaultKind::TooManyAdditions;
    assert!(others.iter().all(is_unread));
    assert!(progress.item.is_some());
    assert_eq!(progress.faults.len(), 10_000);
}

#[test]
fn an_answer_of_many_archivings_and_additions_compares_a_limited_number_of_them() {
    let document: String = (1..=3_000)
        .map(|number| format!("- KL-{number} the parser of number {number}\n"))
        .collect();
    let document = format!("# Key Learnings\n{document}");
    let items = Parsed::of((1..=3_000).map(|number| archive(learning(number), None))).items;
    let added: Vec<_> = (0..10_000)
        .map(|number| Operation::learning("r", format!("the parser of number {number}x")))
        .collect();
    let additions = added.iter().map(|operation| (operation, false));
    let input = Input {
        task: "f",
        messages: vec!["g"],
    };
    let case = JudgeContext {
        document: &document,
        ..case(&input)
    };
    let judged = within(ENOUGH, || {
        Judge::new(case, &items).archives(items, additions, &[])
    });
    let kinds = judged.iter().map(|judged| judged.faults[0].kind);
    let kinds: Vec<_> = kinds.collect();
    let (compared, others) = kinds.split_at(100);
    assert!(compared.iter().all(|kind| *kind == FaultKind::UncalledArchive));
    assert!(others.iter().all(|kind| *kind == FaultKind::TooManyArchives));
}

#[test]
fn documents_of_headings_and_fences_alone_are_parsed_in_time() {
    let lines = "# a\n|# Decisions\n|```\n|- \n|\n|  |- a\n  b\n|- :: :: ::\n|#|`|=>";
    within(ENOUGH, || {
        for line in lines.split('|') {
            let many = line.repeat(20_000);
            black_box(records(&format!("{many}# Verbatim Context\n- VC-1 {many}")));
        }
    });
}

#[test]
fn the_diff_of_reordered_documents_is_computed_in_time() {
    let count = 9_000;
    let forwards = learnings(1..=count);
    let pairs = [
        learnings((1..=count).rev()),
        learnings(count + 1..=2 * count),
        learnings((1..=count).map(|number| number * 7_919 % count)),
        learnings((1..=count).map(|number| number % 10)),
    ];
    for other in pairs {
        let diff = within(ENOUGH, || unified_diff(&forwards, &other, "a", "b"));
        assert!(!diff.is_empty());
    }
}

#[test]
fn origins_of_reordered_documents_are_computed_in_time() {
    let lines = |number: usize| format!("{}\n", number % 89);
    for count in [4_000, 30_000] {
        let forwards: String = (0..count).map(lines).collect();
        let others: [String; 3] = [
            (0..count).rev().map(lines).collect(),
            (0..count).map(|number| lines(number * 7_919 % 30_011)).collect(),
            (0..count).map(|number| format!("x{number}\n")).collect(),
        ];
        for other in others {
            let origins = within(ENOUGH, || {
                Origins::of_first(&forwards, 1).after(&forwards, &other, 2)
            });
            assert_eq!(origins.lines(), count);
        }
    }
}

#[test]
fn long_titles_over_many_headings_are_searched_in_time() {
    let title = "t".repeat(50_000);
    let document = format!("# {title}\n{}", "## a\n".repeat(10_000));
    within(ENOUGH, || {
        assert_eq!(headings(&document).all().len(), 10_001);
        assert!(find_section(&document, &format!("{title}/b")).is_none());
        assert!(find_section(&document, &format!("{title}/a")).is_some());
    });
}

fn of_file(name: &str, text: String) -> SourceFile {
    SourceFile::of(name, text.into_bytes()).expect("a text")
}

#[test]
fn files_of_other_systems_are_read_and_added_in_time() {
    let words = "x".repeat(60);
    // One line, as a program writes JSON.
    let memories: Vec<String> = (0..30_000)
        .map(|number| format!("{{\"memory\": \"{number} {words}\"}}"))
        .collect();
    let memories = format!("[{}]", memories.join(","));
    let titles = (0..20_000).map(|number| format!("# Title {number}\n{number} {words}\n"));
    let one = (0..40_000).map(|number| format!("# Title\n{number} {words}\n"));
    // Blocks of one label, and one whose every line would be a section.
    let ids: Vec<String> = (0..10_000).map(|number| format!("\"b{number}\"")).collect();
    let blocks: Vec<String> = ids
        .iter()
        .map(|id| format!("{{\"id\": {id}, \"label\": \"human\", \"value\": {id}}}"))
        .collect();
    let headings = "# a\\n".repeat(200_000);
    let agent = format!(
        "{{\"agents\": [{{\"block_ids\": [{}], \"core_memory\": [{{\"value\": \"{headings}\"}}]}}], \"blocks\": [{}]}}",
        ids.join(","),
        blocks.join(",")
    );
    let (titles, one) = (of_file("t.md", titles.collect()), of_file("o.md", one.collect()));
    within(4 * ENOUGH, || {
        for (read, count) in [
            (bring::mem0(&of_file("m.json", memories)), 30_000),
            (bring::markdown(&titles, Note::Plain), 20_000),
            (bring::markdown(&one, Note::Plain), 1),
            (bring::letta(&of_file("a.af", agent)), 10_001),
        ] {
            let read = read.expect("pieces");
            assert!(count != 1 || read.pieces.len() == 1);
            let plan = bring::plan("", Counters::default(), &[], &read.pieces, now()).expect("a plan");
            assert_eq!(plan.added.len(), count);
        }
    });
}

#[test]
fn a_line_of_full_stops_or_citations_alone_is_read_in_time() {
    let stops = ".".repeat(300_000);
    assert_eq!(within(ENOUGH, || first_sentence(&stops)), stops);
    let cited: Vec<String> = (1..=200_000).map(|number| format!("KL-{number}@1")).collect();
    let line = format!("- [{}]", cited.join(","));
    let (text, citations) = within(ENOUGH, || citations_in(&line));
    assert_eq!((text.as_str(), citations.len()), ("- ", 200_000));
}
