//! The table of markers (`markers.txt`) and its search.

use crate::domain::dsl::begins_with_id;
use crate::domain::text::bare_words;
use crate::domain::text::words::is_single_char_word;
use aho_corasick::AhoCorasick;
use std::collections::HashMap;
use std::sync::LazyLock;
use strum::EnumString;

/// What a marker says about its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Kind {
    /// The user asks to remember it.
    Keep,
    /// The user states a rule.
    Rule,
    /// The user states a decision.
    Decision,
    /// A finding that is called one.
    Cause,
    /// Finished work.
    Done,
    /// Work in progress.
    Doing,
    /// Work that is left.
    Next,
    /// A record that is named or quoted is wrong now.
    Obsolete,
    /// The user asks to keep a text exactly.
    Exact,
    /// The sentence is a guess, a wish, a plan or a hypothesis.
    Doubt,
    /// The sentence is what somebody else says.
    Hearsay,
    /// The sentence is negated.
    Not,
    /// The sentence holds under a condition.
    Condition,
    /// The sentence wants, checks or reports that something is so.
    Wanted,
    /// The sentence holds for a short time.
    Passing,
    /// What was said before is a joke, private, or withdrawn.
    Cancel,
    /// The answer before is denied.
    Denial,
    /// The message addresses the model with somebody else's instructions.
    Foreign,
    /// The rest of the message is somebody else's text.
    Quote,
}

impl Kind {
    /// Whether it makes a statement, or takes one back; the others only speak against one in their sentence.
    fn says_something(self) -> bool {
        !matches!(
            self,
            Self::Doubt | Self::Hearsay | Self::Not | Self::Condition | Self::Wanted | Self::Passing
        )
    }
}

/// Check boxes, and what they say about their item.
pub(super) const CHECK_BOXES: [(&str, Kind); 3] =
    [("[x] ", Kind::Done), ("[X] ", Kind::Done), ("[ ] ", Kind::Next)];

/// An occurrence of a marker in a folded sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    /// Index of the language in the table.
    pub(super) language: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the text that is kept begins: after a marker that introduces it, at `{verb}`, or at 0.
    pub(super) kept_from: usize,
    /// Whether it stands before a colon.
    pub(super) is_label: bool,
    /// Whether it counts at the beginning of a clause only.
    pub(super) opens: bool,
}

/// A phrase of the table.
#[derive(Debug)]
struct Phrase {
    kind: Kind,
    language: usize,
    /// The literal parts; any words may stand between them.
    parts: Vec<String>,
    /// Length of the first part before `{verb}`.
    subject: Option<usize>,
    begins_clause: bool,
    ends_clause: bool,
}

/// The parsed table.
#[derive(Debug)]
pub(super) struct Markers {
    phrases: Vec<Phrase>,
    /// Finds the first part of each phrase.
    search: AhoCorasick,
    /// Finds what a message without statements has none of.
    heard: AhoCorasick,
    /// Labels of lists, without their colon.
    labels: HashMap<String, (Kind, usize)>,
    filler: Vec<String>,
    /// What a sentence may say beside the records that it calls wrong.
    naming: Vec<String>,
    /// What begins the reason of a correction.
    because: Vec<String>,
    /// Whole texts that say that there is nothing.
    nothing: Vec<String>,
    pronoun: Vec<String>,
    reasons: HashMap<(String, usize), String>,
}

const TABLE: &str = include_str!("markers.txt");
const LANGUAGES: [&str; 5] = ["en", "de", "fr", "es", "ja"];

static MARKERS: LazyLock<Markers> = LazyLock::new(|| Markers::of(TABLE));

/// The table.
pub(super) fn markers() -> &'static Markers {
    &MARKERS
}

/// The entries of the table: section, language, and text.
pub(super) fn entries(table: &str) -> Vec<(&str, usize, String)> {
    let (mut section, mut entries) = ("", Vec::<(&str, usize, String)>::new());
    for line in table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let language = LANGUAGES.iter().position(|language| {
            line.strip_prefix(language)
                .is_some_and(|rest| rest.starts_with(": "))
        });
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some(language) = language {
            entries.push((section, language, line[4..].to_owned()));
        } else if let Some((_, _, text)) = entries.last_mut() {
            text.push(' ');
            text.push_str(line.trim());
        }
    }
    entries
}

/// The phrases of an entry.
pub(super) fn phrases(text: &str) -> impl Iterator<Item = &str> {
    text.split('|').map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// Punctuation between a filler word and what follows it.
const SEPARATORS: &str = ",;:–—-*_、：";

impl Markers {
    fn of(table: &str) -> Self {
        let entries = entries(table);
        let words = |name: &str| -> Vec<String> {
            let of = entries.iter().filter(|(section, ..)| *section == name);
            of.flat_map(|(.., text)| text.split_whitespace().map(str::to_owned))
                .collect()
        };
        let mut markers = Self {
            phrases: Vec::new(),
            search: AhoCorasick::new(["\0"]).expect("a small automaton"),
            heard: AhoCorasick::new(["\0"]).expect("a small automaton"),
            labels: HashMap::new(),
            filler: words("filler"),
            naming: words("naming"),
            because: words("because"),
            nothing: Vec::new(),
            pronoun: words("pronoun"),
            reasons: HashMap::new(),
        };
        for (section, language, text) in &entries {
            if *section == "reason" {
                let reasons = phrases(text).filter_map(|entry| entry.split_once('='));
                markers
                    .reasons
                    .extend(reasons.map(|(kind, reason)| ((kind.to_owned(), *language), reason.to_owned())));
            }
            if *section == "nothing" {
                markers.nothing.extend(phrases(text).map(bare_words));
            }
            let Ok(kind) = section.parse() else { continue };
            for phrase in phrases(text) {
                let verbs = entries
                    .iter()
                    .find(|(of, in_language, _)| *of == "verb" && in_language == language);
                match (phrase.contains("{verb}"), verbs) {
                    (true, Some((.., verbs))) => {
                        phrases(verbs).for_each(|verb| markers.add(kind, *language, phrase, verb));
                    }
                    _ => markers.add(kind, *language, phrase, ""),
                }
            }
        }
        let first_parts = markers.phrases.iter().map(|phrase| &phrase.parts[0]);
        markers.search = AhoCorasick::new(first_parts).expect("the table fits an automaton");
        let saying = markers
            .phrases
            .iter()
            .filter(|phrase| phrase.kind.says_something());
        let saying = saying.map(|phrase| &phrase.parts[0]).chain(markers.labels.keys());
        let boxes = CHECK_BOXES.iter().map(|(written, _)| written.to_lowercase());
        markers.heard = AhoCorasick::new(saying.cloned().chain(boxes)).expect("the table fits an automaton");
        markers
    }

    fn add(&mut self, kind: Kind, language: usize, phrase: &str, verb: &str) {
        let (text, begins_clause) = match phrase.strip_prefix('^') {
            Some(text) => (text, true),
            None => (phrase, false),
        };
        let (text, ends_clause) = match text.strip_suffix('$') {
            Some(text) => (text, true),
            None => (text, false),
        };
        if let Some(label) = text.strip_suffix(':') {
            self.labels.insert(label.trim_end().to_owned(), (kind, language));
        }
        let subject = text.find("{verb}");
        let text = text.replace("{verb}", verb);
        // A typographic apostrophe is as good as a straight one.
        let spellings = [text.replace('\'', "’"), text];
        for text in &spellings[usize::from(spellings[0] == spellings[1])..] {
            let parts: Vec<String> = text.split(" * ").map(str::to_owned).collect();
            self.phrases.push(Phrase {
                kind,
                language,
                subject: subject.filter(|at| *at <= parts[0].len() && parts.len() == 1),
                parts,
                begins_clause,
                ends_clause,
            });
        }
    }

    /// Whether a message may have a statement: a marker that says something, a label or a check box. One search of the
    /// whole message, so that its sentences are read only if something can be heard in them.
    pub(super) fn may_be_in(&self, message: &str) -> bool {
        self.heard.is_match(&message.to_lowercase())
    }

    /// The markers of a folded sentence, by position.
    pub(super) fn marks(&self, folded: &str) -> Vec<Mark> {
        let hits = self.search.find_overlapping_iter(folded);
        let mut marks: Vec<Mark> = hits
            .filter_map(|hit| {
                let phrase = &self.phrases[hit.pattern().as_usize()];
                self.mark(phrase, folded, hit.start(), hit.end())
            })
            .collect();
        marks.sort_by_key(|mark| (mark.start, std::cmp::Reverse(mark.end)));
        marks
    }

    fn mark(&self, phrase: &Phrase, folded: &str, start: usize, first_end: usize) -> Option<Mark> {
        if !is_whole(folded, start, first_end, &phrase.parts[0]) {
            return None;
        }
        let mut end = first_end;
        for part in &phrase.parts[1..] {
            let mut found = folded[end..].match_indices(part.as_str());
            let at = found.find(|(at, _)| is_whole(folded, end + at, end + at + part.len(), part))?;
            end += at.0 + part.len();
        }
        let goes_on =
            |rest: &str| !rest.is_empty() && !rest.starts_with(|c: char| ",;:.!?)–—。、！-".contains(c));
        if phrase.ends_clause && goes_on(folded[end..].trim_start()) {
            return None;
        }
        if phrase.begins_clause && !self.begins_clause(&folded[..start]) {
            return None;
        }
        let is_label = phrase.parts[0].ends_with([':', '：']);
        // What introduces a text is no part of it: a label, and "remember that".
        let introduces = phrase.begins_clause && (is_label || phrase.kind == Kind::Keep);
        let kept_from = match phrase.subject {
            Some(subject) => start + subject,
            None if introduces => end,
            None => 0,
        };
        Some(Mark {
            kind: phrase.kind,
            language: phrase.language,
            start,
            end,
            kept_from,
            is_label,
            opens: phrase.begins_clause,
        })
    }

    /// Whether a clause begins after this text.
    fn begins_clause(&self, before: &str) -> bool {
        let ends = |c: char| ",;:.!?(–—-。、！：*_#\"".contains(c);
        let before = before.trim_end();
        let clause = before.rsplit(ends).next().unwrap_or_default();
        clause
            .split_whitespace()
            .all(|word| self.filler.iter().any(|filler| filler == word))
    }

    /// Length of the filler words and punctuation that a folded text begins with.
    pub(super) fn filler(&self, folded: &str) -> usize {
        self.opening(folded, |_| true)
    }

    /// The same of filler words that punctuation sets apart: "ok, the port is 80". Others may belong to what is said: "right turns".
    pub(super) fn interjections(&self, folded: &str) -> usize {
        self.opening(folded, |rest| rest.starts_with(|c| SEPARATORS.contains(c)))
    }

    fn opening(&self, folded: &str, ends: impl Fn(&str) -> bool) -> usize {
        let mut at = 0;
        loop {
            let rest = &folded[at..];
            at += rest.len()
                - rest
                    .trim_start_matches(|c| c == ' ' || SEPARATORS.contains(c))
                    .len();
            let rest = &folded[at..];
            let word = rest
                .split(|c: char| !c.is_alphanumeric())
                .next()
                .unwrap_or_default();
            let is_filler = self.filler.iter().any(|filler| filler == word);
            if word.is_empty() || !is_filler || !ends(rest[word.len()..].trim_start()) {
                return at;
            }
            at += word.len();
        }
    }

    /// Length of what a folded text begins with that only names records: ids, quotations and words of `[naming]`.
    pub(super) fn naming(&self, folded: &str) -> usize {
        let mut rest = folded;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",，、*_[]'’\u{1a}".contains(c));
            let is_word = |c: char| c == '-' || c.is_alphanumeric() && !is_single_char_word(c);
            let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
            // Japanese writes no blanks.
            let is_said = |naming: &&String| match word.is_empty() {
                true => !naming.is_ascii() && rest.starts_with(naming.as_str()),
                false => *naming == word,
            };
            rest = match self.naming.iter().find(is_said) {
                Some(said) => &rest[said.len()..],
                None if begins_with_id(word) => &rest[word.len()..],
                None => return folded.len() - rest.len(),
            };
        }
    }

    /// Whether a folded text begins a reason: "because it moved".
    pub(super) fn gives_reason(&self, folded: &str) -> bool {
        let mut begun = self
            .because
            .iter()
            .filter(|word| folded.starts_with(word.as_str()));
        begun.any(|word| is_whole(folded, 0, word.len(), word))
    }

    /// Whether the first word of a text only points to something said before. "Das Labor" does not: there it is an article.
    pub(super) fn begins_with_pronoun(&self, folded: &str, text: &str) -> bool {
        let said = &folded[self.filler(folded)..];
        let is_noun = |word: &str| word.trim_start().starts_with(char::is_uppercase);
        let is_pronoun = |pronoun: &String| {
            said.strip_prefix(pronoun.as_str()).is_some_and(|rest| {
                let is_word = !pronoun.is_ascii() || !rest.starts_with(char::is_alphanumeric);
                is_word && !is_noun(&text[text.len() - rest.len()..])
            })
        };
        self.pronoun.iter().any(is_pronoun)
    }

    /// Whether a text, in bare words, says that there is nothing.
    pub(super) fn is_nothing(&self, bare: &str) -> bool {
        let bare = &bare[self.filler(bare)..];
        self.nothing.iter().any(|nothing| nothing == bare)
    }

    /// The list that a line introduces: "Next steps:", "## Done".
    pub(super) fn label(&self, folded: &str) -> Option<(Kind, usize)> {
        let text = folded.trim_matches(|c: char| " \t*_#:：".contains(c));
        self.labels.get(text).copied()
    }

    /// The reason for keeping a sentence of this kind.
    pub(super) fn reason(&self, kind: &str, language: usize) -> String {
        let reason = self.reasons.get(&(kind.to_owned(), language));
        reason.cloned().unwrap_or_else(|| "it was said".to_owned())
    }
}

/// Whether a phrase stands there as whole words. Japanese writes no blanks, and punctuation ends a word itself.
fn is_whole(folded: &str, start: usize, end: usize, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() && !is_single_char_word(c);
    let joins = |inside: Option<char>, outside: Option<char>| {
        inside.is_some_and(is_word) && outside.is_some_and(|c| is_word(c) || c == '_')
    };
    let is_ending = phrase.starts_with("n't") || phrase.starts_with("n’t");
    (is_ending || !joins(phrase.chars().next(), folded[..start].chars().next_back()))
        && !joins(phrase.chars().next_back(), folded[end..].chars().next())
}
