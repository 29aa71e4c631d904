//! Finds text in the input regardless of whitespace.
//!
//! Runs of blanks and line ends are treated as one blank on both sides. A match returns the exact bytes of
//! the input.

use super::input::{Evidence, Input, quote_of};
use crate::domain::document::Fence;
use crate::domain::text::lines::offset_in;
use crate::domain::text::{folded, single_blanks};
use aho_corasick::AhoCorasick;
use foldhash::fast::RandomState;
use memchr::memmem::Finder;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

/// Maximum number of matches examined per snippet.
const MAX_MATCHES: usize = 1_024;

/// A text with each run of blanks folded to one.
#[derive(Debug)]
struct Folded<'a> {
    text: &'a str,
    folded: String,
    /// The offset of a word in the folded text and in the original, where their distance is another than before.
    places: Vec<(usize, usize)>,
}

impl<'a> Folded<'a> {
    fn of(text: &'a str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let (mut places, mut distance) = (Vec::new(), 0);
        for word in text.split_whitespace() {
            let at = offset_in(text, word);
            if !folded.is_empty() {
                folded.push(' ');
            }
            if at - folded.len() != distance {
                distance = at - folded.len();
                places.push((folded.len(), at));
            }
            folded.push_str(word);
        }
        Self { text, folded, places }
    }

    /// Converts the offset of a non-blank byte in the folded text to the offset in the original.
    fn place(&self, folded_at: usize) -> usize {
        let index = self.places.partition_point(|(folded, _)| *folded <= folded_at);
        let before = index.checked_sub(1).map(|index| self.places[index]);
        before.map_or(folded_at, |(folded, at)| at + (folded_at - folded))
    }

    /// Converts a match to the original bytes, including the leading blanks of its first line and the
    /// trailing blanks of its last.
    fn find_in_input(&self, folded: Range<usize>) -> Range<usize> {
        let (start, end) = (self.place(folded.start), self.place(folded.end - 1) + 1);
        let before = self.text[..start].trim_end_matches([' ', '\t']);
        let start = match before.is_empty() || before.ends_with(['\n', '\r']) {
            true => before.len(),
            false => start,
        };
        let rest = &self.text[end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let after = &rest[blanks..];
        let end = match after.is_empty() || after.starts_with(['\n', '\r']) {
            true => end + blanks,
            false => end,
        };
        start..end
    }
}

/// The lines between a code fence on the first line of a snippet and its closing fence on the last.
fn unfenced(snippet: &str) -> Option<&str> {
    let (opening, rest) = snippet.trim_start_matches(['\r', '\n']).split_once('\n')?;
    let (content, closing) = rest.trim_end().rsplit_once('\n')?;
    let fence = Fence::opened_by(opening.trim())?;
    fence.is_closed_by(closing.trim()).then_some(content)
}

/// Those of the wanted texts that occur in any of the others, but for the empty one.
fn occurring<'t>(
    wanted: &HashSet<String, RandomState>,
    texts: impl Iterator<Item = &'t str>,
) -> HashSet<String, RandomState> {
    let wanted: Vec<&String> = wanted.iter().filter(|text| !text.is_empty()).collect();
    let finder =
        AhoCorasick::new(&wanted).expect("the limits of the automaton are far above an answer's size");
    let mut is_seen = vec![false; wanted.len()];
    for text in texts {
        for found in finder.find_overlapping_iter(text) {
            is_seen[found.pattern().as_usize()] = true;
        }
    }
    let found = wanted.into_iter().zip(is_seen).filter(|(_, is_seen)| *is_seen);
    found.map(|(text, _)| text.clone()).collect()
}

/// The texts from which snippets may be copied.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    input: Vec<Folded<'a>>,
    /// Snippets of the memory, folded.
    known: Vec<String>,
    /// The lines of the snippets of an answer, folded.
    lines: HashSet<String, RandomState>,
    /// Those of them that are in the input or in a known snippet, computed on first use.
    copied: OnceCell<HashSet<String, RandomState>>,
    /// The texts of an answer without comparable words, folded without case.
    wordless: HashSet<String, RandomState>,
    /// Those of them that are in the input, computed on first use.
    said: OnceCell<HashSet<String, RandomState>>,
}

impl<'a> Sources<'a> {
    /// The input and the snippets of the memory, for the lines of an answer's snippets with [`single_blanks`] and its texts
    /// without comparable words, [`folded`].
    pub(super) fn of<'s>(
        input: &Input<'a>,
        snippets: impl Iterator<Item = &'s str>,
        lines: HashSet<String, RandomState>,
        wordless: HashSet<String, RandomState>,
    ) -> Self {
        Self {
            input: input.texts().map(Folded::of).collect(),
            known: snippets.map(single_blanks).collect(),
            lines,
            copied: OnceCell::new(),
            wordless,
            said: OnceCell::new(),
        }
    }

    /// The longest passage of the input that equals the snippet apart from blanks, to the byte; the first among equals. A
    /// code fence around the snippet that the input does not have is not part of it.
    pub(super) fn find_in_input(&self, snippet: &str) -> Option<(&'a str, Evidence)> {
        self.find(snippet).or_else(|| self.find(unfenced(snippet)?))
    }

    fn find(&self, snippet: &str) -> Option<(&'a str, Evidence)> {
        let wanted = single_blanks(snippet);
        if wanted.is_empty() {
            return None;
        }
        let finder = Finder::new(&wanted);
        let mut best: Option<(usize, Range<usize>)> = None;
        for (number, source) in self.input.iter().enumerate() {
            for at in finder.find_iter(source.folded.as_bytes()).take(MAX_MATCHES) {
                let range = source.find_in_input(at..at + wanted.len());
                if best.as_ref().is_none_or(|(_, known)| range.len() > known.len()) {
                    best = Some((number, range));
                }
            }
        }
        let (number, range) = best?;
        let text = self.input[number].text;
        let evidence = quote_of(number, text, range.clone(), range.start);
        Some((&text[range], evidence))
    }

    /// The first line of a snippet of the answer that is neither in the input nor in a known snippet.
    pub(super) fn foreign_line<'s>(&self, snippet: &'s str) -> Option<&'s str> {
        let copied = self.copied.get_or_init(|| {
            let input = self.input.iter().map(|source| &source.folded);
            let texts = input.chain(&self.known).map(String::as_str);
            occurring(&self.lines, texts)
        });
        snippet.lines().find(|line| {
            let line = single_blanks(line);
            !line.is_empty() && !copied.contains(&line)
        })
    }

    /// Whether a text of the answer without comparable words is in the input, ignoring blanks and case.
    pub(super) fn has(&self, text: &str) -> bool {
        let said = self.said.get_or_init(|| {
            let input = self.input.iter().map(|source| source.folded.to_lowercase());
            let input: Vec<String> = input.collect();
            occurring(&self.wordless, input.iter().map(String::as_str))
        });
        let text = folded(text);
        !text.is_empty() && said.contains(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_occurs_if_it_is_a_part_of_another(
            wanted in proptest::collection::hash_set("[abé]{1,6}", 0..12),
            texts in proptest::collection::vec("[abé]{0,20}", 0..4),
        ) {
            let wanted: HashSet<String, RandomState> = wanted.into_iter().collect();
            let found = occurring(&wanted, texts.iter().map(String::as_str));
            for text in wanted {
                let is_part = texts.iter().any(|other| other.contains(&text));
                prop_assert_eq!(found.contains(&text), is_part, "{}", text);
            }
        }
    }

    /// The passage of the input that equals a snippet.
    fn found<'a>(input: &Input<'a>, snippet: &str) -> Option<(&'a str, Evidence)> {
        let none = HashSet::default();
        Sources::of(input, std::iter::empty(), none.clone(), none).find_in_input(snippet)
    }

    fn find_in_input(messages: Vec<&str>, snippet: &str) -> Option<String> {
        let input = Input { task: "", messages };
        found(&input, snippet).map(|(text, _)| text.to_owned())
    }

    #[test]
    fn a_snippet_is_taken_from_the_input_to_the_byte() {
        let message = "See:\n\ttest:\n\t\tcargo test  --all \nEnd of it.";
        for (snippet, passage) in [
            (
                "test:\n    cargo test --all",
                Some("\ttest:\n\t\tcargo test  --all "),
            ),
            ("cargo  test", Some("\t\tcargo test")),
            ("of", Some("of")),
            ("cargo bench", None),
        ] {
            assert_eq!(find_in_input(vec![message], snippet).as_deref(), passage);
        }
        let found = find_in_input(vec!["日本 語\u{3000}です"], "語 です");
        assert_eq!(found.as_deref(), Some("語\u{3000}です"));
    }

    #[test]
    fn the_longest_match_is_taken_and_the_first_of_equal_ones() {
        let blanks = find_in_input(vec!["a b", "x a  b", "y a   b", "a\tb"], "a b");
        assert_eq!(blanks.as_deref(), Some("a   b"));
        let lamps = "the lamp is on|the red  lamp  is on|a red  lamp is on|red lamp is on";
        let lamp = find_in_input(lamps.split('|').collect(), "red lamp is on");
        assert_eq!(lamp.as_deref(), Some("red  lamp  is on"));
        let input = Input {
            task: "a b",
            messages: vec!["a\tb"],
        };
        let (text, evidence) = found(&input, "a  b").unwrap();
        assert_eq!((text, evidence.index), ("a b", None));
    }

    #[test]
    fn places_are_right_far_into_a_text() {
        let text = "one  two\n".repeat(500) + "the  red\n lamp end";
        let input = Input {
            task: &text,
            messages: vec![],
        };
        for (snippet, text) in [("the red", "the  red"), ("he red lamp en", "he  red\n lamp en")] {
            let (passage, evidence) = found(&input, snippet).unwrap();
            let start = 4_500 + usize::from(snippet.starts_with('h'));
            assert_eq!((passage, evidence.start), (text, start));
        }
    }

    #[test]
    fn a_line_that_is_nowhere_in_the_input_is_foreign() {
        let input = Input {
            task: "a  b\nc",
            messages: vec![],
        };
        let snippets = ["a b\n\n  old line\nc", "a b\nzz", "a b c d\n"];
        let lines = snippets.iter().flat_map(|snippet| snippet.lines());
        let lines = lines.map(single_blanks).collect();
        let known = std::iter::once("old\n  line");
        let sources = Sources::of(&input, known, lines, HashSet::default());
        let foreign = snippets.map(|snippet| sources.foreign_line(snippet));
        assert_eq!(foreign, [None, Some("zz"), Some("a b c d")]);
    }
}
