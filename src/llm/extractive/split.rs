//! Splits paragraphs into sentences.

use super::cues::is_month;
use super::listed::{Listed, split};

/// Abbreviations whose full stop does not end a sentence.
static SHORT: Listed = Listed::new(|| {
    split(
        " e.g i.e vs cf etc approx dr mr mrs ms prof st no nr bzw ca z.b d.h usw inkl evtl ggf sr sra dra ud p.ej av m mme mlle env c.-à-d fig vol jr sen max min ",
    )
});

/// Splits a paragraph into sentences: after an end mark and a blank that no lower case letter follows, at a
/// semicolon, and after Chinese and Japanese full stops. Text in backticks is not split. If the message
/// begins in lower case (`begin_small`), a sentence may too.
pub(super) fn sentences(paragraph: &str, begin_small: bool) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut quoted: Option<char> = None;
    let last_tick = paragraph.rfind('`').unwrap_or(0);
    let mut previous = ' ';
    for (at, c) in paragraph.char_indices() {
        match quoted {
            Some(close) if c == close => quoted = None,
            Some(_) => {}
            None => quoted = opens(c, previous, at < last_tick, &paragraph[at..]),
        }
        let after = at + c.len_utf8();
        let cut = match c {
            _ if quoted.is_some() && !matches!(c, '`') => false,
            '。' | '！' | '？' => true,
            '；' | ';' => paragraph[after..].starts_with(' ') || c == '；',
            ' ' => ends(&paragraph[start..at], previous, &paragraph[after..], begin_small),
            _ => false,
        };
        if cut {
            found.push(paragraph[start..after].trim_end_matches([';', '；', ' ']));
            start = after;
        }
        previous = c;
    }
    found.push(&paragraph[start..]);
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found.into_iter().map(str::trim).collect()
}

/// The closing mark for an opening character, if it is closed nearby.
fn opens(c: char, previous: char, before_tick: bool, rest: &str) -> Option<char> {
    let close = match c {
        '`' if before_tick => return Some('`'),
        '"' if !previous.is_alphanumeric() && rest[1..].starts_with(char::is_alphanumeric) => '"',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        _ => return None,
    };
    let end = rest.floor_char_boundary(rest.len().min(2_000));
    rest[c.len_utf8()..end].contains(close).then_some(close)
}

fn ends(sentence: &str, previous: char, rest: &str, begin_small: bool) -> bool {
    let mark = sentence.trim_end_matches(['"', '”', '»', ')', '\'', '`']);
    match previous {
        '.' | '!' | '?' | '"' | '”' | '»' | ')' => {
            if !mark.ends_with(['.', '!', '?', '…']) {
                return false;
            }
        }
        _ => return false,
    }
    let begin_small = begin_small && !mark.ends_with('…');
    if mark.ends_with(['!', '?']) && !begin_small {
        return !rest.starts_with(|c: char| c.is_lowercase() || c == '»');
    }
    (begin_small || !rest.starts_with(char::is_lowercase)) && !is_short(mark, rest)
}

/// Whether the full stop belongs to an abbreviation or to an ordinal number before a month.
fn is_short(sentence: &str, rest: &str) -> bool {
    let word = sentence
        .trim_end_matches('.')
        .rsplit([' ', '('])
        .next()
        .unwrap_or_default();
    let lower = word.to_lowercase();
    if SHORT.has(&lower) {
        return sentence.ends_with('.');
    }
    let next = rest
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_lowercase();
    (word.len() <= 2
        && !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_digit())
        && (is_month(&next) || sentence.split(' ').count() <= 1))
        || (word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I")
}

/// Strips list marks and other markup from the beginning of a line, and returns the state of a check box.
pub(super) fn list_item(line: &str) -> Option<(&str, Option<bool>)> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if number.len() < line.len() && line.len() - number.len() <= 3 {
        number.strip_prefix(". ").or(number.strip_prefix(") "))
    } else {
        None
    };
    let text = ["- ", "* ", "+ ", "• ", "・"]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or(numbered);
    let (text, is_item) = text.map_or((line, false), |text| (text.trim_start(), true));
    for (mark, checked) in [
        ("[x] ", true),
        ("[X] ", true),
        ("[ ] ", false),
        ("✅", true),
        ("✔", true),
    ] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some((rest.trim_start_matches('\u{fe0f}').trim_start(), Some(checked)));
        }
    }
    is_item.then_some((text, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_cut_into_sentences() {
        for (prose, expected) in [
            (
                "I fixed src/lib.rs, e.g. The parser; it works. Next: docs!",
                &["I fixed src/lib.rs, e.g. The parser", "it works.", "Next: docs!"][..],
            ),
            (
                "Ask Dr. Achebe. `a. B` stays.",
                &["Ask Dr. Achebe.", "`a. B` stays."],
            ),
            (
                "Wir ziehen am 15. April um. Danach nichts.",
                &["Wir ziehen am 15. April um.", "Danach nichts."],
            ),
            ("It is 0.6 bar. Raise it.", &["It is 0.6 bar.", "Raise it."]),
            ("終わりました。次は表です。", &["終わりました。", "次は表です。"]),
            ("宿は「山。荘」です。", &["宿は「山。荘」です。"]),
            (
                "Parfait ! Il reste M. Diallo.",
                &["Parfait !", "Il reste M. Diallo."],
            ),
        ] {
            assert_eq!(sentences(prose, false), expected, "{prose}");
        }
        assert_eq!(
            sentences("ok, not now. clean it up, e.g. today", true),
            ["ok, not now.", "clean it up, e.g. today"]
        );
    }
}
