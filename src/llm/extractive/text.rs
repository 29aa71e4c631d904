//! Single-line texts: folding of blanks, bullets, shortening, and texts that must not be in an answer.

/// Maximum length of a bullet in `Current Progress`, in characters.
const MAX_BULLET_CHARS: usize = 200;

/// Joins a text into one line: folds blanks and removes control characters.
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

/// Normalises a text for comparison: lower case, with plain apostrophes.
pub(super) fn folded(text: &str) -> String {
    one_line(text).replace('’', "'").to_lowercase()
}

/// Formats a bullet: without markup and end marks, shortened at a clause or word, capitalised. `None` for a
/// text that would be read as DSL keywords.
pub(super) fn bullet(text: &str) -> Option<String> {
    let line = one_line(text).replace("**", "").replace("__", "");
    let line = line.trim_start_matches(|c: char| "-*•+#>:,;.…–— ".contains(c));
    let line = line.trim_end_matches(|c: char| " .!;:,。、！；：".contains(c));
    let line = capitalised(&shortened(line, MAX_BULLET_CHARS));
    let wordy = line.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    (wordy && !is_grammar(&line)).then_some(line)
}

/// Shortens to at most `most` characters: after a clause, otherwise between words with an ellipsis.
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
        "、",
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

/// Capitalises the first letter, unless the first word is an identifier.
pub(super) fn capitalised(line: &str) -> String {
    let mut characters = line.chars();
    // Identifiers keep their spelling: `parse_line`, iPhone, src/lib.rs.
    let first_word = line.split(' ').next().unwrap_or_default();
    let is_name = first_word
        .chars()
        .skip(1)
        .any(|c| !c.is_lowercase() && !"'’-,.:".contains(c));
    match characters.next() {
        Some(first) if !is_name => first.to_uppercase().chain(characters).collect(),
        _ => line.to_owned(),
    }
}

/// Whether a line in an answer would be read as a header, a placeholder or "no change".
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
    fn bullets_are_short_and_never_grammar() {
        assert_eq!(
            bullet("- **fixed** the parser.").as_deref(),
            Some("Fixed the parser")
        );
        assert_eq!(
            bullet("src/lib.rs is done").as_deref(),
            Some("src/lib.rs is done")
        );
        let long = bullet(&"word ".repeat(90)).expect("a bullet");
        assert!(long.ends_with('…') && long.chars().count() <= MAX_BULLET_CHARS);
        let umlauts = bullet(&"ä".repeat(500)).expect("a bullet");
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
