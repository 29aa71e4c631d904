//! What is accepted and what is rejected, by format, and the laws of [`plan()`].

use super::*;
use crate::domain::document::{find_section, records};
use crate::domain::memory::{Counters, EditError};
use proptest::prelude::*;

const CLAUDE: &str = include_str!("../../../examples/bring/CLAUDE.md");
const AGENT: &str = include_str!("../../../examples/bring/agent.af");
const PASSAGES: &str = include_str!("../../../examples/bring/passages.json");
const COFFEE: &str = include_str!("../../../examples/bring/coffee.md");

fn file(name: &str, text: &str) -> SourceFile {
    SourceFile::of(name, text.as_bytes().to_vec()).unwrap()
}

fn now() -> DateTime<Utc> {
    "2026-11-25T00:00:00Z".parse().unwrap()
}

/// Each piece as a line: a learning with its reason, or a section with its text.
fn shown(read: &Pieces) -> Vec<String> {
    let line = |piece: &Piece| match &piece.title {
        Some(title) => format!("# {title}\n{}", piece.text),
        None => format!("{} <- {}", piece.text, piece.reason()),
    };
    read.pieces.iter().map(line).collect()
}

fn plain(text: &str) -> Vec<String> {
    shown(&markdown(&file("N.md", text), Note::Plain).unwrap())
}

fn planned(document: &str, pieces: &[Piece]) -> Plan {
    plan(document, Counters::seen_in(document), &[], pieces, now()).unwrap()
}

#[test]
fn bullets_are_learnings_with_their_place_and_the_rest_stays_text() {
    let read = markdown(&file("CLAUDE.md", CLAUDE), Note::WithImports).unwrap();
    assert_eq!(
        shown(&read),
        [
            "Build with `make build` <- from CLAUDE.md:7, Acme shop > Commands",
            "Run one test: `cargo nextest run -E 'test(name)'` <- from CLAUDE.md:8, Acme shop > Commands",
            "1. Never edit a migration that is merged <- from CLAUDE.md:12, Acme shop > Rules",
            "2. Prices are integers, in cents <- from CLAUDE.md:13, Acme shop > Rules",
            "A new endpoint needs - a route - a test <- from CLAUDE.md:15, Acme shop > Rules",
            "# Acme shop\nA web shop in Rust on PostgreSQL. The design is in @docs/design.md.\n\n## Example\n```rust\n\
             let total: Cents = prices.iter().sum();\n```",
        ]
    );
    // In a code span or block it is no import.
    let spans = markdown(&file("C", "Use `@a/b` and\n```\n@c/d\n```\n"), Note::WithImports).unwrap();
    assert_eq!(spans.left, Vec::<String>::new());
}

#[test]
fn no_text_of_a_markdown_file_is_lost() {
    let is_read = |text: &str, pieces: &[&str]| assert_eq!(plain(text), pieces);
    // A code block in a bullet, which one line cannot represent.
    let code = "- Build:\n\n  ```sh\n  make\n\n  make test\n  ```";
    let stays = format!("# N.md\n{code}");
    is_read(&format!("{code}\n- Next\n"), &["Next <- from N.md:8", &stays]);
    // Bullets in code blocks, comments, quotes and indented code are none.
    let none = "```\n- a\n```\n<!--\n- b\n## c\n-->\n> - d\n\n    - e";
    is_read(&format!("{none}\n"), &[&format!("# N.md\n{none}")]);
    // Lazy lines, tasks, other marks, rules, tables, empty items, indented lists.
    is_read(
        "* one\nstill one\n+ [ ] two\n\n  still two\n-\n- - -\n| a | b |\n 1) three\n 2) four\n",
        &[
            "one still one <- from N.md:1",
            "[ ] two still two <- from N.md:3",
            "1) three <- from N.md:9",
            "2) four <- from N.md:10",
            "# N.md\n- - -\n| a | b |",
        ],
    );
    // Text of two sections with one title, and the line ends of another system.
    is_read("# A\nx\n# B\ny\n# A\nz\n", &["# A\nx\n\nz", "# B\ny"]);
    is_read("\u{feff}- a\r\n  b\r\n", &["a b <- from N.md:1"]);
    let empty = markdown(&file("N.md", "# A\n## B\n- c\n## D\n# E\n"), Note::Plain).unwrap();
    assert_eq!(shown(&empty), ["c <- from N.md:3, A > B"]);
    let left = ["N.md:4: ## D", "N.md:5: # E"].map(|place| format!("{place}, with nothing below it"));
    assert_eq!(empty.left, left);
}

#[test]
fn what_looks_like_sections_records_or_operations_stays_words() {
    let document =
        "# Key Learnings\n- KL-1 [2026-01-01T00:00:00Z] because it is so: kept\n\n# Decisions\n- D-1 stays\n";
    let letta = "{\"name\": \"x\", \"core_memory\": [{\"label\": \"Key Learnings\", \"value\": \"a\\n# Decisions\\n- D-9 evil\\n```\"}]}";
    let read = letta_pieces(letta);
    let title = ["# Key Learnings (x.af)\na\n## Decisions\n- D-9 evil\n```\n```"];
    assert_eq!(shown(&read), title);
    assert_eq!(records(&planned(document, &read.pieces).text), records(document));
    // A title in a code block is text.
    let piece = markdown(&file("N.md", "x\n```\n# Current Progress\n```\n"), Note::Plain).unwrap();
    let text = planned("# Progress\n- a\n", &piece.pieces).text;
    assert_eq!(find_section(&text, "progress"), Some("# Progress\n- a\n\n"));
}

fn letta_pieces(text: &str) -> Pieces {
    letta(&file("x.af", text)).unwrap()
}

fn plan_of(document: &str, pieces: &[Piece]) -> Result<Plan, EditError> {
    plan(document, Counters::default(), &[], pieces, now())
}

/// What a file of mem0 keeps is in the test of the program; these are the list alone, a time without an offset, an id that is none
/// here, and no owner.
#[test]
fn an_id_of_mem0_that_is_none_here_gets_one_of_its_own() {
    let list = "[{\"memory\": \"a\", \"user_id\": \"ann b@x\", \"created_at\": \"2025-01-01 00:00:00.5\"}, {\"memory\": \"b\"}, {\"memory\": null}]";
    let read = mem0(&file("m.json", list)).unwrap();
    assert_eq!(read.left, ["m.json: a memory without text"]);
    assert_eq!(read.pieces[0].memory, None);
    let memory = read.pieces[1].memory.as_ref().unwrap();
    assert!(memory.as_str().starts_with("user-ann-b-x-"), "{memory}");
    assert_ne!(*memory, memory_of("user", "ann b+x"));
}

#[test]
fn blocks_of_letta_are_sections_and_passages_learnings() {
    let read = letta(&file("a.af", AGENT)).unwrap();
    assert_eq!(
        shown(&read),
        ["# human\nName: Ann\nRole: engineer", "# persona\nDry and short."]
    );
    let read = letta(&file("p.json", PASSAGES)).unwrap();
    let passages = [
        "Invoices are numbered without gaps <- from p.json, passage-1",
        "The staging database is reset every night <- from p.json, passage-2, tags staging",
    ];
    assert_eq!(shown(&read), passages);
    let two = "{\"agents\": [{\"name\": \"a\", \"block_ids\": [\"b\"]}, {\"name\": \"b\", \"block_ids\": [\"b\"]}],
                \"blocks\": [{\"id\": \"b\", \"label\": \"l\", \"value\": \"v\"}, {\"id\": \"c\", \"label\": \"of none\", \"value\": \"v\"}]}";
    let read = letta(&file("two.af", two)).unwrap();
    let memories = read.pieces.iter().map(|piece| piece.memory.clone().unwrap());
    let expected = [memory_of("agent", "a"), memory_of("agent", "b")];
    assert_eq!(memories.collect::<Vec<_>>(), expected);
    assert_eq!(
        read.left.last().unwrap(),
        "two.af: block of none, which no agent has"
    );
}

#[test]
fn notes_of_basic_memory_keep_front_matter_observations_and_relations() {
    let read = markdown(&file("coffee.md", COFFEE), Note::BasicMemory).unwrap();
    let under = "Coffee brewing >";
    assert_eq!(
        shown(&read),
        [
            "# Coffee brewing\n```yaml\ntitle: Coffee brewing\ntype: note\npermalink: coffee-brewing\ntags:\n- coffee\n- brewing\n```\n\n\
             Notes of the morning."
                .to_owned(),
            format!(
                "[method] Pour over keeps the flavours apart #brewing <- from coffee.md:16, {under} Observations"
            ),
            format!(
                "[tip] Water at 94 °C, not boiling (from the roaster) <- from coffee.md:17, {under} Observations"
            ),
            format!("Coffee brewing requires [[Grinding]] <- from coffee.md:21, {under} Relations"),
            format!("Coffee brewing \"contrasts with\" [[Tea brewing]] <- from coffee.md:22, {under} Relations"),
        ]
    );
}

#[test]
fn a_relation_is_one_of_its_note_under_any_heading() {
    let note =
        "---\ntitle: \"A: b\"\n---\n# Other\n- part_of [[C]] (x)\n- see [[C]] and [[D]]\n- two words [[C]]\n";
    let read = markdown(&file("n.md", note), Note::BasicMemory).unwrap();
    let texts: Vec<_> = read.pieces[1..].iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(
        texts,
        ["A: b part_of [[C]] (x)", "see [[C]] and [[D]]", "two words [[C]]"]
    );
}

#[test]
fn a_file_of_another_form_is_rejected_with_its_place_and_the_form_that_was_expected() {
    type Reader = fn(&SourceFile) -> Result<Pieces, BadInput>;
    let plain: Reader = |file| markdown(file, Note::Plain);
    let basic: Reader = |file| markdown(file, Note::BasicMemory);
    let deep = format!(
        "[{{\"memory\": \"a\", \"metadata\":\n{}",
        "[".repeat(500) + &"]".repeat(500) + "}]"
    );
    let table = r#"
        plain | {"a": 1}\n | f:1:1: this is JSON | expected Markdown
        basic | # A\n- [x] b\n | f:1:1:  | note of basic-memory
        basic | ---\ntitle: a\n | f:1:1: the front matter never ends | note of basic-memory
        basic | ---\ntitle: a\nno entry\n---\n | f:3:1:  | `name: value`
        mem0 | # A\n | f:1:1: expected value | mem0's get_all
        mem0 | {"memories": []} | f:1:16: missing field `results` | mem0's get_all
        mem0 | {"results": [\n  {"text": "a"}\n]} | f:2:15: missing field `memory` | mem0's get_all
        mem0 | [\n{"memory": 1}] | f:2:12: invalid type | mem0's get_all
        mem0 | [{"memory": "a"},\n{"memory": "b" | f:2:14: EOF | mem0's get_all
        mem0 | [{"memory": "a", "created_at": "soon"}] | f:1:38: created_at | times such as
        letta | # A\n | f:1:1: expected value | agent file
        letta | {"results": []} | f:1:1: expected Letta's agent file | core_memory
        letta | {"agents": [],\n "blocks": {}} | f:2:11: invalid type | agent file
        letta | {"agents": [{"memory_blocks": [{}]}]} | f:1:33: missing field `value` | agent file
        letta | [{"memory": "a"}] | f:1:16: missing field `text` | archival passages"#;
    let rejects = |name: &str, text: &str, begin: &str, expected: &str| {
        let readers: [(&str, Reader); 4] = [
            ("plain", plain),
            ("basic", basic),
            ("mem0", mem0),
            ("letta", letta),
        ];
        let (_, read) = readers.into_iter().find(|reader| reader.0 == name).unwrap();
        let error = read(&file("f", text)).unwrap_err().to_string();
        assert!(
            error.starts_with(begin) && error.contains(expected),
            "{text}: {error}"
        );
    };
    for row in table.trim().lines() {
        let row: Vec<_> = row.trim().split(" | ").collect();
        let [name, text, begin, expected] = row[..] else {
            panic!("{row:?}");
        };
        rejects(name, &text.replace("\\n", "\n"), begin, expected);
    }
    rejects("mem0", &deep, "f:2:1", "recursion limit");
    for (bytes, said) in [
        (&b""[..], "f:1:1: the file is empty"),
        (b"\xef\xbb\xbf \n", "f:1:1: the file is empty"),
        (b"a\nb\xff", "f:2:2: the file is not UTF-8 here"),
        (b"a\0", "f:1:2: the file contains a NUL character; is it text?"),
    ] {
        assert_eq!(SourceFile::of("f", bytes.to_vec()).unwrap_err().to_string(), said);
    }
}

/// The token of a file, and a credential that JSON spells with escapes, are in the test of the program.
#[test]
fn carriage_returns_end_lines_and_two_rules_are_no_front_matter() {
    assert_eq!(plain("- a\r- b\n"), ["a <- from N.md:1", "b <- from N.md:2"]);
    assert_eq!(planned("# Log\nx\n- 10%\r- 20%\n", &[]).added.len(), 0);
    let rules = "---\n\n# Rules\n- Use tabs\n\n---\n\n# More\n- Third\n";
    for learning in ["Use tabs <- from N.md:4, Rules", "Third <- from N.md:9, More"] {
        assert!(plain(rules).contains(&learning.to_owned()), "{:?}", plain(rules));
    }
}

#[test]
fn of_mem0_a_page_that_is_not_the_last_is_told_and_no_year_is_taken_that_a_document_cannot_have() {
    let page = r#"{"count": 2, "next": "https://x/?page=2", "results": [{"memory": "Likes tea"}]}"#;
    let read = mem0(&file("m.json", page)).unwrap();
    assert!(read.left[0].contains("more pages follow"), "{:?}", read.left);
    for year in ["0000", "+12000", "-0005"] {
        let entry = format!(r#"[{{"memory": "y", "created_at": "{year}-01-01T00:00:00Z"}}]"#);
        assert!(mem0(&file("m.json", &entry)).is_err(), "{year}");
    }
}

#[test]
fn credentials_are_named_by_place_and_kind() {
    let text = "- fine\n- postgres://me:hunter2@db/x\n- password=hunter22\n";
    let secrets = file("C.md", text).secrets();
    assert_eq!(
        secrets,
        ["C.md:2: password in a URL", "C.md:3: named password or key"]
    );
    assert_eq!(file("C.md", CLAUDE).secrets(), Vec::<String>::new());
}

#[test]
fn a_section_is_there_only_if_one_section_has_its_lines_in_their_order() {
    let text = "# Deploy\nstep one\nstep two\n\n# Rollback\nstep two\nstep one\n\n# Check\nstep two\n";
    let read = markdown(&file("N.md", text), Note::Plain).unwrap();
    let twice = [read.pieces.clone(), read.pieces.clone()].concat();
    let both = planned("", &twice);
    assert_eq!((both.text.as_str(), both.present), (text, 3));
    assert_eq!(planned(text, &read.pieces).text, text);
    let is_added = |document: &str| !planned(document, &read.pieces[1..2]).added.is_empty();
    for (document, expected) in [
        ("# Deploy\nstep one\nstep two\n", true),
        ("# A\nstep two\n# B\nstep one\n", true),
        ("# A\nSTEP  two\n- between\n\nstep one\n", false),
        ("# A\nstep two\n# B\nx\n# A\nstep one\n", false),
        ("step two\nstep one\n", false),
    ] {
        assert_eq!(is_added(document), expected, "{document}");
    }
    let archived = ["step one".to_owned()];
    let without = plan(
        "# A\nstep two\n",
        Counters::default(),
        &archived,
        &read.pieces[1..2],
        now(),
    );
    assert_eq!(without.unwrap().present, 1);
}

#[test]
fn the_way_back_has_no_ids_times_and_reasons() {
    let document = "Intro.\n# Current Progress\n- a\n\n# Notes\nText.\n# Key Learnings\nKept by hand.\n\
                    - KL-1 [2026-01-01T00:00:00Z] because x: one\n- by hand\n# Verbatim Context\n\
                    - VC-1 because y: how =>\n  ```\n  code\n  ```\n# Recent Tasks\n- T-1 done: it\n# Decisions\n- D-1 because z: two\n";
    let all = as_markdown(document, true, None);
    assert_eq!(
        all,
        "Intro.\n# Current Progress\n- a\n\n# Notes\nText.\n# Key Learnings\nKept by hand.\n- one\n- by hand\n# Verbatim Context\n\
         \nhow\n\n````\n```\ncode\n```\n````\n# Recent Tasks\n- done: it\n# Decisions\n- two\n"
    );
    let expired = "# Key Learnings\n- KL-1 [until 2026-11-24] because x: half price\n- KL-2 [until 2027-01-01] because x: full price\n";
    let valid = as_markdown(expired, false, Some(now()));
    assert_eq!(valid, "# Key Learnings\n- full price\n");
    let rules = as_markdown(document, false, None);
    for (part, is_in) in [
        ("Current Progress", false),
        ("done: it", false),
        ("# Notes\nText.\n", true),
        ("- two\n", true),
    ] {
        assert_eq!(rules.contains(part), is_in, "{part}: {rules}");
    }
    let read = markdown(&file("N.md", &all), Note::Plain).unwrap();
    assert_eq!(planned(document, &read.pieces).text, document);
}

proptest! {
    #[test]
    fn bringing_twice_or_back_changes_nothing_and_no_input_can_act(lines in prop::collection::vec(prop::sample::select(vec![
        "# Key Learnings", "# Decisions", "# Notes", "## Below", "- KL-1 because it is: so", "- D-1 x", "  - nested", "- one",
        "1. two", "text", "> quote", "", "```", "  ```sh", "<!--", "-->", "---", "title: x", "KEY_LEARNINGS:", "  ADD:",
        "    - because x: y", "# Progress", "- a\r", "* ```", "| t |", "    code", "# ", "#", "-", "- KL-9 [2026-01-01T00:00:00Z] z",
    ]), 1..14), begin in prop::sample::select(vec!["", "# Key Learnings\n- KL-1 because it is: there\n", "# Learnings\n- x\n\n# Notes\ny", "```\nopen"])) {
        let text = format!("{}\nend", lines.join("\n"));
        let read = markdown(&file("N.md", &text), Note::Plain).unwrap();
        let Ok(plan) = plan_of(begin, &read.pieces) else { return Ok(()) };
        let known = records(begin);
        let now = records(&plan.text);
        for record in &known {
            prop_assert!(now.contains(record));
        }
        let added = plan.added.iter().filter(|piece| piece.id.is_some()).count();
        let numbered = begin.matches("\n- x").count().min(added);
        prop_assert_eq!(now.len(), known.len() + added + numbered, "{}", plan.text);
        let again = planned(&plan.text, &read.pieces);
        prop_assert_eq!(&again.text, &plan.text);
        let back = markdown(&file("N.md", &as_markdown(&plan.text, true, None)), Note::Plain).unwrap();
        let back = planned(&plan.text, &back.pieces);
        prop_assert_eq!(&back.text, &plan.text, "{}", as_markdown(&plan.text, true, None));
        // Every word is kept somewhere.
        for word in ["KL-1", "nested", "two", "text", "quote", "Below", "code", "end"] {
            // A heading over what is there already says where it stood, and goes with it.
            if word == "Below" && plan.present > 0 {
                continue;
            }
            prop_assert!(!text.contains(word) || plan.text.contains(word) || read.left.join("").contains(word), "{word}: {}", plan.text);
        }
    }
}
