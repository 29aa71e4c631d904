//! The passages of a memory: the units of semantic search.
//!
//! A record is one passage, with its label and its reason, or several if it is long. The free text of a
//! document is split at blank lines, headings and bullets, so that a passage covers one topic.
//!
//! Embedding vectors are stored and compared here too. Each component is stored as one byte, because the angle between two vectors hardly depends on higher
//! precision, and additionally as its sign bit. Comparing sign bits is fast enough for a hundred thousand
//! vectors; the nearest by sign bits are then compared by their bytes.

use crate::domain::document::{outline, record_ranges};
use crate::domain::ids::RecordId;
use crate::domain::text::lines::start_of;
use sha2::Digest as _;
use sha2::Sha256;
use std::ops::Range;

/// Above this size in bytes the next paragraph or bullet starts a new passage.
const SPLIT_BYTES: usize = 200;

/// Maximum size of a passage in bytes: the context of small models.
const MAX_PASSAGE_BYTES: usize = 1_200;

/// How many characters of a section's title each of its passages has.
const MAX_TITLE_CHARS: usize = 200;

/// The hash that identifies a passage within its memory.
pub type PassageHash = [u8; 16];

/// A part of a memory that covers one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The record it belongs to; `None` for free text.
    pub record: Option<RecordId>,
    /// The title of its section, for free text below a heading.
    pub section: Option<String>,
    /// Its text.
    pub text: String,
}

impl Passage {
    /// The passages of a record.
    #[must_use]
    pub fn of_record(id: RecordId, label: Option<&str>, reason: Option<&str>, content: &str) -> Vec<Self> {
        let mut text = String::new();
        if let Some(label) = label {
            text.push_str(label);
            text.push('\n');
        }
        text.push_str(content);
        if let Some(reason) = reason {
            text.push_str("\nbecause ");
            text.push_str(reason);
        }
        let passage = |range: Range<usize>| Self {
            record: Some(id),
            section: None,
            text: text[range].trim().to_owned(),
        };
        // A record covers one topic: it is split only if it is too long for a model.
        if text.len() <= MAX_PASSAGE_BYTES {
            return match text.trim().is_empty() {
                true => Vec::new(),
                false => vec![passage(0..text.len())],
            };
        }
        pieces(&text).into_iter().map(passage).collect()
    }

    /// The passages of a document outside its records. Linear.
    #[must_use]
    pub fn of_document(text: &str) -> Vec<Self> {
        let records = record_ranges(text);
        let sections = outline(text);
        let before = sections.first().map_or(text.len(), |section| section.range.start);
        let parts = std::iter::once((None, 0..before)).chain(
            sections
                .iter()
                .map(|section| (Some(section.title.as_str()), section.body.clone())),
        );
        let mut passages = Vec::new();
        let mut records = records.iter().map(|(_, range)| range).peekable();
        for (title, body) in parts {
            let mut at = body.start;
            while let Some(record) = records.next_if(|record| record.start < body.end) {
                push(&mut passages, title, &text[at..record.start.max(at)]);
                at = record.end.max(at);
            }
            push(&mut passages, title, &text[at..body.end.max(at)]);
        }
        passages
    }

    /// The text for the embedding model: the passage, preceded by its section title.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.section {
            Some(section) => format!("{section}: {}", self.text),
            None => self.text.clone(),
        }
    }

    /// Equal for the same record, section and text. A hash, so that it reveals nothing about them.
    #[must_use]
    pub fn hash(&self) -> PassageHash {
        let mut hash = Sha256::new();
        if let Some(record) = self.record {
            hash.update(record.to_string());
        }
        hash.update([0]);
        hash.update(self.shown());
        let mut first = PassageHash::default();
        first.copy_from_slice(&hash.finalize()[..size_of::<PassageHash>()]);
        first
    }
}

fn push(passages: &mut Vec<Passage>, title: Option<&str>, text: &str) {
    passages.extend(pieces(text).into_iter().map(|range| Passage {
        record: None,
        section: title.map(|title| start_of(title, MAX_TITLE_CHARS).to_owned()),
        text: text[range].trim().to_owned(),
    }));
}

/// Splits a text; pieces without letters or digits are omitted.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut end = 0;
    let mut cut = |range: Range<usize>| {
        if text[range.clone()].chars().any(char::is_alphanumeric) {
            pieces.push(range);
        }
    };
    for line in text.split_inclusive('\n') {
        let so_far = end - start;
        let is_full = so_far + line.len() > MAX_PASSAGE_BYTES;
        if so_far > 0 && (is_full || (so_far >= SPLIT_BYTES && begins_topic(line))) {
            cut(start..end);
            start = end;
        }
        end += line.len();
        while end - start > MAX_PASSAGE_BYTES {
            let at = start + shortened(&text[start..end]);
            cut(start..at);
            start = at;
        }
    }
    cut(start..end);
    pieces
}

/// Whether a line may begin a new topic.
fn begins_topic(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with(['#', '-', '*', '•'])
}

/// Where to cut a text that is too long: after the last blank that fits or, if there is none, after the last
/// character that fits.
fn shortened(text: &str) -> usize {
    let fits = text.floor_char_boundary(MAX_PASSAGE_BYTES);
    match text[..fits].rfind(char::is_whitespace) {
        Some(blank) if blank > MAX_PASSAGE_BYTES / 2 => text.ceil_char_boundary(blank + 1),
        _ => fits,
    }
}

/// Number of bytes of the sign bits of a vector.
#[must_use]
pub fn sign_bytes(dimensions: usize) -> usize {
    dimensions.div_ceil(8)
}

/// Quantises a vector to one byte per component, scaled so that the largest uses the full range.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
pub fn quantised(vector: &[f32]) -> Vec<u8> {
    let largest = vector
        .iter()
        .fold(0.0_f32, |largest, number| largest.max(number.abs()));
    // Divided first, since the inverse of a very small number is infinite. Of nothing but zeros that is no number, and 0.
    vector
        .iter()
        .map(|number| ((number / largest * 127.0).round() as i8).cast_unsigned())
        .collect()
}

/// The sign bits of a vector: set for positive components.
#[must_use]
pub fn signs(vector: &[f32]) -> Vec<u8> {
    let byte = |numbers: &[f32]| {
        let bits = numbers.iter().enumerate();
        bits.fold(0, |byte, (bit, number)| byte | (u8::from(*number > 0.0) << bit))
    };
    vector.chunks(8).map(byte).collect()
}

/// The Hamming distance of two sign vectors of equal length.
#[must_use]
pub fn distance(one: &[u8], other: &[u8]) -> u32 {
    let ((ones, rest), (others, other_rest)) = (one.as_chunks(), other.as_chunks());
    let pairs = ones.iter().zip(others);
    let wide = pairs.map(|(one, other)| (u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other)).count_ones());
    let rest = rest.iter().zip(other_rest);
    wide.sum::<u32>() + rest.map(|(one, other)| (one ^ other).count_ones()).sum::<u32>()
}

/// The cosine similarity of a vector and a quantised one, from -1 to 1; 0 if one of them is zero.
#[must_use]
pub fn similarity(query: &[f32], kept: &[u8]) -> f32 {
    // In double precision, in which the square of no number of single precision is infinite or 0.
    let (mut product, mut of_query, mut of_kept) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (number, byte) in query.iter().zip(kept) {
        let (number, kept) = (f64::from(*number), f64::from(byte.cast_signed()));
        product += number * kept;
        of_query += number * number;
        of_kept += kept * kept;
    }
    let length = (of_query * of_kept).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "from -1 to 1")]
    let cosine = (product / length) as f32;
    if length > 0.0 { cosine } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn free(text: &str) -> Vec<(Option<String>, String)> {
        let passages = Passage::of_document(text).into_iter();
        passages.map(|passage| (passage.section, passage.text)).collect()
    }

    #[test]
    fn records_are_left_out_of_the_free_text() {
        let text = "before\n\n# Facts\nThe host is db-1.\n\n# Key Learnings\n- KL-1 because a: one\n- no record yet\n\n\
                    # Current Progress\n## In Progress\n- Wire it\n";
        let expected = [
            (None, "before"),
            (Some("Facts"), "The host is db-1."),
            (Some("Key Learnings"), "- no record yet"),
            (Some("Current Progress"), "## In Progress\n- Wire it"),
        ];
        let expected = expected.map(|(section, text)| (section.map(str::to_owned), text.to_owned()));
        assert_eq!(free(text), expected);
    }

    #[test]
    fn a_long_section_is_divided_where_something_new_begins() {
        let fact = |number: usize| format!("- Fact {number}: {}\n", "word ".repeat(30).trim_end());
        let text: String = (0..20).map(fact).collect();
        let passages = free(&format!("# Facts\n{text}"));
        assert!((8..=20).contains(&passages.len()), "{}", passages.len());
        assert!(passages.iter().all(|(_, text)| text.starts_with("- Fact")));
    }

    #[test]
    fn a_record_is_one_passage_or_where_it_is_long_several() {
        let id: RecordId = "VC-2".parse().unwrap();
        let one = Passage::of_record(id, Some("Makefile"), Some("it is edited"), "test:\n\tcargo test");
        assert_eq!(one[0].text, "Makefile\ntest:\n\tcargo test\nbecause it is edited");
        assert_eq!(one.len(), 1);
        let long = Passage::of_record(id, None, None, &"line of a log\n".repeat(500));
        assert!(long.len() > 4 && long.iter().all(|passage| passage.record == Some(id)));
        assert!(Passage::of_record(id, None, None, "").is_empty());
    }

    #[test]
    fn a_hash_is_of_the_record_and_of_the_text() {
        let of = |id: &str, text: &str| Passage::of_record(id.parse().unwrap(), None, None, text)[0].hash();
        assert_eq!(of("KL-1", "a"), of("KL-1", "a"));
        assert_ne!(of("KL-1", "a"), of("KL-2", "a"));
        assert_ne!(of("KL-1", "a"), of("KL-1", "b"));
    }

    proptest! {
        #[test]
        fn no_text_is_lost_and_no_passage_is_too_long(text in "([a-z]{1,9}[ \n#-]{1,3}){0,400}|[x記]{0,3000}") {
            let passages = Passage::of_document(&text);
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            let kept: usize = passages.iter().map(|passage| letters(&passage.text)).sum();
            let headings: usize = outline(&text).iter().map(|section| letters(&section.title)).sum();
            prop_assert_eq!(kept + headings, letters(&text));
            prop_assert!(passages.iter().all(|passage| passage.text.len() <= MAX_PASSAGE_BYTES));
        }
    }

    fn cosine(one: &[f32], other: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
    }

    #[test]
    fn signs_that_differ_are_counted() {
        let number = |number| if number % 3 == 0 { 1.0 } else { -1.0 };
        let vector: Vec<f32> = (0..100).map(number).collect();
        let opposite: Vec<f32> = vector.iter().map(|number| -number).collect();
        assert_eq!(signs(&vector).len(), sign_bytes(100));
        assert_eq!(distance(&signs(&vector), &signs(&vector)), 0);
        assert_eq!(distance(&signs(&vector), &signs(&opposite)), 100);
        // Nothing is like nothing.
        assert!(similarity(&[0.0, 0.0], &quantised(&[0.0, 0.0])).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn a_byte_a_number_is_enough_for_the_angle(
            one in prop::collection::vec(-1.0_f32..1.0, 64),
            other in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let expected = cosine(&one, &other);
            prop_assert!((similarity(&one, &quantised(&other)) - expected).abs() < 0.02);
            for scale in [1e-37, 1e37] {
                let scaled = |vector: &[f32]| vector.iter().map(|number| number * scale).collect::<Vec<_>>();
                prop_assert!((similarity(&scaled(&one), &quantised(&scaled(&other))) - expected).abs() < 0.02);
            }
        }
    }
}
