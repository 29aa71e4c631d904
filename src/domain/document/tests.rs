//! Parsing of sections, fences, records and snippets.

use super::*;

/// `title: managed name or -` of every section.
fn titles(text: &str) -> Vec<String> {
    let name = |s: &Section| format!("{}: {}", s.title, s.managed.map_or("-", ManagedSection::name));
    outline(text).iter().map(name).collect()
}

/// `id|time|reason|label|content` of every record.
fn read(text: &str) -> Vec<String> {
    let or_dash = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
    let line = |r: Record| {
        let time = or_dash(r.time.map(written_time));
        format!(
            "{}|{time}|{}|{}|{}",
            r.id,
            or_dash(r.reason),
            or_dash(r.label),
            r.content
        )
    };
    records(text).into_iter().map(line).collect()
}

fn learning(line: &str) -> Vec<String> {
    read(&format!("# Key Learnings\n{line}\n"))
}

fn snippet(rest: &str) -> String {
    let text = format!("# Verbatim Context\n- VC-1 because r: l =>{rest}");
    let record = records(&text).pop().expect("a record");
    assert_eq!(record.label.as_deref(), Some("l"), "{text:?}");
    record.content
}

#[test]
fn a_section_opens_at_a_hash_and_a_blank_in_column_0() {
    for (text, expected) in [
        ("before\n# A\n## B\n#C\n # D\n> # E\n# F\n", &["A: -", "F: -"][..]),
        ("", &[]),
        ("# \n#\n", &[": -"]),
        (
            "# C#\n# F # #\n# Decisions ###\n",
            &["C#: -", "F #: -", "Decisions: decisions"],
        ),
        // A byte order mark takes no column, and a carriage return before the line end is no part of a line.
        ("\u{feff}# Decisions\n", &["Decisions: decisions"]),
        (
            "# Key Learnings\r\n- KL-1 x\r\n# Free\r\n",
            &["Key Learnings: learnings", "Free: -"],
        ),
    ] {
        assert_eq!(titles(text), expected, "{text:?}");
    }
    assert_eq!(outline("\u{feff}# Decisions\n")[0].range.start, 3);
    assert_eq!(
        read("# Key Learnings\r\n- KL-1 because r: x\r\n  y\r\n\r\n"),
        ["KL-1|-|r|-|x\ny"]
    );
}

#[test]
fn titles_match_without_regard_to_case_closing_hashes_and_a_colon() {
    let known =
        "key learnings|KEY LEARNINGS|Key Learnings:|Key Learnings ##|  Key Learnings: #|Key Learnings\t";
    for title in known.split('|') {
        let section = ManagedSection::from_title(title);
        assert_eq!(section, Some(ManagedSection::KeyLearnings), "{title:?}");
        assert!(outline(&format!("# {title}\n"))[0].managed.is_some(), "{title:?}");
    }
    let others = "Key  Learnings|KeyLearnings|Key Learnings#|Learnings|Key Learnings::|## Key Learnings";
    for title in others.split('|') {
        assert_eq!(ManagedSection::from_title(title), None, "{title:?}");
    }
}

#[test]
fn every_managed_section_is_known_by_title_and_name() {
    for section in ManagedSection::ALL {
        assert_eq!(ManagedSection::from_title(section.title()), Some(section));
        assert_eq!(section.name().parse::<ManagedSection>(), Ok(section));
        let of_kind = section.record_kind().map(ManagedSection::of_records);
        assert!(of_kind.is_none_or(|of_kind| of_kind == section));
    }
}

#[test]
fn headings_in_fences_open_nothing() {
    for fence in "```|```rust|~~~|~~~ a`b|`````|   ```".split('|') {
        assert_eq!(titles(&format!("# A\n{fence}\n# B\n")), ["A: -"], "{fence:?}");
    }
    for no_fence in "``|    ```|\t```|``` a `code` b|x ```|~~".split('|') {
        let found = titles(&format!("# A\n{no_fence}\n# B\n"));
        assert_eq!(found, ["A: -", "B: -"], "{no_fence:?}");
    }
}

#[test]
fn a_fence_is_closed_by_the_same_character_at_least_as_long() {
    for close in "````|`````|   ````|````  ".split('|') {
        let found = titles(&format!("# A\n````\n# B\n{close}\n# C\n"));
        assert_eq!(found, ["A: -", "C: -"], "{close:?}");
    }
    for no_close in "```|~~~~|```` x|    ````|````~".split('|') {
        let found = titles(&format!("# A\n````\n# B\n{no_close}\n# C\n"));
        assert_eq!(found, ["A: -"], "{no_close:?}");
    }
}

#[test]
fn nothing_in_the_lines_of_a_record_opens_a_heading_or_a_fence() {
    let text = "# Verbatim Context\n- VC-1 because r: l =>\n  # no\n  ```\n\n   ~~~\n# Decisions\n- D-1 d\n";
    assert_eq!(
        titles(text),
        ["Verbatim Context: verbatim", "Decisions: decisions"]
    );
    assert_eq!(read(text), ["VC-1|-|r|l|# no\n```\n\n ~~~", "D-1|-|-|-|d"]);
    // Also below the bullets of the two sections that hold no records …
    assert_eq!(titles("# Current Progress\n- a\n  ```\n# B\n").len(), 2);
    // … but not in free sections, and not after a line that ends the record.
    assert_eq!(titles("# Free\n- a\n  ```\n# B\n").len(), 1);
    assert_eq!(titles("# Decisions\n- D-1 a\nprose\n  ```\n# B\n").len(), 1);
    assert_eq!(titles("# Decisions\n- D-1 a\n ```\n# B\n").len(), 1);
}

#[test]
fn only_dash_bullets_in_column_0_of_a_managed_section_are_records() {
    let text = "- KL-9 a\n# Free\n- KL-8 a\n# Key Learnings\n* KL-7 a\n - KL-6 a\n1. KL-5 a\n-KL-4 a\n-\tKL-3 a\n- KL-1 a\n  - KL-2 sub\n";
    assert_eq!(read(text), ["KL-1|-|-|-|a\n- KL-2 sub"]);
}

#[test]
fn the_id_the_time_and_the_reason_may_each_be_missing() {
    let table = r"
        - KL-4 [2026-11-21T02:00:00Z] because r: c ⇒ KL-4|2026-11-21T02:00:00Z|r|-|c
        - KL-4 [2026-11-21T02:00:00Z] c ⇒ KL-4|2026-11-21T02:00:00Z|-|-|c
        - KL-4 because r: c ⇒ KL-4|-|r|-|c
        - KL-4 c ⇒ KL-4|-|-|-|c
        -  KL-4\t[2026-11-21T02:00:00Z]   Because  r :  c   ⇒ KL-4|2026-11-21T02:00:00Z|r|-|c
        - KL-4 [2026-11-21T04:00:00.5+02:00] c ⇒ KL-4|2026-11-21T02:00:00Z|-|-|c
        - KL-4 ⇒ KL-4|-|-|-|
        - KL-4 because r: ⇒ KL-4|-|r|-|
        - KL-9223372036854775807 c ⇒ KL-9223372036854775807|-|-|-|c";
    for row in table.trim().lines() {
        let (line, expected) = row.trim().split_once(" ⇒ ").expect("two columns");
        assert_eq!(learning(&line.replace("\\t", "\t")), [expected], "{line}");
    }
    for line in "- c|- because r: c|- [2026-11-21T02:00:00Z] KL-4 c|- KL-04 c|- KL-0 c|- kl-4 c|- KL-4: c|- [KL-4] c|- VC-4 c|- KL-9223372036854775808 c|-|- ".split('|') {
        assert_eq!(learning(line), [] as [&str; 0], "{line}");
    }
}

#[test]
fn what_does_not_have_the_form_of_a_time_or_a_reason_is_content() {
    for (line, content) in [
        ("- KL-1 [soon] c", "[soon] c"),
        ("- KL-1 [2026-11-21] c", "[2026-11-21] c"),
        ("- KL-1 [2026-11-21T02:00:00Z]c", "[2026-11-21T02:00:00Z]c"),
        ("- KL-1 because I say so", "because I say so"),
        ("- KL-1 because: c", "because: c"),
        ("- KL-1 because : c", "because : c"),
        ("- KL-1 becauser: c", "becauser: c"),
        ("- KL-1 KL-2 c", "KL-2 c"),
        // Line separators of other scripts end no line.
        ("- KL-1 a\u{2028}# b\u{85}c\rd", "a\u{2028}# b\u{85}c\rd"),
    ] {
        assert_eq!(learning(line), [format!("KL-1|-|-|-|{content}")], "{line}");
    }
}

#[test]
fn the_reason_ends_at_the_first_colon_with_a_blank_after_it() {
    for (line, reason, content) in [
        ("because std::fs blocks: use tokio", "std::fs blocks", "use tokio"),
        ("because a: b: c", "a", "b: c"),
        ("because a:b", "a", "b"),
        ("because a:b:c", "a", "b:c"),
        ("because a::b:", "a::b", ""),
    ] {
        assert_eq!(
            learning(&format!("- KL-1 {line}")),
            [format!("KL-1|-|{reason}|-|{content}")],
            "{line}"
        );
    }
}

#[test]
fn the_label_is_the_text_before_the_first_arrow() {
    for (rest, expected) in [
        ("l => s", "l|s"),
        ("a => b => c", "a|b => c"),
        ("a=>b", "a|b"),
        ("no arrow", "-|no arrow"),
        ("no arrow\n  here => s", "-|no arrow\nhere => s"),
        ("=> s", "-|s"),
    ] {
        let text = format!("# Verbatim Context\n- VC-1 because r: {rest}\n");
        assert_eq!(read(&text), [format!("VC-1|-|r|{expected}")], "{rest}");
    }
    assert_eq!(learning("- KL-1 l => s"), ["KL-1|-|-|-|l => s"]);
}

#[test]
fn one_line_of_a_snippet_stays_after_the_arrow_and_loses_one_blank() {
    for (rest, expected) in [
        (" s\n", "s"),
        ("s\n", "s"),
        ("  s\n", " s"),
        (" \ts \t\n", "\ts \t"),
        (" s", "s"),
        (" s\r\n", "s"),
        (" s\rt\n", "s\rt"),
    ] {
        assert_eq!(snippet(rest), expected, "{rest:?}");
    }
}

#[test]
fn several_lines_of_a_snippet_lose_two_spaces_each_and_nothing_else() {
    for (rest, expected) in [
        ("\n  a\n  \tb \n    c\n", "a\n\tb \n  c"),
        (" \n  a\n\n  b\n\n\n", "a\n\nb"),
        ("\n\n  a\n", "\na"),
        ("\n    a\n     \n  b\n", "  a\n   \nb"),
        ("\r\n  a\r\n\r\n  b\r\n", "a\r\n\r\nb"),
        (" a\n  b", "a\nb"),
        ("\n\ta\n", "\ta"),
        ("\n  # a\n  - b\n  ```\n# Free\n  c\n", "# a\n- b\n```"),
        ("\n  a\n \n  b\n", "a\n \nb"),
        ("\n  a\nprose\n  b\n", "a"),
        ("\n", ""),
    ] {
        assert_eq!(snippet(rest), expected, "{rest:?}");
    }
}

#[test]
fn sections_are_found_by_short_name_and_by_title() {
    let text = "# Progress\nfree\n# Notes:\nn\n# Current Progress\nmanaged\n# Tasks ##\nt\n";
    for (name, found) in [
        ("progress", Some("# Current Progress\nmanaged\n")),
        ("current progress", Some("# Current Progress\nmanaged\n")),
        ("NOTES", Some("# Notes:\nn\n")),
        ("tasks", Some("# Tasks ##\nt\n")),
        ("decisions", None),
        ("", None),
    ] {
        assert_eq!(find_section(text, name), found, "{name}");
    }
}

#[test]
fn beside_a_section_of_the_services_title_the_authors_is_free() {
    for text in [
        "# Learnings\n- KL-1 a\n# Key Learnings\n- KL-2 b\n",
        "# Key Learnings\n- KL-2 b\n# Learnings\n- KL-1 a\n",
        "\u{feff}# key learnings:\n- KL-2 b\n# Learnings\n- KL-1 a\n# Learnings\n- KL-3 a\n",
    ] {
        let ids: Vec<String> = records(text).iter().map(|record| record.id.to_string()).collect();
        assert_eq!(ids, ["KL-2"], "{text}");
    }
    // In a code fence, also of the author's section, the title is text.
    for text in [
        "# Learnings\n- KL-1 a\n# Notes\n```\n# Key Learnings\n```\n",
        "```\n# Key Learnings\n```\n# Learnings\n- KL-1 a\n",
    ] {
        assert_eq!(read(text), ["KL-1|-|-|-|a"], "{text}");
    }
    // Of two with one title the first counts.
    let twice = "# Learnings\n- KL-1 a\n# Learnings\n- KL-2 b\n";
    assert_eq!(read(twice), ["KL-1|-|-|-|a"]);
    let text = "# Key Learnings\n- KL-1 a\n# key learnings:\n- KL-2 b\n- c\n";
    assert_eq!(titles(text), ["Key Learnings: learnings", "key learnings:: -"]);
    assert_eq!(read(text), ["KL-1|-|-|-|a"]);
}

#[test]
fn a_document_is_not_blank_holds_no_nul_and_keeps_to_the_cap() {
    for good in ["x", "\u{feff}x", " x ", "1234567890"] {
        assert_eq!(check(good, 10), Ok(()), "{good:?}");
    }
    for blank in ["", " ", "\n\t\r\n", "\u{a0}\u{2003}", "\u{feff}"] {
        assert_eq!(check(blank, 10), Err(InvalidDocument::Blank), "{blank:?}");
    }
    assert_eq!(check("a\0b", 10), Err(InvalidDocument::Nul { at: 1 }));
    let too_large = Err(InvalidDocument::TooLarge { bytes: 11, limit: 10 });
    assert_eq!(check("12345678901", 10), too_large);
}

#[test]
fn a_diff_has_three_lines_of_context() {
    let (before, after) = ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
    assert_eq!(
        unified_diff(before, after, "a", "b"),
        "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    );
    assert_eq!(
        unified_diff("x\n", "x\ry", "a", "b"),
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+x\ry\n\\ No newline at end of file\n"
    );
}
