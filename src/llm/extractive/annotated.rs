//! A sentence with its signs: author, language, and what weakens it.

use std::cell::OnceCell;

use super::cues::{Hit, Language, Sign};
use super::line::Line;
use super::sentence::{ListState, Sentence, Voice};
use super::terms::Terms;

/// Words at the beginning of a sentence that may be stripped even without a mark after them.
const CONJUNCTIONS: [&str; 18] = [
    "and", "but", "so", "also", "oh", "und", "aber", "et", "mais", "donc", "y", "pero", "pues", "then",
    "dann", "alors", "entonces", "well",
];

/// A sentence of a message.
#[derive(Debug, Clone)]
pub(super) struct AnnotatedSentence {
    pub(super) voice: Voice,
    pub(super) message: usize,
    pub(super) list_state: Option<ListState>,
    pub(super) language: Language,
    pub(super) line: Line,
    /// The cue hits, ordered by position.
    pub(super) hits: Vec<Hit>,
    /// A bit set of the signs in `hits`.
    signs: u128,
    /// Offset in the folded line where the sentence begins, without "okay", "and" and the like.
    begins_at: usize,
    // Computed on demand, because the signs alone are sufficient for most sentences.
    terms: OnceCell<Terms>,
    content: OnceCell<Terms>,
    /// Excluded: a joke, a quotation, an injected instruction, a secret, or a request not to record it.
    pub(super) excluded: bool,
    /// Whether it is a question.
    pub(super) asks: bool,
}

impl AnnotatedSentence {
    /// The topic of a Japanese sentence, and its statement about it.
    pub(super) fn topic_and_rest(&self) -> Option<(&str, &str)> {
        self.line.text.split_once(['は', 'が'])
    }

    /// "Still at six?" - "No, half past six": denies the assistant's question before it.
    pub(super) fn answers_no(sentences: &[Self], at: usize) -> bool {
        let Some(asked) = at.checked_sub(1).map(|before| &sentences[before]) else {
            return false;
        };
        let is_question = asked.voice == Voice::Assistant && asked.asks && !asked.excluded;
        let sentence = &sentences[at];
        is_question
            && asked.message + 1 == sentence.message
            && sentence.opens_with(Sign::Denial)
            && !sentence.asks
    }

    pub(super) fn of(sentence: &Sentence, language: Language) -> Self {
        Self::of_text(
            &sentence.text,
            language,
            sentence.voice,
            sentence.message,
            sentence.list_state,
        )
    }

    fn of_text(
        text: &str,
        language: Language,
        voice: Voice,
        message: usize,
        list_state: Option<ListState>,
    ) -> Self {
        let line = Line::of(text);
        let hits = language.signs(&line);
        Self {
            signs: hits.iter().fold(0, |signs, hit| signs | hit.sign.bit()),
            begins_at: begins_at(&line, &hits),
            terms: OnceCell::new(),
            content: OnceCell::new(),
            voice,
            message,
            list_state,
            language,
            asks: line.is_question() || asks_by_its_beginning(&line),
            hits,
            line,
            excluded: false,
        }
    }

    /// A part of this sentence, by the same author.
    pub(super) fn part(&self, text: &str) -> Self {
        Self {
            excluded: self.excluded,
            asks: self.asks,
            ..Self::of_text(text, self.language, self.voice, self.message, None)
        }
    }

    /// Its terms.
    pub(super) fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::of(&self.line.text))
    }

    /// Its terms without cue words.
    pub(super) fn content(&self) -> &Terms {
        self.content
            .get_or_init(|| content(&self.line, &self.hits, self.language))
    }

    pub(super) fn has(&self, sign: Sign) -> bool {
        self.signs & sign.bit() != 0
    }

    pub(super) fn has_any(&self, signs: &[Sign]) -> bool {
        signs.iter().any(|sign| self.has(*sign))
    }

    /// The first hit of a sign.
    pub(super) fn first(&self, sign: Sign) -> Option<Hit> {
        self.hits.iter().copied().find(|hit| hit.sign == sign)
    }

    /// The first hit of a sign, unless one of the signs `against` precedes it.
    pub(super) fn holds(&self, sign: Sign, against: &[Sign]) -> Option<Hit> {
        let hit = self.first(sign)?;
        let weakened = self.has_any(against)
            && self
                .hits
                .iter()
                .any(|other| against.contains(&other.sign) && other.start <= hit.start);
        (!weakened).then_some(hit)
    }

    /// Offset in the folded line where the sentence begins, without "okay", "and" and the like.
    pub(super) fn body_start(&self) -> usize {
        self.begins_at
    }

    /// Whether it begins with "yes" in its language.
    pub(super) fn begins_with_yes(&self) -> bool {
        let mut words = self.language.words().yes.split('|');
        let folded = self.line.folded.trim_start();
        words.any(|yes| {
            let rest = folded.strip_prefix(yes);
            rest.is_some_and(|rest| rest.starts_with(' ') || self.language == Language::Japanese)
        })
    }

    /// The sentence without filler words at its beginning.
    pub(super) fn body(&self) -> &str {
        self.line.after(self.body_start()).trim()
    }

    /// Whether the sentence begins with a sign.
    pub(super) fn opens_with(&self, sign: Sign) -> bool {
        let start = self.body_start();
        self.hits
            .iter()
            .any(|hit| hit.sign == sign && (hit.start == start || hit.start == 1))
    }

    /// The folded words from the beginning of the sentence.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let start = self.body_start();
        self.line.words().filter(move |(at, _)| *at >= start)
    }

    /// Whether it is meaningful by itself: it names a thing and is not only a back-reference.
    pub(super) fn is_meaningful(&self) -> bool {
        let about = self.content().count();
        let refers_back = self.opens_with(Sign::Anaphor);
        let whole = self.terms().count();
        let numbered = !self.terms().numbers.is_empty();
        let says_enough = about >= 2 || (about == 1 && numbered);
        whole >= 2 && says_enough && (!refers_back || about >= 3 || numbered)
    }
}

/// "How angry should I be": a question without a question mark.
fn asks_by_its_beginning(line: &Line) -> bool {
    const ASKING: &str = " how why warum wieso weshalb comment pourquoi cómo ";
    const ABOUT: &str = " should i | should we | shall we | shall i | do i | do we | do you | does it | can i | can we | is it | are we | \
        am i | who knows | who needs | what if | what do | what is it | soll ich | sollen wir | est-ce que | qui sait | quién sabe ";
    let mut words = line.words().map(|(_, word)| word);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let names = line.folded.contains(" : ");
    !names && (ASKING.contains(&format!(" {first} ")) || ABOUT.contains(&format!(" {first} {second} ")))
}

/// Offset of the first significant word.
fn begins_at(line: &Line, hits: &[Hit]) -> usize {
    let mut at = 1;
    loop {
        // Hits are ordered by position, longest first at equal positions.
        let here = hits.partition_point(|hit| hit.start < at);
        let mut those_here = hits[here..].iter().take_while(|hit| hit.start == at);
        let Some(filler) = those_here.find(|hit| hit.sign == Sign::Filler) else {
            return at;
        };
        let rest = &line.folded[filler.end..];
        let marks = rest.trim_start_matches([' ', ',', '.', '!', ':', ';', '-', '–', '—', '、', '。', '…']);
        let is_marked = rest.trim_start().len() > marks.len();
        let word = &line.folded[filler.start..filler.end];
        if marks.is_empty() || !(is_marked || CONJUNCTIONS.contains(&word)) {
            return at;
        }
        at = line.folded.len() - marks.len();
    }
}

/// The terms of a line without its cues and verbs of work.
fn content(line: &Line, hits: &[Hit], language: Language) -> Terms {
    let mut bare = String::with_capacity(line.folded.len());
    let mut covered = 0;
    for hit in hits.iter().filter(|hit| hit.sign.is_of_form()) {
        if hit.start >= covered {
            bare.push_str(&line.folded[covered..hit.start]);
            bare.push(' ');
        }
        covered = covered.max(hit.end);
    }
    bare.push_str(&line.folded[covered.min(line.folded.len())..]);
    let is_done = language.words().is_done;
    if language != Language::Japanese {
        bare = bare
            .split(' ')
            .filter(|word| !is_done(word))
            .collect::<Vec<_>>()
            .join(" ");
    }
    Terms::of_folded(&bare)
}
