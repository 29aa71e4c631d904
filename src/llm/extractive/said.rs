//! A sentence with its signs: who says it, in which language, and what takes away its weight.

use std::cell::OnceCell;

use super::cues::{Hit, Language, Sign};
use super::line::Line;
use super::sentence::{Sentence, Standing, Voice};
use super::terms::Terms;

/// What may be taken off the beginning of a sentence without a mark behind it.
const CONJUNCTIONS: [&str; 18] = [
    "and", "but", "so", "also", "oh", "und", "aber", "et", "mais", "donc", "y", "pero", "pues", "then",
    "dann", "alors", "entonces", "well",
];

/// A sentence of somebody.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) voice: Voice,
    pub(super) message: usize,
    pub(super) standing: Option<Standing>,
    pub(super) language: Language,
    pub(super) line: Line,
    /// In the order in which they stand.
    pub(super) hits: Vec<Hit>,
    /// Which signs there are, one bit each.
    signs: u128,
    /// Where in the folded line it begins, without "okay", "and" and the like.
    begins_at: usize,
    // Most sentences tell by their signs that nobody asks what they are about.
    terms: OnceCell<Terms>,
    content: OnceCell<Terms>,
    /// Not meant, not theirs, or not to be written down: a joke, a quotation, an injected instruction, a secret.
    pub(super) void: bool,
    /// It asks.
    pub(super) asks: bool,
}

impl Said {
    /// What a Japanese sentence speaks of, and what it says of it.
    pub(super) fn topic_and_rest(&self) -> Option<(&str, &str)> {
        self.line.text.split_once(['は', 'が'])
    }

    /// "Still at six?" - "No, half past six": what the assistant asked is not so any more.
    pub(super) fn answers_no(said: &[Self], at: usize) -> bool {
        let Some(asked) = at.checked_sub(1).map(|before| &said[before]) else {
            return false;
        };
        let is_question = asked.voice == Voice::Assistant && asked.asks && !asked.void;
        let said = &said[at];
        is_question && asked.message + 1 == said.message && said.opens_with(Sign::Denial) && !said.asks
    }

    pub(super) fn of(sentence: &Sentence, language: Language) -> Self {
        Self::of_text(
            &sentence.text,
            language,
            sentence.voice,
            sentence.message,
            sentence.standing,
        )
    }

    fn of_text(
        text: &str,
        language: Language,
        voice: Voice,
        message: usize,
        standing: Option<Standing>,
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
            standing,
            language,
            asks: line.is_question() || asks_by_its_beginning(&line),
            hits,
            line,
            void: false,
        }
    }

    /// A part of this sentence, by the same person.
    pub(super) fn part(&self, text: &str) -> Self {
        Self {
            void: self.void,
            asks: self.asks,
            ..Self::of_text(text, self.language, self.voice, self.message, None)
        }
    }

    /// What it is about.
    pub(super) fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::of(&self.line.text))
    }

    /// What is left of that without the words that are cues.
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

    /// The first of a sign.
    pub(super) fn first(&self, sign: Sign) -> Option<Hit> {
        self.hits.iter().copied().find(|hit| hit.sign == sign)
    }

    /// Whether the first of these stands before anything that takes its weight away.
    pub(super) fn holds(&self, sign: Sign, against: &[Sign]) -> Option<Hit> {
        let hit = self.first(sign)?;
        let weakened = self.has_any(against)
            && self
                .hits
                .iter()
                .any(|other| against.contains(&other.sign) && other.start <= hit.start);
        (!weakened).then_some(hit)
    }

    /// Where in the folded line the sentence begins, without "okay", "and" and the like.
    pub(super) fn body_start(&self) -> usize {
        self.begins_at
    }

    /// "Yes, …"
    pub(super) fn begins_with_yes(&self) -> bool {
        let mut words = self.language.words().yes.split('|');
        let folded = self.line.folded.trim_start();
        words.any(|yes| {
            let rest = folded.strip_prefix(yes);
            rest.is_some_and(|rest| rest.starts_with(' ') || self.language == Language::Japanese)
        })
    }

    /// The sentence without what begins it idly.
    pub(super) fn body(&self) -> &str {
        self.line.behind(self.body_start()).trim()
    }

    /// Whether a sign stands where the sentence begins.
    pub(super) fn opens_with(&self, sign: Sign) -> bool {
        let start = self.body_start();
        self.hits
            .iter()
            .any(|hit| hit.sign == sign && (hit.start == start || hit.start == 1))
    }

    /// The folded words from where the sentence begins.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let start = self.body_start();
        self.line.words().filter(move |(at, _)| *at >= start)
    }

    /// Whether it says something by itself: names a thing, and does not only point back.
    pub(super) fn is_telling(&self) -> bool {
        let about = self.content().count();
        let points_back = self.opens_with(Sign::Anaphor);
        let whole = self.terms().count();
        let numbered = !self.terms().numbers.is_empty();
        let says_enough = about >= 2 || (about == 1 && numbered);
        whole >= 2 && says_enough && (!points_back || about >= 3 || numbered)
    }
}

/// "How angry should I be": a question without its mark.
fn asks_by_its_beginning(line: &Line) -> bool {
    const ASKING: &str = " how why warum wieso weshalb comment pourquoi cómo ";
    const ABOUT: &str = " should i | should we | shall we | shall i | do i | do we | do you | does it | can i | can we | is it | are we | \
        am i | who knows | who needs | what if | what do | what is it | soll ich | sollen wir | est-ce que | qui sait | quién sabe ";
    let mut words = line.words().map(|(_, word)| word);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let names = line.folded.contains(" : ");
    !names && (ASKING.contains(&format!(" {first} ")) || ABOUT.contains(&format!(" {first} {second} ")))
}

/// Where a line begins when what says nothing is taken off.
fn begins_at(line: &Line, hits: &[Hit]) -> usize {
    let mut at = 1;
    loop {
        // Hits stand in their order, of equal beginnings the longest first.
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

/// What a line is about besides what its cues and its verbs of work say.
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
