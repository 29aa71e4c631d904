//! Words, single lines, and whether two sentences speak of the same thing.

use std::collections::BTreeSet;

/// The longest bullet of `Current Progress` the rules write, in characters.
const MAX_BULLET_CHARS: usize = 100;

/// Words that say nothing about what a sentence is about.
const EMPTY_WORDS: &str = " a an the and or but of to in on at for from by with without as is are was were be been it \
    its this that these those i we you our my your us so then now also just all still not no do does did done has \
    have had will would should can could into out up ";

/// A text on one line: blanks of any kind folded, control characters gone.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Lower case, with the plain apostrophe: the form in which cues are looked for.
pub(super) fn folded(text: &str) -> String {
    one_line(text).replace('’', "'").to_lowercase()
}

/// The stems of the words that carry meaning.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !EMPTY_WORDS.contains(&format!(" {word} ")))
        .map(|word| stem(&word))
        .collect()
}

/// What is left of a word without the endings that tense and number give it.
fn stem(word: &str) -> String {
    let word = match word {
        "wrote" | "written" => "write",
        "built" => "build",
        "made" => "make",
        "ran" => "run",
        "sent" => "send",
        _ => word,
    };
    let cut = ["ing", "ed", "es", "s", "e"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.chars().count() >= 3))
        .unwrap_or(word);
    // `planned` and `plan`, `wiring` and `wire`.
    let mut letters: Vec<char> = cut.trim_end_matches('e').chars().collect();
    if letters.len() > 3 && letters.last() == letters.get(letters.len() - 2) {
        letters.pop();
    }
    letters.into_iter().collect()
}

/// Whether `said` speaks of everything, or nearly everything, that `item` is about.
pub(super) fn covers(said: &BTreeSet<String>, item: &BTreeSet<String>) -> bool {
    let common = item.intersection(said).count();
    match item.len() {
        0 => false,
        1 => common == 1 && said.len() <= 4,
        all => common >= 2 && common * 4 >= all * 3,
    }
}

/// A short, action-oriented line for a list: without markup and end marks, cut at a clause or word when long,
/// beginning with a capital. Nothing is left of a text that would read as the DSL's own words.
pub(super) fn bullet(text: &str) -> Option<String> {
    let line = one_line(text).replace("**", "").replace("__", "");
    let line = line.trim_start_matches(|c: char| "-*•+#> ".contains(c));
    let line = line.trim_end_matches(|c: char| " .!;:,".contains(c));
    let line = capitalised(&shortened(line, MAX_BULLET_CHARS));
    let wordy = line.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    (wordy && !is_grammar(&line)).then_some(line)
}

/// At most `most` characters: cut behind a clause, else between words and marked.
pub(super) fn shortened(line: &str, most: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(most) else {
        return line.to_owned();
    };
    let head = &line[..end];
    let clause = [
        ", ",
        " (",
        " — ",
        " – ",
        " - ",
        "; ",
        ": ",
        " because ",
        " so that ",
        " which ",
    ]
    .iter()
    .filter_map(|mark| head.rfind(mark))
    .filter(|at| *at * 5 >= end * 2)
    .max();
    if let Some(clause) = clause {
        return head[..clause].to_owned();
    }
    let room = head.char_indices().next_back().map_or(0, |(last, _)| last);
    let word = head[..room].rfind(' ').unwrap_or(room);
    format!("{}…", &head[..word])
}

fn capitalised(line: &str) -> String {
    let mut characters = line.chars();
    // Names of things keep their spelling: `parse_line`, iPhone, src/lib.rs.
    let first_word = line.split(' ').next().unwrap_or_default();
    let is_name = first_word
        .chars()
        .skip(1)
        .any(|c| !c.is_lowercase() && !"'-,".contains(c));
    match characters.next() {
        Some(first) if !is_name => first.to_uppercase().chain(characters).collect(),
        _ => line.to_owned(),
    }
}

/// Whether a line would be taken for a header, a placeholder or "no change" when it stood in an answer.
pub(super) fn is_grammar(line: &str) -> bool {
    let bare: String = line
        .chars()
        .map(|c| if c == '_' { ' ' } else { c })
        .collect::<String>()
        .to_lowercase();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric() && !"<>".contains(c));
    let head = bare
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches(|c: char| !c.is_alphanumeric());
    let headers = [
        "current progress",
        "key learnings",
        "verbatim context",
        "completed",
        "in progress",
        "remaining",
        "add",
        "archive",
    ];
    let nothing = ["none", "no change", "no changes", "n/a", "na", ""];
    headers.contains(&head) || nothing.contains(&bare) || (line.starts_with('<') && line.ends_with('>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tense_and_number_do_not_hide_that_two_sentences_speak_of_one_thing() {
        for (said, item) in [
            (
                "The parser is wired to the update route",
                "Wire the parser to the update route",
            ),
            (
                "Fixed the flaky login test by awaiting the store",
                "Fix the flaky login test",
            ),
            ("Wrote the benchmarks", "Write benchmarks"),
            ("Ran the benchmarks", "Benchmarks"),
        ] {
            assert!(covers(&stems(said), &stems(item)), "{said} / {item}");
        }
        for (said, item) in [
            ("Added a test for the login bug", "Fix login bug"),
            ("Fixed the parser", "Wire the parser to the update route"),
            ("", ""),
        ] {
            assert!(!covers(&stems(said), &stems(item)), "{said} / {item}");
        }
    }

    #[test]
    fn bullets_are_short_and_never_grammar() {
        assert_eq!(
            bullet("- **fixed** the parser.").as_deref(),
            Some("Fixed the parser")
        );
        assert_eq!(
            bullet("src/lib.rs is done").as_deref(),
            Some("src/lib.rs is done")
        );
        let long = bullet(&"word ".repeat(60)).expect("a bullet");
        assert!(long.ends_with('…') && long.chars().count() <= MAX_BULLET_CHARS);
        let umlauts = bullet(&"ä".repeat(300)).expect("a bullet");
        assert!(umlauts.chars().count() <= MAX_BULLET_CHARS);
        for grammar in [
            "KEY_LEARNINGS:",
            "**Remaining:**",
            "in progress: x",
            "(none)",
            "N/A",
            "<bullet>",
            "---",
            "Add:",
        ] {
            assert_eq!(bullet(grammar), None, "{grammar}");
        }
    }

    #[test]
    fn a_line_has_no_line_ends_or_control_characters() {
        assert_eq!(one_line(" a\r\n\tb\u{2028}c\u{0}d\u{1b}[0m "), "a b c d [0m");
    }
}
