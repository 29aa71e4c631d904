//! A fast path for splitting plain text into words: letters that Unicode normalisation leaves unchanged and
//! that have a single lower case form, ASCII digits, and joining characters. Most text is plain, and this
//! path is many times faster.
//!
//! The boundaries are those of Unicode (UAX 29): `:`, `.` and `'` between letters, `,`, `;`, `.` and `'`
//! between digits, and `_` anywhere are part of a word.

use super::content_words::{Word, WordBuilder};
use super::scripts::Scripts;

const LETTER: u8 = 1;
const DIGIT: u8 = 1 << 1;
const UNDERSCORE: u8 = 1 << 2;
/// Joins letters.
const MID_LETTER: u8 = 1 << 3;
/// Joins digits.
const MID_DIGIT: u8 = 1 << 4;
const WORD: u8 = LETTER | DIGIT | UNDERSCORE;

/// The class of each ASCII character.
static CLASSES: [u8; 128] = {
    let mut classes = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'A'..=b'Z' | b'a'..=b'z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b':' => MID_LETTER,
            b'.' | b'\'' => MID_LETTER | MID_DIGIT,
            b',' | b';' => MID_DIGIT,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// A character: its class, lower case form, script and length in bytes.
struct Plain {
    class: u8,
    lower: char,
    script: Scripts,
    bytes: usize,
}

/// The ASCII character at this byte offset, if there is one.
#[inline]
fn ascii(bytes: &[u8], at: usize) -> Option<Plain> {
    let byte = *bytes.get(at)?;
    let class = *CLASSES.get(usize::from(byte))?;
    Some(Plain {
        class,
        lower: char::from(byte.to_ascii_lowercase()),
        script: if class == LETTER {
            Scripts::LATIN
        } else {
            Scripts::NONE
        },
        bytes: 1,
    })
}

/// The plain character at this byte offset, if there is one.
#[inline]
fn plain(bytes: &[u8], at: usize) -> Option<Plain> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return ascii(bytes, at);
    }
    let next = *bytes.get(at + 1)?;
    if first >= 0xE0 {
        return punctuation(first, next, *bytes.get(at + 2)?);
    }
    let code = (u32::from(first & 0x1F) << 6) | u32::from(next & 0x3F);
    let (lower, script) = match code {
        0xC0..=0xD6 | 0xD8..=0xDE => (code + 0x20, Scripts::LATIN),
        0xDF..=0xF6 | 0xF8..=0xFF => (code, Scripts::LATIN),
        // Pairs of upper and lower case, without dotted and dotless i, ligatures, and letters followed by a
        // dot.
        0x100..=0x12F | 0x14A..=0x177 => (code | 1, Scripts::LATIN),
        0x391..=0x3A1 | 0x3A3..=0x3A9 => (code + 0x20, Scripts::GREEK),
        0x3C2 => (0x3C3, Scripts::GREEK),
        0x3AC..=0x3AF | 0x3B1..=0x3CE => (code, Scripts::GREEK),
        0x400..=0x40F => (code + 0x50, Scripts::CYRILLIC),
        0x410..=0x42F => (code + 0x20, Scripts::CYRILLIC),
        0x430..=0x45F => (code, Scripts::CYRILLIC),
        _ => return None,
    };
    Some(Plain {
        class: LETTER,
        lower: char::from_u32(lower)?,
        script,
        bytes: 2,
    })
}

/// Quotation marks (single ones are also apostrophes), dashes, and the ellipsis.
fn punctuation(first: u8, second: u8, third: u8) -> Option<Plain> {
    let (class, lower) = match [first, second, third] {
        [0xE2, 0x80, 0x98] => (MID_LETTER | MID_DIGIT, '\u{2018}'),
        [0xE2, 0x80, 0x99] => (MID_LETTER | MID_DIGIT, '\u{2019}'),
        [0xE2, 0x80, 0x93 | 0x94 | 0x9C | 0x9D | 0x9E | 0xA6] => (0, ' '),
        _ => return None,
    };
    Some(Plain {
        class,
        lower,
        script: Scripts::NONE,
        bytes: 3,
    })
}

/// Calls `visit` for each word of a completely plain text. Returns `false` without calling it for any other
/// text.
pub(super) fn scan(text: &str, offset: usize, visit: &mut impl FnMut(Word)) -> bool {
    let bytes = text.as_bytes();
    if text.is_ascii() {
        scan_with(bytes, offset, ascii, visit);
    } else if is_plain(bytes) {
        scan_with(bytes, offset, plain, visit);
    } else {
        return false;
    }
    true
}

fn is_plain(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(c) = plain(bytes, at) {
        at += c.bytes;
    }
    at == bytes.len()
}

fn scan_with(
    text: &[u8],
    offset: usize,
    read: impl Fn(&[u8], usize) -> Option<Plain>,
    visit: &mut impl FnMut(Word),
) {
    let mut at = 0;
    while let Some(first) = read(text, at) {
        if first.class & WORD == 0 {
            at += first.bytes;
            continue;
        }
        let mut open = WordBuilder::at(offset + at);
        let (mut classes, mut before) = (0, 0);
        while let Some(c) = read(text, at) {
            if c.class & WORD == 0 {
                // A joining character is part of a word only between characters of the same class.
                let kind = match before {
                    LETTER if c.class & MID_LETTER != 0 => LETTER,
                    DIGIT if c.class & MID_DIGIT != 0 => DIGIT,
                    _ => break,
                };
                if read(text, at + c.bytes).is_none_or(|next| next.class != kind) {
                    break;
                }
            }
            (before, classes) = (c.class, classes | c.class);
            open.scripts = open.scripts.with(c.script);
            if c.lower == 'ß' {
                open.push('s');
                open.push('s');
            } else {
                open.push(c.lower);
            }
            at += c.bytes;
        }
        // Underscores alone are not a word.
        if classes & (LETTER | DIGIT) != 0 {
            open.has_digit = classes & DIGIT != 0;
            if let Some(word) = open.close(offset + at) {
                visit(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::content_words::comparable;
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn found(text: &str) -> Option<Vec<&str>> {
        let mut found = Vec::new();
        let is_plain = scan(text, 0, &mut |word: Word| found.push(&text[word.range]));
        is_plain.then_some(found)
    }

    #[test]
    fn plain_characters_have_the_lower_case_and_script_of_the_tables() {
        for c in (0..0x800).filter_map(char::from_u32) {
            let text = c.to_string();
            let Some(plain) = plain(text.as_bytes(), 0) else {
                continue;
            };
            if plain.class == LETTER && c != 'ß' {
                assert_eq!(plain.lower.to_string(), comparable(&text), "{c}");
                assert_eq!(plain.script, super::super::scripts::of(c), "{c}");
            }
            assert_eq!(plain.bytes, c.len_utf8(), "{c}");
        }
        for other in ["ſ", "ﬁ", "İ", "日", "\u{308}"] {
            assert!(plain(other.as_bytes(), 0).is_none(), "{other}");
        }
    }

    #[test]
    fn what_needs_tables_is_left_to_them() {
        assert_eq!(
            found("naïve Ωμέγα, “Straße” – Привет… don’t"),
            Some(vec!["naïve", "Ωμέγα", "Straße", "Привет", "don’t"])
        );
        for text in ["Zu\u{308}rich", "ﬁnder", "日本"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn words_are_those_of_unicode(text in "[a-cÀ-ÿА-я0-2_.':;, \\-“”‘’–—„…]{0,30}") {
            prop_assume!(!text.contains(['×', '÷']));
            let expected: Vec<&str> = text
                .unicode_words()
                .filter(|word| comparable(word).chars().count() >= 3 || word.chars().any(char::is_numeric))
                .collect();
            prop_assert_eq!(found(&text), Some(expected));
        }
    }
}
